#!/usr/bin/env bats
# tests/gpu/repeats on the simulator, a few times: lessons whose page says that each launch gives the same bits, and a kernel
# that does not.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    make --no-print-directory build/bin/attention build/bin/runner >/dev/null # and with it the simulator
}

@test "lessons that claim reproducibility give the same bits each time" {
    pages=$(grep -l '^    tests/gpu/repeats ' lessons/*/README.md)
    [ "$(wc -w <<<"$pages")" -ge 2 ]
    for page in $pages; do
        lesson=$(basename "$(dirname "$page")")
        run tests/gpu/repeats --device sim --times 3 "$lesson"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == "$lesson "*"the same bits in 3 launches, of 4 shapes and types" ]]
    done
}

@test "a kernel whose output changes is detected, in o and in lse alone" {
    mkdir -p build/dtypes
    for what in 'p->o' 'p->lse'; do
        cat >build/dtypes/changing.c <<END
#include "attention.h"
const struct attention_lesson attention_lesson = {.dtypes = 1u << ATTENTION_BF16, .max_head_dim = 64, .lse = 1};
cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    static int launches;
    (void)stream;
    return cudaMemset($what, launches++ / 2, 1);
}
END
        # shellcheck disable=SC2046 # words
        set -- $(scripts/find-cuda)
        gcc -std=c17 -shared -fPIC -Icommon -isystem "$2/include" build/dtypes/changing.c -o build/dtypes/changing.so
        run env LD_LIBRARY_PATH=build/simulator build/tests/repeats 2 sim changing build/dtypes/changing.so
        [ "$status" -eq 0 ]
        run env LD_LIBRARY_PATH=build/simulator build/tests/repeats 3 sim changing build/dtypes/changing.so
        echo "$output"
        [ "$status" -eq 1 ]
        [[ $output == *"other bits in some launch of 3"* ]]
    done
}

@test "warp roles with random delays give the same bits, and different bits of another kernel are detected" {
    long
    run tests/gpu/delays --device sim --times 3 14_warp_specialization
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"14_warp_specialization "*"the same bits in 3 launches, of 4 shapes and types" ]]
    [ "$(grep -c 'delay();' build/tests/delays/14_warp_specialization/hopper.cuh)" -eq 2 ] # at its beginning, and at each try
    run env LD_LIBRARY_PATH=build/simulator build/tests/repeats 2 sim changing build/dtypes/changing.so \
        build/tests/delays/14_warp_specialization/kernel.so
    [ "$status" -eq 1 ]
}

@test "a kernel that cannot run is reported" {
    run build/tests/repeats 1 sim 11 build/kernels/solutions/11_swizzle/attention.so
    [ "$status" -eq 2 ]
    run env LD_LIBRARY_PATH=build/simulator build/tests/repeats 2 sim none /nonexistent.so
    [ "$status" -eq 2 ]
    [[ $output == "repeats: /nonexistent.so: "* ]]
}
