# For the tests of the interface. Each file of tests works in a copy of the project, with what is built already, so that
# nobody's lessons/ or results/ are touched.

bats_require_minimum_version 1.5.0

# What a make writes before it renames it.
half_made() {
    find build -name '*.[0-9]*' ! -name 'libcudart*' ! -name '*.cu.*'
}

# copy_project [NUMBER...]: with these lessons, or all of them.
copy_project() {
    project=$BATS_FILE_TMPDIR/project
    mkdir -p "$project/build"
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    cp -a Makefile make scripts setup common simulator plots teach "$project"
    mkdir -p "$project/lessons" "$project/solutions" "$project/results" "$project/tests"
    cp -a tests/fixtures "$project/tests"
    [ ! -e toolchain ] || ln -s "$PWD/toolchain" "$project/toolchain"
    for folder in $( [ $# -eq 0 ] && echo solutions/*/ || printf 'solutions/%s_*/ ' "$@"); do
        cp -a "$folder" "$project/solutions"
        mkdir -p "$project/lessons/$(basename "$folder")"
        cp -a "lessons/$(basename "$folder")/README.md" "$project/lessons/$(basename "$folder")" || true
    done
    # Another test may be building: what it renames while it is copied is missed and built again, what it has not renamed
    # yet is none of this copy's.
    cp -a build/flags build/kernel-flags build/bin build/simulator build/objects build/kernels "$project/build" || true
    cd "$project" || return 1
    half_made | xargs -r rm -rf
    make lessons reset >/dev/null
    export project
}

# The first lessons are quick to compile, and the interface is the same for all.
setup_file() {
    copy_project 01 02 03 04
}

setup() {
    cd "$project" || return 1
    unset DEVICE SHAPE CAUSAL DTYPE DATA KERNEL SEED TIME_LIMIT RESULTS MAKEFLAGS MAKELEVEL
    export DEVICE=sim
}

# The numbers of all lessons.
numbers() {
    printf '%s\n' solutions/[0-9][0-9]_* | sed 's,.*/\(..\)_.*,\1,'
}

# lesson-02 solved, as a learner would have it at the end. What is so already is not written again, so that make has
# nothing to build.
solve() {
    for number; do
        for file in $(grep -l '// TODO ' solutions/"$number"_*/*.cu); do
            cmp -s "$file" "lessons/${file#solutions/}" || cp "$file" "lessons/${file#solutions/}"
        done
    done
}

fresh() {
    for number; do
        rm -f lessons/"$number"_*/*.cu lessons/"$number"_*/*.cu.*
    done
    make "${@/#/lesson-}" reset >/dev/null
}

# refused WORDS COMMAND...: the command ends with status 2, and of the lines that it prints, make's own and those about
# compiling aside, one holds WORDS and there is no other.
refused() {
    words=$1
    shift
    run "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    said=$(grep -v -e '^make: \*\*\* \[' -e '^make: Target ' -e '^nvcc ' -e '^cc ' <<<"$output")
    [[ $said == *"$words"* ]]
    [ "$(wc -l <<<"$said")" -eq 1 ]
}

# kernel_file FILE LAUNCH: a kernel file whose attention_forward() does what LAUNCH says, on the problem p.
kernel_file() {
    cat >"$1" <<END
#include "attention.h"
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>

__global__ void fill(float *o, int64_t count, float value) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < count)
        o[i] = value;
}

__global__ void spin(volatile float *o) {
    while (o[0] != 12345.0f)
        ;
}

__global__ void stray(float *o) {
    o[-1000000000LL - threadIdx.x] = 1.0f;
}

const struct attention_lesson attention_lesson = {.dtypes = 1u << ATTENTION_FP32, .max_head_dim = 512,
                                                  .min_compute_capability = 75};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    float *o = (float *)p->o;
    const int64_t count = (int64_t)p->batch * p->heads * p->nq * p->head_dim;
    (void)o, (void)count, (void)stream;
    $2
    return cudaGetLastError();
}
END
}
