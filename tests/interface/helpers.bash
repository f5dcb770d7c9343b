# Helpers for the tests of the interface. Each file of tests works in its own copy of the project, including build/, so that the
# user's lessons/ and results/ are not changed.

bats_require_minimum_version 1.5.0

# Temporary files that a running make has not renamed yet.
temporary_files() {
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
    # Another test may be building: a file that it renames during the copy is missed and built again; temporary files are removed.
    cp -a build/flags build/kernel-flags build/bin build/simulator build/objects build/kernels "$project/build" || true
    cd "$project" || return 1
    temporary_files | xargs -r rm -rf
    make lessons reset >/dev/null
    export project
}

# The first lessons compile quickly, and the interface is the same for all.
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

# solve NUMBER...: copies the solutions to the lessons. Equal files are not rewritten, so that make has nothing to build.
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

# refused TEXT COMMAND...: the command exits with status 2 and prints exactly one line that contains TEXT, not counting make's own
# lines and those about compiling. TEXT is the code of an error, [code], or a name or number; the wording is in messages.tsv.
refused() {
    expected=$1
    shift
    run "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    printed=$(grep -v -e '^make: \*\*\* \[' -e '^make: Target ' -e '^nvcc ' -e '^cc ' <<<"$output")
    [[ $printed == *"$expected"* ]]
    [ "$(wc -l <<<"$printed")" -eq 1 ]
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
