// SIMD arithmetic within words: instructions for two halves and four bytes, dot products of bytes, byte permutation,
// funnel shifts, and 16-bit integers.
#include "program.cuh"

#include <cmath>
#include <cuda_fp16.h>

__global__ void parts(const unsigned *a, const unsigned *b, unsigned *out) {
    const unsigned x = a[threadIdx.x], y = b[threadIdx.x];
    unsigned *o = out + 16 * threadIdx.x;
    o[0] = __vadd4(x, y);
    o[1] = __vsub2(x, y);
    o[2] = __vabsdiffu4(x, y);
    o[3] = __vsadu4(x, y);
    o[4] = __vmaxs2(x, y);
    o[5] = __vcmpgtu4(x, y);
    o[6] = __vavgu4(x, y);
    o[7] = __vaddss2(x, y);
    o[8] = __dp4a(x, y, 10u);
    o[9] = __byte_perm(x, y, 0x5140);
    o[10] = __funnelshift_l(x, y, 5);
    o[11] = __brev(x);
    o[12] = __umulhi(x, y);
    o[13] = __usad(x, y, 3);
    o[14] = __vsetltu4(x, y);
    o[15] = __vminu4(x, y);
}

// Instructions without a CUDA intrinsic, which programs use through inline assembly.
__global__ void by_name(const unsigned *a, const unsigned *b, unsigned *out) {
    const unsigned x = a[threadIdx.x], y = b[threadIdx.x];
    unsigned *o = out + 16 * threadIdx.x;
    asm("vavrg4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(o[0]) : "r"(x), "r"(y), "r"(0));
    asm("vavrg2.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(o[1]) : "r"(x), "r"(y), "r"(0));
    asm("vset4.u32.u32.eq %0, %1, %2, %3;" : "=r"(o[2]) : "r"(x & 0x03030303), "r"(y & 0x03030303), "r"(0));
    asm("vset2.s32.s32.le %0, %1, %2, %3;" : "=r"(o[3]) : "r"(x), "r"(y), "r"(0));
    asm("vset4.s32.s32.gt.add %0, %1, %2, %3;" : "=r"(o[4]) : "r"(x), "r"(y), "r"(10));
}

static unsigned each(unsigned x, unsigned y, int bits, int (*f)(int, int), bool is_signed) {
    unsigned all = 0, mask = (1u << bits) - 1;
    for (int at = 0; at < 32; at += bits) {
        int p = x >> at & mask, q = y >> at & mask;
        if (is_signed && p >> (bits - 1))
            p -= 1 << bits;
        if (is_signed && q >> (bits - 1))
            q -= 1 << bits;
        all |= ((unsigned)f(p, q) & mask) << at;
    }
    return all;
}

__global__ void halves(const float *x, float *y, int n) {
    const int i = 2 * threadIdx.x;
    if (i < n) {
        const __half2 two = __floats2half2_rn(x[i], x[i + 1]);
        const float2 back = __half22float2(__hfma2(two, two, __float2half2_rn(1.0f)));
        y[i] = back.x;
        y[i + 1] = back.y;
    }
}

int main() {
    const int n = 64;
    std::vector<unsigned> a(n), b(n);
    unsigned state = 3;
    for (int i = 0; i < n; i++) {
        a[i] = state = state * 1664525u + 1013904223u;
        b[i] = state = state * 1664525u + 1013904223u;
    }
    unsigned *out = zeros<unsigned>(16 * n);
    parts<<<1, n>>>(to_device(a), to_device(b), out);
    const std::vector<unsigned> o = to_host(out, 16 * n);
    for (int i = 0; i < n; i++) {
        const unsigned x = a[i], y = b[i], *r = &o[16 * i];
        unsigned sad = 0, dot = 10;
        for (int at = 0; at < 32; at += 8) {
            sad += abs((int)(x >> at & 255) - (int)(y >> at & 255));
            dot += (x >> at & 255) * (y >> at & 255);
        }
        EXPECT(r[0] == each(
                           x, y, 8, [](int p, int q) { return p + q; }, false));
        EXPECT(r[1] == each(
                           x, y, 16, [](int p, int q) { return p - q; }, false));
        EXPECT(r[2] == each(
                           x, y, 8, [](int p, int q) { return abs(p - q); }, false));
        EXPECT(r[3] == sad && r[8] == dot);
        EXPECT(r[4] == each(
                           x, y, 16, [](int p, int q) { return p > q ? p : q; }, true));
        EXPECT(r[5] == each(
                           x, y, 8, [](int p, int q) { return p > q ? 255 : 0; }, false));
        EXPECT(r[6] == each(
                           x, y, 8, [](int p, int q) { return (p + q + 1) / 2; }, false));
        EXPECT(r[7] == each(
                           x, y, 16,
                           [](int p, int q) { return p + q > 32767    ? 32767
                                                     : p + q < -32768 ? -32768
                                                                      : p + q; }, true));
        EXPECT(r[9] == ((x & 255) | (y & 255) << 8 | (x >> 8 & 255) << 16 | (y >> 8 & 255) << 24));
        EXPECT(r[10] == (y << 5 | x >> 27) && r[12] == (unsigned)((unsigned long long)x * y >> 32));
        unsigned reversed = 0;
        for (int bit = 0; bit < 32; bit++)
            reversed |= (x >> bit & 1) << (31 - bit);
        EXPECT(r[11] == reversed && r[13] == (x > y ? x - y : y - x) + 3);
        EXPECT(r[14] == each(
                            x, y, 8, [](int p, int q) { return p < q ? 1 : 0; }, false));
        EXPECT(r[15] == each(
                            x, y, 8, [](int p, int q) { return p < q ? p : q; }, false));
    }
    by_name<<<1, n>>>(to_device(a), to_device(b), out);
    const std::vector<unsigned> named = to_host(out, 16 * n);
    for (int i = 0; i < n; i++) {
        const unsigned x = a[i], y = b[i], *r = &named[16 * i];
        const auto average = [](int p, int q) { return (p + q + (p + q >= 0)) >> 1; };
        EXPECT(r[0] == each(x, y, 8, average, false) && r[1] == each(x, y, 16, average, true));
        EXPECT(r[2] == each(
                           x & 0x03030303, y & 0x03030303, 8, [](int p, int q) { return (int)(p == q); }, false));
        EXPECT(r[3] == each(
                           x, y, 16, [](int p, int q) { return (int)(p <= q); }, true));
        EXPECT(r[4] == 10 + (unsigned)__builtin_popcount(each(
                                x, y, 8, [](int p, int q) { return (int)(p > q); }, true)));
    }
    const std::vector<float> x = whole_numbers(n, 30);
    float *y = zeros<float>(n);
    halves<<<1, 32>>>(to_device(x), y, n);
    const std::vector<float> result = to_host(y, n);
    for (int i = 0; i < n; i++)
        EXPECT(result[i] == x[i] * x[i] + 1);
    return 0;
}
