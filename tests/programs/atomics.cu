// Atomics on global and shared memory, and read-modify-write loops with atomicCAS, whose first read is not atomic.
#include "program.cuh"

__device__ double add_by_cas(double *to, double value) {
    unsigned long long *bits = (unsigned long long *)to, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__device__ void least_by_cas(float *to, float value) {
    int old = __float_as_int(*to);
    while (value < __int_as_float(old)) {
        const int observed = atomicCAS((int *)to, old, __float_as_int(value));
        if (observed == old)
            break;
        old = observed;
    }
}

struct results {
    int add, sub, min, max, exchanged, cas;
    unsigned inc, dec, ands, ors, xors, umax;
    unsigned long long wide, wide_max;
    float sum, least;
    double product_sum, by_cas, shared_by_cas;
    unsigned short half_word;
};

__global__ void all_kinds(results *r, int *acquisitions, int *per_block) {
    __shared__ double shared_sum;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        shared_sum = 0;
    __syncthreads();
    atomicAdd(&r->add, i);
    atomicSub(&r->sub, 2);
    atomicMin(&r->min, -i);
    if (i > r->max)
        atomicMax(&r->max, i);
    atomicInc(&r->inc, 99);
    atomicDec(&r->dec, 99);
    atomicAnd(&r->ands, ~(1u << i % 32));
    atomicOr(&r->ors, 1u << i % 16);
    atomicXor(&r->xors, 3u);
    atomicMax(&r->umax, 0x80000000u + i);
    atomicAdd(&r->wide, 1ull << 33);
    atomicMax(&r->wide_max, (unsigned long long)i << 32);
    atomicAdd(&r->sum, 0.5f);
    atomicAdd_block(&per_block[blockIdx.x], 1);
    atomicAdd_system(&r->product_sum, 0.25);
    add_by_cas(&r->by_cas, 1.0);
    add_by_cas(&shared_sum, 1.0);
    least_by_cas(&r->least, 1000.0f - i);
    unsigned short old = r->half_word, assumed;
    do {
        assumed = old;
        old = atomicCAS(&r->half_word, assumed, (unsigned short)(assumed + 1));
    } while (old != assumed);
    // A spin lock.
    if (threadIdx.x == 0) {
        while (atomicCAS(&r->cas, 0, 1) != 0) {
        }
        __threadfence();
        acquisitions[0] = ((volatile int *)acquisitions)[0] + 1;
        __threadfence();
        atomicExch(&r->cas, 0);
    }
    atomicExch(&r->exchanged, i);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&r->shared_by_cas, shared_sum);
}

int main() {
    const int blocks = 6, threads = 96, n = blocks * threads;
    results begin = {};
    begin.ands = ~0u;
    begin.least = 1e9f;
    results *r = to_device(std::vector<results>{begin});
    int *acquisitions = zeros<int>(1), *per_block = zeros<int>(blocks);
    all_kinds<<<blocks, threads>>>(r, acquisitions, per_block);
    EXPECT(to_host(per_block, blocks) == std::vector<int>(blocks, threads));
    const results end = to_host(r, 1)[0];
    EXPECT(end.add == n * (n - 1) / 2 && end.sub == -2 * n && end.min == -(n - 1) && end.max == n - 1);
    EXPECT(end.inc == n % 100 && end.dec == (100 - n % 100) % 100 && end.ands == 0 && end.ors == 0xffff);
    EXPECT(end.xors == 0 && end.umax == 0x80000000u + n - 1 && end.wide == (unsigned long long)n << 33);
    EXPECT(end.wide_max == (unsigned long long)(n - 1) << 32 && end.sum == 0.5f * n && end.product_sum == 0.25 * n);
    EXPECT(end.by_cas == n && end.shared_by_cas == n && end.least == 1000.0f - (n - 1) && end.half_word == n);
    EXPECT(end.exchanged >= 0 && end.exchanged < n && end.cas == 0 && to_host(acquisitions, 1)[0] == blocks);
    return 0;
}
