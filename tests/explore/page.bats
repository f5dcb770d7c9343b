#!/usr/bin/env bats
# The page of `make ... explore` as headless Chromium shows it (browser.py): that of every third solution, and known.html of known.json,
# a recording written by hand whose accesses are known. Works in the checkout itself: explore writes to build/ only.

bats_require_minimum_version 1.5.0
load ../long

TAB=$'\t'

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE SHAPE CAUSAL DATA KERNEL DTYPE BESIDE MAKEFLAGS MAKELEVEL
    command -v chromium >/dev/null || command -v google-chrome >/dev/null || return 0
    # Copies, since explore.bats writes the same pages.
    mkdir "$BATS_FILE_TMPDIR/pages"
    exec 8>build/.explored && flock 8
    # Every sixth lesson's, or all.
    looked=$([ "${TEST_ALL-}" ] && echo solutions || printf '%s\n' solutions/[0-9]* | awk 'NR % 6 == 3 { print "solution-" substr($0, 11, 2) }')
    export looked
    # shellcheck disable=SC2086 # words
    make $looked explore >"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log" && return 1; }
    sed -n 's/^\(build\/explore\/.*\.html\) .*/\1/p' "$BATS_FILE_TMPDIR/log" | xargs cp -t "$BATS_FILE_TMPDIR/pages"
    exec 8>&-
    page_of "$BATS_TEST_DIRNAME/known.json" >"$BATS_FILE_TMPDIR/known.html"
    timeout 300 tests/explore/browser.py "$BATS_FILE_TMPDIR/known.html" "$BATS_FILE_TMPDIR"/pages/* >"$BATS_FILE_TMPDIR/found"
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    exec 8>build/.explored && flock 8
    command -v chromium >/dev/null || command -v google-chrome >/dev/null || skip "neither chromium nor google-chrome is here"
}

# A page as explore makes it, of another recording.
page_of() {
    while IFS= read -r line; do
        case $line in
        @style@) echo '<style>' && cat explorer/*.css && echo '</style>' ;;
        @script@) echo '<script>' && cat explorer/*.js && echo '</script>' ;;
        @data@) echo '<script type="application/json" id="recording">' && sed 's/</\\u003c/g' "$1" && echo '</script>' ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <explorer/page.html
}

# nothing_of WHAT...: the browser ran to its end, and found nothing of these kinds.
nothing_of() {
    grep -q '^states' "$BATS_FILE_TMPDIR/found"
    for what; do
        run ! grep -P "^$what\t" "$BATS_FILE_TMPDIR/found"
    done
}

@test "a solution has a page under 3 MB that opens in under a second, in many states: every sixth, or all in make test-all" {
    for solution in $([ "${TEST_ALL-}" ] && echo solutions/[0-9]* || for one in $looked; do echo solutions/"${one#solution-}"_*; done); do
        for page in "$BATS_FILE_TMPDIR/pages/solution-${solution#*/}"-*.html; do
            [ "$(stat -c %s "$page")" -lt 3000000 ]
        done
    done
    awk -F '\t' '$1 == "opens" { n++; if ($3 >= 1) { print; slow = 1 } } END { exit slow || !n }' "$BATS_FILE_TMPDIR/found"
    [ "$(sed -n 's/^states\t//p' "$BATS_FILE_TMPDIR/found")" -ge 30 ]
}

@test "nothing in the console, nothing is loaded, a source is text whatever it holds" {
    nothing_of console load text
}

@test "no overflow at 360 and 1400 pixels, no text under 11 pixels, none that is cut or covers another" {
    nothing_of overflow small cut covered
}

@test "contrast, roles, names, headings, ids, and an alternative for each picture, in light and dark" {
    nothing_of contrast name heading id alternative
}

@test "keys and touch choose lines, executions and warps, and read cells" {
    nothing_of key
}

