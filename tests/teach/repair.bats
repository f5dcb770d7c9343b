#!/usr/bin/env bats
# make lesson-NN repair, and the broken kernels.

load ../long
load helpers

copy_of() {
    echo lessons/"$1"_*/README.md | sed 's/README\.md/repaired.cu/'
}

# make test repairs only lesson 02: the whole check of 01, and compiling most others, takes long.

# rejected NUMBER TEXT: the broken kernel of the lesson is rejected, and the output contains TEXT.
rejected() {
    rm -f "$(copy_of "$1")"
    run make "lesson-$1" repair
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"$2"* && $output != *"[repaired]"* ]]
    cmp "build/repair/lesson-$1/repaired.cu" "$(copy_of "$1")"
}

repaired() {
    (cd lessons/"$1"_* && git apply -p0 "$project/tests/teach/repair-$1.patch")
    run make "lesson-$1" repair
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"[repaired]"* ]]
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

@test "01: rejected for head_dim under 128, as its page says, and passes once it is repaired" {
    long
    rejected 01 "[uninitialized-shared]"
    [[ $output == *"elements wrong"* ]]
    make lesson-01 repair SHAPE=1,1,20:40,128
    run ! make lesson-01 repair SHAPE=1,1,20:40,96
    repaired 01
}

@test "02: rejected if the number of keys is not a multiple of four, as its page says, and passes once it is repaired" {
    rejected 02 "repaired.cu:"
    for keys in 36 64 100; do
        make lesson-02 repair "SHAPE=1,1,5:$keys,64"
    done
    run ! make lesson-02 repair SHAPE=1,1,5:37,64
    repaired 02
}

@test "03: rejected for a race, and passes once it is repaired" {
    long
    rejected 03 "race: "
    repaired 03
}

@test "04: rejected for bank conflicts with correct results, trace names the line, and passes once it is repaired" {
    long
    rm -rf .progress
    rejected 04 "[bank-conflicts]"
    [[ $output != *"elements wrong"* ]]
    # A partial check does not prove the repair.
    run make lesson-04 repair SHAPE=1,1,20:20,64
    [ "$status" -eq 0 ]
    [[ $output == *"[partial-check]"* ]]
    [ ! -e .progress/repairs ]
    library=$(copy_of 04)
    run scripts/teach trace --name repaired --source "$(copy_of 04)" --kernel "build/kernels/${library%.cu}.so"
    grep -A 1 'smem.K\[colum' <<<"$output" | grep -q ' 8\.0 '
    repaired 04
}

@test "05: rejected for a race on P, and passes once it is repaired" {
    long
    rejected 05 "race within a warp: "
    repaired 05
}

@test "06: rejected for a race of an asynchronous copy if a block has several tiles, and passes once it is repaired" {
    long
    rejected 06 "race: cp_async.cuh:"
    make lesson-06 repair SHAPE=1,1,64,64
    run ! make lesson-06 repair SHAPE=1,1,17:129,64
    repaired 06
}

@test "07: rejected if a row has several tiles, and passes once it is repaired" {
    long
    rejected 07 "[tiles-not-rescaled]"
    make lesson-07 repair SHAPE=1,1,64:64,64
    run ! make lesson-07 repair SHAPE=1,1,64:200,64
    repaired 07
}

@test "08: rejected if a work tile is split between shares, and passes once it is repaired" {
    long
    rejected 08 "elements wrong"
    make lesson-08 repair SHAPE=1,1,64:32,64
    run ! make lesson-08 repair SHAPE=1,1,64:256,64
    repaired 08
}

@test "09: rejected if a row has more than eight keys or a warp more than eight rows, and passes once it is repaired" {
    long
    rejected 09 "elements wrong"
    make lesson-09 repair SHAPE=1,1,8:8,64
    run ! make lesson-09 repair SHAPE=1,1,16:8,64
    run ! make lesson-09 repair SHAPE=1,1,8:16,64
    repaired 09
}

@test "10: rejected by the simulator for a single tile, too, and passes once it is repaired" {
    long
    rejected 10 "simulator: "
    run ! make lesson-10 repair SHAPE=1,1,64:64,64
    repaired 10
}

@test "11: rejected for bank conflicts with correct results, and passes once it is repaired" {
    long
    rejected 11 "[bank-conflicts]"
    repaired 11
}

@test "12: rejected for three tiles of keys, as its page says, and passes once it is repaired" {
    long
    rejected 12 "simulator: "
    make lesson-12 repair SHAPE=1,1,64:128,64
    run ! make lesson-12 repair SHAPE=1,1,64:192,64
    repaired 12
}

@test "13: rejected for head_dim over 128, as its page says, and passes once it is repaired" {
    long
    rejected 13 "repaired.cu:"
    make lesson-13 repair SHAPE=1,1,130:200,128
    run ! make lesson-13 repair SHAPE=1,1,5:37,192
    repaired 13
}

