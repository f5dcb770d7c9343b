#!/usr/bin/env bats
# Several devices and the stand-in for NCCL: each case of devices/ is clean, and with one call left out it is reported.

load program.bash

setup_file() {
    compile_program devices devices 90 -Icommon -Xlinker build/simulator/libnccl.so.2
    export SIM_DEVICES=4
}

# pair CASE WORDS: the case is clean, and broken it is reported with the words
pair() {
    run build/tests/devices/devices "$1"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    run build/tests/devices/devices "$1" broken
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *"$2"* ]]
}

@test "a kernel reaches another device's memory only with peer access" {
    pair peer "reads allocation 1 of 16384 bytes, which is in the memory of device 0, but the kernel runs on device 1"
}

@test "events order work of different devices" {
    pair peer-copy "an asynchronous copy reads byte 0 of allocation 1 (16384 bytes), which kernel fill writes"
}

@test "kernels' attributes, variables, streams and the current device belong to a device or a thread" {
    pair attributes "exceed the kernel's limit"
    pair stream "the stream belongs to device 1, and the calling thread's current device is 0"
    run build/tests/devices/devices threads
    [ "$status" -eq 0 ]
}

@test "there are as many devices as SIM_DEVICES says" {
    SIM_DEVICES=2 run build/tests/devices/devices ring
    [ "$status" -eq 3 ]
    [[ $output == *"rank 2 is to have device 2, and there are 2 devices"* ]]
    SIM_DEVICES=9 run build/tests/devices/devices ring
    [[ $output == *"invalid SIM_DEVICES=9: the simulator has 1 to 8 devices"* ]]
    run build/tests/devices/devices ring
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}

@test "messages are ordered by streams" {
    pair sent-early "ncclSend of rank 0 to rank 1 reads byte 0 of allocation 1 (16384 bytes), which kernel fill writes"
    pair read-early "which ncclRecv of rank 0 from rank 1 writes; nothing orders the two"
    pair refilled "which ncclSend of rank 0 to rank 1 reads; nothing orders the two"
}

@test "messages have counterparts of their size" {
    pair size "ncclSend of rank 0 to rank 1 has 16384 bytes, and its counterpart, ncclRecv of rank 1 from rank 0, has 8192 [nccl-size]"
    pair unanswered "rank 0 waits in ncclRecv of 16384 bytes from rank 1, and rank 1 in nothing"
    pair ungrouped "rank 0 waits in ncclSend of 16384 bytes to rank 1, and rank 1 in nothing"
    pair gather "rank 0 waits in ncclAllGather, and rank 2 in nothing"
    pair in-threads "rank 0 waits in ncclAllGather, and rank 1 in nothing"
}

@test "messages have buffers of their own, on their own device" {
    pair overlap "ncclRecv of rank 1 from rank 0 writes bytes that ncclSend of rank 1 to rank 0, at the same time, reads [nccl-overlap]"
    pair wrong-device "has a buffer in the memory of device 0; its communicator belongs to device 1 [wrong-device]"
}

@test "an exchange with a rank that has failed ends" {
    pair peer-fails "out of bounds"
}
