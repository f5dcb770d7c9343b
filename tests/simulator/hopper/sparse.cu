// wgmma with a sparse A, of each type: m64n16, K-major without a swizzle, A in shared memory and in registers, with
// both selectors. sparse: runs all and compares with the host; sparse zeros: undefined metadata.
#include "hopper.cuh"

#include <cmath>
#include <vector>

constexpr int M = 64, N = 16, SUMS = N / 2, A_BYTES = 32, B_BYTES = 64; // SUMS: of a thread; bytes: of a row, a column

// The offset of a byte of a row. K-major: units of 16 bytes, 8 rows of them consecutive, the next unit of K after all
// rows. MN-major, for 16-bit elements: units of 8 rows, 8 elements of K consecutive.
__host__ __device__ inline int place(int row, int byte, int rows, int bytes, bool mn_major) {
    return mn_major ? row / 8 * bytes * 8 + byte / 16 * 128 + byte % 16 * 8 + row % 8 * 2 - byte % 2 * 7
                    : row / 8 * 128 + row % 8 * 16 + byte / 16 * rows * 16 + byte % 16;
}

DEVICE uint64_t layout(const char *tile, int rows, int bytes, bool mn_major) {
    return mn_major ? descriptor(smem(tile), 128, bytes * 8, 0) : descriptor(smem(tile), rows * 16, 128, 0);
}

#define OUT(letter)                                                                                                    \
    "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3]), "+" letter(d[4]), "+" letter(d[5]),        \
        "+" letter(d[6]), "+" letter(d[7])
#define MMA(form) "wgmma.mma_async.sp.sync.aligned." form " {%0,%1,%2,%3,%4,%5,%6,%7}, "

// tail_s and tail_r: the rest of the instruction if A is in shared memory, and in registers.
#define KERNEL(...) KERNEL_OF(false, __VA_ARGS__)
#define KERNEL_OF(MN, name, SUM, letter, form, selector, tail_s, tail_r)                                               \
    __global__ void name(const char *a, const char *b, const uint32_t *metadata, SUM *sums, int from_registers) {      \
        __shared__ __align__(128) char as[M * A_BYTES], bs[N * B_BYTES];                                               \
        for (int i = threadIdx.x; i < M * A_BYTES; i += 128)                                                           \
            as[place(i / A_BYTES, i % A_BYTES, M, A_BYTES, MN)] = a[i];                                                \
        for (int i = threadIdx.x; i < N * B_BYTES; i += 128)                                                           \
            bs[place(i / B_BYTES, i % B_BYTES, N, B_BYTES, MN)] = b[i];                                                \
        fence_proxy_async();                                                                                           \
        __syncthreads();                                                                                               \
        SUM d[SUMS];                                                                                                   \
        const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, byte = threadIdx.x % 4 * 4;                      \
        uint32_t f[4];                                                                                                 \
        for (int i = 0; i < SUMS; i++)                                                                                 \
            d[i] = 3;                                                                                                  \
        for (int r = 0; r < 4; r++)                                                                                    \
            f[r] = *(const uint32_t *)(a + (row + r % 2 * 8) * A_BYTES + byte + r / 2 * 16);                           \
        const uint32_t where = metadata[threadIdx.x];                                                                  \
        const uint64_t a_bits = layout(as, M, A_BYTES, MN), b_bits = layout(bs, N, B_BYTES, MN);                       \
        wgmma_fence();                                                                                                 \
        if (from_registers)                                                                                            \
            asm volatile(MMA(form) "{%8,%9,%10,%11}, %12, %13, " selector ", 1" tail_r ";"                             \
                         : OUT(letter)                                                                                 \
                         : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "l"(b_bits), "r"(where));                       \
        else                                                                                                           \
            asm volatile(MMA(form) "%8, %9, %10, " selector ", 1" tail_s ";"                                           \
                         : OUT(letter)                                                                                 \
                         : "l"(a_bits), "l"(b_bits), "r"(where));                                                      \
        wgmma_commit_group();                                                                                          \
        wgmma_wait_group<0>();                                                                                         \
        for (int i = 0; i < SUMS; i++)                                                                                 \
            sums[threadIdx.x * SUMS + i] = d[i];                                                                       \
    }

