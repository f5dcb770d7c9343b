// Atomics on 16 bytes: a list head with a version counter, pairs that several blocks exchange, and 128-bit loads and
// stores in inline assembly.
#include "program.cuh"

struct alignas(16) pair {
    unsigned long long first, second;
};

struct alignas(16) head {
    unsigned long long node, changes;
};

constexpr int BLOCKS = 24, THREADS = 64, NODES = BLOCKS * THREADS;

// Each thread pushes its node; the version counter avoids the ABA problem.
__global__ void push(head *list, unsigned long long *next) {
    const unsigned long long node = blockIdx.x * blockDim.x + threadIdx.x + 1;
    head expected = {0, 0};
    for (;;) {
        next[node] = expected.node;
        const head now = atomicCAS(list, expected, head{node, expected.changes + 1});
        if (now.node == expected.node && now.changes == expected.changes)
            return;
        expected = now;
    }
}

// Exchanges only permute the values: the final contents and the returned values are all of them.
__global__ void swap(pair *of_all, unsigned long long *sums, int *torn) {
    __shared__ pair of_block;
    const unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (threadIdx.x == 0)
        of_block = {0, 0};
    __syncthreads();
    const pair a = atomicExch(of_all, pair{i, ~i}), b = atomicExch(&of_block, pair{i, i << 32});
    if ((a.first || a.second) && a.second != ~a.first)
        atomicAdd(torn, 1);
    if (b.second != b.first << 32)
        atomicAdd(torn, 1);
    atomicAdd(&sums[0], a.first);
    atomicAdd(&sums[1], b.first);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&sums[1], of_block.first);
}

// One block writes pairs with equal halves; the others must never read two different halves.
__global__ void look(pair *shown, int *torn) {
    for (unsigned long long k = 1; k <= 200; k++) {
        unsigned long long low = k, high = k;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            asm volatile("{.reg .b128 q; mov.b128 q, {%1, %2}; st.relaxed.gpu.global.b128 [%0], q;}" ::"l"(shown),
                         "l"(low), "l"(high)
                         : "memory");
        asm volatile("{.reg .b128 q; ld.relaxed.gpu.global.b128 q, [%2]; mov.b128 {%0, %1}, q;}"
                     : "=l"(low), "=l"(high)
                     : "l"(shown)
                     : "memory");
        if (low != high)
            atomicAdd(torn, 1);
    }
}

// In shared, local and global memory, with register ranges, sink operands, quarters, and a failing compare-and-swap.
__global__ void copies(const pair *from, pair *to) {
    __shared__ pair tile[THREADS];
    const int i = threadIdx.x;
    asm volatile("{.reg .b128 q<3>; .reg .b32 r<4>; .reg .b64 d<2>; .local .align 16 .b8 own[16];"
                 "ld.global.nc.b128 q0, [%1];"
                 "st.shared.b128 [%2], q0; ld.shared.b128 q1, [%2];"
                 "st.local.b128 [own], q1; ld.local.b128 q2, [own];"
                 "mov.b128 {r0, r1, r2, r3}, q2; add.u32 r1, r1, 1; mov.b128 q0, {r0, r1, r2, r3};"
                 "mov.b128 {_, d1}, q0; mov.b128 {d0, _}, q0;"
                 "mov.b128 q1, q0; atom.shared::cta.exch.b128 _, [%2], q1;"
                 "atom.acq_rel.cta.shared.cas.b128 q2, [%2], q1, q1;"
                 "mov.b128 q0, {d1, d0}; atom.shared.cas.b128 q1, [%2], q0, q2;"
                 "st.global.b128 [%0], q1; st.global.b128 [%0 + 16], q0;}" ::"l"(&to[2 * i]),
                 "l"(&from[i]), "r"((unsigned)__cvta_generic_to_shared(&tile[i]))
                 : "memory");
}

int main() {
    head *list = zeros<head>(1);
    unsigned long long *next = zeros<unsigned long long>(NODES + 1), *sums = zeros<unsigned long long>(2);
    pair *of_all = zeros<pair>(1), *shown = zeros<pair>(1);
    int *torn = zeros<int>(1);
    push<<<BLOCKS, THREADS>>>(list, next);
    swap<<<BLOCKS, THREADS>>>(of_all, sums, torn);
    look<<<8, 32>>>(shown, torn);
    OK(cudaDeviceSynchronize());
    const head end = to_host(list, 1)[0];
    const std::vector<unsigned long long> links = to_host(next, NODES + 1), sum = to_host(sums, 2);
    std::vector<int> met(NODES + 1);
    int length = 0;
    for (unsigned long long node = end.node; node && length <= NODES; node = links[node], length++)
        EXPECT(!met[node]++);
    const unsigned long long all = NODES * (NODES + 1ull) / 2;
    EXPECT(length == NODES && end.changes == NODES);
    EXPECT(sum[0] + to_host(of_all, 1)[0].first == all && sum[1] == all && to_host(torn, 1)[0] == 0);

    std::vector<pair> numbers(THREADS);
    for (unsigned long long i = 0; i < THREADS; i++)
        numbers[i] = {i * 0x9e3779b97f4a7c15u, ~i * 0xc2b2ae3d27d4eb4fu};
    pair *results = zeros<pair>(2 * THREADS);
    copies<<<1, THREADS>>>(to_device(numbers), results);
    OK(cudaDeviceSynchronize());
    const std::vector<pair> got = to_host(results, 2 * THREADS);
    for (int i = 0; i < THREADS; i++) {
        const pair plus = {numbers[i].first + (1ull << 32), numbers[i].second};
        EXPECT(got[2 * i].first == plus.first && got[2 * i].second == plus.second);
        EXPECT(got[2 * i + 1].first == plus.second && got[2 * i + 1].second == plus.first);
    }
    return 0;
}