@test "14: rejected by the simulator, and passes once it is repaired" {
    long
    rejected 14 "simulator: "
    repaired 14
}

@test "15: rejected for two tiles of keys, as its page says, and passes once it is repaired" {
    long
    rejected 15 "elements wrong"
    make lesson-15 repair SHAPE=1,1,70:128,128
    run ! make lesson-15 repair SHAPE=1,1,70:129,128
    repaired 15
}

@test "16: rejected as a deadlock, and passes once it is repaired" {
    long
    rejected 16 "simulator: "
    [[ $output == *deadlock* ]]
    repaired 16
}

@test "17: rejected by the simulator with correct results, and passes once it is repaired" {
    long
    rejected 17 "simulator: "
    [[ $output != *"elements wrong"* ]]
    repaired 17
}

@test "18: rejected by the simulator for head_dim over 128, as its page says, and passes once it is repaired" {
    long
    rejected 18 "simulator: "
    make lesson-18 repair SHAPE=1,1,300:300,64 CAUSAL=1
    run ! make lesson-18 repair SHAPE=1,1,300:300,256 CAUSAL=1
    repaired 18
}

@test "19: rejected if a block has two work tiles, as its page says, and passes once it is repaired" {
    long
    rejected 19 "elements wrong"
    make lesson-19 repair SHAPE=1,1,70:129,128
    run ! make lesson-19 repair SHAPE=1,140,70:129,128
    repaired 19
}

@test "20: rejected for two tiles of keys, as its page says, and passes once it is repaired" {
    long
    rejected 20 "elements wrong"
    make lesson-20 repair SHAPE=1,1,70:128,128 CAUSAL=1
    run ! make lesson-20 repair SHAPE=1,1,70:129,128 CAUSAL=1
    repaired 20
}

@test "22 and 23: rejected by the simulator, and pass once they are repaired" {
    long
    rejected 22 "race between blocks: "
    repaired 22
    rejected 23 "race with an asynchronous copy or wgmma: "
    repaired 23
}

@test "24: rejected if a share has more pages than a warp has lanes, and passes once it is repaired" {
    long
    rejected 24 "elements wrong"
    make lesson-24 repair SHAPE=70,1,1:500,16 LAYOUT=pages16
    run ! make lesson-24 repair SHAPE=70,1,1:1200,16 LAYOUT=pages16
    repaired 24
}

@test "25 and 26: rejected for wrong gradients, and pass once they are repaired" {
    long
    rejected 25 "dq and dk lack the softmax scale [scale-missing-in-gradients]"
    repaired 25
    rejected 26 "[wrong-output]"
    repaired 26
}

@test "27 and 28: rejected by the simulator with correct results, and pass once they are repaired" {
    long
    rejected 27 "race with an asynchronous copy or wgmma: "
    [[ $output != *"elements wrong"* ]]
    repaired 27
    rejected 28 "reductions without an order: "
    [[ $output != *"elements wrong"* ]]
    repaired 28
}

@test "29: rejected on any number of GPUs, and passes once it is repaired" {
    long
    rejected 29 "race between streams: "
    run ! make lesson-29 repair SHAPE=1,1,64,64 GPUS=1
    repaired 29
}

@test "30: rejected on four GPUs and right on three, as its page says, and passes once it is repaired" {
    long
    rejected 30 "race between streams: ncclRecv"
    make lesson-30 repair SHAPE=1,1,96,64 GPUS=3
    run ! make lesson-30 repair SHAPE=1,1,96,64 GPUS=4
    repaired 30
}

@test "31: rejected with the mask alone, as its page says, and passes once it is repaired" {
    long
    rejected 31 "uninitialized global memory: "
    make lesson-31 repair SHAPE=1,1,64,64
    run ! make lesson-31 repair SHAPE=1,1,64,64 CAUSAL=1
    repaired 31
}

@test "the learner's copy is never overwritten, and progress shows repairs" {
    long
    rm -rf .progress
    rm -f lessons/*/repaired.cu
    [[ $(make progress | grep lesson-02) == *" -" ]]
    # A repair in progress.
    make lesson-02 repair >/dev/null || true
    sed -i 's/key < nk ? p.softmax_scale \* reduce_score(partial) : 0.0f/p.softmax_scale * reduce_score(partial)/' "$(copy_of 02)"
    cp "$(copy_of 02)" "$BATS_TEST_TMPDIR/mine.cu"
    [[ $(make progress | grep lesson-02) == *begun* ]]
    make lesson-02 repair
    cmp "$(copy_of 02)" "$BATS_TEST_TMPDIR/mine.cu"
    [[ $(make progress | grep lesson-02) == *" done"* ]]
}

@test "repair without a lesson, or for a solution, is an error" {
    refused "[needs-lesson]" make repair
    refused "[lessons-only]" make solution-02 repair
}
