#!/usr/bin/env bats
# Bad input to decoding: an error from the call, a line from the check, and nothing read out of bounds.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    make --no-print-directory build/bin/attention build/bin/runner build/kernels/solutions/22_decode/attention.so \
        build/kernels/solutions/11_swizzle/attention.so >/dev/null || return 1
    include=${CUDA_HOME:-/usr/local/cuda}/include
    gcc -std=c17 -Wall -Wextra -Werror -Icommon -isystem "$include" -o "$BATS_FILE_TMPDIR/calls" -x c - -ldl <<'END' || return 1
#include "decode.h"
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **argument) {
    void *library = count == 2 ? dlopen(argument[1], RTLD_NOW) : NULL;
    cudaError_t (*forward)(const struct decode_problem *, cudaStream_t);
    static _Alignas(16) int memory[4];
    const struct decode_problem good = {memory, memory, memory, memory, NULL, NULL, memory, NULL, memory, 1024, 1, 8, 2, 1,
                                        16, 1, 32, 1, 0, 1, ATTENTION_BF16, ATTENTION_BF16};
    if (!library)
        return puts(dlerror()), 1;
    *(void **)&forward = dlsym(library, "decode_forward");
    struct decode_problem bad[8] = {good, good, good, good, good, good, good, good};
    bad[0].nq = 17;
    bad[1].nq = 0;
    bad[2].kv_heads = 3;
    bad[3].batch = 2; // and one page
    bad[4].head_dim = 144;
    bad[5].head_dim = 24;
    bad[6].block_table = memory;
    bad[7].cache_dtype = ATTENTION_E4M3;
    for (int i = 0; i < 8; i++)
        printf("%d", forward(&bad[i], 0));
    bad[0] = good;
    bad[0].q = (char *)memory + 2;
    printf(" %d\n", forward(&bad[0], 0));
    return 0;
}
END
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
}

decode() {
    run build/bin/attention check --name solution-22 --source solutions/22_decode/attention.cu \
        --kernel build/kernels/solutions/22_decode/attention.so --device sim "$@"
    echo "$output"
}

@test "what cannot be is an error of the call: cudaErrorInvalidValue, and cudaErrorMisalignedAddress" {
    run env LD_LIBRARY_PATH="$PWD/build/simulator" "$BATS_FILE_TMPDIR/calls" build/kernels/solutions/22_decode/attention.so
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "11111111 716" ]
}

@test "too many queries, heads that cannot share, a layout, pages and a type are one line each" {
    decode --shape 1,8:2,17:64,64
    [ "$status" -eq 2 ]
    [ "$output" = "error: decoding has up to 16 queries a request, not 17" ]
    decode --shape 1,8:3,1:64,64
    [ "$status" -eq 2 ]
    [[ $output == "error: SHAPE=1,8:3,1:64,64 cannot be used: 8 heads cannot share 3 key heads evenly"* ]]
    decode --shape 1,8:2,1:64,64 --layout bnhd
    [ "$status" -eq 2 ]
    [ "$output" = "error: solution-22_decode takes caches as a whole or in pages (LAYOUT=pages16), not LAYOUT=bnhd" ]
    decode --shape 1,8:2,1:64,64 --layout pages16
    [ "$status" -eq 2 ]
    [ "$output" = "error: solution-22_decode takes no pages: leave LAYOUT out, or take a lesson that does" ]
    decode --shape 1,8:2,1:64,64 --layout pages
    [ "$status" -eq 2 ]
    [[ $output == "error: LAYOUT=pages cannot be read: pages16 are pages of 16 keys"* ]]
    decode --shape 1,8:2,1:64,64 --dtype e4m3
    [ "$status" -eq 2 ]
    [ "$output" = "error: DTYPE=e4m3: solution-22_decode takes fp16 or bf16" ]
}

@test "pages are refused where an operation has none" {
    run build/bin/attention check --name solution-11 --kernel build/kernels/solutions/11_swizzle/attention.so --device sim \
        --shape 1,2,9,64 --layout pages16
    [ "$status" -eq 2 ]
    [ "$output" = "error: attention has no pages: leave LAYOUT out, or take a lesson of decoding" ]
}

@test "a length that cannot be is NaN in its request alone, and nothing is read for it" {
    decode --shape 8,4:2,1:100,64 --dtype bf16 --inputs bad-length --seed 1
    [ "$status" -eq 0 ]
    [[ $output == *"1 of 1 case right"* ]]
}
