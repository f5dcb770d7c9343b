#!/usr/bin/env bats
# FlashAttention-3 as a peer, with a stand-in for its source tree: found, compiled, called as it wants to be; and trees that are
# none. In a copy of what it needs, so that one that was built stays.

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

# A Python whose torch sees a GPU of compute capability $1 and does nothing else.
python_with_gpu() {
    mkdir -p "$BATS_TEST_TMPDIR/packages/torch/nn"
    echo "class cuda:
    is_available = lambda: True
    get_device_capability = lambda: (${1/./, })" >"$BATS_TEST_TMPDIR/packages/torch/__init__.py"
    touch "$BATS_TEST_TMPDIR/packages/torch/nn/__init__.py" "$BATS_TEST_TMPDIR/packages/torch/nn/attention.py"
    printf '#!/bin/sh\nPYTHONPATH=%s exec python3 "$@"\n' "$BATS_TEST_TMPDIR/packages" >"$BATS_TEST_TMPDIR/python"
    chmod +x "$BATS_TEST_TMPDIR/python"
}

# refused WORDS ARGUMENT...: make with these has status 2 and says one line that holds WORDS, make's own aside; nothing is built.
refused() {
    words=$1
    shift
    run --separate-stderr make "$@"
    echo "$output"
    echo "$stderr"
    [ "$status" -eq 2 ]
    said=$(grep -v -e '^make: \*\*\* \[' -e '^make: Target ' -e '^make: \*\*\* Waiting' <<<"$stderr")
    [[ $said == *"$words"* ]]
    [ "$(wc -l <<<"$said")" -eq 1 ]
}

@test "what is no FlashAttention-3 is refused in one line, before anything is built" {
    refused "FA3=/nowhere is no folder" peers DTYPE=bf16 FA3=/nowhere
    refused "is no FlashAttention-3: there is no $root/hopper/flash.h" peers DTYPE=bf16 FA3="$root"
    refused "FA3 takes part in 16 bits only" peers FA3="$tree"
    refused "FA3 takes part in 16 bits only" peers DTYPE=fp32 FA3="$tree"
    refused "FA3 and CUTLASS go with peers" solution-01 check FA3="$tree" DTYPE=bf16
    refused "CUTLASS=/nowhere is no CUTLASS" peers DTYPE=bf16 FA3="$tree" CUTLASS=/nowhere
    refused "has a space in a name" peers DTYPE=bf16 FA3="$tree/a b"
    rm -r "$tree/csrc"
    refused "lacks CUTLASS in $tree/csrc/cutlass: git submodule update" peers DTYPE=bf16 FA3="$tree"
    rm "$tree/hopper/instantiations/flash_fwd_hdim128_fp16_sm90.cu"
    refused "there is no $tree/hopper/instantiations/flash_fwd_hdim128_fp16_sm90.cu" peers DTYPE=fp16 FA3="$tree"
    [ ! -e build/fa3 ]
    [ ! -e build/kernels ]
}

@test "a GPU that it does not run on is told before it is compiled" {
    python_with_gpu 8.9
    refused "FlashAttention-3's kernels are for compute capability 9.0 alone, and this GPU has 8.9" \
        peers DTYPE=bf16 FA3="$tree" PYTHON="$BATS_TEST_TMPDIR/python"
    [ ! -e build/fa3/bf16/launcher.o ]
}

@test "a tree that does not compile: one line, and what is there stays" {
    python_with_gpu 9.0
    make build/kernels/solutions/01_basic_attention/attention.so
    mkdir -p results/some-gpu
    echo kept >results/some-gpu/attention.csv
    echo '#error "a header that is broken"' >>"$tree/hopper/flash_fwd_launch_template.h"
    refused "error: FlashAttention-3 does not compile: $tree/hopper/flash_fwd_launch_template.h" \
        solution-01 peers DTYPE=bf16 FA3="$tree" PYTHON="$BATS_TEST_TMPDIR/python"
    [[ $said == *"a header that is broken"*"all of it is in build/fa3/bf16/hdim"*".o.log" ]]
    [ "$(cat results/some-gpu/attention.csv)" = kept ]
    [ -e build/kernels/solutions/01_basic_attention/attention.so ]
    [ ! -e build/fa3/bf16/hdim64.o ]
    # The next time it is said again.
    refused "FlashAttention-3 does not compile" build/fa3/bf16/attention.so DTYPE=bf16 FA3="$tree"
}

@test "it is compiled once, from the folder hopper/ as well, and again where a header or the tree changes" {
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
    # Nothing but the contract is to be seen from outside.
    [ "$(nm -D --defined-only build/fa3/bf16/attention.so | awk '$2 != "W" { print $3 }' | sort | xargs)" = \
        "attention_forward attention_lesson" ]
}

@test "it is called as it wants to be: shapes, strides, masks, the counter at 0 before each causal launch" {
    long
    for dtype in bf16 fp16; do
        make build/fa3/$dtype/attention.so DTYPE=$dtype FA3="$tree"
        LD_LIBRARY_PATH=$BATS_TEST_DIRNAME/../../build/simulator \
            python3 "$BATS_TEST_DIRNAME/fa3_calls.py" build/fa3/$dtype/attention.so $dtype | sort | uniq -c >told
        [ $dtype = bf16 ] && is=1 || is=0
        diff <(sed "s/DTYPE/$dtype/; s/IS/$is/" "$BATS_TEST_DIRNAME/fake_fa3/expected") told
    done
}

@test "the library and where it is from are passed on" {
    python_with_gpu 9.0
    run make -n solution-01 peers DTYPE=bf16 FA3="$tree" PYTHON="$BATS_TEST_TMPDIR/python"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *"--dtype 'bf16' --fa3 'build/fa3/bf16/attention.so' --fa3-version 'flash-attention unknown, CUTLASS unknown'"* ]]
}
