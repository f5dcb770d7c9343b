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
    [[ $output == *"$3"*"[$2]"* ]]
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
    pair pinned host-race "the host accesses byte 16380 of allocation 3 (16384 bytes), which an asynchronous copy or memset may still write"
    pair refilled host-race "the host writes byte 28 of allocation 3 (16384 bytes), which an asynchronous copy or memset may still read"
}

@test "the host waits before it accesses managed memory" {
    pair managed host-race "the host accesses byte 8192 of allocation 4 (16384 bytes), which kernel fill, at streams.cu:10, may still write"
    pair half host-race "byte 1020"
    pair signal host-race "which kernel signal"
}

@test "a dependent launch waits before it uses the work of the launch before" {
    pair dependent programmatic-launch-race "which kernel first writes at"
    pair chain programmatic-launch-chain "which kernel first writes at"
}