KERNEL(f16_0, float, "f", "m64n16k32.f32.f16.f16", "0", ", 1, 1, 0, 0", ", 1, 1, 0")
KERNEL(f16_1, float, "f", "m64n16k32.f32.f16.f16", "1", ", -1, 1, 0, 0", ", -1, 1, 0")
KERNEL(bf16_0, float, "f", "m64n16k32.f32.bf16.bf16", "0", ", -1, -1, 0, 0", ", -1, -1, 0")
KERNEL(bf16_1, float, "f", "m64n16k32.f32.bf16.bf16", "1", ", 1, -1, 0, 0", ", 1, -1, 0")
KERNEL_OF(true, f16_mn, float, "f", "m64n16k32.f32.f16.f16", "1", ", 1, 1, 1, 1", ", 1, 1, 1")
KERNEL(tf32_0, float, "f", "m64n16k16.f32.tf32.tf32", "0", ", 1, 1", ", 1, 1")
KERNEL(tf32_1, float, "f", "m64n16k16.f32.tf32.tf32", "1", ", 1, 1", ", 1, 1")
KERNEL(e4m3, float, "f", "m64n16k64.f32.e4m3.e5m2", "0", ", 1, 1", ", 1, 1")
KERNEL(e5m2, float, "f", "m64n16k64.f32.e5m2.e4m3", "0", ", 1, 1", ", 1, 1")
KERNEL(s8, int, "r", "m64n16k64.s32.s8.u8", "0", "", "")
KERNEL(u8, int, "r", "m64n16k64.satfinite.s32.u8.s8", "0", "", "")

enum Type { F16, BF16, TF32, E4M3, E5M2, S8, U8 };

constexpr int BYTES[] = {2, 2, 4, 1, 1, 1, 1};

// Encodes a small integer in the type; for floating-point types 99 is infinity, or NaN if the type has no infinity.
static void encode(Type type, int number, char *to) {
    static const unsigned char e4m3_codes[] = {0, 0x38, 0x40, 0x44, 0x48}, e5m2_codes[] = {0, 0x3c, 0x40, 0x42, 0x44};
    const float real = number == 99 ? INFINITY : number;
    const int size = number == 99 ? 0 : abs(number), sign = number < 0 ? 0x80 : 0;
    const __half half = __float2half(real);
    const __nv_bfloat16 brain = __float2bfloat16(real);
    const unsigned char e4m3_code = number == 99 ? 0x7f : e4m3_codes[size] | sign,
                        e5m2_code = number == 99 ? 0x7c : e5m2_codes[size] | sign, whole = (unsigned char)number;
    const void *const from[] = {&half, &brain, &real, &e4m3_code, &e5m2_code, &whole, &whole};
    memcpy(to, from[type], BYTES[type]);
}

