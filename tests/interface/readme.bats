#!/usr/bin/env bats
# README.md and the other pages: short, with no dead link, and with no command that make does not know. What of it is made by a
# command is compared by `scripts/front --check` and `plots/tables --check`.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset MAKEFLAGS MAKELEVEL
}

pages() {
    git ls-files '*.md' 2>/dev/null | grep -v '^post/outline'
}

@test "the prose of README.md has at most 600 words, and a picture and the commands stand on its first screen" {
    awk '/^```/ { code = !code; next } code || /^\||^<|^    / { next } { print }' README.md | wc -w
    [ "$(awk '/^```/ { code = !code; next } code || /^\||^<|^    / { next } { print }' README.md | wc -w)" -le 600 ]
    [ "$(grep -n -m 1 '<img ' README.md | cut -d : -f 1)" -lt 15 ]
    [ "$(sed -n '/begin result/,/end result/p' README.md | grep -c '^| [bf]')" -le 8 ]
    [ "$(stat -c %s lessons/02_vectorized/race.svg)" -lt 1000000 ]
}

@test "scripts/repository writes the address into every file that names it, and refuses what is none" {
    mkdir -p "$BATS_TEST_TMPDIR/scripts"
    cp scripts/repository scripts/shared.sh "$BATS_TEST_TMPDIR/scripts"
    cp CITATION.cff README.md notebook.ipynb "$BATS_TEST_TMPDIR"
    old=$(sed -n 's/^repository-code: "\(.*\)"$/\1/p' CITATION.cff)
    [ -z "$(git grep -l -F "$old" | grep -v -x -e CITATION.cff -e README.md -e notebook.ipynb)" ]
    cd "$BATS_TEST_TMPDIR"
    for address in https://host.test/owner/first https://host.test/owner/second-name.git/ ; do
        scripts/repository $address
    done
    ! grep -F -e "$old" -e owner/first -e .git CITATION.cff README.md notebook.ipynb
    grep -q -x 'repository-code: "https://host.test/owner/second-name"' CITATION.cff
    grep -q -x '    git clone https://host.test/owner/second-name && cd second-name' README.md
    grep -q 'repository = \\"https://host.test/owner/second-name\\"' notebook.ipynb
    python3 -m json.tool notebook.ipynb >/dev/null
    before=$(cat CITATION.cff README.md notebook.ipynb | cksum)
    for address in '' host.test/owner/name http://host.test/owner/name https://host.test 'https://host.test/a b' 'https://host.test/a"b' 'https://host.test/a|b'; do
        run scripts/repository "$address"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
    run scripts/repository
    [ "$status" -eq 2 ]
    [ "$(cat CITATION.cff README.md notebook.ipynb | cksum)" = "$before" ]
}

@test "what a page links to is there" {
    dead=0
    for page in $(pages); do
        for link in $(sed -e 's/`[^`]*`//g' "$page" | grep -oE '\]\([^) ]+\)|(src|srcset|href)="[^"]*"' | sed -e 's/^[^("]*[("]//; s/[)"]$//' |
            grep -v -e '^https*:' -e '^#'); do
            [ -e "$(dirname "$page")/${link%%#*}" ] || { echo "$page: there is no $link"; dead=1; }
        done
    done
    [ $dead -eq 0 ]
}

@test "a commit that results name is in the history, or in the list of those that are not" {
    [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ] || skip "the whole history is not here"
    scripts/cited --check
}

@test "make knows the commands of the README" {
    grep -E '^    (make|\./setup.*&& make) ' README.md | sed 's/.*make \([^ ].*\)/\1/; s/   .*//' >"$BATS_TEST_TMPDIR/commands"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/commands")" -gt 8 ]
    while read -r goals; do
        # bench asks for a GPU; quiz and repair start make again, which -n does not hold back.
        case $goals in *bench | *quiz | *repair) continue ;; esac
        # shellcheck disable=SC2086 # goals
        DEVICE=sim make -n $goals >/dev/null </dev/null || { echo "make $goals"; false; }
    done <"$BATS_TEST_TMPDIR/commands"
}

@test "an editor knows how every source in C of the programs is compiled" {
    make compile_commands.json
    for source in $(git ls-files 'common/*.c' 'simulator/*.c' 'teach/*.c' 'post/*.c'); do
        grep -qF "\"file\": \"$source\"" compile_commands.json || { echo "$source"; false; }
    done
}

@test "the map of the tests names every folder of tests and of sources, and no path that is not there" {
    map=tests/README.md
    missing=0
    for folder in tests/*/ common/*/ simulator/*/ solutions/ lessons/ baselines/ peers/ plots/ post/ teach/ explorer/ examples/; do
        # Sources alone: what an editor or Python leaves behind is none.
        [ -n "$(git ls-files "$folder" | head -n 1)" ] || continue
        grep -qF "$folder" "$map" || { echo "$map does not name $folder"; missing=1; }
    done
    for path in $(grep -oE '`[a-zA-Z_/.*-]+`' "$map" | tr -d '`' | grep /); do
        compgen -G "$path" >/dev/null || { echo "$map: there is no $path"; missing=1; }
    done
    [ $missing -eq 0 ]
}
