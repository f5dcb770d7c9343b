#!/usr/bin/env bats
# What lessons in 16 bits do not take: one line from the check, an error from attention_forward, and no launch.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    mkdir -p build/dtypes
    lessons=$(cd solutions && grep -LE 'ATTENTION_FP32|decode|backward|ring_attention' ./*/attention.cu | cut -d / -f 2)
    # shellcheck disable=SC2046 # words
    make --no-print-directory build/bin/attention build/bin/runner $(kernels) >/dev/null
    # shellcheck disable=SC2046 # words
    set -- $(scripts/find-cuda)
    library=$2/lib64
    [ -d "$library" ] || library=$2/lib
    gcc -std=c17 -Wall -Wextra -Werror -Icommon -isystem "$2/include" tests/dtypes/refused.c -o build/dtypes/refused \
        "-L$library" -lcudart -ldl
}

kernels() {
    # shellcheck disable=SC2086 # words
    printf 'build/kernels/solutions/%s/attention.so\n' $lessons
}

# Lessons from 12 on load tiles by TMA, on Hopper alone.
bulk() {
    [[ $1 == 1[2-9]* || $1 == 2* ]]
}

# check LESSON OPTION...: it ends with status 2 and one line.
check() {
    run build/bin/attention check --name "solution-$1" --source "solutions/$1/attention.cu" \
        --kernel "build/kernels/solutions/$1/attention.so" --device sim "${@:2}"
    echo "$output"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "the check names an unsupported feature in one line" {
    for lesson in $lessons; do
        check "$lesson" --dtype fp32 --shape 1,1,64,64
        [[ $output == "error: "*"takes fp16 or bf16"* ]]
        check "$lesson" --dtype bf16 --shape 1,1,64,257
        [[ $output == "error: "*"covers head dimensions up to 256, not 257"* ]]
        ! bulk "$lesson" && continue
        check "$lesson" --dtype bf16 --shape 1,1,64,60
        [[ $output == "error: "*"60"* ]]
        check "$lesson" --dtype bf16 --shape 1,2,16,64 --layout 2056,1028,64
        [[ $output == "error: "*"1028"* ]]
    done
}

@test "the check reports in one line that a GPU is too old" {
    export SIMULATOR_DEVICE=t4
    for lesson in $lessons; do
        check "$lesson" --dtype bf16 --shape 1,1,64,64
        needed=8.0
        ! bulk "$lesson" || needed=9.0
        [[ $output == "error: "*"needs compute capability $needed, and Tesla T4 (simulated) has 7.5"* ]]
    done
}

@test "attention_forward returns an error and launches nothing" {
    for lesson in $lessons; do
        run env LD_LIBRARY_PATH=build/simulator build/dtypes/refused "build/kernels/solutions/$lesson/attention.so" \
            $(! bulk "$lesson" || echo bulk)
        echo "$lesson: $output"
        [ "$status" -eq 0 ]
    done
}

# Lessons from 12 on first make a tensor map of each tensor, which such a GPU does not support: cudaErrorNotSupported, 801.
@test "attention_forward returns an error on a GPU that is too old" {
    for lesson in $lessons; do
        run env LD_LIBRARY_PATH=build/simulator SIMULATOR_DEVICE=t4 build/dtypes/refused \
            "build/kernels/solutions/$lesson/attention.so" old "$(bulk "$lesson" && echo 801 || echo 209)"
        echo "$lesson: $output"
        [ "$status" -eq 0 ]
    done
}
