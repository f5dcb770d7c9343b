#!/usr/bin/env bats
# A right kernel without its lesson's idea, that work overlaps, is told so; the solution is not.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED TIME_LIMIT MAKEFLAGS MAKELEVEL
}

# compared SCRIPT: what a check says beside its verdict of lesson 16, whose solution the sed script has changed
compared() {
    folder=$BATS_TEST_TMPDIR/kernel
    mkdir -p "$folder"
    sed "$1" solutions/16_ping_pong/attention.cu >"$folder/attention.cu"
    "${NVCC:-nvcc}" -shared -std=c++20 -lineinfo -cudart shared -Icommon -Xcompiler -fPIC --no-compress \
        -gencode arch=compute_90a,code=compute_90a -o "$folder/attention.so" "$folder/attention.cu" || return
    run build/bin/teach compare --name overlap --source lessons/16_ping_pong/attention.cu --kernel "$folder/attention.so"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a solution has its lesson's idea" {
    long
    compared ''
    [[ $output != *no-overlap* ]]
}

@test "scores that are waited for together with the products before them leave nothing in flight" {
    compared 's/wgmma_wait_group<1>/wgmma_wait_group<0>/'
    [[ $output == *"right, but without the lesson's idea: 0 waits that leave wgmma in flight, where the solution has "*"[no-overlap]"* ]]
}

@test "warpgroups that take no turns" {
    long
    compared '/pingpong_sync();$/d; /pingpong_arrive();$/d'
    [[ $output == *"right, but without the lesson's idea: "*" turns at named barriers, where the solution has "*"[no-overlap]"* ]]
    [[ $output != *"leave wgmma"* ]]
}
