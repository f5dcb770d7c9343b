#!/usr/bin/env bats
# The baseline that calls cuBLAS: on the simulator with a fake cuBLAS, without cuBLAS, and timed together with lessons.

bats_require_minimum_version 1.5.0
load ../long

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    folder=$BATS_FILE_TMPDIR
    include=${CUDA_HOME:-/usr/local/cuda}/include
    compile="gcc -std=c17 -D_GNU_SOURCE=1 -O2 -Wall -Wextra -Werror -shared -fPIC -Icommon -isystem $include"
    $compile tests/peers/fake_cublas.c -o "$folder/cublas.so" || return 1
    export folder compile
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED QUICK MAKEFLAGS MAKELEVEL
}

# check_baseline NAME LIBRARY LIMIT: checks the baseline with LIBRARY instead of cuBLAS and at most LIMIT bytes of scores.
check_baseline() {
    cat >"$folder/$1.cu" <<EOF
#define CUBLAS_STAND_IN "$2"
#define SCORES_LIMIT ((size_t)$3)
#include "$PWD/baselines/cublas_unfused.cu"
EOF
    run make check KERNEL="$folder/$1.cu" DEVICE=sim "${@:4}"
    echo "$output"
}

@test "the baseline is correct with all scores in one chunk and in many chunks" {
    long
    # One chunk, several chunks, one row per chunk.
    for limit in 1073741824 20000 60; do
        check_baseline whole "$folder/cublas.so" "$limit" QUICK=$([ "${TEST_ALL-}" ] || [ "$limit" = 20000 ] || echo 1)
        [ "$status" -eq 0 ]
        [[ ${lines[-1]} =~ ": "([0-9]+)" of "([0-9]+)" cases right" ]]
        [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
        [ "${BASH_REMATCH[1]}" -ge 5 ]
        [[ ! ${TEST_ALL-} || ${BASH_REMATCH[1]} -gt 50 ]]
    done
}

@test "without cuBLAS one line reports the missing library" {
    check_baseline missing "$folder/nowhere.so" 1000
    [ "$status" -eq 2 ]
    [[ $output == *"error: kernel-missing.cu cannot run here: libcublas is not installed"* ]]
}

@test "on the simulator the baseline reports that cuBLAS needs a GPU" {
    for shape in "" 1,1,8,8; do
        run make check KERNEL=baselines/cublas_unfused.cu DEVICE=sim SHAPE=$shape
        echo "$output"
        [ "$status" -eq 2 ]
        [[ $output == *"cuBLAS runs on a GPU only, and this is the simulator"* ]]
    done
}

@test "bench times the lessons if a baseline cannot run, and reports the reason" {
    long
    library=$(ldd build/bin/runner | awk '$1 ~ /^libcudart/ { print $1 }')
    echo "$library { global: *; };" >"$folder/map"
    mkdir -p "$folder/gpu"
    $compile -Wl,--version-script="$folder/map" -Wl,-soname="$library" tests/runner/fake_cudart.c -o "$folder/gpu/$library"
    for name in libcuda.so.1 libnvidia-ml.so.1; do
        $compile -Wl,-soname=$name tests/runner/fake_driver.c -o "$folder/gpu/$name"
    done
    $compile tests/runner/fake_attention.c common/dtype.c common/message.c -o "$folder/attention.so" -lm
    cat >"$folder/lacking.c" <<'EOF'
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
    $compile "$folder/lacking.c" -o "$folder/lacking.so"
    LD_LIBRARY_PATH=$folder/gpu run build/bin/attention bench --name lesson-01 --kernel "$folder/attention.so" \
        --name baseline-lacking --kernel "$folder/lacking.so" --shape 1,2,64,32 --device gpu --results "$folder/results"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"baseline-lacking"*": a library is not installed"* ]]
    grep -q lesson-01 "$folder"/results/*/attention.csv
    run ! grep -q baseline "$folder"/results/*/attention.csv
}

@test "bench times the baseline with the complete ladder, but not with one lesson" {
    run make -n bench
    [[ $output == *"--name baseline-cublas_unfused --source baselines/cublas_unfused.cu"* ]]
    run make -n solution-02 bench
    [[ $output == *"--name solution-02_vectorized"* ]]
    [[ $output != *baseline* ]]
}
