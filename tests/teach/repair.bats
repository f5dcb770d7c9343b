#!/usr/bin/env bats
# make lesson-NN repair, and the broken kernels themselves.

load ../long
load helpers

copy_of() {
    echo lessons/"$1"_*/README.md | sed 's/README\.md/repaired.cu/'
}

# make test repairs lesson 02's: the whole check of 01 takes long, and so do the compilers of most others.

# rejected NUMBER WORDS: the broken kernel is, with these words.
rejected() {
    rm -f "$(copy_of "$1")"
    run make "lesson-$1" repair
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"$2"* && $output != *"Repaired"* ]]
    cmp "build/repair/lesson-$1/repaired.cu" "$(copy_of "$1")"
}

repaired() {
    (cd lessons/"$1"_* && git apply -p0 "$project/tests/teach/repair-$1.patch")
    run make "lesson-$1" repair
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"Repaired"* ]]
}

@test "every broken kernel is its solution with the patch, and the tests' patch repairs it" {
    for patch in solutions/*/repair.patch; do
        number=${patch#solutions/}
        number=${number%%_*}
        build/bin/teach skeleton --filled solutions/"$number"_*/attention.cu >"$(copy_of "$number")"
        (cd lessons/"$number"_* && git apply "$project/$patch" && git apply -p0 "$project/tests/teach/repair-$number.patch")
        rm "$(copy_of "$number")"
    done
}

@test "01: rejected where head_dim is under 128, as its page says, and right once it is repaired" {
    long
    rejected 01 "uninitialised shared memory"
    [[ $output == *"elements wrong"* ]]
    make lesson-01 repair SHAPE=1,1,20:40,128
    run ! make lesson-01 repair SHAPE=1,1,20:40,96
    repaired 01
}

@test "02: rejected where the keys are no multiple of four, as its page says, and right once it is repaired" {
    rejected 02 "repaired.cu:"
    for keys in 36 64 100; do
        make lesson-02 repair "SHAPE=1,1,5:$keys,64"
    done
    run ! make lesson-02 repair SHAPE=1,1,5:37,64
    repaired 02
}

@test "03: rejected as a race, and right once it is repaired" {
    long
    rejected 03 "race: "
    repaired 03
}

@test "04: its numbers are right, it is rejected by its bank conflicts, trace names the line; right once it is repaired" {
    long
    rm -rf .progress
    rejected 04 "Every number is right, and yet it is not repaired"
    [[ $output == *"wavefronts of shared memory"* ]]
    # A part of the check proves nothing.
    run make lesson-04 repair SHAPE=1,1,20:20,64
    [ "$status" -eq 0 ]
    [[ $output == *"Right so far"* ]]
    [ ! -e .progress/repairs ]
    library=$(copy_of 04)
    run scripts/teach trace --name repaired --source "$(copy_of 04)" --kernel "build/kernels/${library%.cu}.so"
    grep -A 1 'tile.K\[colum' <<<"$output" | grep -q ' 8\.0 '
    repaired 04
}

@test "05: rejected as a race of the weights, and right once it is repaired" {
    long
    rejected 05 "race within a warp: "
    repaired 05
}

@test "06: rejected as a race of a copy where a block has several tiles, and right once it is repaired" {
    long
    rejected 06 "race: cp_async.cuh:"
    make lesson-06 repair SHAPE=1,1,64,64
    run ! make lesson-06 repair SHAPE=1,1,17:129,64
    repaired 06
}

@test "07: rejected where a share has pieces of two items, and right once it is repaired" {
    long
    rejected 07 "elements wrong"
    make lesson-07 repair SHAPE=1,1,64,64
    repaired 07
}

@test "08: rejected where a row has more than eight keys or a warp more than eight rows, and right once it is repaired" {
    long
    rejected 08 "elements wrong"
    make lesson-08 repair SHAPE=1,1,8:8,64
    run ! make lesson-08 repair SHAPE=1,1,16:8,64
    run ! make lesson-08 repair SHAPE=1,1,8:16,64
    repaired 08
}

@test "09: its numbers are right, it is rejected by its bank conflicts, and right once it is repaired" {
    long
    rejected 09 "Every number is right, and yet it is not repaired"
    repaired 09
}

@test "10: rejected where heads are larger than 128, as its page says, and right once it is repaired" {
    long
    rejected 10 "repaired.cu:"
    make lesson-10 repair SHAPE=1,1,130:200,128
    run ! make lesson-10 repair SHAPE=1,1,5:37,192
    repaired 10
}

@test "11: rejected by the simulator, and right once it is repaired" {
    long
    rejected 11 "simulator: "
    repaired 11
}

@test "12: rejected where there are two tiles of keys, as its page says, and right once it is repaired" {
    long
    rejected 12 "elements wrong"
    make lesson-12 repair SHAPE=1,1,70:128,128
    run ! make lesson-12 repair SHAPE=1,1,70:129,128
    repaired 12
}

@test "13: its numbers are right, it is rejected by the simulator, and right once it is repaired" {
    long
    rejected 13 "simulator: "
    [[ $output != *"elements wrong"* ]]
    repaired 13
}

@test "14: rejected where there are two tiles of keys, as its page says, and right once it is repaired" {
    long
    rejected 14 "elements wrong"
    make lesson-14 repair SHAPE=1,1,70:128,128 CAUSAL=1
    run ! make lesson-14 repair SHAPE=1,1,70:129,128 CAUSAL=1
    repaired 14
}

@test "the copy is never written over, and progress knows what is repaired" {
    long
    rm -rf .progress
    rm -f lessons/*/repaired.cu
    [[ $(make progress | grep lesson-02) == *" -" ]]
    # As if it were in work.
    make lesson-02 repair >/dev/null || true
    sed -i 's/key < nk ? p.softmax_scale \* score_sum(share) : 0.0f/p.softmax_scale * score_sum(share)/' "$(copy_of 02)"
    cp "$(copy_of 02)" "$BATS_TEST_TMPDIR/mine.cu"
    [[ $(make progress | grep lesson-02) == *begun* ]]
    make lesson-02 repair
    cmp "$(copy_of 02)" "$BATS_TEST_TMPDIR/mine.cu"
    [[ $(make progress | grep lesson-02) == *" done"* ]]
}

@test "repair without a lesson, or for a solution" {
    refused "repair needs a lesson" make repair
    refused "repair is for lessons" make solution-02 repair
}
