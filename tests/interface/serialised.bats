#!/usr/bin/env bats
# Products of wgmma that ptxas serialises, of which it only informs: a solution does not build, and what a learner has in work is
# checked on the simulator, which says so, and refused on a GPU, in one line.

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

# remembered CODE: make builds it, and leaves a line beside the library that says this and what it means.
remembered() {
    run make "$library" KERNEL="$kernel"
    echo "$output"
    [ "$status" -eq 0 ]
    [ -e "$library" ]
    cat "$library.serialised"
    [ "$(wc -l <"$library.serialised")" -eq 1 ]
    grep -q "^$kernel: ptxas lets each wgmma end before the next one begins, .* ($1)\. Usual causes: a blank that is still open," \
        "$library.serialised"
}

@test "registers of a product that are used before it is over; mended, nothing is left of it" {
    kernel "S_rmem[0][0] += 1.0f;"
    remembered C7511
    kernel ""
    make "$library" KERNEL="$kernel"
    [ -e "$library" ]
    [ ! -e "$library.serialised" ]
}

@test "a product in a branch that the compiler does not know to be taken by all" {
    long
    kernel 'if (operands[4 + threadIdx.x])'
    remembered C7520
}

@test "in a solution it is an error, in one line, and no library is left" {
    kernel "S_rmem[0][0] += 1.0f;"
    mkdir -p solutions/98_products
    cp "$kernel" solutions/98_products/attention.cu
    library=build/kernels/solutions/98_products/attention.so
    run make $library
    echo "$output"
    rm -r solutions/98_products
    [ "$status" -eq 2 ]
    [[ $output == *"(C7511)"* ]]
    [ "$(grep -c "^error: solutions/98_products/attention.cu: ptxas lets each wgmma end before the next one begins" <<<"$output")" -eq 1 ]
    [ ! -e $library ]
    [ ! -e $library.serialised ]
}

# A driver that says that there is a GPU; nobody gets as far as to use it.
driver() {
    echo 'int cuInit(unsigned f) { return (int)f; } int cuDeviceGetCount(int *n) { return *n = 1, 0; }' |
        gcc -shared -fPIC -x c - -o "$BATS_TEST_TMPDIR/libcuda.so.1"
    export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR
}

@test "the simulator checks such a kernel and says after the verdict that a GPU is refused it; a GPU is" {
    kernel_file "$BATS_TEST_TMPDIR/wrong.cu" "fill<<<1, 256, 0, stream>>>(o, count, 1.0f);"
    library=build/kernels/any/root$BATS_TEST_TMPDIR/wrong.so
    make "$library" KERNEL="$BATS_TEST_TMPDIR/wrong.cu"
    echo "wrong.cu: ptxas says something" >"$library.serialised"
    run make check KERNEL="$BATS_TEST_TMPDIR/wrong.cu" SHAPE=1,1,8,8
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"kernel-wrong.cu: 0 of 1 case right on "*$'\n'"A GPU is refused this kernel: wrong.cu: ptxas says something"* ]]
    driver
    for action in check bench; do
        run build/bin/attention $action --device gpu --name mine --kernel "$library"
        echo "$output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "error: wrong.cu: ptxas says something"* ]]
    done
}

@test "lesson 12 with blank 2 open and 14 alike: what the simulator finds is said, and that a GPU is refused them" {
    long
    for lesson in 12_overlap 14_critical_path; do
        half=$BATS_TEST_TMPDIR/$lesson.cu
        sed '/\/\/ TODO 2 /,/\/\/ END TODO 2/{//!d}' "$BATS_TEST_DIRNAME/../../solutions/$lesson/attention.cu" >"$half"
        run make check KERNEL="$half" DTYPE=fp16 SHAPE=1,1,129,64
        echo "$output"
        [[ $output == *"A GPU is refused this kernel: $half: ptxas lets each wgmma end before the next one begins, "* ]]
        case $lesson in
        12*) [[ $output == *"simulator: wgmma's registers used too early: "*"0 of 1 case right"* ]] ;;
        *) [[ $output == *"1 of 1 case right"* ]] ;; # only slower
        esac
    done
}
