// wgmma of each element type, with A in shared memory and in registers, fp32 and fp16 accumulators: m64n16, K-major
// without a swizzle. types: runs all and compares with the host.
#include "hopper.cuh"
#include "wgmma.cuh"

#include <cmath>
#include <cstring>
#include <cuda_fp8.h>
#include <vector>

constexpr int M = 64, N = 16;

// The offset of element (row, k): units of 16 bytes, 8 rows of them consecutive, the second unit of K after all rows.
__host__ __device__ inline int place(int row, int byte, int rows) {
    return row / 8 * 128 + row % 8 * 16 + byte / 16 * rows * 16 + byte % 16;
}

// A thread's registers of A: rows of groups of four threads, then 8 rows below, then the second half of K.
DEVICE void load_a(uint32_t (&a)[4], const char *tile) {
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, byte = threadIdx.x % 4 * 4;
    for (int r = 0; r < 4; r++)
        a[r] = *(const uint32_t *)(tile + place(row + r % 2 * 8, byte + r / 2 * 16, M));
}

#define KERNEL(name, sum_type, registers, ss, rs)                                                                      \
    __global__ void name(const char *a, const char *b, sum_type *d, int from_registers) {                              \
        __shared__ __align__(128) char as[M * 32], bs[N * 32];                                                         \
        for (int i = threadIdx.x; i < M * 32; i += 128)                                                                \
            as[i] = a[i];                                                                                              \
        for (int i = threadIdx.x; i < N * 32; i += 128)                                                                \
            bs[i] = b[i];                                                                                              \
        fence_proxy_async();                                                                                           \
        __syncthreads();                                                                                               \
        sum_type sum[registers] = {};                                                                                  \
        uint32_t fragment[4];                                                                                          \
        uint64_t b_bits = descriptor(smem(bs), N * 16, 128, 0);                                                        \
        load_a(fragment, as);                                                                                          \
        wgmma_fence();                                                                                                 \
        if (from_registers)                                                                                            \
            rs<0>(sum, fragment, b_bits, 1);                                                                           \
        else                                                                                                           \
            ss<0>(sum, descriptor(smem(as), M * 16, 128, 0), b_bits, 1);                                               \
        wgmma_commit_group();                                                                                          \
        wgmma_wait_group<0>();                                                                                         \
        for (int i = 0; i < registers; i++)                                                                            \
            d[threadIdx.x * registers + i] = sum[i];                                                                   \
    }

KERNEL(bf16, float, N / 2, ss_n16_f32_bf16, rs_n16_f32_bf16)
KERNEL(fp16, float, N / 2, ss_n16_f32_f16, rs_n16_f32_f16)
KERNEL(fp16_sum, uint32_t, N / 4, ss_n16_f16_f16, rs_n16_f16_f16)
KERNEL(tf32, float, N / 2, ss_n16_f32_tf32, rs_n16_f32_tf32)
KERNEL(e4m3, float, N / 2, ss_n16_f32_e4m3, rs_n16_f32_e4m3)
KERNEL(e5m2, float, N / 2, ss_n16_f32_e5m2, rs_n16_f32_e5m2)

static void put(char *to, float value, __nv_bfloat16 *) {
    __nv_bfloat16 x = __float2bfloat16(value);
    memcpy(to, &x, 2);
}
static void put(char *to, float value, __half *) {
    __half x = __float2half(value);
    memcpy(to, &x, 2);
}
static void put(char *to, float value, float *) {
    memcpy(to, &value, 4);
}
static void put(char *to, float value, __nv_fp8_e4m3 *) {
    __nv_fp8_e4m3 x(value);
    memcpy(to, &x, 1);
}
static void put(char *to, float value, __nv_fp8_e5m2 *) {
    __nv_fp8_e5m2 x(value);
    memcpy(to, &x, 1);
}

template <class T, class SUM>
static bool matches(const char *name, void (*kernel)(const char *, const char *, SUM *, int), bool half_sum) {
    constexpr int K = 32 / sizeof(T);
    std::vector<char> a(M * 32), b(N * 32);
    std::vector<float> a_value(M * K), b_value(N * K);
    std::vector<SUM> d(M * N / (half_sum ? 2 : 1));
    bool right = true;
    for (int i = 0; i < M * K; i++)
        put(&a[place(i / K, i % K * sizeof(T), M)], a_value[i] = (rand() % 15 - 7) / 4.0f, (T *)nullptr);
    for (int i = 0; i < N * K; i++)
        put(&b[place(i / K, i % K * sizeof(T), N)], b_value[i] = (rand() % 7 - 3) / 2.0f, (T *)nullptr);
    char *device_a, *device_b;
    SUM *device_d;
    CHECK(cudaMalloc(&device_a, a.size()));
    CHECK(cudaMalloc(&device_b, b.size()));
    CHECK(cudaMalloc(&device_d, d.size() * 4));
    CHECK(cudaMemcpy(device_a, a.data(), a.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size(), cudaMemcpyHostToDevice));
    for (int from_registers = 0; from_registers < 2; from_registers++) {
        kernel<<<1, 128>>>(device_a, device_b, device_d, from_registers);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(d.data(), device_d, d.size() * 4, cudaMemcpyDeviceToHost));
        for (int t = 0; t < 128; t++) {
            for (int i = 0; i < N / 2; i++) {
                int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
                double wanted = 0, got;
                for (int k = 0; k < K; k++)
                    wanted += (double)a_value[row * K + k] * b_value[column * K + k];
                if (half_sum) {
                    __half2 pair;
                    memcpy(&pair, &d[t * N / 4 + i / 2], 4);
                    got = __half2float(i % 2 ? pair.y : pair.x);
                } else {
                    float value;
                    memcpy(&value, &d[t * N / 2 + i], 4);
                    got = value;
                }
                if (got != wanted && right) {
                    printf("%s, A from %s: row %d, column %d is %g where %g is right\n", name,
                           from_registers ? "registers" : "shared memory", row, column, got, wanted);
                    right = false;
                }
            }
        }
    }
    return right;
}

int main(int, char **) {
    return !(matches<__nv_bfloat16>("bf16", bf16, false) & matches<__half>("fp16", fp16, false) &
             matches<__half>("fp16 with fp16 sums", fp16_sum, true) & matches<float>("tf32", tf32, false) &
             matches<__nv_fp8_e4m3>("e4m3", e4m3, false) & matches<__nv_fp8_e5m2>("e5m2", e5m2, false));
}
