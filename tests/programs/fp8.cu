// Conversions to and from pairs of fp8: every half, every fp8, floats of all magnitudes and special values, compared
// with the integer arithmetic of cuda_fp8.h on the host.
#include "program.cuh"

#include <cuda_fp8.h>

#include <cmath>
#include <cstring>

constexpr int PAIRS = 1 << 15, THREADS = 256;

__global__ void of_floats(unsigned short *result, const float2 *from, __nv_fp8_interpretation_t format) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    result[i] = format == __NV_E4M3 ? __nv_cvt_float2_to_fp8x2(from[i], __NV_SATFINITE, __NV_E4M3)
                                    : __nv_cvt_float2_to_fp8x2(from[i], __NV_SATFINITE, __NV_E5M2);
}

__global__ void of_halves(unsigned short *result, const __half2_raw *from, __nv_fp8_interpretation_t format) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    result[i] = format == __NV_E4M3 ? __nv_cvt_halfraw2_to_fp8x2(from[i], __NV_SATFINITE, __NV_E4M3)
                                    : __nv_cvt_halfraw2_to_fp8x2(from[i], __NV_SATFINITE, __NV_E5M2);
}

__global__ void to_halves(__half2_raw *result, const unsigned short *from, __nv_fp8_interpretation_t format) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    result[i] = format == __NV_E4M3 ? __nv_cvt_fp8x2_to_halfraw2(from[i], __NV_E4M3)
                                    : __nv_cvt_fp8x2_to_halfraw2(from[i], __NV_E5M2);
}

static float some_float(unsigned i) {
    static const float special[] = {0.0f,   -0.0f,   INFINITY, -INFINITY, NAN,  448.0f,
                                    464.0f, -465.0f, 57344.0f, 61440.0f,  1e30f};
    if (i < sizeof special / sizeof *special)
        return special[i];
    // Ties, which round to the even neighbour, at every magnitude.
    if (i % 2)
        return std::ldexp((float)((int)(i % 511) - 255), (int)(i / 2 % 40) - 24);
    const unsigned bits = i * 2654435761u;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void check(__nv_fp8_interpretation_t format) {
    std::vector<float2> floats(PAIRS);
    std::vector<__half2_raw> halves(PAIRS);
    std::vector<unsigned short> bytes(PAIRS);
    for (unsigned i = 0; i < PAIRS; i++) {
        floats[i] = {some_float(2 * i), some_float(2 * i + 1)};
        halves[i].x = (unsigned short)(2 * i);
        halves[i].y = (unsigned short)(2 * i + 1);
        bytes[i] = (unsigned short)(2 * i + i / (PAIRS / 2)); // both bytes take all values
    }
    unsigned short *result = zeros<unsigned short>(PAIRS);
    __half2_raw *back = zeros<__half2_raw>(PAIRS);
    of_floats<<<PAIRS / THREADS, THREADS>>>(result, to_device(floats), format);
    const std::vector<unsigned short> floats_got = to_host(result, PAIRS);
    of_halves<<<PAIRS / THREADS, THREADS>>>(result, to_device(halves), format);
    const std::vector<unsigned short> halves_got = to_host(result, PAIRS);
    to_halves<<<PAIRS / THREADS, THREADS>>>(back, to_device(bytes), format);
    const std::vector<__half2_raw> back_got = to_host(back, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        EXPECT(floats_got[i] == __nv_cvt_float2_to_fp8x2(floats[i], __NV_SATFINITE, format));
        EXPECT(halves_got[i] == __nv_cvt_halfraw2_to_fp8x2(halves[i], __NV_SATFINITE, format));
        const __half2_raw right = __nv_cvt_fp8x2_to_halfraw2(bytes[i], format);
        EXPECT(back_got[i].x == right.x && back_got[i].y == right.y);
    }
}

int main() {
    check(__NV_E4M3);
    check(__NV_E5M2);
    return 0;
}
