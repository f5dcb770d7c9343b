// Language features that no lesson uses: functions that are not inlined, function pointers, virtual calls, printf,
// assert.
#include "right.cuh"

#include <cassert>
#include <cstdio>

__device__ __noinline__ float score_out_of_line(const Row &r, int key) {
    return warp_score(r, key);
}

__device__ __noinline__ float4 weighted(float4 value, float weight) {
    return make_float4(weight * value.x, weight * value.y, weight * value.z, weight * value.w);
}

__global__ void not_inlined(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    float maximum = -INFINITY, sum = 0;
    for (int key = 0; key < r.keys; key++)
        maximum = fmaxf(maximum, score_out_of_line(r, key));
    for (int key = 0; key < r.keys; key++)
        sum += expf(score_out_of_line(r, key) - maximum);
    for (int first = 0; first < r.d; first += 4 * WARP) {
        const int c = first + 4 * threadIdx.x;
        float4 o = {};
        for (int key = 0; key < r.keys; key++) {
            const float weight = expf(score_out_of_line(r, key) - maximum), *v = r.v + key * r.v_stride;
            const float4 term = weighted(make_float4(c < r.d ? v[c] : 0, c + 1 < r.d ? v[c + 1] : 0,
                                                     c + 2 < r.d ? v[c + 2] : 0, c + 3 < r.d ? v[c + 3] : 0),
                                         weight);
            o = make_float4(o.x + term.x, o.y + term.y, o.z + term.z, o.w + term.w);
        }
        const float result[4] = {o.x, o.y, o.z, o.w};
        for (int i = 0; i < 4 && c + i < r.d; i++)
            r.o[c + i] = r.keys ? result[i] / sum : 0;
    }
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? maximum + logf(sum) : -INFINITY;
}

static cudaError_t run_not_inlined(const Problem &p, cudaStream_t stream) {
    not_inlined<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

using Exponential = float (*)(float);

__device__ float natural(float x) {
    return expf(x);
}
__device__ float by_powers_of_two(float x) {
    return exp2f(1.44269504f * x);
}
__device__ Exponential exponentials[2] = {natural, by_powers_of_two};

__global__ void by_pointer(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    const Exponential exponential = exponentials[blockIdx.x % 2];
    LaneRunning s;
    for (int key = 0; key < r.keys; key++)
        s.maximum = fmaxf(s.maximum, warp_score(r, key));
    for (int key = 0; key < r.keys; key++) {
        const float weight = exponential(warp_score(r, key) - s.maximum);
        s.sum += weight;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            s.o[i] += weight * r.v[key * r.v_stride + c];
    }
    finish_row(r, s);
}

static cudaError_t run_by_pointer(const Problem &p, cudaStream_t stream) {
    by_pointer<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

struct Mask {
    __device__ virtual int keys(const Row &r) const = 0;
};
struct Unmasked : Mask {
    __device__ int keys(const Row &r) const override {
        return r.keys;
    }
};
struct FullyMasked : Mask {
    __device__ int keys(const Row &) const override {
        return 0;
    }
};

__global__ void virtual_call(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    const Unmasked unmasked;
    const FullyMasked fully_masked;
    const Mask *mask = r.keys ? (const Mask *)&unmasked : &fully_masked;
    LaneRunning s;
    for (int key = 0; key < mask->keys(r); key++)
        add_key(s, r, key, warp_score(r, key));
    finish_row(r, s);
}

static cudaError_t run_virtual_call(const Problem &p, cudaStream_t stream) {
    virtual_call<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

__global__ void with_printf(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    assert(r.d > 0 && r.keys <= p.nk);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        printf("%d keys of %d elements\n", r.keys, r.d);
    LaneRunning s;
    for (int key = 0; key < r.keys; key++)
        add_key(s, r, key, warp_score(r, key));
    finish_row(r, s);
}

static cudaError_t run_talkative(const Problem &p, cudaStream_t stream) {
    with_printf<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// A state machine; the lanes of the warp execute it together and share the loop over columns.
__global__ void switches(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    enum { MAXIMUM, SUM, OUTPUT, DONE } state = MAXIMUM;
    LaneRunning s;
    int key = 0;
    while (state != DONE) {
        const float score = key < r.keys ? warp_score(r, key) : 0;
        switch (state) {
        case MAXIMUM:
            s.maximum = key < r.keys ? fmaxf(s.maximum, score) : s.maximum;
            break;
        case SUM:
            s.sum += key < r.keys ? expf(score - s.maximum) : 0;
            break;
        case OUTPUT:
            for (int i = 0, c = threadIdx.x; c < r.d && key < r.keys; i++, c += WARP)
                s.o[i] += expf(score - s.maximum) * r.v[key * r.v_stride + c];
            break;
        default:
            break;
        }
        if (++key >= r.keys) {
            key = 0;
            state = state == MAXIMUM ? SUM : state == SUM ? OUTPUT : DONE;
        }
    }
    finish_row(r, s);
}

static cudaError_t run_switches(const Problem &p, cudaStream_t stream) {
    switches<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

RIGHT_KERNELS({"not-inlined", run_not_inlined}, {"by-pointer", run_by_pointer}, {"virtual-call", run_virtual_call},
              {"talkative", run_talkative}, {"switches", run_switches})
