#!/usr/bin/env bats
# The site that make book builds, of all pages and of stand-ins for the pages of explore and for the flash cards.

bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    export extra=$BATS_FILE_TMPDIR/extra site=$BATS_FILE_TMPDIR/site
    mkdir -p "$extra/explore"
    for folder in solutions/[0-9]*; do
        printf '<!DOCTYPE html><html lang="en"><title>%s</title><p>explored</p></html>' "${folder#solutions/}" >"$extra/explore/solution-${folder#solutions/}-attention.html"
    done
    printf '<!DOCTYPE html><html lang="en"><title>Cards</title><p>cards</p></html>' >"$extra/flashcards.html"
    [ ! -d toolchain/book/sphinx ] || book/build "$extra" "$site" >"$BATS_FILE_TMPDIR/log" 2>&1 || true
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    [ -d toolchain/book/sphinx ] || skip "Sphinx is not here; ./setup --book installs it"
}

@test "the book is built without a warning" {
    cat "$BATS_FILE_TMPDIR/log"
    [ "$(cat "$BATS_FILE_TMPDIR/log")" = "$site/index.html" ]
}

@test "every page of the workbook is in it, and each lesson embeds its page of explore" {
    for page in $(git ls-files '*.md' | grep -v '^post/outline'); do
        [ -e "$site/${page%.md}.html" ] || { echo "$page"; false; }
    done
    for folder in lessons/[0-9]*; do
        grep -q "<iframe src=\"../../explore/solution-${folder#lessons/}-attention.html\"" "$site/$folder/README.html" || { echo "$folder"; false; }
    done
    grep -q '<iframe src="../flashcards.html"' "$site/lessons/flash-cards.html"
}

@test "no link leads nowhere, is absolute or loads from a network" {
    run tests/book/links.py "$site"
    echo "$output"
    [ "${#lines[@]}" -eq 1 ]
    [ "$(cut -f 2 <<<"$output")" -gt 1000 ]
}

@test "a link that leads nowhere is found" {
    mkdir "$BATS_TEST_TMPDIR/site"
    echo '<a id="here" href="#here">1</a> <a href="#there">2</a> <img src="none.svg"> <a href="/x.html">4</a> <script src="https://host.test/x.js"></script>' >"$BATS_TEST_TMPDIR/site/page.html"
    run tests/book/links.py "$BATS_TEST_TMPDIR/site"
    [ "$output" = "page.html	#there	has no such part
page.html	none.svg	leads nowhere
page.html	/x.html	is absolute
page.html	https://host.test/x.js	loads from a network
links	5" ]
}

@test "a book without a lesson's page of explore is an error" {
    mkdir -p "$BATS_TEST_TMPDIR/extra"
    run book/build "$BATS_TEST_TMPDIR/extra" "$BATS_TEST_TMPDIR/site"
    [ "$status" -ne 0 ]
    [[ $output == *"there is no explore/solution-"* ]]
}

@test "pages as a browser shows them from files, in a folder of another name: nothing overflows, search finds, axe finds nothing" {
    command -v chromium >/dev/null || command -v google-chrome >/dev/null || skip "neither chromium nor google-chrome is here"
    cp -R "$site" "$BATS_TEST_TMPDIR/another name"
    run timeout 900 tests/book/browser.py "$BATS_TEST_TMPDIR/another name" --axe toolchain/book/axe/axe_playwright_python/axe.min.js \
        README.html lessons/05_register_tiling/README.html lessons/flash-cards.html results/README.html
    echo "$output"
    [ "$output" = "pages	4" ]
}
