#!/usr/bin/env bats
# The microbenchmarks of the ceilings: the copy copies, and the multiply-adds are all there.

bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    export library=build/kernels/common/runner/ceilings.so
    make "$library" >/dev/null
    gcc -std=c17 -Wall -Wextra -Werror -Icommon -isystem "${CUDA_HOME:-/usr/local/cuda}/include" tests/runner/ceilings_run.c \
        -o "$BATS_FILE_TMPDIR/run" build/simulator/libcudart.so.* -ldl
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
}

@test "the copy copies every byte, whatever the size, and the simulator finds nothing" {
    LD_LIBRARY_PATH=build/simulator run "$BATS_FILE_TMPDIR/run" "$library"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c ': same$' <<<"$output")" -eq 7 ]
}

@test "the loop of the multiply-adds holds those that are counted, and next to nothing else" {
    "${NVCC:-nvcc}" -std=c++20 -O3 -Icommon -arch=compute_75 -ptx -o "$BATS_TEST_TMPDIR/ptx" common/runner/ceilings.cu
    awk '/[.]entry.*multiply_add/ { inside = 1 }
        inside && /^\$/ { adds = others = 0 }
        inside && /fma[.]rn[.]f32/ { adds++; next }
        inside && /^\t[a-z@]/ { others++ }
        inside && /setp/ { rounds = $NF + 0 }
        inside && /bra/ { print adds, others, rounds; exit }' "$BATS_TEST_TMPDIR/ptx" >"$BATS_TEST_TMPDIR/loop"
    cat "$BATS_TEST_TMPDIR/loop"
    read -r adds others rounds <"$BATS_TEST_TMPDIR/loop"
    [ "$others" -le 4 ]
    [ "$adds" -ge $((50 * others)) ]
    LD_LIBRARY_PATH=build/simulator run "$BATS_FILE_TMPDIR/run" "$library"
    [ "${lines[0]}" = "$((2 * adds * rounds)) operations a thread" ]
}
