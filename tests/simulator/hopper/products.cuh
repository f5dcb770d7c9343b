// One wgmma, with A and B in each swizzle and orientation.
#pragma once

#include "forms.cuh"
#include "wgmma.cuh"

constexpr int M = 64;

struct Layout {
    int swizzle, span; // as descriptors number it; bytes of a row
};

static const Layout layouts[] = {{0, 16}, {3, 32}, {2, 64}, {1, 128}};

// The offset of the 16-bit element (row of M or N, k), and its descriptor: by PTX's canonical layouts.
__host__ __device__ inline int place(int row, int k, int rows, int span, bool mn_major) {
    int byte;
    if (!mn_major) {
        byte = span == 16 ? row / 8 * 128 + row % 8 * 16 + k / 8 * rows * 16 + k % 8 * 2
                          : row / 8 * 8 * span + row % 8 * span + k * 2;
    } else if (span == 16) {
        byte = row / 8 * 256 + row % 8 * 2 + k / 8 * 128 + k % 8 * 16;
    } else {
        int run = span / 2;
        byte = row / run * 16 * span + row % run * 2 + k * span;
    }
    return swizzled(byte, span);
}

template <int A_T, int B_T, int N>
__global__ void product(const char *a, const char *b, float *d, uint64_t a_bits, uint64_t b_bits, int bytes_a,
                        int bytes_b, int keep) {
    extern __shared__ __align__(1024) char raw[];
    char *as = raw, *bs = raw + 16384;
    for (int i = threadIdx.x; i < bytes_a; i += blockDim.x)
        as[i] = a[i];
    for (int i = threadIdx.x; i < bytes_b; i += blockDim.x)
        bs[i] = b[i];
    fence_proxy_async();
    __syncthreads();
    float sum[N / 2];
    for (int i = 0; i < N / 2; i++)
        sum[i] = i + 1;
    wgmma_fence();
    if constexpr (N == 64)
        ss_n64_f32_bf16<B_T>(sum, a_bits | (smem(as) & 0x3ffff) >> 4, b_bits | (smem(bs) & 0x3ffff) >> 4, keep);
    else
        ss_n128_f32_bf16<B_T>(sum, a_bits | (smem(as) & 0x3ffff) >> 4, b_bits | (smem(bs) & 0x3ffff) >> 4, keep);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    for (int i = 0; i < N / 2; i++) {
        int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
        d[row * N + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = sum[i];
    }
}

template <int B_T, int N>
static bool product_case(const Layout &a_layout, const Layout &b_layout, int keep) {
    std::vector<char> a(16384), b(65536);
    std::vector<float> a_value(M * 16), b_value(N * 16), d(M * N);
    srand(N + B_T);
    for (int i = 0; i < M * 16; i++) {
        __nv_bfloat16 x = __float2bfloat16(a_value[i] = rand() % 17 - 8);
        memcpy(&a[place(i / 16, i % 16, M, a_layout.span, false)], &x, 2);
    }
    for (int i = 0; i < N * 16; i++) {
        __nv_bfloat16 x = __float2bfloat16(b_value[i] = rand() % 17 - 8);
        memcpy(&b[place(i / 16, i % 16, N, b_layout.span, B_T)], &x, 2);
    }
    auto k_major = [](const Layout &l, int rows) {
        return l.span == 16 ? descriptor(0, rows * 16, 128, 0) : descriptor(0, 16, 8 * l.span, l.swizzle);
    };
    uint64_t a_bits = k_major(a_layout, M), b_bits = k_major(b_layout, N);
    if (B_T)
        b_bits = b_layout.span == 16 ? descriptor(0, 128, 256, 0)
                                     : descriptor(0, 16 * b_layout.span, 8 * b_layout.span, b_layout.swizzle);
    char *device_a, *device_b;
    float *device_d;
    CHECK(cudaMalloc(&device_a, a.size()));
    CHECK(cudaMalloc(&device_b, b.size()));
    CHECK(cudaMalloc(&device_d, d.size() * 4));
    CHECK(cudaMemcpy(device_a, a.data(), a.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size(), cudaMemcpyHostToDevice));
    auto kernel = product<0, B_T, N>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 16384 + 65536));
    kernel<<<1, 128, 16384 + 65536>>>(device_a, device_b, device_d, a_bits, b_bits, (int)a.size(), (int)b.size(), keep);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(d.data(), device_d, d.size() * 4, cudaMemcpyDeviceToHost));
    for (int row = 0; row < M; row++) {
        for (int column = 0; column < N; column++) {
            double sum = keep ? column / 8 * 4 + row / 8 % 2 * 2 + column % 2 + 1 : 0;
            for (int k = 0; k < 16; k++)
                sum += (double)a_value[row * 16 + k] * b_value[column * 16 + k];
            if (!equal("product", d[row * N + column], sum))
                return false;
        }
    }
    return true;
}

static bool products() {
    bool right = true;
    for (const Layout &a : layouts) {
        for (const Layout &b : layouts) {
            bool same = product_case<0, 64>(a, b, 0) && product_case<1, 64>(a, b, 1) && product_case<0, 128>(a, b, 1) &&
                        product_case<1, 128>(a, b, 0);
            if (!same)
                printf("rows of A of %d bytes, of B of %d\n", a.span, b.span);
            right &= same;
        }
    }
    return right;
}
