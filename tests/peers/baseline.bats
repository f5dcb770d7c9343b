#!/usr/bin/env bats
# The baseline that calls cuBLAS: on the simulator with a stand-in for cuBLAS, without one, and beside lessons that run.

bats_require_minimum_version 1.5.0
load ../long

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    place=$BATS_FILE_TMPDIR
    include=${CUDA_HOME:-/usr/local/cuda}/include
    compile="gcc -std=c17 -D_GNU_SOURCE=1 -O2 -Wall -Wextra -Werror -shared -fPIC -Icommon -isystem $include"
    $compile tests/peers/fake_cublas.c -o "$place/cublas.so" || return 1
    export place compile
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED QUICK MAKEFLAGS MAKELEVEL
}

# stand_in NAME LIBRARY LIMIT: the baseline with that library instead of cuBLAS, and scores of at most LIMIT bytes.
stand_in() {
    cat >"$place/$1.cu" <<EOF
#define CUBLAS_STAND_IN "$2"
#define SCORES_LIMIT ((size_t)$3)
#include "$PWD/baselines/cublas_unfused.cu"
EOF
    run make check KERNEL="$place/$1.cu" DEVICE=sim "${@:4}"
    echo "$output"
}

@test "what the baseline does around cuBLAS is right, in one step and in many" {
    long
    # In one step, in several, and a row at a time.
    for limit in 1073741824 20000 60; do
        stand_in whole "$place/cublas.so" "$limit" QUICK=$([ "${TEST_ALL-}" ] || [ "$limit" = 20000 ] || echo 1)
        [ "$status" -eq 0 ]
        [[ ${lines[-1]} =~ ": "([0-9]+)" of "([0-9]+)" cases right" ]]
        [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
        [ "${BASH_REMATCH[1]}" -ge 5 ]
        [[ ! ${TEST_ALL-} || ${BASH_REMATCH[1]} -gt 50 ]]
    done
}

@test "a hidden NaN gets through without the sums over the visible keys" {
    sed 's/if (error != cudaSuccess || !p->causal)/if (true)/' baselines/cublas_unfused.cu >"$place/without.cu"
    ! cmp -s baselines/cublas_unfused.cu "$place/without.cu"
    printf '#define CUBLAS_STAND_IN "%s"\n' "$place/cublas.so" | cat - "$place/without.cu" >"$place/nan.cu"
    run make check KERNEL="$place/nan.cu" DEVICE=sim SHAPE=1,2,35,64 CAUSAL=1 INPUTS=nan-value
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *"[masked-values-multiplied]"* ]]
}

@test "without cuBLAS it says so in one line" {
    stand_in missing "$place/nowhere.so" 1000
    [ "$status" -eq 2 ]
    [[ $output == *"error: kernel-missing.cu cannot run here: libcublas is not installed"* ]]
}

@test "on the simulator it says that cuBLAS does not run there" {
    for shape in "" 1,1,8,8; do
        run make check KERNEL=baselines/cublas_unfused.cu DEVICE=sim SHAPE=$shape
        echo "$output"
        [ "$status" -eq 2 ]
        [[ $output == *"cuBLAS runs on a GPU only, and this is the simulator"* ]]
    done
}

@test "bench times the lessons where a baseline cannot run, and says what is lacking" {
    long
    library=$(ldd build/bin/runner | awk '$1 ~ /^libcudart/ { print $1 }')
    echo "$library { global: *; };" >"$place/map"
    mkdir -p "$place/gpu"
    $compile -Wl,--version-script="$place/map" -Wl,-soname="$library" tests/runner/fake_cudart.c -o "$place/gpu/$library"
    for name in libcuda.so.1 libnvidia-ml.so.1; do
        $compile -Wl,-soname=$name tests/runner/fake_driver.c -o "$place/gpu/$name"
    done
    $compile tests/runner/fake_attention.c common/dtype.c common/message.c -o "$place/attention.so" -lm
    cat >"$place/lacking.c" <<'EOF'
#include "attention.h"
static const char *unavailable(void) {
    return "a library is not installed";
}
const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32, .max_head_dim = 512, .unavailable = unavailable};
cudaError_t attention_forward(const struct attention_problem *problem, cudaStream_t stream) {
    (void)problem, (void)stream;
    return cudaErrorSharedObjectInitFailed;
}
EOF
    $compile "$place/lacking.c" -o "$place/lacking.so"
    LD_LIBRARY_PATH=$place/gpu run build/bin/attention bench --name lesson-01 --kernel "$place/attention.so" \
        --name baseline-lacking --kernel "$place/lacking.so" --shape 1,2,64,32 --device gpu --results "$place/results"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"baseline-lacking"*": a library is not installed"* ]]
    grep -q lesson-01 "$place"/results/*/attention.csv
    run ! grep -q baseline "$place"/results/*/attention.csv
}

@test "the whole ladder has the baseline beside it, one lesson has not" {
    run make -n bench
    [[ $output == *"--name baseline-cublas_unfused --source baselines/cublas_unfused.cu"* ]]
    run make -n solution-02 bench
    [[ $output == *"--name solution-02_vectorized"* ]]
    [[ $output != *baseline* ]]
}