template <typename SUM>
static bool matches(const char *name, void (*kernel)(const char *, const char *, const uint32_t *, SUM *, int),
                    Type a_type, Type b_type, int selector, int sign) {
    const int bytes = BYTES[a_type], stored = A_BYTES / bytes, chunk = bytes == 4 ? 2 : 4;
    const bool special = a_type != S8 && a_type != U8;
    std::vector<char> a(M * A_BYTES), b(N * B_BYTES);
    std::vector<int> left(M * stored), place_of(M * stored), right(2 * stored * N);
    std::vector<uint32_t> metadata(128);
    std::vector<SUM> sums(M * N);
    for (uint32_t &word : metadata)
        word = (uint32_t)rand() * 77777;
    for (int row = 0; row < M; row++) {
        for (int s = 0; s < stored; s++) {
            left[row * stored + s] = a_type == U8 || rand() % 2 ? 1 + rand() % 4 : -1 - rand() % 4;
            encode(a_type, left[row * stored + s], &a[row * A_BYTES + s * bytes]);
        }
        for (int k = 0; k < 2 * stored; k += chunk) {
            const int first = rand() % (chunk - 1), second = first + 1 + rand() % (chunk - 1 - first), one = rand() % 2;
            const int from = k / 2, in_lane = bytes == 1 ? 32 : stored; // elements along K of which one lane knows
            const int of_quad = bytes == 1 ? k / 32 * 2 + row % 16 / 8 : 2 * selector + k / in_lane;
            const int bit = bytes == 1 ? k % 32 : row % 16 / 8 * 16 + k % in_lane * (bytes == 4 ? 2 : 1);
            const uint32_t digit = chunk == 2 ? (one ? 14 : 4) : first | second << 2;
            uint32_t &word = metadata[row / 16 * 32 + row % 8 * 4 + of_quad];
            word = (word & ~(15u << bit)) | digit << bit;
            place_of[row * stored + from] = k + (chunk == 2 ? one : first);
            if (chunk == 4)
                place_of[row * stored + from + 1] = k + second;
        }
    }
    for (int column = 0; column < N; column++) {
        for (int k = 0; k < 2 * stored; k++) {
            right[k * N + column] = special && k == 5 && column == 3 ? 99
                                    : b_type == U8                   ? rand() % 200
                                    : b_type == S8                   ? rand() % 200 - 100
                                                                     : rand() % 9 - 4;
            encode(b_type, right[k * N + column], &b[column * B_BYTES + k * bytes]);
        }
    }
    char *device_a, *device_b;
    uint32_t *device_metadata;
    SUM *device_sums;
    CHECK(cudaMalloc(&device_a, a.size()));
    CHECK(cudaMalloc(&device_b, b.size()));
    CHECK(cudaMalloc(&device_metadata, 512));
    CHECK(cudaMalloc(&device_sums, sums.size() * 4));
    CHECK(cudaMemcpy(device_a, a.data(), a.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_metadata, metadata.data(), 512, cudaMemcpyHostToDevice));
    bool good = true;
    for (int from_registers = 0; from_registers < 2 && good; from_registers++) {
        kernel<<<1, 128>>>(device_a, device_b, device_metadata, device_sums, from_registers);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(sums.data(), device_sums, sums.size() * 4, cudaMemcpyDeviceToHost));
        for (int i = 0; i < M * N && good; i++) {
            const int t = i / SUMS, e = i % SUMS;
            const int row = t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8, column = e / 4 * 8 + t % 4 * 2 + e % 2;
            double wanted = 3;
            for (int s = 0; s < stored; s++) {
                const int other = right[place_of[row * stored + s] * N + column];
                wanted += sign * left[row * stored + s] *
                          (other != 99 || !special ? other
                           : b_type == E4M3        ? NAN
                                                   : (double)INFINITY);
            }
            good = sums[i] == wanted || (std::isnan((double)sums[i]) && std::isnan(wanted));
            if (!good)
                printf("%s, %s: row %d, column %d is %g, not %g\n", name, from_registers ? "registers" : "shared", row,
                       column, (double)sums[i], wanted);
        }
    }
    return good;
}

int main(int argc, char **) {
    if (argc > 1) {
        void *memory;
        CHECK(cudaMalloc(&memory, 1 << 16));
        CHECK(cudaMemset(memory, 0, 1 << 16));
        const char *zeros = (const char *)memory;
        tf32_0<<<1, 128>>>(zeros, zeros, (const uint32_t *)memory, (float *)memory + 8192, 0);
        CHECK(cudaDeviceSynchronize());
        return 0;
    }
    return !(matches("f16", f16_0, F16, F16, 0, 1) & matches("f16 negated", f16_1, F16, F16, 1, -1) &
             matches("f16 MN-major", f16_mn, F16, F16, 1, 1) & matches("bf16", bf16_0, BF16, BF16, 0, 1) &
             matches("bf16 negated", bf16_1, BF16, BF16, 1, -1) & matches("tf32", tf32_0, TF32, TF32, 0, 1) &
             matches("tf32 of the other pair", tf32_1, TF32, TF32, 1, 1) & matches("e4m3", e4m3, E4M3, E5M2, 0, 1) &
             matches("e5m2", e5m2, E5M2, E4M3, 0, 1) & matches("s8", s8, S8, U8, 0, 1) &
             matches("u8", u8, U8, S8, 0, 1));
}
