#!/usr/bin/env bats
# What is said of findings of one class: the cause that the address, the allocation's history, the mask or the barrier proves.

load program.bash

setup_file() {
    compile_program causes causes 90a
}

# told CASE WORDS...: the output has all of the words
told() {
    run build/tests/causes/causes "$1"
    echo "$output"
    [ "$status" -eq 1 ]
    for words in "${@:2}"; do
        [[ $output == *"$words"* ]]
    done
}

@test "an address out of bounds has the cause that it proves" {
    told past "past the last byte" "Usual cause: an index is not checked against the size"
    told before "4 bytes before" "Usual cause: an index is negative"
    told null "not in device memory: a null pointer" "Usual cause: the pointer is null"
    told host "not in device memory: a host pointer" "Usual cause: a pointer to the program's own memory"
    told freed "[use-after-free]" "Usual cause: cudaFree() comes before the last use"
    told wrapped "Usual cause: an index of 32 bits has wrapped around: 2^32 elements further on lies allocation 2 of 12884901888 bytes"
}

@test "an address that proves nothing has no cause" {
    told far "past the last byte of allocation 1"
    [[ $output != *"Usual cause"* ]]
}

@test "a mask without the lane itself is told from a lane that is elsewhere" {
    told mask "the mask 000000ff does not contain lane 8" "Usual cause: a lane may only name itself"
    told other-branch "does not execute the shuffle"
    [[ $output != *"returned early"* ]]
}

@test "a prefetch of a tensor map needs the map's alignment" {
    told map "[misaligned-access]" "prefetch.tensormap at causes.cu" "which is not a multiple of 64 bytes" "Usual cause: a CUtensorMap needs alignas(64)"
    run build/tests/causes/causes aligned-map
    [ "$status" -eq 0 ]
}

@test "a deadlock names the mbarrier, the phase and what is missing" {
    told arrivals "waits for parity 0 of the mbarrier full[1]" "so for phase 0, which is the current one and lacks 1 of 2 arrivals and 0 of 0 bytes"
    run build/tests/causes/causes ring
    [ "$status" -eq 0 ]
}

@test "a consumer that signals before others of its group have read is told from a missing barrier" {
    told early-reads "[block-race]" "Usual cause: one thread signals for others that may still be at work"
    run build/tests/causes/causes together
    [ "$status" -eq 0 ]
}

@test "a deadlock that shows in some orders only is found by trying several, with what repeats it" {
    SIMULATOR_ORDERS=8 SIMULATOR_COMMAND=this told early "[deadlock]" "waits for parity 1 of the mbarrier bar[0]" "Again: SIMULATOR_ORDER="
    order=$(sed -n 's/.*Again: SIMULATOR_ORDER=\([0-9]*\) this$/\1/p' <<<"$output")
    SIMULATOR_ORDERS=8 SIMULATOR_ORDER=$order told early "[deadlock]"
    [[ $output != *Again* ]]
    run build/tests/causes/causes early
    [ "$status" -eq 0 ]
    SIMULATOR_ORDERS=8 run build/tests/causes/causes together
    echo "$output"
    [ "$status" -eq 0 ]
}
