#!/usr/bin/env bats
# Programs that nvcc built for a GPU run unchanged with the simulator's runtime library instead of NVIDIA's.

bats_require_minimum_version 1.5.0
load ../long

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    read -r NVCC CUDA version _ <<<"$(scripts/find-cuda)"
    major=${version%%.*}
    make -s "build/simulator/libcudart.so.$major"
    export programs=build/tests/runtime sources=tests/simulator NVCC LIBRARY=build/simulator/libcudart.so.$major
    export NVIDIA=$(ls "$CUDA"/lib64/libcudart.so."$major" "$CUDA"/lib/libcudart.so."$major" 2>/dev/null | head -n 1)
    mkdir -p "$programs"
    compile other.o -c -Xcompiler -fPIC "$sources/test_runtime_other.cu"
    compile kernels "$sources/test_runtime_kernels.cu" "$programs/other.o"
    compile errors "$sources/test_runtime_errors.cu"
    compile simulated "$sources/test_runtime_simulated.cu" -ldl
    compile other.so -shared "$programs/other.o"
    export LD_LIBRARY_PATH=build/simulator
}

setup() {
    small="$sources/runtime/small.c $sources/test_runtime_other.cu"
    cd "$BATS_TEST_DIRNAME/../.."
}

# compile NAME FLAGS AND FILES...: compiles for the simulator, unless a flag selects something else.
compile() {
    local name=$1 code=${CODE:-compute_90}
    shift
    LD_LIBRARY_PATH= "$NVCC" -std=c++20 -lineinfo -cudart shared -gencode "arch=compute_90,code=$code" -o "$programs/$name" "$@"
}

# The lines in which the runtime explains an error.
explanations() {
    "$@" 2>&1 >/dev/null | grep '^simulator: ' || true
}

@test "the library exports every symbol of NVIDIA's library with the same version" {
    [ -n "$NVIDIA" ]
    names() { LD_LIBRARY_PATH= nm -D --defined-only "$1" | awk '$2 ~ /[TWA]/ { print $3 }' | sort; }
    [ "$(comm -23 <(names "$NVIDIA") <(names "$LIBRARY"))" = "" ]
    [[ $(names "$LIBRARY") == *simulator_findings@@* ]]
    [ "$(readelf -d "$LIBRARY" | grep SONAME)" = "$(readelf -d "$NVIDIA" | grep SONAME)" ]
}

@test "correct programs give correct results and no message" {
    cases=$("$programs/kernels")
    [ "$(wc -w <<<"$cases")" -ge 14 ]
    for name in $cases; do
        echo "$name"
        "$programs/kernels" "$name" >/dev/null 2>"$BATS_TEST_TMPDIR/stderr"
        # These two programs make a mistake on purpose.
        [ "$name" = variables ] || [ "$name" = host_threads ] || [ ! -s "$BATS_TEST_TMPDIR/stderr" ]
    done
}

@test "device printf prints from every thread, with every conversion" {
    run --separate-stderr "$programs/kernels" print
    [ "$(wc -l <<<"$output")" -eq 4 ]
    [[ $output == *"thread 1 of block 1: -3,  1.50, text, x, 123456789012345"* ]]
}

@test "each misuse returns the error of NVIDIA's runtime, and one line explains it" {
    cases=$("$programs/errors")
    [ "$(wc -w <<<"$cases")" -ge 45 ]
    for name in $cases; do
        echo "$name"
        "$programs/errors" "$name" 2>&1
        case $name in
        fault_is_sticky_*) ;;
        *) [ "$(explanations "$programs/errors" "$name" | wc -l)" -eq 1 ] ;;
        esac
    done
}

# The golden texts of the runtime's messages, with addresses masked. Messages of findings have their own tests.
@test "the messages of misuses match their golden texts" {
    for name in $("$programs/errors"); do
        explanations "$programs/errors" "$name" | sed -n "/\[cudaError/s/^/$name: /p" | sed 's/0x[0-9a-f]*/0x.../g'
    done >"$BATS_TEST_TMPDIR/messages"
    diff "$sources/runtime/messages" "$BATS_TEST_TMPDIR/messages"
}

@test "a race fails its launch, but not the next launch" {
    "$programs/simulated" race_is_not_sticky
    "$programs/simulated" race_is_reported_at_the_next_synchronization
}

@test "cudaDeviceReset makes the device usable after a fault" {
    "$programs/simulated" reset_after_a_fault
}

@test "correct code has no finding" {
    "$programs/simulated" clean_code_has_no_finding
}

@test "an endless loop ends at the instruction limit" {
    SIMULATOR_INSTRUCTION_LIMIT=100000 "$programs/simulated" endless_loop_ends
}

@test "an unsupported call is an error that names the call" {
    [[ $(explanations "$programs/simulated" unsupported_call) == *cudaIpcGetMemHandle*"[cudaErrorNotSupported]" ]]
    "$programs/simulated" unsupported_call
}

@test "blocks of a cooperative launch synchronize at the grid barrier, and a grid that cannot be resident is rejected" {
    run "$programs/simulated" cooperative_launch
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" 264 "*"[cudaErrorCooperativeLaunchTooLarge]"* ]]
}

@test "for a binary without PTX, or with PTX for newer GPUs only, the error says how to compile it" {
    CODE=sm_90 compile machine-code $small
    run "$programs/machine-code"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"code="*compute_*"[cudaErrorNoKernelImageForDevice]"*cudaErrorNoKernelImageForDevice ]]
    run env SIMULATOR_DEVICE=t4 "$programs/simulated" no_image
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *compute_*"[cudaErrorNoKernelImageForDevice]"* ]]
}

@test "an unknown SIMULATOR_DEVICE is an error that lists the known ones" {
    run env SIMULATOR_DEVICE=voodoo2 "$programs/kernels" vector_add
    [ "$status" -eq 1 ]
    [[ $output == *"SIMULATOR_DEVICE=voodoo2"*h200*"[cudaErrorNoDevice]"* ]]
}

@test "a shared library with kernels can be loaded and unloaded repeatedly" {
    "$programs/simulated" library_load_and_unload "$programs/other.so"
}

@test "compressed and uncompressed fat binaries with machine code and PTX give the same result" {
    for compress in '' ${TEST_ALL:+--no-compress}; do # as nvcc does by itself: compressed since CUDA 12.8
        CODE=[compute_90,sm_90] compile fat $compress $small
        "$programs/fat"
    done
}

@test "every compression mode of nvcc is supported, or rejected with the remedy" {
    long
    LD_LIBRARY_PATH= "$NVCC" --help | grep -q compress-mode || skip "this nvcc has one way of compressing"
    for mode in size balance speed none; do
        compile fat --compress-mode="$mode" $small
        run "$programs/fat"
        echo "$mode: $output"
        [ "$status" -eq 0 ] || [[ $output == *"--no-compress"*"[cudaErrorNoKernelImageForDevice]"* ]]
    done
}

@test "code compiled with per-thread default streams gives the same results" {
    long
    compile streams --default-stream per-thread "$sources/test_runtime_kernels.cu" "$sources/test_runtime_other.cu"
    "$programs/streams" streams_and_events
    "$programs/streams" variables
}
