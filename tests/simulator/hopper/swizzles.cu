// A and B come by tensor copies with one swizzle, and wgmma's descriptors name a swizzle: swizzles MAP DESCRIPTOR, as
// the tensor map numbers them (0: none, 1: 32 bytes, 2: 64, 3: 128). m64n16k16, K-major; compared with the host. With a
// third argument every thread then stores the tiles again as they are, and they are no copy's any more.
#include "hopper.cuh"
#include "wgmma.cuh"

#include <vector>

constexpr int M = 64, N = 16, K = 16;

__global__ void swizzled(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *d,
                         uint64_t a_bits, uint64_t b_bits, int bytes, int again) {
    extern __shared__ __align__(1024) char tiles[];
    __shared__ uint64_t barrier;
    char *as = tiles, *bs = tiles + M * 128;
    const bool leads = threadIdx.x == 0;
    if (leads) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (leads) {
        const int boxes = bytes == 16 ? 2 : 1; // of 16 bytes a row, or of all that a swizzle spans
        mbarrier_arrive_expect_tx(&barrier, (M + N) * bytes * boxes);
        for (int i = 0; i < boxes; i++) {
            tma_load_2d(as + i * M * 16, &a, &barrier, i * 8, 0); // load a
            tma_load_2d(bs + i * N * 16, &b, &barrier, i * 8, 0); // load b
        }
    }
    mbarrier_wait(&barrier, 0);
    if (again) {
        for (int i = threadIdx.x; i < M * bytes / 4; i += blockDim.x)
            ((volatile int *)as)[i] = ((volatile int *)as)[i];
        for (int i = threadIdx.x; i < N * bytes / 4; i += blockDim.x)
            ((volatile int *)bs)[i] = ((volatile int *)bs)[i];
        fence_proxy_async();
        __syncthreads();
    }
    float sum[N / 2] = {};
    wgmma_fence();
    ss_n16_f32_bf16<0>(sum, a_bits + (smem(as) >> 4), b_bits + (smem(bs) >> 4), 1); // product
    wgmma_commit_group();
    wgmma_wait_group<0>();
    for (int i = 0; i < N / 2; i++)
        d[threadIdx.x * N / 2 + i] = sum[i];
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const int map = atoi(argv[1]), described = atoi(argv[2]), columns = map ? 8 << map : 8;
    static const int number[4] = {0, 3, 2, 1}; // in a descriptor
    std::vector<__nv_bfloat16> a(M * 64), b(N * 64);
    std::vector<float> d(M * N);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = __float2bfloat16((float)(i * 7 % 13) - 6);
    for (size_t i = 0; i < b.size(); i++)
        b[i] = __float2bfloat16((float)(i * 5 % 11) - 5);
    void *device_a, *device_b;
    float *device_d;
    CHECK(cudaMalloc(&device_a, a.size() * 2));
    CHECK(cudaMalloc(&device_b, b.size() * 2));
    CHECK(cudaMalloc(&device_d, d.size() * 4));
    CHECK(cudaMemcpy(device_a, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
    CUtensorMap maps[2] = {map_2d(device_a, M, 64, M, columns, (CUtensorMapSwizzle)map),
                           map_2d(device_b, N, 64, N, columns, (CUtensorMapSwizzle)map)};
    const int stride = described ? 128 << described : 128; // of 8 rows
    const uint64_t a_bits = descriptor(0, described ? 16 : M * 16, stride, number[described]);
    const uint64_t b_bits = descriptor(0, described ? 16 : N * 16, stride, number[described]);
    CHECK(cudaFuncSetAttribute(swizzled, cudaFuncAttributeMaxDynamicSharedMemorySize, (M + N) * 128));
    swizzled<<<1, 128, (M + N) * 128>>>(maps[0], maps[1], device_d, a_bits, b_bits, columns * 2, argc > 3);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(d.data(), device_d, d.size() * 4, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < M * N; i++) {
        int t = i / (N / 2), e = i % (N / 2), row = t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8;
        int column = e / 4 * 8 + t % 4 * 2 + e % 2;
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += __bfloat162float(a[row * 64 + k]) * __bfloat162float(b[column * 64 + k]);
        wrong += d[i] != sum;
    }
    return wrong != 0;
}
