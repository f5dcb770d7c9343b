#!/usr/bin/env bats
# Small programs in pairs/: NAME.cu is right, and NAME.patch makes in it the mistake that the patch states. make test runs every
# program with its mistake and, of the right ones, those of the first three names: tests/right has eighty more that are right.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE MAKEFLAGS MAKELEVEL
    pairs=tests/simulator/pairs
}

@test "the simulator's first finding about each program with its mistake is the one that the patch names" {
    misjudged=
    for change in "$pairs"/*.patch; do
        name=$(basename "$change" .patch)
        finding=$(sed -n 's,^Finding: ,,p' "$change")
        program=$BATS_TEST_TMPDIR/$name.cu
        patch -s -o "$program" "$pairs/$name.cu" "$change"
        run make run PROGRAM="$program"
        first=$(grep -m 1 '^simulator: error: ' <<<"$output") || true
        if [ "$status" -eq 0 ] || [ -z "$finding" ] || [[ $first != *"[$finding]" ]]; then
            misjudged+="$change: status $status, ${first:-no finding}"$'\n'
        fi
    done
    echo "$misjudged"
    [ -z "$misjudged" ]
}

# run_right PROGRAM...: each computes the right result, and nothing is found.
run_right() {
    misjudged=
    for program; do
        run make run PROGRAM="$program"
        if [ "$status" -ne 0 ] || [[ $output == *"simulator: "* ]]; then
            misjudged+="$program: status $status, $output"$'\n'
        fi
    done
    echo "$misjudged"
    [ -z "$misjudged" ]
}

@test "without the mistake, the first three programs compute the right result without a finding" {
    # shellcheck disable=SC2046 # words
    run_right $(printf '%s\n' "$pairs"/*.cu | head -n 3)
}

@test "without the mistake, each program computes the right result without a finding" {
    long
    run_right "$pairs"/*.cu
}

@test "each program has a patch, and conversely" {
    cd "$pairs"
    [ "$(ls ./*.cu)" = "$(ls ./*.patch | sed 's/patch$/cu/')" ]
}
