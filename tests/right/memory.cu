// Uses of memory that no lesson has: padded rows, swizzled and transposed tiles, asynchronous copies, constant memory,
// local arrays, and memory allocated in the kernel.
#include "right.cuh"

#include <cuda_pipeline.h>

constexpr int KEYS = 16; // per tile

// ---- Rows of float4, whose padding is loaded but not used ----------------------------------------------------------

__global__ void padded_rows(Problem p) {
    extern __shared__ float4 tile[]; // [KEYS][width], the last float4 of a row partly filled
    const Row r = row_of(p, blockIdx.x);
    const int width = (r.d + 3) / 4;
    float *flat = (float *)tile;
    LaneRunning s;
    for (int first = 0; first < r.keys; first += KEYS) {
        for (int i = threadIdx.x; i < KEYS * r.d; i += WARP)
            if (first + i / r.d < r.keys)
                flat[i / r.d * 4 * width + i % r.d] = r.k[(first + i / r.d) * r.k_stride + i % r.d];
        __syncwarp();
        for (int n = 0; n < KEYS && first + n < r.keys; n++) {
            float score = 0;
            for (int i = threadIdx.x; i < width; i += WARP) {
                const float4 k = tile[n * width + i];
                const float *q = r.q + 4 * i;
                score += q[0] * k.x;
                score += 4 * i + 1 < r.d ? q[1] * k.y : 0;
                score += 4 * i + 2 < r.d ? q[2] * k.z : 0;
                score += 4 * i + 3 < r.d ? q[3] * k.w : 0;
            }
            add_key(s, r, first + n, r.scale * warp_sum(score));
        }
        __syncwarp();
    }
    finish_row(r, s);
}

static cudaError_t run_padded_rows(const Problem &p, cudaStream_t stream) {
    padded_rows<<<(unsigned)rows_of(p), WARP, KEYS *((p.head_dim + 3) / 4) * sizeof(float4), stream>>>(p);
    return cudaGetLastError();
}

// A partial tile: weights past the end are computed from old data and discarded.
__global__ void full_tiles(Problem p) {
    __shared__ float scores[KEYS];
    const Row r = row_of(p, blockIdx.x);
    LaneRunning s;
    for (int first = 0; first < r.keys; first += KEYS) {
        for (int n = 0; n < KEYS && first + n < r.keys; n++) {
            const float score = warp_score(r, first + n);
            if (threadIdx.x == 0)
                scores[n] = score;
        }
        __syncwarp();
        float new_maximum = s.maximum;
        for (int n = 0; n < KEYS; n++) {
            const float score = scores[n];
            new_maximum = fmaxf(new_maximum, first + n < r.keys ? score : -INFINITY);
        }
        s.rescale(new_maximum);
        for (int n = 0; n < KEYS; n++) {
            const float exponential = LaneRunning::weight(scores[n], new_maximum);
            const float weight = first + n < r.keys ? exponential : 0;
            s.sum += weight;
            for (int i = 0, c = threadIdx.x; c < r.d && first + n < r.keys; i++, c += WARP)
                s.o[i] += weight * r.v[(first + n) * r.v_stride + c];
        }
        __syncwarp();
    }
    finish_row(r, s);
}

