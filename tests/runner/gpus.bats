#!/usr/bin/env bats
# Attention over several GPUs, on the simulator's: which requests are refused, and how a rank that fails ends a check.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    make --no-print-directory build/harness || return 1
    read -r nvcc _ <<<"$(scripts/find-cuda)"
    mkdir -p build/tests/gpus
    # Each rank copies its queries; with a number in SHAPE's head dimension it does something else.
    cat >build/tests/gpus/copy.cu <<'END'
#include "ring.cuh"
static size_t workspace_bytes(const ring_attention_problem *) { return 256; }
const struct ring_attention_lesson zigzag_attention_lesson = {1u << ATTENTION_BF16, 256, 8, 90, workspace_bytes};
__global__ void copy(void *to, const void *from, size_t bytes, bool stray) {
    for (size_t i = threadIdx.x; i < bytes; i += blockDim.x)
        ((char *)to)[i] = ((const char *)from)[stray ? i + (1ll << 40) : i];
}
cudaError_t zigzag_attention_forward(const ring_attention_problem *p, cudaStream_t stream) {
    Ring *ring;
    cudaError_t error = open_ring(p->devices, &ring);
    if (error == cudaSuccess)
        error = begin_ring(ring, stream);
    if (error == cudaSuccess)
        error = for_each_rank(p->devices, [&](int r) {
            const bool fails = p->head_dim == 16 && r == 1, waits = p->head_dim == 24 && r == 1;
            copy<<<1, 32, 0, ring->rank[r].compute>>>(p->part[r].o, p->part[r].v, 2ull * p->n * p->head_dim, fails);
            if (waits)
                return nccl_error(ncclRecv(p->part[r].workspace, 8, ncclInt8, 0, ring->rank[r].comm, ring->rank[r].exchange));
            return cudaGetLastError();
        });
    return error == cudaSuccess ? end_ring(ring, stream) : error;
}
END
    "$nvcc" -shared -std=c++20 -lineinfo -cudart shared --no-compress -Icommon -Xcompiler -fPIC \
        -gencode arch=compute_90,code=compute_90 -o build/tests/gpus/copy.so build/tests/gpus/copy.cu
}

check() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    run build/bin/attention check --device sim --kernel build/tests/gpus/copy.so --source build/tests/gpus/copy.cu --name copy --seed 1 "$@"
    echo "$output"
}

@test "with one row to see, attention is a copy of the values, whichever GPU has it" {
    check --shape 1,1,4,8 --causal --gpus 2
    [ "$status" -eq 1 ]
    [[ $output == *"o[0][0][1][0]"* ]] # row 0 is right
    [[ $output == *"GPUS=2"* ]]
}

@test "more GPUs than there are are refused in one line" {
    SIM_DEVICES=2 check --shape 1,1,32,64 --gpus 4
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"copy needs 4 GPUs for this, and there are 2"* ]]
    SIM_DEVICES=1 check --shape 1,1,32,64
    [ "$status" -eq 2 ]
    [[ $output == *"copy needs 2 GPUs for this, and there is 1"* ]]
    check --gpus 9
    [ "$status" -eq 2 ]
    [[ $output == *"GPUS=9 cannot be used: give 1 to 8"* ]]
}

@test "lengths that do not divide are refused in one line" {
    check --shape 1,1,30,64 --gpus 4
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"splits the sequence over 4 GPUs into 8 chunks of equal length: N = 30 is no multiple"* ]]
    check --shape 1,1,32:64,64
    [ "$status" -eq 2 ]
    [[ $output == *"N has to be one number"* ]]
}

@test "a rank that fails in the middle ends the check, and nothing hangs" {
    check --shape 1,1,32,16 --time-limit 20
    [ "$status" -eq 1 ]
    [[ $output == *"which is not in device memory"* ]]
    [[ $output == *"[simulator-errors]"* ]]
    [[ $output != *"[time-limit]"* ]]
}

@test "a rank that waits for no other is a deadlock that names both sides" {
    check --shape 1,1,32,24 --time-limit 20
    [ "$status" -eq 1 ]
    [[ $output == *"rank 1 waits in ncclRecv of 8 bytes from rank 0, and rank 0 in nothing"* ]]
    [[ $output != *"[time-limit]"* ]]
}

@test "a kernel on several GPUs needs NCCL, and says how to get it" {
    mkdir -p "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/simulator"
    cd "$BATS_TEST_DIRNAME/../.."
    cp build/bin/attention build/bin/runner "$BATS_TEST_TMPDIR/bin"
    cp build/simulator/libcudart.so.* "$BATS_TEST_TMPDIR/simulator"
    ldconfig -p | grep -q 'libnccl\.so\.2 ' && skip "NCCL is installed"
    [ ! -e toolchain/nccl/libnccl.so.2 ] || skip "NCCL is in toolchain/nccl"
    run "$BATS_TEST_TMPDIR/bin/attention" check --device sim --kernel build/tests/gpus/copy.so --name copy --shape 1,1,32,64
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"copy needs NCCL, and there is no libnccl.so.2: ./setup --nccl fetches it"* ]]
}
