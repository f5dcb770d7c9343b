// Cooperation of threads that no lesson has: named barriers, flags, ballots, tiles of lanes, redundant stores.
#include "right.cuh"

#include <cooperative_groups.h>

constexpr int TILE = 32;

// ---- Producer and consumer warp with named barriers ----------------------------------------------------------------

__device__ inline void arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ inline void wait(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Barrier IDs: 1 + stage for a full stage, 3 + stage for an empty one.
__global__ void producer_consumer(Problem p) {
    __shared__ float scores[2][TILE];
    const Row r = row_of(p, blockIdx.x);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, tiles = (r.keys + TILE - 1) / TILE;
    if (warp == 0) {
        for (int t = 0; t < tiles; t++) {
            if (t >= 2)
                wait(3 + t % 2, 2 * WARP);
            const int key = t * TILE + lane;
            scores[t % 2][lane] = key < r.keys ? score_of(r, key) : -INFINITY;
            arrive(1 + t % 2, 2 * WARP);
        }
    } else {
        LaneRunning s;
        for (int t = 0; t < tiles; t++) {
            wait(1 + t % 2, 2 * WARP);
            for (int n = 0; n < TILE && t * TILE + n < r.keys; n++)
                add_key(s, r, t * TILE + n, scores[t % 2][n]);
            if (t + 2 < tiles)
                arrive(3 + t % 2, 2 * WARP);
        }
        finish_row(r, s);
    }
}

static cudaError_t run_fetchers(const Problem &p, cudaStream_t stream) {
    producer_consumer<<<(unsigned)rows_of(p), 2 * WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- A flag in shared memory: one warp waits for data of another warp ----------------------------------------------

__global__ void flagged(Problem p) {
    __shared__ float maximum;
    __shared__ int ready;
    const Row r = row_of(p, blockIdx.x);
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x < WARP) {
        float largest = -INFINITY;
        for (int key = 0; key < r.keys; key++)
            largest = fmaxf(largest, warp_score(r, key));
        if (threadIdx.x == 0) {
            maximum = largest;
            __threadfence_block();
            atomicExch(&ready, 1);
        }
    } else {
        while (atomicAdd(&ready, 0) == 0) {
        }
        __threadfence_block();
        LaneRunning s;
        s.maximum = maximum;
        for (int key = 0; key < r.keys; key++)
            add_key(s, r, key, warp_score(r, key));
        finish_row(r, s);
    }
}

static cudaError_t run_flagged(const Problem &p, cudaStream_t stream) {
    flagged<<<(unsigned)rows_of(p), 2 * WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- All lanes of a warp store the same sum ------------------------------------------------------------------------

__global__ void all_lanes_store(Problem p) {
    __shared__ float maxima[3], sums[3];
    __shared__ float o[3][MAX_D];
    const Row r = row_of(p, blockIdx.x);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    LaneRunning s;
    for (int key = warp; key < r.keys; key += 3)
        add_key(s, r, key, warp_score(r, key));
    maxima[warp] = s.maximum;
    sums[warp] = s.sum;
    for (int i = 0, c = lane; c < r.d; i++, c += WARP)
        o[warp][c] = s.o[i];
    __syncthreads();
    if (warp > 0)
        return;
    LaneRunning all;
    for (int w = 0; w < 3; w++)
        all.maximum = fmaxf(all.maximum, maxima[w]);
    for (int w = 0; w < 3 && w < r.keys; w++) {
        const float weight = LaneRunning::weight(maxima[w], all.maximum);
        all.sum += weight * sums[w];
        for (int i = 0, c = lane; c < r.d; i++, c += WARP)
            all.o[i] += weight * o[w][c];
    }
    finish_row(r, all);
}

static cudaError_t run_all_lanes_store(const Problem &p, cudaStream_t stream) {
    all_lanes_store<<<(unsigned)rows_of(p), 3 * WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- A warp vote for rescaling, and a ballot of nonzero weights ----------------------------------------------------

__global__ void votes(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    const int lane = threadIdx.x;
    LaneRunning s;
    for (int first = 0; first < r.keys; first += WARP) {
        const bool has_key = first + lane < r.keys;
        const float score = has_key ? score_of(r, first + lane) : -INFINITY;
        if (__any_sync(ALL, score > s.maximum))
            s.rescale(fmaxf(s.maximum, warp_max(score)));
        const float weight = has_key ? LaneRunning::weight(score, s.maximum) : 0;
        s.sum += warp_sum(weight);
        for (unsigned mask = __ballot_sync(ALL, weight != 0); mask; mask &= mask - 1) {
            const int n = __ffs(mask) - 1;
            const float key_weight = __shfl_sync(ALL, weight, n);
            for (int i = 0, c = lane; c < r.d; i++, c += WARP)
                s.o[i] += key_weight * r.v[(first + n) * r.v_stride + c];
        }
        // Weights of 0 are also multiplied by their values, which may be NaN or infinite.
        for (unsigned mask = __ballot_sync(ALL, has_key && weight == 0); mask; mask &= mask - 1)
            for (int i = 0, c = lane; c < r.d; i++, c += WARP)
                s.o[i] += 0 * r.v[(first + __ffs(mask) - 1) * r.v_stride + c];
    }
    finish_row(r, s);
}

static cudaError_t run_votes(const Problem &p, cudaStream_t stream) {
    votes<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- Tiles of eight lanes, one query per tile ----------------------------------------------------------------------

__global__ void eight_lanes(Problem p) {
    namespace cg = cooperative_groups;
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int64_t row = (int64_t)blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8;
    if (row >= rows_of(p))
        return;
    const Row r = row_of(p, row);
    Running<MAX_D / 8> s;
    for (int key = 0; key < r.keys; key++) {
        float score = 0;
        for (int c = tile.thread_rank(); c < r.d; c += 8)
            score += r.q[c] * r.k[key * r.k_stride + c];
        for (int distance = 4; distance; distance /= 2)
            score += tile.shfl_xor(score, distance);
        score *= r.scale;
        if (score > s.maximum)
            s.rescale(score);
        const float weight = s.weight(score, s.maximum);
        s.sum += weight;
        for (int i = 0, c = tile.thread_rank(); c < r.d; i++, c += 8)
            s.o[i] += weight * r.v[key * r.v_stride + c];
    }
    for (int i = 0, c = tile.thread_rank(); c < r.d; i++, c += 8)
        r.o[c] = r.keys ? s.o[i] / s.sum : 0;
    if (r.lse && tile.thread_rank() == 0)
        *r.lse = r.keys ? s.maximum + logf(s.sum) : -INFINITY;
}

static cudaError_t run_eight_lanes(const Problem &p, cudaStream_t stream) {
    eight_lanes<<<(unsigned)((rows_of(p) + 11) / 12), 96, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- An integer maximum by redux, barriers that reduce -------------------------------------------------------------

__global__ void redux(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    int largest = 0x80800000; // -FLT_MAX as an ordered integer
    bool any_nan = false;
    for (int key = threadIdx.x; key < r.keys; key += WARP) {
        const int bits = __float_as_int(score_of(r, key)), ordered = bits ^ (bits < 0 ? 0x7fffffff : 0);
        any_nan |= __int_as_float(bits) != __int_as_float(bits);
        largest = __int_as_float(bits) == __int_as_float(bits) ? max(largest, ordered) : largest;
    }
    largest = __reduce_max_sync(ALL, largest);
    LaneRunning s;
    s.maximum = __int_as_float(largest ^ (largest < 0 ? 0x7fffffff : 0));
    if (__any_sync(ALL, any_nan))
        s.maximum = NAN;
    for (int key = 0; key < r.keys; key++) {
        const float weight = expf(warp_score(r, key) - s.maximum);
        s.sum += weight;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            s.o[i] += weight * r.v[key * r.v_stride + c];
    }
    finish_row(r, s);
}

static cudaError_t run_redux(const Problem &p, cudaStream_t stream) {
    redux<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// All threads iterate as long as one thread has a key.
__global__ void counted_barriers(Problem p) {
    __shared__ float scores[40];
    const Row r = row_of(p, blockIdx.x);
    LaneRunning s;
    for (int first = 0; __syncthreads_or(first + (int)threadIdx.x < r.keys); first += blockDim.x) {
        const bool has_key = first + (int)threadIdx.x < r.keys;
        if (has_key)
            scores[threadIdx.x] = score_of(r, first + threadIdx.x);
        const int count = __syncthreads_count(has_key);
        for (int n = 0; n < count && threadIdx.x < WARP; n++)
            add_key(s, r, first + n, scores[n]);
    }
    if (threadIdx.x < WARP)
        finish_row(r, s);
}

static cudaError_t run_counted_barriers(const Problem &p, cudaStream_t stream) {
    counted_barriers<<<(unsigned)rows_of(p), 40, 0, stream>>>(p); // a warp of 8 threads
    return cudaGetLastError();
}

RIGHT_KERNELS({"fetchers", run_fetchers}, {"flagged", run_flagged}, {"all-lanes-store", run_all_lanes_store},
              {"votes", run_votes}, {"eight-lanes", run_eight_lanes}, {"redux", run_redux},
              {"counted-barriers", run_counted_barriers})
