#!/usr/bin/env bats
# What lessons 08 and 09 do not take: one line from the check, an error from attention_forward, and no launch.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    mkdir -p build/dtypes
    kernels="build/kernels/solutions/08_tensor_cores/attention.so build/kernels/solutions/09_swizzled_pipeline/attention.so"
    # shellcheck disable=SC2086 # words
    make --no-print-directory build/bin/attention build/bin/runner $kernels >/dev/null
    # shellcheck disable=SC2046 # words
    set -- $(scripts/find-cuda)
    library=$2/lib64
    [ -d "$library" ] || library=$2/lib
    gcc -std=c17 -Wall -Wextra -Werror -Icommon -isystem "$2/include" tests/dtypes/refused.c -o build/dtypes/refused \
        "-L$library" -lcudart -ldl
}

# says LINE OPTION...: of both lessons the check ends with status 2 and that line alone.
says() {
    for kernel in $kernels; do
        lesson=$(basename "$(dirname "$kernel")")
        run build/bin/attention check --name "solution-$lesson" --source "solutions/$lesson/attention.cu" --kernel "$kernel" \
            --device sim "${@:2}"
        echo "$output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "error: "*"$1"* ]]
    done
}

@test "the check says in one line what is not covered" {
    says "takes fp16 or bf16" --dtype fp32 --shape 1,1,64,64
    says "covers head dimensions up to 256, not 257" --dtype bf16 --shape 1,1,64,257
}

@test "the check says in one line that a GPU is too old" {
    export SIMULATOR_DEVICE=t4
    says "needs compute capability 8.0, and Tesla T4 (simulated) has 7.5" --dtype bf16 --shape 1,1,64,64
}

@test "attention_forward returns an error and launches nothing" {
    for kernel in $kernels; do
        run env LD_LIBRARY_PATH=build/simulator build/dtypes/refused "$kernel"
        echo "$output"
        [ "$status" -eq 0 ]
    done
}

@test "nor does it on a GPU that is too old" {
    for kernel in $kernels; do
        run env LD_LIBRARY_PATH=build/simulator SIMULATOR_DEVICE=t4 build/dtypes/refused "$kernel" old
        echo "$output"
        [ "$status" -eq 0 ]
    done
}
