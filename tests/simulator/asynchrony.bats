#!/usr/bin/env bats
# Work in streams, copies and the host: each program of asynchrony/ is clean, and with one synchronization left out it is reported.

load program.bash

setup_file() {
    compile_program asynchrony streams 90
}

# pair CASE CODE WORDS: the case is clean, and broken it is reported with the code and the words
pair() {
    run build/tests/asynchrony/streams "$1"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    run build/tests/asynchrony/streams "$1" broken
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *"[$2]"* && $output == *"$3"* ]]
}

@test "launches in two streams need an event between them" {
    pair event stream-race "reads byte 0 of allocation 1 (32768 bytes), which kernel fill writes at streams.cu:10"
    pair overwritten stream-race "writes byte 0 of allocation 1 (32768 bytes), which kernel copy reads at streams.cu:15"
    pair event-too-early stream-race "which kernel fill writes"
}

@test "a non-blocking stream does not wait for the default stream" {
    pair legacy stream-race "which kernel fill writes"
    pair memset stream-race "which a memset writes"
}

@test "copies are ordered like launches" {
    pair copies stream-race "an asynchronous copy writes the bytes from byte 128 of"
    pair copy-of-result stream-race "an asynchronous copy reads byte 0 of allocation 1 (32768 bytes), which kernel fill writes"
}

@test "the host waits before it accesses pinned memory" {
    pair pinned host-race "the host reads byte 16380 of allocation 3 (16384 bytes) before it has waited for a copy, which may still write it"
    pair refilled host-race "the host writes byte 28 of allocation 3 (16384 bytes) before it has waited for a copy, which may still read it"
}

@test "the host waits before it accesses managed memory" {
    pair managed host-race "the host reads byte 8192 of allocation 4 (16384 bytes) before it has waited for kernel fill (streams.cu:10), which may still write it"
    pair half host-race "byte 1020"
    pair signal host-race "waited for kernel signal"
}

@test "a host that does not wait reads what was there before the work, but does not poll for ever" {
    pair pinned host-race "the host has read 16843009"
    pair managed host-race "the host has read 0"
    pair spin host-race "the host reads byte 0 of allocation 4"
}

@test "a dependent launch waits before it uses the work of the launch before" {
    pair dependent programmatic-launch-race "which kernel first writes at"
    pair chain programmatic-launch-chain "which kernel first writes at"
}
