// Products of one wgmma in each layout, copies of boxes of each rank, barriers: each case is compared with the host.
// forms: the names of the cases; forms NAME: runs one.
#include "boxes.cuh"
#include "encoder.cuh"
#include "im2col.cuh"
#include "products.cuh"

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

int main(int argc, char **argv) {
    static const Case cases[] = {
        {"products", products},           {"boxes", boxes},   {"barriers", barriers}, {"plain_copies", plain_copies},
        {"stored_beyond", stored_beyond}, {"im2col", im2col}, {"encoder", encoder}};
    return run_case(cases, argc, argv);
}
