#!/usr/bin/env bats
# FlashAttention-3 as a peer, with a fake source tree: it is found, compiled and called with the right arguments; invalid trees are
# rejected. The tests run in a copy of the project, so that an existing build is not changed.

bats_require_minimum_version 1.5.0
load ../long

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    export root=$BATS_FILE_TMPDIR/root
    mkdir -p "$root"
    cp -R Makefile make scripts teach simulator peers common solutions baselines "$root/"
    rm -rf "$root"/solutions/0[2-9]_* "$root"/baselines/*
}

setup() {
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED QUICK DTYPE MAKEFLAGS MAKELEVEL
    export PYTHONDONTWRITEBYTECODE=1
    tree=$BATS_TEST_TMPDIR/tree
    cp -R "$BATS_TEST_DIRNAME/fake_fa3" "$tree"
    cd "$root"
}

# A Python with a fake torch that reports a GPU of compute capability $1.
python_with_gpu() {
    mkdir -p "$BATS_TEST_TMPDIR/packages/torch/nn"
    echo "class cuda:
    is_available = lambda: True
    get_device_capability = lambda: (${1/./, })" >"$BATS_TEST_TMPDIR/packages/torch/__init__.py"
    touch "$BATS_TEST_TMPDIR/packages/torch/nn/__init__.py" "$BATS_TEST_TMPDIR/packages/torch/nn/attention.py"
    printf '#!/bin/sh\nPYTHONPATH=%s exec python3 "$@"\n' "$BATS_TEST_TMPDIR/packages" >"$BATS_TEST_TMPDIR/python"
    chmod +x "$BATS_TEST_TMPDIR/python"
}

# refused TEXT ARGUMENT...: make exits with status 2 and prints one line, not counting make's own, that contains TEXT.
refused() {
    text=$1
    shift
    run --separate-stderr make "$@"
    echo "$output"
    echo "$stderr"
    [ "$status" -eq 2 ]
    message=$(grep -v -e '^make: \*\*\* \[' -e '^make: Target ' -e '^make: \*\*\* Waiting' <<<"$stderr")
    [[ $message == *"$text"* ]]
    [ "$(wc -l <<<"$message")" -eq 1 ]
}

@test "invalid trees and options are rejected in one line, before anything is built" {
    refused "FA3=/nowhere is not a folder; give a checkout of flash-attention, or its folder hopper/ [no-folder]" peers DTYPE=bf16 FA3=/nowhere
    refused "$root/hopper/flash.h is missing [not-fa3]" peers DTYPE=bf16 FA3="$root"
    refused "[conflict]" peers FA3="$tree"
    refused "[conflict]" peers DTYPE=fp32 FA3="$tree"
    refused "[wrong-action]" solution-01 check FA3="$tree" DTYPE=bf16
    refused "[no-cutlass]" peers DTYPE=bf16 FA3="$tree" CUTLASS=/nowhere
    refused "[bad-path]" peers DTYPE=bf16 FA3="$tree/a b"
    rm -r "$tree/csrc"
    refused "[no-cutlass]" peers DTYPE=bf16 FA3="$tree"
    rm "$tree/hopper/instantiations/flash_fwd_hdim128_fp16_sm90.cu"
    refused "$tree/hopper/instantiations/flash_fwd_hdim128_fp16_sm90.cu is missing [not-fa3]" peers DTYPE=fp16 FA3="$tree"
    [ ! -e build/fa3 ]
    [ ! -e build/kernels ]
}

@test "an unsupported GPU is reported before the compilation" {
    python_with_gpu 8.9
    refused "has 8.9; omit FA3 [unsupported-gpu]" \
        peers DTYPE=bf16 FA3="$tree" PYTHON="$BATS_TEST_TMPDIR/python"
    [ ! -e build/fa3/bf16/launcher.o ]
}

@test "a tree that does not compile: one line, and existing files are kept" {
    python_with_gpu 9.0
    make build/kernels/solutions/01_basic_attention/attention.so
    mkdir -p results/some-gpu
    echo kept >results/some-gpu/attention.csv
    echo '#error "a header that is broken"' >>"$tree/hopper/flash_fwd_launch_template.h"
    refused "error: FlashAttention-3 does not compile: $tree/hopper/flash_fwd_launch_template.h" \
        solution-01 peers DTYPE=bf16 FA3="$tree" PYTHON="$BATS_TEST_TMPDIR/python"
    [[ $message == *"a header that is broken"*"build/fa3/bf16/hdim"*".o.log [compile-failed]" ]]
    [ "$(cat results/some-gpu/attention.csv)" = kept ]
    [ -e build/kernels/solutions/01_basic_attention/attention.so ]
    [ ! -e build/fa3/bf16/hdim64.o ]
    # The next build reports the error again.
    refused "[compile-failed]" build/fa3/bf16/attention.so DTYPE=bf16 FA3="$tree"
}

@test "it is compiled once, also from the folder hopper/, and again if a header or the tree changes" {
    long
    run make build/fa3/bf16/attention.so DTYPE=bf16 FA3="$tree"
    [ "$status" -eq 0 ]
    [ "$(grep -c 'sm90.cu (takes minutes)' <<<"$output")" -eq 3 ]
    run make build/fa3/bf16/attention.so DTYPE=bf16 FA3="$tree/hopper"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    touch "$tree/hopper/flash_fwd_launch_template.h"
    run make build/fa3/bf16/attention.so DTYPE=bf16 FA3="$tree"
    [ "$(grep -c 'sm90.cu (takes minutes)' <<<"$output")" -eq 3 ]
    mv "$tree/csrc/cutlass" "$BATS_TEST_TMPDIR/other"
    run make build/fa3/bf16/attention.so DTYPE=bf16 FA3="$tree" CUTLASS="$BATS_TEST_TMPDIR/other"
    [ "$(grep -c 'sm90.cu (takes minutes)' <<<"$output")" -eq 3 ]
    # The library exports only the interface of attention.h.
    [ "$(nm -D --defined-only build/fa3/bf16/attention.so | awk '$2 != "W" { print $3 }' | sort | xargs)" = \
        "attention_forward attention_lesson" ]
}

@test "its arguments are right: shapes, strides, masks, and a counter of 0 before each causal launch" {
    long
    for dtype in bf16 fp16; do
        make build/fa3/$dtype/attention.so DTYPE=$dtype FA3="$tree"
        LD_LIBRARY_PATH=$BATS_TEST_DIRNAME/../../build/simulator \
            python3 "$BATS_TEST_DIRNAME/fa3_calls.py" build/fa3/$dtype/attention.so $dtype | sort | uniq -c >calls
        [ $dtype = bf16 ] && is=1 || is=0
        diff <(sed "s/DTYPE/$dtype/; s/IS/$is/" "$BATS_TEST_DIRNAME/fake_fa3/expected") calls
    done
}

@test "the library and its version are passed on" {
    python_with_gpu 9.0
    run make -n solution-01 peers DTYPE=bf16 FA3="$tree" PYTHON="$BATS_TEST_TMPDIR/python"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *"--dtype 'bf16' --fa3 'build/fa3/bf16/attention.so' --fa3-version 'flash-attention unknown, CUTLASS unknown'"* ]]
}
