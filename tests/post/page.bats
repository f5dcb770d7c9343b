#!/usr/bin/env bats
# The page of the committed results as headless Chromium shows it, with the real charts (browser.py): in make test-all.

load ../long
load helpers

setup() {
    long
}

setup_file() {
    [ "${TEST_ALL-}" ] || return 0
    copy_sources
    cp -R "$root"/results/*/ "$project/results"
    cd "$project" || return 1
    unset GPU OUTLINE RESULTS MAKEFLAGS MAKELEVEL
    make post >"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log" && return 1; }
    page=$(ls -d "$project"/build/post/*/index.html | head -n 1)
    export page
    if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then
        timeout 120 python3 "$BATS_TEST_DIRNAME/browser.py" "$page" "$BATS_FILE_TMPDIR" >"$BATS_FILE_TMPDIR/found"
    fi
}

# nothing_of WHAT...: the browser ran to its end, and found nothing of these kinds.
nothing_of() {
    [ -e "$BATS_FILE_TMPDIR/found" ] || skip "neither chromium nor google-chrome is here"
    grep -q '^pages' "$BATS_FILE_TMPDIR/found"
    for what; do
        run ! grep -P "^$what\t" "$BATS_FILE_TMPDIR/found"
    done
}

@test "the page prints nothing to the console and loads nothing" {
    nothing_of console load
}

@test "no overflow from 360 to 1400 pixels, and no text leaves its chart or drawing" {
    nothing_of overflow cut
}

@test "at any width, no text is under 11 pixels or overlaps another" {
    nothing_of size small covered
}

@test "dark and light: paper, contrast, the colours of charts, and the button" {
    nothing_of theme toggle
}

@test "every picture has a text alternative, every id is unique, every heading has text" {
    nothing_of alternative id heading
}

@test "prints to PDF on white paper, with no picture cut" {
    nothing_of print
    pages=$(sed -n 's/^pages\t//p' "$BATS_FILE_TMPDIR/found")
    figures=$(grep -c '^<figure>' "$page")
    # Every page but a few has a figure or more.
    [ "$pages" -ge 3 ]
    [ "$pages" -le $((figures + 2)) ]
    grep -a -q '^%PDF' "$BATS_FILE_TMPDIR/page.pdf"
}

@test "the browser test detects errors" {
    nothing_of overflow
    sed -e 's|</main>|<p style="width: 2000px">wide</p><svg width="5" height="5"></svg><h2>Empty</h2></main>|' \
        -e 's|^const button|console.error("said"); fetch("https://example.invalid/"); const button|' \
        -e 's|--paper: light-dark(#ffffff, #0d1117)|--paper: #ffffff|' \
        -e 's|max-width: 540px|max-width: 54px|; s|translate([0-9.]*,[0-9.]*)|translate(20,60)|' \
        -e 's|<text x="[0-9.]*" y="[0-9]*"|<text x="650" y="60"|' "$page" >"$BATS_TEST_TMPDIR/wrong.html"
    timeout 120 python3 "$BATS_TEST_DIRNAME/browser.py" "$BATS_TEST_TMPDIR/wrong.html" "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/found"
    for what in console load overflow theme alternative heading size small covered; do
        grep -q -P "^$what\t" "$BATS_TEST_TMPDIR/found"
    done
    # In drawings as in charts.
    for what in size small covered cut; do
        grep -q -P "^$what\t.* (in|wide drawing) One block walks along all keys" "$BATS_TEST_TMPDIR/found"
    done
}
