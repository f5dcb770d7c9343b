#!/usr/bin/env bats
# Pairs of small programs in pairs/: NAME.broken.cu has one fault, which its first line states, and NAME.fixed.cu is the same program
# without the fault.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE MAKEFLAGS MAKELEVEL
    pairs=tests/simulator/pairs
}

@test "the simulator's first finding about each broken program of a pair is the one that the program names" {
    misjudged=
    for program in "$pairs"/*.broken.cu; do
        finding=$(sed -n 's,^// Finding: ,,p' "$program")
        run make run PROGRAM="$program"
        first=$(grep -m 1 '^simulator: error: ' <<<"$output") || true
        if [ "$status" -eq 0 ] || [ -z "$finding" ] || [[ $first != *"[$finding]" ]]; then
            misjudged+="$program: status $status, ${first:-no finding}"$'\n'
        fi
    done
    echo "$misjudged"
    [ -z "$misjudged" ]
}

@test "the mended program of each pair computes the right result without a finding" {
    misjudged=
    for program in "$pairs"/*.fixed.cu; do
        run make run PROGRAM="$program"
        if [ "$status" -ne 0 ] || [[ $output == *"simulator: "* ]]; then
            misjudged+="$program: status $status, $output"$'\n'
        fi
    done
    echo "$misjudged"
    [ -z "$misjudged" ]
}

@test "each broken program has a mended one, and conversely" {
    cd "$pairs"
    [ "$(ls ./*.broken.cu | sed 's/\.broken\.cu$//')" = "$(ls ./*.fixed.cu | sed 's/\.fixed\.cu$//')" ]
}
