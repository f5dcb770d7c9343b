#!/usr/bin/env bats
# The comparison with PyTorch, as far as it goes without one, and without a GPU.

bats_require_minimum_version 1.5.0
load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED QUICK MAKEFLAGS MAKELEVEL
    export PYTHONDONTWRITEBYTECODE=1
}

unit() {
    run python3 -m unittest "tests.peers.$1"
    echo "$output"
    [ "$status" -eq 0 ]
}

# refused WORDS COMMAND...: status 2, and one line that holds WORDS, make's own aside.
refused() {
    words=$1
    shift
    run "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    said=$(grep -v -e '^make: \*\*\* \[' -e '^make: Target ' <<<"$output")
    [[ $said == *"$words"* ]]
    [ "$(wc -l <<<"$said")" -eq 1 ]
}

# A Python with a torch package that does what $1 says.
python_with() {
    mkdir -p "$BATS_TEST_TMPDIR/packages"
    echo "$1" >"$BATS_TEST_TMPDIR/packages/torch.py"
    printf '#!/bin/sh\nPYTHONPATH=%s exec python3 "$@"\n' "$BATS_TEST_TMPDIR/packages" >"$BATS_TEST_TMPDIR/python"
    chmod +x "$BATS_TEST_TMPDIR/python"
}

@test "the structs are those of the headers" {
    unit test_structs
}

@test "shapes and the command line" {
    unit test_shapes
}

@test "rows of results" {
    unit test_results
}

@test "the lessons are called as they want to be, on the simulator" {
    long
    export LD_LIBRARY_PATH=$PWD/build/simulator
    unit test_lessons
}

@test "what is right in 16 bits, PyTorch on the CPU" {
    python3 -c 'import torch' 2>/dev/null || skip "PyTorch is not installed"
    unit test_reference
}

@test "samples, waits and rounds" {
    unit test_timing
}

@test "a whole comparison, PyTorch on the CPU" {
    python3 -c 'import torch' 2>/dev/null || skip "PyTorch is not installed"
    unit test_whole
}

@test "without PyTorch, without a GPU, with a PyTorch that is too old: one line, before anything is built" {
    python_with 'raise ImportError("No module named torch")'
    refused "PyTorch cannot be imported by" make peers PYTHON="$BATS_TEST_TMPDIR/python"
    python_with 'class cuda: is_available = lambda: False'
    refused "a comparison needs a GPU, and none answers PyTorch" make peers PYTHON="$BATS_TEST_TMPDIR/python"
    python_with '
class cuda: is_available = lambda: True
class nn: pass
__version__ = "1.0"'
    refused "PyTorch 1.0 is too old" make peers PYTHON="$BATS_TEST_TMPDIR/python"
}

@test "what it cannot compare" {
    long
    refused "SHAPE=1,2,3 cannot be read" make peers SHAPE=1,2,3
    refused "SHAPE=3,4" make peers SHAPE=3,4 CAUSAL=1
    refused "peers needs a GPU" make peers DEVICE=sim
    refused "no KERNEL or DATA" make peers KERNEL=baselines/cublas_unfused.cu
    refused "peers goes alone" make lesson-01 check peers
    refused "there is no lesson-99" make lesson-99 peers
}

@test "a lesson that was asked for is built and named" {
    run make -n solution-01 solution-04 peers SHAPE=1,1,8,8 SEED=3
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *"peers/compare.py --shape '1,1,8,8' "*"--seed '3' --lessons solution-01,solution-04 --results 'results'"* ]]
}

@test "the element type is passed on, and one that is not known is refused" {
    run make -n peers DTYPE=bf16
    echo "$output"
    [[ ${lines[-1]} == *"peers/compare.py --dtype 'bf16' --results 'results'"* ]]
    run make -n peers
    [[ ${lines[-1]} != *"--dtype"* ]]
    refused "DTYPE=fp8 is unknown" make peers DTYPE=fp8
}

@test "it can be started from anywhere, as a file and as a module" {
    python3 -m peers.compare --help | grep -q -- --time-budget
    cd /
    python3 "$OLDPWD/peers/compare.py" --help | grep -q -- --time-budget
}
