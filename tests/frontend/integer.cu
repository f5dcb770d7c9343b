// Integers of every width, and bit intrinsics.
#include <cstdint>

template <typename T>
__device__ T arithmetic(T a, T b, T c) {
    T r = a + b * c - (a & b) + (b | c) - (a ^ ~c);
    if (b != 0)
        r += a / b + a % b;
    r += (T)(a << (c & 7)) + (T)(b >> (a & 7));
    r = a < b ? r : c >= a ? b : (T)-r;
    return r > a ? (r < b ? r : b) : a;
}

template <typename T>
__global__ void widths(T *x) {
    x[0] = arithmetic(x[1], x[2], x[3]);
    x[4] = x[5] / 10 + x[6] % 1000 + x[7] / 7;
}
template __global__ void widths(int8_t *);
template __global__ void widths(uint8_t *);
template __global__ void widths(int16_t *);
template __global__ void widths(uint16_t *);
template __global__ void widths(int32_t *);
template __global__ void widths(uint32_t *);
template __global__ void widths(int64_t *);
template __global__ void widths(uint64_t *);
template __global__ void widths(__int128 *);

__global__ void bits(unsigned *u, int *i, unsigned long long *m, long long *l) {
    u[0] = __brev(u[1]) + __clz(i[1]) + __ffs(i[2]) + __popc(u[2]) + __byte_perm(u[3], u[4], u[5]);
    m[0] = __brevll(m[1]) + __clzll(l[1]) + __ffsll(l[2]) + __popcll(m[2]);
    u[6] = __funnelshift_l(u[7], u[8], u[9]) + __funnelshift_r(u[7], u[8], u[9]) + __funnelshift_lc(u[7], u[8], 5) +
           __funnelshift_rc(u[7], u[8], 40);
    i[3] =
        __mul24(i[4], i[5]) + __mulhi(i[6], i[7]) + __hadd(i[8], i[9]) + __rhadd(i[8], i[9]) + __sad(i[1], i[2], u[3]);
    u[10] = __umul24(u[11], u[12]) + __umulhi(u[13], u[14]) + __uhadd(u[1], u[2]) + __usad(u[3], u[4], u[5]);
    l[3] = __mul64hi(l[4], l[5]);
    m[3] = __umul64hi(m[4], m[5]);
    i[10] = __dp4a(i[11], i[12], i[13]) + __dp2a_lo(i[11], i[12], i[13]) + __dp2a_hi(i[11], i[12], i[13]);
    u[15] = __dp4a(u[16], u[17], u[18]);
    u[19] = __fns(u[20], u[21], i[14]);
    u[22] = (u[23] & 0xff) | ((u[24] >> 5 & 0x3f) << 12);
    i[15] = (i[16] << 20) >> 24;
}

__global__ void bytes_of_a_word(unsigned *u) {
    u[0] = __vadd4(u[1], u[2]);
    u[1] = __vsub2(u[3], u[4]);
    u[2] = __vaddus4(u[1], u[2]);
    u[3] = __vmaxs4(u[5], u[6]);
    u[4] = __vminu2(u[5], u[6]);
    u[5] = __vcmpeq4(u[7], u[8]);
    u[6] = __vsetgts2(u[3], u[9]);
    u[7] = __vavgu4(u[3], u[9]);
    u[8] = __vnegss2(u[3]);
    u[9] = __viaddmax_s32(u[1], u[2], u[3]);
    u[10] = __vimax3_s32(u[1], u[2], u[3]);
    u[11] = __vimin_s16x2_relu(u[1], u[2]);
}

__global__ void wide_products(long long *l, unsigned long long *m, int *i, unsigned *u) {
    l[0] = (long long)i[0] * i[1] + l[1];
    m[0] = (unsigned long long)u[0] * u[1] + m[1];
    l[2] = l[3] * i[2];
    unsigned __int128 product = (unsigned __int128)m[2] * m[3] + m[4];
    m[5] = (unsigned long long)(product >> 64);
    m[6] = (unsigned long long)product;
}
