#!/usr/bin/env bats
# Programs that nvcc built for a GPU, unchanged, run by the simulator's runtime library in the place of NVIDIA's.

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

# compile NAME FLAGS AND FILES...: for the simulator, unless a flag says otherwise.
compile() {
    local name=$1 code=${CODE:-compute_90}
    shift
    LD_LIBRARY_PATH= "$NVCC" -std=c++20 -lineinfo -cudart shared -gencode "arch=compute_90,code=$code" -o "$programs/$name" "$@"
}

# The lines by which the runtime explains an error.
explanations() {
    "$@" 2>&1 >/dev/null | grep '^simulator: ' || true
}

@test "the library exports every name of NVIDIA's, in the same version" {
    [ -n "$NVIDIA" ]
    names() { LD_LIBRARY_PATH= nm -D --defined-only "$1" | awk '$2 ~ /[TWA]/ { print $3 }' | sort; }
    [ "$(comm -23 <(names "$NVIDIA") <(names "$LIBRARY"))" = "" ]
    [[ $(names "$LIBRARY") == *simulator_findings@@* ]]
    [ "$(readelf -d "$LIBRARY" | grep SONAME)" = "$(readelf -d "$NVIDIA" | grep SONAME)" ]
}

@test "ordinary programs compute what they should, and nothing is said" {
    cases=$("$programs/kernels")
    [ "$(wc -w <<<"$cases")" -ge 14 ]
    for name in $cases; do
        echo "$name"
        "$programs/kernels" "$name" >/dev/null 2>"$BATS_TEST_TMPDIR/stderr"
        # These two make a mistake on purpose.
        [ "$name" = variables ] || [ "$name" = host_threads ] || [ ! -s "$BATS_TEST_TMPDIR/stderr" ]
    done
}

@test "printf comes from every thread, with every conversion" {
    run --separate-stderr "$programs/kernels" print
    [ "$(wc -l <<<"$output")" -eq 4 ]
    [[ $output == *"thread 1 of block 1: -3,  1.50, text, x, 123456789012345"* ]]
}

@test "each misuse gets the error that NVIDIA's runtime gives, and one line that explains it" {
    cases=$("$programs/errors")
    [ "$(wc -w <<<"$cases")" -ge 45 ]
    for name in $cases; do
        echo "$name"
        "$programs/errors" "$name" 2>&1
        case $name in
        fault_stays_*) ;;
        *) [ "$(explanations "$programs/errors" "$name" | wc -l)" -eq 1 ] ;;
        esac
    done
}

@test "a race fails its launch, and the next launch works" {
    "$programs/simulated" race_is_not_sticky
    "$programs/simulated" race_reaches_the_next_wait
}

@test "after a fault cudaDeviceReset makes the device usable again" {
    "$programs/simulated" reset_after_a_fault
}

@test "code without a mistake has no finding" {
    "$programs/simulated" clean_code_has_no_finding
}

@test "an endless loop ends at the limit on instructions" {
    SIMULATOR_INSTRUCTION_LIMIT=100000 "$programs/simulated" endless_loop_ends
}

@test "a call that the simulator lacks is an error that names it" {
    [[ $(explanations "$programs/simulated" call_that_is_not_there) == *cudaIpcGetMemHandle* ]]
    "$programs/simulated" call_that_is_not_there
}

@test "the blocks of a cooperative launch meet at the grid's barrier, and more than fit are refused" {
    run "$programs/simulated" cooperative_launch
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"in a cooperative launch; "*" holds 264 of them"* ]]
}

@test "a binary without PTX, or with PTX for newer GPUs only, is told how to compile" {
    CODE=sm_90 compile machine-code $small
    run "$programs/machine-code"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"code="*compute_*cudaErrorNoKernelImageForDevice ]]
    run env SIMULATOR_DEVICE=t4 "$programs/simulated" no_image
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *compute_* ]]
}

@test "an unknown SIMULATOR_DEVICE is an error that lists the known ones" {
    run env SIMULATOR_DEVICE=voodoo2 "$programs/kernels" vector_add
    [ "$status" -eq 1 ]
    [[ $output == *"SIMULATOR_DEVICE=voodoo2"*h200* ]]
    [[ $output == *cudaErrorNoDevice* ]]
}

@test "a library with kernels can be loaded and unloaded again and again" {
    "$programs/simulated" library_comes_and_goes "$programs/other.so"
}

@test "compressed and plain fat binaries, with machine code beside the PTX, are all the same" {
    for compress in '' ${TEST_ALL:+--no-compress}; do # as nvcc does by itself: compressed since CUDA 12.8
        CODE=[compute_90,sm_90] compile fat $compress $small
        "$programs/fat"
    done
}

@test "each way of compressing that nvcc has is read, or refused with the reason" {
    long
    LD_LIBRARY_PATH= "$NVCC" --help | grep -q compress-mode || skip "this nvcc has one way of compressing"
    for mode in size balance speed none; do
        compile fat --compress-mode="$mode" $small
        run "$programs/fat"
        echo "$mode: $output"
        [ "$status" -eq 0 ] || [[ $output == *"compressed in a way"*"--no-compress"* ]]
    done
}

@test "code compiled for a default stream of each thread runs the same" {
    long
    compile streams --default-stream per-thread "$sources/test_runtime_kernels.cu" "$sources/test_runtime_other.cu"
    "$programs/streams" streams_and_events
    "$programs/streams" variables
}
