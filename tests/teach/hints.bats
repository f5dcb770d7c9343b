#!/usr/bin/env bats
# make lesson-NN hint.

load ../long
load helpers

@test "every blank has at least three hints, and so has a lesson without open blanks" {
    for folder in lessons/*/; do
        for key in $(scripts/teach blanks "$folder"*.cu | awk -F '\t' '{ sub(/.*\//, "", $1); print $1 ":" $2 }') whole; do
            count=$(awk -v key="${key/:/ }" '
                /^== / { inside = substr($0, 4) == key; n += inside }
                inside && $0 == "--" { n++ }
                END { print n + 0 }' "$folder/hints")
            echo "$folder $key: $count"
            [ "$count" -ge 3 ]
        done
    done
}

@test "no hint quotes more than a third of its blank" {
    python3 tests/teach/given_away.py .
    # A hint that does is found.
    copy=$BATS_TEST_TMPDIR/copy
    mkdir "$copy"
    cp -R lessons solutions "$copy"
    sed -i '/^== attention.cu 4/,/^--$/s|^--$|sum += weight[key] * v[(int64_t)key * head_dim + column];\n&|' \
        "$copy/lessons/01_basic_attention/hints"
    run python3 tests/teach/given_away.py "$copy"
    echo "$output"
    [[ $output == "lessons/01_basic_attention/hints: attention.cu 4, hint 1 quotes "*" tokens of the blank" ]]
}

@test "the first hint of a blank is a question, and every hint is for an existing blank" {
    long
    for folder in lessons/*/; do
        awk '
            /^#/ || /^$/ { next }
            /^== / { if (key != "" && !asks) { print key; bad = 1 } key = $0; first = 1; asks = 0; next }
            $0 == "--" { first = 0; next }
            first && /\?/ { asks = 1 }
            END { exit bad || !asks }' "$folder/hints"
        for key in $(sed -n 's/^== \(.*\.cu\) /\1:/p' "$folder/hints"); do
            scripts/teach blanks "$folder${key%:*}" | cut -f 2 | grep -qx "${key#*:}"
        done
    done
}

@test "hints are shown one at a time, each once, for the first open blank, with the number of hints left" {
    fresh 01
    rm -rf .progress
    for n in 1 2 3 4; do
        run make lesson-01 hint
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *"attention.cu:"*": TODO 1, hint $n of 4"* ]]
        [[ $n = 4 || $output == *"$((4 - n)) more"* ]]
    done
    run make lesson-01 hint
    [[ $output == *"all 4 hints have been shown"* ]]
}

@test "shown hints survive clean and reset, and AGAIN=1 repeats only those" {
    fresh 02
    rm -rf .progress
    run make lesson-02 hint AGAIN=1
    [[ $output == *"No hint"* ]]
    make lesson-02 hint
    mv build "$BATS_TEST_TMPDIR/kept"
    make clean
    mv "$BATS_TEST_TMPDIR/kept" build
    echo // >>lessons/02_vectorized/attention.cu
    make lesson-02 reset
    run make lesson-02 hint AGAIN=1
    echo "$output"
    [[ $output == *"TODO 1 of attention.cu, hint 1:"* && $output != *"hint 2"* ]]
    run make lesson-02 hint
    [[ $output == *"hint 2 of 3"* ]]
}

@test "a filled blank is skipped, and BLANK selects a blank" {
    fresh 03
    rm -rf .progress
    cp solutions/03_fused_softmax/softmax.cu lessons/03_fused_softmax/softmax.cu
    run make lesson-03 hint
    [[ $output == *"03_fused_softmax/attention.cu:"*"TODO 1"* ]]
    run make lesson-03 hint BLANK=4
    [[ $output == *"attention.cu:"*"TODO 4, hint 1"* ]]
    run make lesson-03 hint BLANK=softmax.cu:2
    [[ $output == *"softmax.cu:"*"TODO 2, hint 1"* ]]
    solve 03
    run make lesson-03 hint
    [[ $output == *"No blank of lesson-03 is open, hint 1"* ]]
    refused "[no-such-blank]" make lesson-03 hint BLANK=7
}

@test "hint without a lesson, or for a solution, is refused" {
    refused "[needs-lesson]" make hint
    refused "[lessons-only]" make solution-02 hint
}

@test "a checkout that cannot be written shows hints, built or not, and says that they are not recorded" {
    fresh 01
    rm -rf .progress
    # Where there is a file instead of a folder, root cannot write either.
    touch .progress
    for built in yes no; do
        run make lesson-01 hint
        progress=$(make progress)
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *"TODO 1, hint 1 of 4"*"lessons/01_basic_attention/hints [not-recorded]" ]]
        [[ $progress == *lesson-01* ]]
        [ $built = yes ] || break
        mv build "$BATS_TEST_TMPDIR/build"
        touch build
    done
    rm build .progress
    mv "$BATS_TEST_TMPDIR/build" build
}