@test "known accesses are known pictures" {
    run tests/explore/known.py "$BATS_FILE_TMPDIR/known.html"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a run of which nothing was recorded has its page" {
    python3 - tests/explore/known.json >"$BATS_TEST_TMPDIR/nothing.json" <<'END'
import json, sys
data = json.load(open(sys.argv[1]))
data["sources"][0]["text"] = None
data["runs"] = [dict(data["runs"][0], kernels=[], findings=[], tensors=[], places=[], log=["stopped: no kernel was launched"])]
json.dump(data, sys.stdout)
END
    page_of "$BATS_TEST_TMPDIR/nothing.json" >"$BATS_TEST_TMPDIR/nothing.html"
    tests/explore/browser.py "$BATS_TEST_TMPDIR/nothing.html" | grep -v '^opens' | tee "$BATS_TEST_TMPDIR/found"
    [ "$(cat "$BATS_TEST_TMPDIR/found")" = "key${TAB}nothing${TAB}no line is chosen when the page opens
states${TAB}10" ]
}

@test "the browser finds what is wrong" {
    long
    sed -e 's|</footer>|</footer><p style="width: 2000px">a</p><p style="font-size: 9px">b</p><p style="color: var(--rule)">c</p><button></button>&|' \
        -e 's|</footer>|<h5>d</h5><img src="data:,"><i id="x"></i><i id="x"></i>|' \
        -e 's|^const SECTOR|console.error("said"); fetch("https://example.invalid/"); &|' -e 's|escaped(this.description.*join(" "))|""|' \
        -e 's|y + h / 2 + 4.3|y + 4.3|; s|x + w / 2, y|40, y|; s|, 0, y + 13|, -9, y + 13|; s|this.text(0, y|this.text(-9, y|' \
        -e 's|key === "n"|key === "q"|; s|box.addEventListener("click"|box.addEventListener("x"|; s|"pointerover"|"y"|' \
        "$BATS_FILE_TMPDIR/known.html" >"$BATS_TEST_TMPDIR/wrong.html"
    tests/explore/browser.py "$BATS_TEST_TMPDIR/wrong.html" >"$BATS_TEST_TMPDIR/found"
    cut -f 1 "$BATS_TEST_TMPDIR/found" | sort | uniq -c
    for what in console load text overflow small cut covered contrast name heading id alternative key; do
        grep -q -P "^$what\t" "$BATS_TEST_TMPDIR/found"
    done
}

@test "stills are what would be drawn; one that is not is named" {
    if [ "${TEST_ALL-}" ]; then
        run make stills CHECK=1
        echo "$output"
        [ "$status" -eq 0 ]
    fi
    # In a copy of a lesson's folder, so that the real one stays as it is.
    mkdir "$BATS_TEST_TMPDIR/09_tensor_cores"
    cp lessons/09_tensor_cores/stills lessons/09_tensor_cores/*.svg "$BATS_TEST_TMPDIR/09_tensor_cores"
    sed -i 's|>6<|>5<|' "$BATS_TEST_TMPDIR/09_tensor_cores/fragment.svg"
    run explorer/stills --check "solution-09 $BATS_TEST_TMPDIR/09_tensor_cores"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$output" = "$BATS_TEST_TMPDIR/09_tensor_cores/fragment.svg is out of date; run make stills [out-of-date]" ]
}

@test "the drawing of a fragment is the simulator's own map" {
    page=$(printf '%s\n' "$BATS_FILE_TMPDIR"/pages/solution-09*)
    run tests/explore/fragment.py "$page" lessons/09_tensor_cores/fragment.svg
    echo "$output"
    [ "$status" -eq 0 ]
    # Two lanes exchanged are found.
    sed 's|>30<|>x<|; s|>31<|>30<|; s|>x<|>31<|' lessons/09_tensor_cores/fragment.svg >"$BATS_TEST_TMPDIR/wrong.svg"
    run tests/explore/fragment.py "$page" "$BATS_TEST_TMPDIR/wrong.svg"
    echo "$output"
    [ "$status" -eq 1 ]
}

# The page of a solution at the shape that its drawings are of.
drawn_page() {
    shape=$(sed -n 's/^[^#].*@\([^ ]*\) .*/\1/p' lessons/"$1"_*/stills | sort -u)
    make solution-"$1" explore DTYPE=bf16 SHAPE="$shape" BESIDE=none >"$BATS_TEST_TMPDIR/log"
    cp build/explore/solution-"$1"_*-attention.html "$BATS_TEST_TMPDIR/$1.html"
}

# refuses PROGRAM NN DRAWING SED [WORD]: the program does not take the drawing with a mistake.
refuses() {
    sed "$4" "$3" >"$BATS_TEST_TMPDIR/wrong.svg"
    # shellcheck disable=SC2086 # words
    run $1 "$BATS_TEST_TMPDIR/$2.html" ${5-} "$BATS_TEST_TMPDIR/wrong.svg"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"/wrong.svg: "* ]]
}

