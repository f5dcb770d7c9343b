#!/usr/bin/env bats
# Products of wgmma that ptxas serialises, of which it only informs, fail the build with one line on what that means.

load ../long
load helpers

# kernel LINE: a kernel of two products, with LINE between them.
kernel() {
    kernel=$BATS_TEST_TMPDIR/products.cu
    cat >"$kernel" <<END
// architecture: sm_90a
#include "hopper.cuh"

__global__ void products(float *to, const uint32_t *operands) {
    float S_rmem[2][16];
    wgmma_fence(S_rmem);
    wgmma<__half>(S_rmem, operands[0], operands[1], false);
    $1
    wgmma<__half>(S_rmem, operands[2], operands[3], true);
    wgmma_commit_group();
    wgmma_wait_group<0>(S_rmem);
    for (int i = 0; i < 32; i++)
        to[i * 128 + threadIdx.x] = S_rmem[i / 16][i % 16];
}
END
    library=build/kernels/any/root${kernel%.cu}.so
}

# refused CODE: make fails, says this and once what it means, and leaves no library.
refused() {
    run make "$library" KERNEL="$kernel"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"($1)"* ]]
    [ "$(grep -c "^error: $kernel: ptxas lets each wgmma end before the next one begins" <<<"$output")" -eq 1 ]
    [ ! -e "$library" ]
}

@test "registers of a product that are used before it is over" {
    kernel "S_rmem[0][0] += 1.0f;"
    refused C7511
}

@test "a product in a branch that the compiler does not know to be taken by all" {
    long
    kernel 'if (operands[4 + threadIdx.x])'
    refused C7520
}

@test "two products in a row are none of that" {
    long
    kernel ""
    make "$library" KERNEL="$kernel"
    [ -e "$library" ]
}
