// Threads that work together in other ways: named barriers, flags, ballots, tiles of lanes, stores of one value by all.
#include "right.cuh"

#include <cooperative_groups.h>

constexpr int TILE = 32;

// ---- Two warps fetch, two compute; named barriers of half and of all of the block's threads
// -------------------------------

__device__ inline void arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ inline void wait(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Barrier 1 + stage: the stage is full; 3 + stage: it is empty. Columns come 32 at a time.
__global__ void fetchers(Problem p) {
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
    fetchers<<<(unsigned)rows_of(p), 2 * WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- A flag in shared memory: one warp waits for what another one has written
// ----------------------------------------------

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

// ---- Every lane of a warp stores the same sum
// ------------------------------------------------------------------------------

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

// ---- A vote decides whether the maximum rises, and a ballot which keys count
// --------------------------------------------------

__global__ void votes(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    const int lane = threadIdx.x;
    LaneRunning s;
    for (int first = 0; first < r.keys; first += WARP) {
        const bool there = first + lane < r.keys;
        const float score = there ? score_of(r, first + lane) : -INFINITY;
        if (__any_sync(ALL, score > s.maximum))
            s.rise(fmaxf(s.maximum, warp_max(score)));
        const float weight = there ? LaneRunning::weight(score, s.maximum) : 0;
        s.sum += warp_sum(weight);
        for (unsigned left = __ballot_sync(ALL, weight != 0); left; left &= left - 1) {
            const int n = __ffs(left) - 1;
            const float of_n = __shfl_sync(ALL, weight, n);
            for (int i = 0, c = lane; c < r.d; i++, c += WARP)
                s.o[i] += of_n * r.v[(first + n) * r.v_step + c];
        }
        // A weight of 0 meets an infinite value or NaN all the same.
        for (unsigned left = __ballot_sync(ALL, there && weight == 0); left; left &= left - 1)
            for (int i = 0, c = lane; c < r.d; i++, c += WARP)
                s.o[i] += 0 * r.v[(first + __ffs(left) - 1) * r.v_step + c];
    }
    finish_row(r, s);
}

static cudaError_t run_votes(const Problem &p, cudaStream_t stream) {
    votes<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- Tiles of eight lanes, each with a query of its own
// ----------------------------------------------------------------------

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
            score += r.q[c] * r.k[key * r.k_step + c];
        for (int distance = 4; distance; distance /= 2)
            score += tile.shfl_xor(score, distance);
        score *= r.scale;
        if (score > s.maximum)
            s.rise(score);
        const float weight = s.weight(score, s.maximum);
        s.sum += weight;
        for (int i = 0, c = tile.thread_rank(); c < r.d; i++, c += 8)
            s.o[i] += weight * r.v[key * r.v_step + c];
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

// ---- A maximum of integers by redux, barriers that add up
// -----------------------------------------------------------------------

__global__ void redux(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    int most = 0x80800000; // of -FLT_MAX, in the order of floats
    bool any_nan = false;
    for (int key = threadIdx.x; key < r.keys; key += WARP) {
        const int bits = __float_as_int(score_of(r, key)), in_order = bits ^ (bits < 0 ? 0x7fffffff : 0);
        any_nan |= __int_as_float(bits) != __int_as_float(bits);
        most = __int_as_float(bits) == __int_as_float(bits) ? max(most, in_order) : most;
    }
    most = __reduce_max_sync(ALL, most);
    LaneRunning s;
    s.maximum = __int_as_float(most ^ (most < 0 ? 0x7fffffff : 0));
    if (__any_sync(ALL, any_nan))
        s.maximum = NAN;
    for (int key = 0; key < r.keys; key++) {
        const float weight = expf(warp_score(r, key) - s.maximum);
        s.sum += weight;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            s.o[i] += weight * r.v[key * r.v_step + c];
    }
    finish_row(r, s);
}

static cudaError_t run_redux(const Problem &p, cudaStream_t stream) {
    redux<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// As long as some thread has a key left, all go round together.
__global__ void counted_barriers(Problem p) {
    __shared__ float scores[40];
    const Row r = row_of(p, blockIdx.x);
    LaneRunning s;
    for (int first = 0; __syncthreads_or(first + (int)threadIdx.x < r.keys); first += blockDim.x) {
        const bool there = first + (int)threadIdx.x < r.keys;
        if (there)
            scores[threadIdx.x] = score_of(r, first + threadIdx.x);
        const int count = __syncthreads_count(there);
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