@test "the drawings of an accumulator and of tiles in shared memory are the simulator's own maps" {
    long
    drawn_page 13
    run tests/explore/fragment.py "$BATS_TEST_TMPDIR/13.html" lessons/13_*/accumulator*.svg
    echo "$output"
    [ "$status" -eq 0 ]
    refuses tests/explore/fragment.py 13 lessons/13_*/accumulator.svg 's|>33<|>x<|; s|>34<|>33<|; s|>x<|>34<|'
    run tests/explore/tile.py "$BATS_TEST_TMPDIR/13.html" lessons/13_*/*-in-slices*.svg
    echo "$output"
    [ "$status" -eq 0 ]
    refuses tests/explore/tile.py 13 lessons/13_*/keys-in-slices.svg 's|>c2<|>x<|; s|>c3<|>c2<|; s|>x<|>c3<|'
    refuses tests/explore/tile.py 13 lessons/13_*/values-in-slices.svg '0,/fill="#d6e8f3"/s//fill="none"/'
    refuses tests/explore/tile.py 13 lessons/13_*/values-in-slices.svg 's/16,384 bytes/8,192 bytes/'
}

@test "the drawings of who waits for whom are what the events say" {
    long
    drawn_page 14
    run tests/explore/waits.py "$BATS_TEST_TMPDIR/14.html" 4,0,8 lessons/14_*/who-waits*.svg
    echo "$output"
    [ "$status" -eq 0 ]
    refuses tests/explore/waits.py 14 lessons/14_*/who-waits.svg '0,/<path/{/<path/d}' 4,0,8
    drawn_page 16
    run tests/explore/waits.py "$BATS_TEST_TMPDIR/16.html" 4,8 lessons/16_*/turns*.svg
    echo "$output"
    [ "$status" -eq 0 ]
    refuses tests/explore/waits.py 16 lessons/16_*/turns.svg '0,/<path/{/<path/d}' 4,8
}

@test "timelines have the GEMMs in flight beside the exponentials that the events say" {
    long
    for lesson in 14:0 15:4; do
        number=${lesson%:*}
        drawn_page "$number"
        run tests/explore/timeline.py "$BATS_TEST_TMPDIR/$number.html" lessons/"$number"_*/timeline.svg
        echo "$output"
        [ "$output" = "${lesson#*:} GEMMs beside exponentials" ]
        refuses tests/explore/timeline.py "$number" lessons/"$number"_*/timeline.svg '/^<desc/s/GEMM: K 0 in row [0-9]*; /GEMM: /'
    done
    refuses tests/explore/timeline.py 15 lessons/15_*/timeline.svg '/^<desc/s/V 0 in row \([0-9]*\) to [0-9]*/V 0 in row \1/'
}

@test "the lines that a lesson's page says to click are there" {
    for lesson in lessons/*/README.md; do
        solution=solutions/${lesson#lessons/}
        # The line stands in backquotes behind "Click" or "click".
        grep -o -E '[Cc]lick( on)? `[^`]+`' "$lesson" | sed 's/^[^`]*`//; s/`$//' >"$BATS_TEST_TMPDIR/lines"
        while IFS= read -r line; do
            grep -q -F -- "$line" "${solution%README.md}attention.cu" || { echo "$lesson: $line" && false; }
        done <"$BATS_TEST_TMPDIR/lines"
    done
}

@test "each lesson names a line of its solution on which its page opens" {
    for solution in solutions/*/attention.cu; do
        opens=lessons/$(basename "$(dirname "$solution")")/opens
        [ "$(wc -l <"$opens")" -eq 1 ]
        grep -q -F -- "$(cat "$opens")" "$solution" || { echo "$opens: $(cat "$opens")" && false; }
    done
}

@test "the replay of a race moves step by step to its finding, and rests there for readers who want no motion" {
    svg=lessons/02_vectorized/race.svg
    xmllint --noout "$svg"
    [ "$(grep -o '@keyframes' "$svg" | wc -l)" -ge 6 ]
    grep -q 'prefers-reduced-motion: reduce){.frame{animation:none}}' "$svg"
    # Only the last frame is visible without animation, and it has the finding.
    [ "$(grep -c 'class="frame last"' "$svg")" -eq 2 ]
    sed -n '/class="frame last"/,/<\/g>/p' "$svg" | grep -q '>race: attention.cu:'
    # The colours of both themes, as variables that it defines.
    for name in $(grep -o 'var(--[a-z-]*' "$svg" | sort -u | cut -c 5-); do
        [ "$(grep -o -e "$name:#[0-9a-f]*" "$svg" | sort -u | wc -l)" -eq 2 ]
    done
}
