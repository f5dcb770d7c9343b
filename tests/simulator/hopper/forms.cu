// Barriers, copies without a tensor map, a box beyond its tensor, and tensor maps that are refused: each case is
// compared with the host. What single instructions compute is compared with a GPU (tests/truth). forms: the names of
// the cases; forms NAME: runs one.
#include "encoder.cuh"

#include <vector>

static bool equal(const char *what, int got, int wanted) {
    if (got == wanted)
        return true;
    printf("%s: %d where %d is right\n", what, got, wanted);
    return false;
}

__global__ void phases(int *out) {
    __shared__ uint64_t barrier;
    __shared__ int value;
    uint32_t pending, done, address = smem(&barrier);
    uint64_t state;
    if (threadIdx.x == 0)
        mbarrier_init(&barrier, 64 + 3);
    __syncthreads();
    for (int i = 0; i < 5; i++) {
        if (threadIdx.x == 0) {
            value = i;
            asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 2;"
                         : "=l"(state)
                         : "r"(address)
                         : "memory");
            asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
            asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(address) : "memory");
            asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 64;" ::"r"(address) : "memory");
            asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], 1;"
                         : "=l"(state)
                         : "r"(address)
                         : "memory");
            out[i] = (int)pending;
        }
        state = mbarrier_arrive(&barrier);
        do
            asm volatile("{.reg .pred p;\n mbarrier.test_wait.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                         : "=r"(done)
                         : "r"(address), "l"(state)
                         : "memory");
        while (!done);
        if (threadIdx.x == 63)
            out[5 + i] = value;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    if (threadIdx.x == 0)
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address) : "memory");
}

static bool barriers() {
    int host[10], *out;
    CHECK(cudaMalloc(&out, sizeof host));
    phases<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < 5; i++)
        right &=
            equal("what a phase lacked", host[i] <= 67 && host[i] >= 3, 1) && equal("what it guards", host[5 + i], i);
    return right;
}

__global__ void plain(const int *in, int *out, int count) {
    extern __shared__ __align__(128) int tile[];
    __shared__ uint64_t barrier;
    int bytes = count * 4;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&barrier, bytes);
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(tile)),
            "l"(in), "r"(bytes), "r"(smem(&barrier))
            : "memory");
    }
    mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        tile[i] *= 3;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(smem(tile)),
                     "r"(bytes)
                     : "memory");
        bulk_commit_group();
        bulk_wait_group_read();
    }
}

static bool plain_copies() {
    std::vector<int> host(1000);
    for (int i = 0; i < 1000; i++)
        host[i] = i;
    int *in, *out;
    CHECK(cudaMalloc(&in, 4000));
    CHECK(cudaMalloc(&out, 4000));
    CHECK(cudaMemcpy(in, host.data(), 4000, cudaMemcpyHostToDevice));
    plain<<<1, 128, 4000>>>(in, out, 1000);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), out, 4000, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < 1000 && right; i++)
        right = equal("a plain copy", host[i], 3 * i);
    return right;
}

// Such a box is neither stored nor read: its buffer may be refilled once the group has been waited for.
__global__ void beyond(const __grid_constant__ CUtensorMap map, int *out) {
    extern __shared__ __align__(1024) int tile[]; // [8][32]
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
        for (int phase = 0; phase < 2; phase++) {
            mbarrier_arrive_expect_tx(&barrier, 1024);
            tma_load_2d(tile, &map, &barrier, 0, 0);
            mbarrier_wait(&barrier, phase);
            tma_store_2d(&map, tile, 0, 8);
            bulk_commit_group();
            bulk_wait_group_read();
        }
        out[0] = tile[37];
    }
}

static bool stored_beyond() {
    std::vector<int> host(256);
    for (int i = 0; i < 256; i++)
        host[i] = i;
    int *tensor, *out, got;
    CHECK(cudaMalloc(&tensor, 1024));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemcpy(tensor, host.data(), 1024, cudaMemcpyHostToDevice));
    const cuuint64_t size[] = {32, 8}, stride[] = {128};
    const cuuint32_t box[] = {32, 8}, step[] = {1, 1};
    CUtensorMap map;
    if (find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, size, stride, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return false;
    beyond<<<1, 32, 1024>>>(map, out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
    return equal("a place copied to again", got, 37);
}

int main(int argc, char **argv) {
    static const Case cases[] = {
        {"barriers", barriers}, {"plain_copies", plain_copies}, {"stored_beyond", stored_beyond}, {"encoder", encoder}};
    return run_case(cases, argc, argv);
}
