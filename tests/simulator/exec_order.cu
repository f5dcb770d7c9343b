// In which order blocks, and the warps of a block, begin.
#define KERNEL extern "C" __global__ void

KERNEL order_of_blocks(unsigned *count, unsigned *place) {
    if (threadIdx.x == 0)
        place[blockIdx.x] = atomicAdd(count, 1);
}

KERNEL order_of_warps(unsigned *count, unsigned *place) {
    if (threadIdx.x % 32 == 0)
        place[threadIdx.x / 32] = atomicAdd(count, 1);
}

// A kernel that stores, one that reads the results, one that changes them, and one whose blocks depend on other blocks.
KERNEL step_stores(unsigned *to) {
    to[blockIdx.x] = blockIdx.x + 1;
}

KERNEL step_reads(unsigned *from, unsigned *to) {
    to[blockIdx.x] = from[blockIdx.x];
}

KERNEL step_changes(unsigned *of) {
    if (threadIdx.x == 0)
        of[blockIdx.x] *= 2;
}

KERNEL step_counts(unsigned *count, unsigned *to) {
    if (threadIdx.x == 0)
        to[blockIdx.x] = atomicAdd(&count[blockIdx.x / 2], 1) + 1;
}

KERNEL step_looks_beside(volatile unsigned *to) {
    to[blockIdx.x] = 1;
    to[blockIdx.x] = 1 + (blockIdx.x ? to[blockIdx.x - 1] : 0) * 0;
}

KERNEL step_in_8_bits(unsigned *to) {
    to[blockIdx.x % 256] = blockIdx.x % 256 + 1;
}

// Three warps read the data that a fourth one writes, stage after stage. COUNT: the number of arrivals after which a
// stage counts as free.
__device__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

__device__ void arrive_at(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void set_up(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

template <int COUNT>
__device__ void stages(int *out) {
    __shared__ int stage[2][32];
    __shared__ alignas(8) unsigned long long full[2], empty[2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int sum = 0;
    for (int s = 0; threadIdx.x == 0 && s < 2; s++) {
        set_up(__cvta_generic_to_shared(&full[s]), 32);
        set_up(__cvta_generic_to_shared(&empty[s]), 32 * COUNT);
    }
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        const unsigned is_full = __cvta_generic_to_shared(&full[i % 2]),
                       is_empty = __cvta_generic_to_shared(&empty[i % 2]);
        if (warp == 0) {
            wait_for(is_empty, (i / 2 & 1) ^ 1);
            stage[i % 2][lane] = i;
            arrive_at(is_full);
        } else {
            wait_for(is_full, i / 2 & 1);
            sum += stage[i % 2][31 - lane];
            arrive_at(is_empty);
        }
    }
    out[threadIdx.x] = sum;
}

KERNEL three_readers(int *out) {
    stages<3>(out);
}

KERNEL one_of_three_readers(int *out) {
    stages<1>(out);
}

// A 16-byte copy: the number of tests of its mbarrier that fail. WAITS: otherwise it is read without a test.
template <bool WAITS>
__device__ void copied(int *out, const int *in) {
    __shared__ alignas(16) int there[4];
    __shared__ alignas(8) unsigned long long full;
    const unsigned barrier = __cvta_generic_to_shared(&full);
    set_up(barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(barrier) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(
                     (unsigned)__cvta_generic_to_shared(there)),
                 "l"(in), "r"(barrier)
                 : "memory");
    for (unsigned done = 0, looks = 0; WAITS && !done; looks++) {
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, done;\n"
                     "}"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
        out[1] = looks;
    }
    out[0] = there[3];
}

KERNEL looks_until_copied(int *out, const int *in) {
    copied<true>(out, in);
}

KERNEL reads_before_copied(int *out, const int *in) {
    copied<false>(out, in);
}
