// wgmma of bytes and of bits with sums of 32 bits: signed and not, A from shared memory and from registers, with sums
// that wrap round and such that are clamped: m64n16k32 and m64n16k256, K-major without a swizzle. integers: runs all
// and compares with the host.
#include "hopper.cuh"

#include <climits>
#include <vector>

constexpr int M = 64, N = 16, K = 32, SUMS = N / 2; // of a thread

// Bytes of element (row, k): units of 16 bytes, 8 rows of them neighbours, the second unit of K behind all rows.
__host__ __device__ inline int place(int row, int k, int rows) {
    return row / 8 * 128 + row % 8 * 16 + k / 16 * rows * 16 + k % 16;
}

#define SUM_OPERANDS "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])

#define KERNEL(name, types)                                                                                            \
    __global__ void name(const char *a, const char *b, int *sums, int first, int from_registers) {                     \
        __shared__ __align__(128) char as[M * K], bs[N * K];                                                           \
        for (int i = threadIdx.x; i < M * K; i += 128)                                                                 \
            as[i] = a[i];                                                                                              \
        for (int i = threadIdx.x; i < N * K; i += 128)                                                                 \
            bs[i] = b[i];                                                                                              \
        fence_proxy_async();                                                                                           \
        __syncthreads();                                                                                               \
        int d[SUMS], row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, k = threadIdx.x % 4 * 4;                      \
        uint32_t f[4];                                                                                                 \
        for (int i = 0; i < SUMS; i++)                                                                                 \
            d[i] = first;                                                                                              \
        for (int r = 0; r < 4; r++)                                                                                    \
            f[r] = *(const uint32_t *)(as + place(row + r % 2 * 8, k + r / 2 * 16, M));                                \
        uint64_t a_bits = descriptor(smem(as), M * 16, 128, 0), b_bits = descriptor(smem(bs), N * 16, 128, 0);         \
        wgmma_fence();                                                                                                 \
        if (from_registers)                                                                                            \
            asm volatile("wgmma.mma_async.sync.aligned." types " {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, 1;"  \
                         : SUM_OPERANDS                                                                                \
                         : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "l"(b_bits));                                   \
        else                                                                                                           \
            asm volatile("wgmma.mma_async.sync.aligned." types " {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1;"                \
                         : SUM_OPERANDS                                                                                \
                         : "l"(a_bits), "l"(b_bits));                                                                  \
        wgmma_commit_group();                                                                                          \
        wgmma_wait_group<0>();                                                                                         \
        for (int i = 0; i < SUMS; i++)                                                                                 \
            sums[threadIdx.x * SUMS + i] = d[i];                                                                       \
    }

KERNEL(both_signed, "m64n16k32.s32.s8.s8")
KERNEL(a_signed, "m64n16k32.s32.s8.u8")
KERNEL(b_signed, "m64n16k32.s32.u8.s8")
KERNEL(unsigned_, "m64n16k32.s32.u8.u8")
KERNEL(clamped, "m64n16k32.satfinite.s32.s8.u8")
KERNEL(of_bits, "m64n16k256.s32.b1.b1.and.popc")

static bool matches(const char *name, void (*kernel)(const char *, const char *, int *, int, int), bool a_is_signed,
                    bool b_is_signed, bool clamps, int first, bool bits = false) {
    std::vector<char> a(M * K), b(N * K);
    std::vector<int> sums(M * N);
    char *device_a, *device_b;
    int *device_sums;
    bool right = true;
    for (char &x : a)
        x = (char)rand();
    for (char &x : b)
        x = (char)rand();
    CHECK(cudaMalloc(&device_a, a.size()));
    CHECK(cudaMalloc(&device_b, b.size()));
    CHECK(cudaMalloc(&device_sums, sums.size() * 4));
    CHECK(cudaMemcpy(device_a, a.data(), a.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size(), cudaMemcpyHostToDevice));
    for (int from_registers = 0; from_registers < 2; from_registers++) {
        kernel<<<1, 128>>>(device_a, device_b, device_sums, first, from_registers);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(sums.data(), device_sums, sums.size() * 4, cudaMemcpyDeviceToHost));
        for (int i = 0; i < M * N; i++) {
            int t = i / SUMS, e = i % SUMS;
            int row = t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8, column = e / 4 * 8 + t % 4 * 2 + e % 2;
            long long sum = first;
            for (int k = 0; k < K; k++) {
                char x = a[place(row, k, M)], y = b[place(column, k, N)];
                if (bits)
                    sum += __builtin_popcount((unsigned char)(x & y));
                else
                    sum += (long long)(a_is_signed ? (signed char)x : (unsigned char)x) *
                           (b_is_signed ? (signed char)y : (unsigned char)y);
            }
            if (clamps)
                sum = sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : sum;
            if (sums[i] != (int)sum && right)
                printf("%s: row %d, column %d is %d, expected %d\n", name, row, column, sums[i], (int)sum);
            right &= sums[i] == (int)sum;
        }
    }
    return right;
}

int main(int, char **) {
    return !(matches("s8 s8", both_signed, true, true, false, 5) & matches("s8 u8", a_signed, true, false, false, -7) &
             matches("u8 s8", b_signed, false, true, false, 0) & matches("u8 u8", unsigned_, false, false, false, 0) &
             matches("sums that wrap round", unsigned_, false, false, false, INT_MAX - 9) &
             matches("sums that are clamped", clamped, true, false, true, INT_MAX - 9) &
             matches("sums that are clamped below", clamped, true, false, true, INT_MIN + 9) &
             matches("bits", of_bits, false, false, false, -50, true) &
             matches("bits whose sums wrap round", of_bits, false, false, false, INT_MAX - 9, true));
}
