// fp32 and fp64: rounding modes, the mathematical library, conversions, comparison with NaN.
#include <cmath>

__global__ void rounding(float *f, double *d, int *i, unsigned *u, long long *l, unsigned long long *m) {
    f[0] = __fadd_rn(f[1], f[2]) + __fadd_rz(f[1], f[2]) + __fadd_ru(f[1], f[2]) + __fadd_rd(f[1], f[2]);
    f[1] = __fmul_rn(f[1], f[2]) + __fmul_rz(f[1], f[2]) + __fmul_ru(f[1], f[2]) + __fmul_rd(f[1], f[2]);
    f[2] = __fmaf_rn(f[1], f[2], f[3]) + __fmaf_rz(f[1], f[2], f[3]) + __fmaf_ru(f[1], f[2], f[3]);
    f[3] = __fdiv_rn(f[1], f[2]) + __fdiv_rz(f[1], f[2]) + __fdiv_ru(f[1], f[2]) + __fdiv_rd(f[1], f[2]);
    f[4] = __fsqrt_rn(f[1]) + __fsqrt_rz(f[1]) + __frcp_rn(f[1]) + __frcp_ru(f[1]) + __frsqrt_rn(f[1]);
    f[5] = __fsub_rn(f[1], f[2]) + __fdividef(f[1], f[2]) + __saturatef(f[3]);
    d[0] = __dadd_rz(d[1], d[2]) + __dmul_ru(d[1], d[2]) + __fma_rd(d[1], d[2], d[3]) + __ddiv_rn(d[1], d[2]) +
           __dsqrt_rz(d[1]) + __drcp_ru(d[1]) + __dsub_rd(d[1], d[2]);
    i[0] = __float2int_rn(f[6]) + __float2int_rz(f[6]) + __float2int_ru(f[6]) + __float2int_rd(f[6]) +
           __double2int_rn(d[3]);
    u[0] = __float2uint_rn(f[6]) + __double2uint_rz(d[3]);
    l[0] = __float2ll_rz(f[6]) + __double2ll_rd(d[3]);
    m[0] = __float2ull_ru(f[6]) + __double2ull_rn(d[3]);
    f[7] = __int2float_rn(i[1]) + __uint2float_rz(u[1]) + __ll2float_ru(l[1]) + __ull2float_rd(m[1]) +
           __double2float_rn(d[4]) + __double2float_rz(d[4]);
    d[5] = __int2double_rn(i[1]) + __uint2double_rn(u[1]) + __ll2double_rz(l[1]) + __ull2double_ru(m[1]) + f[8];
    i[2] = __float_as_int(f[9]);
    u[2] = __float_as_uint(f[9]);
    f[9] = __int_as_float(i[3]);
    l[2] = __double_as_longlong(d[6]);
    i[4] = __double2hiint(d[6]) + __double2loint(d[6]);
    d[7] = __hiloint2double(i[5], i[6]);
}

__global__ void library_float(float *f, int *i, float2 *s) {
    float x = f[threadIdx.x], y = f[threadIdx.x + 1], z = f[threadIdx.x + 2], sine, cosine, whole;
    float r = sinf(x) + cosf(x) + tanf(x) + asinf(x) + acosf(x) + atanf(x) + atan2f(x, y) + sinhf(x) + coshf(x) +
              tanhf(x) + asinhf(x) + acoshf(x) + atanhf(x);
    r += expf(x) + exp2f(x) + exp10f(x) + expm1f(x) + logf(x) + log2f(x) + log10f(x) + log1pf(x) + powf(x, y) +
         sqrtf(x) + rsqrtf(x) + cbrtf(x) + hypotf(x, y);
    r += erff(x) + erfcf(x) + erfinvf(x) + tgammaf(x) + lgammaf(x) + normcdff(x) + j0f(x) + y1f(x) + rcbrtf(x);
    r += floorf(x) + ceilf(x) + truncf(x) + roundf(x) + rintf(x) + nearbyintf(x) + fmodf(x, y) + remainderf(x, y) +
         fmaf(x, y, z) + fmaxf(x, y) + fminf(x, y) + fabsf(x) + copysignf(x, y) + fdimf(x, y) + nextafterf(x, y) +
         ldexpf(x, 3) + scalbnf(x, 2) + logbf(x) + frexpf(x, &i[0]) + modff(x, &whole) + norm3df(x, y, z);
    sincosf(x, &sine, &cosine);
    sincospif(y, &s[0].x, &s[0].y);
    i[1] = isnan(x) + isinf(y) + isfinite(z) + signbit(x) + ilogbf(y) + lroundf(x) + llrintf(y);
    f[threadIdx.x] = r + sine * cosine + whole + (x < y) + (x != x) + !(x >= z) + (x == y ? 1.0f : z);
}

__global__ void library_fast(float *f) {
    float x = f[threadIdx.x], sine, cosine;
    __sincosf(x, &sine, &cosine);
    f[threadIdx.x] = __sinf(x) + __cosf(x) + __tanf(x) + __expf(x) + __exp10f(x) + __logf(x) + __log2f(x) +
                     __log10f(x) + __powf(x, sine) + cosine;
}

__global__ void library_double(double *d, int *i) {
    double x = d[threadIdx.x], y = d[threadIdx.x + 1], sine, cosine;
    double r = sin(x) + cos(x) + tan(x) + asin(x) + atan2(x, y) + sinh(x) + tanh(x) + exp(x) + exp2(x) + expm1(x) +
               log(x) + log1p(x) + pow(x, y) + sqrt(x) + rsqrt(x) + cbrt(x) + hypot(x, y) + erf(x) + tgamma(x) +
               lgamma(x);
    r += floor(x) + ceil(x) + trunc(x) + round(x) + rint(x) + fmod(x, y) + fma(x, y, r) + fmax(x, y) + fmin(x, y) +
         fabs(x) + copysign(x, y) + ldexp(x, 4) + frexp(x, &i[0]) + x / y;
    sincos(y, &sine, &cosine);
    i[1] = isnan(x) + isinf(y) + (x < y) + (x != y) + (int)lround(x);
    d[threadIdx.x] = r + sine + cosine;
}
