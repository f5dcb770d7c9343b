#!/usr/bin/env bats
# The comparison with PyTorch: the parts that need no GPU and no PyTorch.

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

# refused TEXT COMMAND...: status 2, and one line, not counting make's own, that contains TEXT.
refused() {
    text=$1
    shift
    run "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    message=$(grep -v -e '^make: \*\*\* \[' -e '^make: Target ' <<<"$output")
    [[ $message == *"$text"* ]]
    [ "$(wc -l <<<"$message")" -eq 1 ]
}

# A Python with a fake package torch whose source is $1.
python_with() {
    mkdir -p "$BATS_TEST_TMPDIR/packages"
    echo "$1" >"$BATS_TEST_TMPDIR/packages/torch.py"
    printf '#!/bin/sh\nPYTHONPATH=%s exec python3 "$@"\n' "$BATS_TEST_TMPDIR/packages" >"$BATS_TEST_TMPDIR/python"
    chmod +x "$BATS_TEST_TMPDIR/python"
}

@test "the structs have the layout of the headers" {
    unit test_structs
}

@test "shapes and the command line" {
    unit test_shapes
}

@test "rows of a comparison that may be cut, and the order of its shapes" {
    unit test_rows
}

@test "rows of results" {
    unit test_results
}

@test "the lessons run on the simulator through ctypes" {
    long
    export LD_LIBRARY_PATH=$PWD/build/simulator
    unit test_lessons
}

@test "the check of outputs in 16 bits, PyTorch on the CPU" {
    python3 -c 'import torch' 2>/dev/null || skip "PyTorch is not installed"
    unit test_reference
}

@test "samples, spin kernels and repetitions" {
    unit test_timing
}

@test "a whole comparison, PyTorch on the CPU" {
    python3 -c 'import torch' 2>/dev/null || skip "PyTorch is not installed"
    unit test_whole
}

@test "without PyTorch, without a GPU, with an old PyTorch: one line, before anything is built" {
    python_with 'raise ImportError("No module named torch")'
    refused "[no-torch]" make peers PYTHON="$BATS_TEST_TMPDIR/python"
    python_with 'class cuda: is_available = lambda: False'
    refused "PyTorch finds no GPU, which a comparison needs; see nvidia-smi [no-gpu]" make peers PYTHON="$BATS_TEST_TMPDIR/python"
    python_with '
class cuda: is_available = lambda: True
class nn: pass
__version__ = "1.0"'
    refused "[old-torch]" make peers PYTHON="$BATS_TEST_TMPDIR/python"
}

@test "arguments that exclude a comparison" {
    long
    refused "[bad-shape]" make peers SHAPE=1,2,3
    refused "[conflict]" make peers SHAPE=3,4 CAUSAL=1
    refused "[needs-gpu]" make peers DEVICE=sim
    refused "[wrong-action]" make peers KERNEL=baselines/cublas_unfused.cu
    refused "[exclusive-goal]" make lesson-01 check peers
    refused "[unknown-goal]" make lesson-99 peers
}

@test "a selected lesson is built and named" {
    run make -n solution-01 solution-04 peers SHAPE=1,1,8,8 SEED=3
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *"peers/compare.py --shape '1,1,8,8' "*"--seed '3' --lessons solution-01,solution-04 --results 'results'"* ]]
}

@test "the element type is passed on, and an unknown one is rejected" {
    run make -n peers DTYPE=bf16
    echo "$output"
    [[ ${lines[-1]} == *"peers/compare.py --dtype 'bf16' --results 'results'"* ]]
    run make -n peers
    [[ ${lines[-1]} != *"--dtype"* ]]
    refused "[usage]" make peers DTYPE=fp8
}

@test "it starts from any folder, as a file and as a module" {
    python3 -m peers.compare --help | grep -q -- --time-budget
    cd /
    python3 "$OLDPWD/peers/compare.py" --help | grep -q -- --time-budget
}
