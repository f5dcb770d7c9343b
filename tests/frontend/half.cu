// fp16 and bf16: the arithmetic intrinsics of the two headers, scalar and x2, from sm_80 on; before, bf16 is emulated
// and incomplete.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800

template <typename T>
__device__ T scalar(T a, T b, T c) {
    T r = __hadd(a, b);
    r = __hsub(r, c);
    r = __hmul(r, b);
    r = __hadd_rn(r, a);
    r = __hmul_rn(r, b);
    r = __hfma(r, a, b);
    r = __hfma_relu(r, b, c);
    r = __hfma_sat(r, b, c);
    r = __hadd_sat(r, a);
    r = __hdiv(r, b);
    r = __hmax(r, c);
    r = __hmin(r, a);
    r = __hmax_nan(r, b);
    r = __hmin_nan(r, c);
    r = __habs(__hneg(r));
    if (__hlt(a, b) || __hgeu(r, c) || __hisnan(r) || __hisinf(r) || __heq(a, c) || __hneu(a, b))
        r = hceil(hfloor(htrunc(hrint(r))));
    return hsqrt(hrsqrt(hrcp(r)));
}

template <typename T>
__device__ T transcendental(T a) {
    return hsin(a) + hcos(a) + hexp(a) + hexp2(a) + hexp10(a) + hlog(a) + hlog2(a) + hlog10(a) + htanh(a) +
           htanh_approx(a);
}

template <typename T2>
__device__ T2 pair(T2 a, T2 b, T2 c) {
    T2 r = __hadd2(a, b);
    r = __hsub2(r, c);
    r = __hmul2(r, b);
    r = __hfma2(r, a, b);
    r = __hfma2_relu(r, b, c);
    r = __h2div(r, b);
    r = __hmax2(r, c);
    r = __hmin2_nan(r, a);
    r = __habs2(__hneg2(r));
    r = __hgt2(r, a);
    unsigned mask = __hlt2_mask(a, b);
    if (__hbeq2(a, b) || __hbgeu2(b, c) || mask)
        r = h2floor(h2rint(r));
    r = __lowhigh2highlow(r);
    return h2exp(h2log(h2sqrt(h2rcp(h2sin(r)))));
}

__global__ void fp16(__half *x, __half2 *y) {
    x[0] = scalar(x[1], x[2], x[3]);
    x[4] = transcendental(x[5]);
    y[0] = pair(y[1], y[2], y[3]);
    y[4] = h2tanh(y[5]);
    atomicAdd(&x[6], x[7]);
    atomicAdd(&y[6], y[7]);
    x[8] = __shfl_xor_sync(0xffffffffu, x[8], 4);
    y[8] = __shfl_down_sync(0xffffffffu, y[8], 4);
    x[9] = __ldg(&x[10]);
}

__global__ void bf16(__nv_bfloat16 *x, __nv_bfloat162 *y) {
    x[0] = scalar(x[1], x[2], x[3]);
    x[4] = transcendental(x[5]);
    y[0] = pair(y[1], y[2], y[3]);
    atomicAdd(&x[6], x[7]);
    atomicAdd(&y[6], y[7]);
    x[8] = __shfl_up_sync(0xffffffffu, x[8], 4);
    y[9] = __ldcg(&y[10]);
}

__global__ void conversions(float *f, double *d, __half *h, __nv_bfloat16 *b, int *i, unsigned *u, long long *l,
                            unsigned long long *m, short *s, unsigned short *t, __half2 *h2, __nv_bfloat162 *b2) {
    f[0] = __half2float(h[0]) + __bfloat162float(b[0]) + __low2float(h2[0]) + __high2float(b2[0]);
    h[1] = __float2half_rn(f[1]);
    h[2] = __float2half_rz(f[1]);
    h[3] = __float2half_ru(f[1]);
    h[4] = __float2half_rd(f[1]);
    b[1] = __float2bfloat16_rn(f[1]);
    b[2] = __float2bfloat16_rz(f[1]);
    b[3] = __float2bfloat16_ru(f[1]);
    h2[1] = __floats2half2_rn(f[2], f[3]);
    b2[1] = __floats2bfloat162_rn(f[2], f[3]);
    h[5] = __double2half(d[0]);
    b[5] = __double2bfloat16(d[0]);
    i[0] = __half2int_rn(h[6]) + __half2int_rz(h[6]) + __half2int_ru(h[6]) + __half2int_rd(h[6]);
    u[0] = __half2uint_rn(h[6]) + __bfloat162uint_rz(b[6]);
    l[0] = __half2ll_rn(h[7]) + __bfloat162ll_rn(b[7]);
    m[0] = __half2ull_rz(h[7]) + __bfloat162ull_rd(b[7]);
    s[0] = __half2short_rn(h[8]) + __bfloat162short_rz(b[8]);
    t[0] = __half2ushort_rn(h[8]) + __bfloat162ushort_rz(b[8]);
    h[9] = __int2half_rn(i[1]) + __uint2half_rz(u[1]) + __ll2half_rn(l[1]) + __ull2half_rn(m[1]) +
           __short2half_rn(s[1]) + __ushort2half_rn(t[1]);
    b[9] = __int2bfloat16_rn(i[1]) + __uint2bfloat16_rz(u[1]) + __ll2bfloat16_rn(l[1]) + __ull2bfloat16_rn(m[1]) +
           __short2bfloat16_rn(s[1]) + __ushort2bfloat16_rn(t[1]);
    s[2] = __half_as_short(h[10]);
    float2 pair = __half22float2(h2[2]), other = __bfloat1622float2(b2[2]);
    f[4] = pair.x + pair.y * other.x - other.y;
}
#endif