static cudaError_t run_full_tiles(const Problem &p, cudaStream_t stream) {
    full_tiles<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- A swizzled or transposed tile of keys -------------------------------------------------------------------------

template <bool TRANSPOSED>
__global__ void tiled(Problem p) {
    extern __shared__ float tile_smem[];
    const Row r = row_of(p, blockIdx.x);
    const auto offset = [&](int n, int c) { return TRANSPOSED ? c * (WARP + 1) + n : n * 512 + (c ^ n); };
    LaneRunning s;
    for (int first = 0; first < r.keys; first += WARP) {
        const int count = min(WARP, r.keys - first);
        for (int n = 0; n < count; n++)
            for (int c = threadIdx.x; c < r.d; c += WARP)
                tile_smem[offset(n, c)] = r.k[(first + n) * r.k_stride + c];
        __syncthreads();
        float score = 0;
        for (int c = 0; c < r.d && threadIdx.x < count; c++)
            score += r.q[c] * tile_smem[offset(threadIdx.x, c)];
        for (int n = 0; n < count; n++)
            add_key(s, r, first + n, r.scale * __shfl_sync(ALL, score, n));
        __syncthreads();
    }
    finish_row(r, s);
}

template <bool TRANSPOSED>
static cudaError_t run_tiled(const Problem &p, cudaStream_t stream) {
    const int bytes = (TRANSPOSED ? MAX_D * (WARP + 1) : WARP * 512) * sizeof(float); // more than 48 KB
    const cudaError_t error =
        cudaFuncSetAttribute(tiled<TRANSPOSED>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    tiled<TRANSPOSED><<<(unsigned)rows_of(p), WARP, bytes, stream>>>(p);
    return cudaGetLastError();
}

// ---- Asynchronous copies of four bytes, three stages ---------------------------------------------------------------

__global__ void in_flight(Problem p) {
    constexpr int STAGES = 3;
    __shared__ float k_smem[STAGES][MAX_D], v_smem[STAGES][MAX_D];
    const Row r = row_of(p, blockIdx.x);
    const auto prefetch = [&](int key) {
        for (int c = threadIdx.x; c < r.d && key < r.keys; c += WARP) {
            __pipeline_memcpy_async(&k_smem[key % STAGES][c], &r.k[key * r.k_stride + c], 4);
            __pipeline_memcpy_async(&v_smem[key % STAGES][c], &r.v[key * r.v_stride + c], 4);
        }
        __pipeline_commit();
    };
    LaneRunning s;
    for (int key = 0; key < STAGES - 1; key++)
        prefetch(key);
    for (int key = 0; key < r.keys; key++) {
        prefetch(key + STAGES - 1);
        __pipeline_wait_prior(STAGES - 1);
        float score = 0; // each lane reads the elements that it copied
        for (int c = threadIdx.x; c < r.d; c += WARP)
            score += r.q[c] * k_smem[key % STAGES][c];
        score = r.scale * warp_sum(score);
        s.rescale(fmaxf(s.maximum, score));
        const float weight = s.weight(score, s.maximum);
        s.sum += weight;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            s.o[i] += weight * v_smem[key % STAGES][c];
    }
    finish_row(r, s);
}

static cudaError_t run_in_flight(const Problem &p, cudaStream_t stream) {
    in_flight<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- Constant memory, scratch buffers in device memory -------------------------------------------------------------

__constant__ float log2_e = 1.44269504f;
constexpr int SCRATCH_BLOCKS = 64;

__global__ void from_constant(Problem p) {
    float(*const scratch)[MAX_D] = (float(*)[MAX_D])p.workspace; // [SCRATCH_BLOCKS]
    for (int64_t row = blockIdx.x; row < rows_of(p); row += gridDim.x) {
        const Row r = row_of(p, row);
        float maximum = -INFINITY, sum = 0;
        for (int key = 0; key < r.keys; key++)
            maximum = fmaxf(maximum, warp_score(r, key));
        for (int c = threadIdx.x; c < r.d; c += WARP)
            scratch[blockIdx.x][c] = 0;
        for (int key = 0; key < r.keys; key++) {
            const float weight = exp2f((warp_score(r, key) - maximum) * log2_e);
            sum += weight;
            for (int c = threadIdx.x; c < r.d; c += WARP)
                scratch[blockIdx.x][c] += weight * __ldg(&r.v[key * r.v_stride + c]);
        }
        for (int c = threadIdx.x; c < r.d; c += WARP)
            __stcs(&r.o[c], r.keys ? scratch[blockIdx.x][c] / sum : 0);
        if (r.lse && threadIdx.x == 0)
            *r.lse = r.keys ? maximum + logf(sum) : -INFINITY;
    }
}

static cudaError_t run_from_constant(const Problem &p, cudaStream_t stream) {
    from_constant<<<SCRATCH_BLOCKS, WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

static size_t scratch_bytes(const Problem &) {
    return SCRATCH_BLOCKS * MAX_D * sizeof(float);
}

// ---- Scores in a local array with dynamic indices; memory from new -------------------------------------------------

__global__ void own_array(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    float score[KEYS];
    LaneRunning s;
    for (int first = 0; first < r.keys; first += KEYS) {
        for (int n = 0; n < KEYS && first + n < r.keys; n++)
            score[(n * 5 + blockIdx.x) % KEYS] = warp_score(r, first + n);
        for (int n = 0; n < KEYS && first + n < r.keys; n++)
            add_key(s, r, first + n, score[(n * 5 + blockIdx.x) % KEYS]);
    }
    finish_row(r, s);
}

static cudaError_t run_own_array(const Problem &p, cudaStream_t stream) {
    own_array<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

__global__ void from_new(Problem p) {
    __shared__ float *weight;
    const Row r = row_of(p, blockIdx.x);
    if (threadIdx.x == 0)
        weight = new float[p.nk];
    __syncthreads();
    float maximum = -INFINITY, sum = 0;
    for (int key = threadIdx.x; key < r.keys; key += WARP) {
        weight[key] = score_of(r, key);
        maximum = fmaxf(maximum, weight[key]);
    }
    maximum = warp_max(maximum);
    __syncthreads();
    for (int key = 0; key < r.keys; key++)
        sum += expf(weight[key] - maximum);
    for (int c = threadIdx.x; c < r.d; c += WARP) {
        float o = 0;
        for (int key = 0; key < r.keys; key++)
            o += expf(weight[key] - maximum) * r.v[key * r.v_stride + c];
        r.o[c] = r.keys ? o / sum : 0;
    }
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? maximum + logf(sum) : -INFINITY;
    __syncthreads();
    if (threadIdx.x == 0)
        delete[] weight;
}

static cudaError_t run_from_new(const Problem &p, cudaStream_t stream) {
    from_new<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

RIGHT_KERNELS({"padded-rows", run_padded_rows}, {"full-tiles", run_full_tiles}, {"swizzled", run_tiled<false>},
              {"transposed", run_tiled<true>}, {"in-flight", run_in_flight},
              {"from-constant", run_from_constant, scratch_bytes}, {"own-array", run_own_array},
              {"from-new", run_from_new})
