#!/usr/bin/env bats
# Products of wgmma that ptxas serialises, of which it only informs: a solution does not build, and what a learner has in work is
# checked on the simulator, which says so, and refused on a GPU, in one line.

# Only ptxas tells what it serialises.
unset KERNEL_CODE

load ../long
load helpers

# kernel LINE: a kernel of two products, with LINE between them.
kernel() {
    kernel=$BATS_TEST_TMPDIR/products.cu
    cat >"$kernel" <<END
// architecture: sm_90a
#include "wgmma.cuh"

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

# serialised CODE: make builds the kernel and writes one line with this ptxas code to LIBRARY.serialised.
serialised() {
    run make "$library" KERNEL="$kernel"
    echo "$output"
    [ "$status" -eq 0 ]
    [ -e "$library" ]
    cat "$library.serialised"
    [ "$(wc -l <"$library.serialised")" -eq 1 ]
    grep -q "^$kernel: ptxas serializes wgmma: each one completes before the next is issued, which costs most of the throughput: .* ($1)\. Usual causes: an open blank,.* \[wgmma-serialized\]$" \
        "$library.serialised"
}

@test "accumulator registers used before the wgmma completes are reported; after a fix the report is gone" {
    kernel "S_rmem[0][0] += 1.0f;"
    serialised C7511
    kernel ""
    make "$library" KERNEL="$kernel"
    [ -e "$library" ]
    [ ! -e "$library.serialised" ]
}

@test "a wgmma in a branch that is not known to be warp-uniform is reported" {
    long
    kernel 'if (operands[4 + threadIdx.x])'
    serialised C7520
}

@test "in a solution, serialized wgmma is a one-line error, and no library is written" {
    kernel "S_rmem[0][0] += 1.0f;"
    mkdir -p solutions/98_products
    cp "$kernel" solutions/98_products/attention.cu
    library=build/kernels/solutions/98_products/attention.so
    run make $library
    echo "$output"
    rm -r solutions/98_products
    [ "$status" -eq 2 ]
    [[ $output == *"(C7511)"* ]]
    [ "$(grep -c "^error: solutions/98_products/attention.cu: .*\[wgmma-serialized\]$" <<<"$output")" -eq 1 ]
    [ ! -e $library ]
    [ ! -e $library.serialised ]
}

# A driver that reports a GPU, which is never used.
driver() {
    echo 'int cuInit(unsigned f) { return (int)f; } int cuDeviceGetCount(int *n) { return *n = 1, 0; }' |
        gcc -shared -fPIC -x c - -o "$BATS_TEST_TMPDIR/libcuda.so.1"
    export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR
}

@test "the simulator checks such a kernel and reports after the verdict that it cannot run on a GPU" {
    kernel_file "$BATS_TEST_TMPDIR/wrong.cu" "fill<<<1, 256, 0, stream>>>(o, count, 1.0f);"
    library=build/kernels/any/root$BATS_TEST_TMPDIR/wrong.so
    make "$library" KERNEL="$BATS_TEST_TMPDIR/wrong.cu"
    echo "wrong.cu: ptxas says something" >"$library.serialised"
    run make check KERNEL="$BATS_TEST_TMPDIR/wrong.cu" SHAPE=1,1,8,8
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"kernel-wrong.cu: 0 of 1 case right on "*$'\n'*"GPU"*": wrong.cu: ptxas says something"* ]]
    driver
    for action in check bench; do
        run build/bin/attention $action --device gpu --name mine --kernel "$library"
        echo "$output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "error: wrong.cu: ptxas says something"* ]]
    done
}

@test "lessons 16 and 20 with an open blank 2: findings of the simulator, and the report of serialized wgmma" {
    long
    for lesson in 16_ping_pong 20_critical_path; do
        half=$BATS_TEST_TMPDIR/$lesson.cu
        sed '/\/\/ TODO 2 /,/\/\/ END TODO 2/{//!d}' "$BATS_TEST_DIRNAME/../../solutions/$lesson/attention.cu" >"$half"
        run make check KERNEL="$half" DTYPE=fp16 SHAPE=1,1,129,64
        echo "$output"
        [[ $output == *"$half: ptxas serializes wgmma: "*"[wgmma-serialized]"* ]]
        case $lesson in
        12*) [[ $output == *"[missing-wgmma-wait]"*"0 of 1 case right"* ]] ;;
        *) [[ $output == *"1 of 1 case right"* ]] ;; # only slower
        esac
    done
}
