// Partitionings of the work that no lesson has: split keys, several launches, atomics, dynamic scheduling.
#include "right.cuh"

#include <map>

// ---- Split keys ----------------------------------------------------------------------------------------------------

constexpr int SPLITS = 3;

// The partial result of one split of a row's keys.
struct Partial {
    float maximum, sum, o[MAX_D];
};

static size_t partial_bytes(const Problem &p) {
    return (size_t)rows_of(p) * SPLITS * sizeof(Partial);
}

__device__ LaneRunning partial_of(const Row &r, int split) {
    LaneRunning s;
    for (int key = split; key < r.keys; key += SPLITS)
        add_key(s, r, key, warp_score(r, key));
    return s;
}

__device__ void store_partial(const Row &r, const LaneRunning &s, Partial &partial) {
    partial.maximum = s.maximum; // all lanes store the same value
    partial.sum = s.sum;
    for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
        partial.o[c] = s.o[i];
}

__device__ void combine(const Row &r, const Partial *partial) {
    LaneRunning s;
    for (int n = 0; n < SPLITS; n++)
        s.maximum = fmaxf(s.maximum, partial[n].maximum);
    for (int n = 0; n < SPLITS; n++) {
        const float weight = partial[n].maximum == -INFINITY && partial[n].sum == 0
                                 ? 0
                                 : LaneRunning::weight(partial[n].maximum, s.maximum);
        s.sum += weight * partial[n].sum;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            s.o[i] += partial[n].sum == 0 ? 0 : weight * partial[n].o[c];
    }
    finish_row(r, s);
}

__global__ void compute_partials(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    store_partial(r, partial_of(r, blockIdx.y), ((Partial *)p.workspace)[blockIdx.x * SPLITS + blockIdx.y]);
}

__global__ void combined(Problem p) {
    combine(row_of(p, blockIdx.x), (const Partial *)p.workspace + blockIdx.x * SPLITS);
}

static cudaError_t run_two_launches(const Problem &p, cudaStream_t stream) {
    compute_partials<<<dim3((unsigned)rows_of(p), SPLITS), WARP, 0, stream>>>(p);
    if (cudaGetLastError() != cudaSuccess)
        return cudaErrorLaunchFailure;
    combined<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Computes the partial results in another stream, which is joined by events.
static cudaError_t run_two_streams(const Problem &p, cudaStream_t stream) {
    cudaStream_t other;
    cudaEvent_t start, done;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaEventRecord(start, stream);
    cudaStreamWaitEvent(other, start, 0);
    compute_partials<<<dim3((unsigned)rows_of(p), SPLITS), WARP, 0, other>>>(p);
    cudaEventRecord(done, other);
    cudaStreamWaitEvent(stream, done, 0);
    combined<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    cudaEventDestroy(start);
    cudaEventDestroy(done);
    cudaStreamDestroy(other);
    return cudaGetLastError();
}

// Launches a graph that was captured in another stream.
static cudaError_t run_captured(const Problem &p, cudaStream_t stream) {
    cudaStream_t own;
    cudaGraph_t graph;
    cudaGraphExec_t work;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
    compute_partials<<<dim3((unsigned)rows_of(p), SPLITS), WARP, 0, own>>>(p);
    combined<<<(unsigned)rows_of(p), WARP, 0, own>>>(p);
    cudaStreamEndCapture(own, &graph);
    cudaGraphInstantiate(&work, graph, 0);
    const cudaError_t error = cudaGraphLaunch(work, stream);
    cudaGraphExecDestroy(work);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(own);
    return error;
}

// The last block of a row combines the partial results. The counters are stored after the partial results.
__global__ void last_block(Problem p, unsigned *finished) {
    __shared__ bool last;
    const Row r = row_of(p, blockIdx.x);
    Partial *partial = (Partial *)p.workspace + blockIdx.x * SPLITS;
    store_partial(r, partial_of(r, blockIdx.y), partial[blockIdx.y]);
    __threadfence(); // orders the stores of each lane before the counter
    __syncwarp();
    if (threadIdx.x == 0)
        last = atomicAdd(&finished[blockIdx.x], 1) == SPLITS - 1;
    __syncwarp();
    if (!last)
        return;
    __threadfence();
    combine(r, partial);
}

static size_t last_block_bytes(const Problem &p) {
    return partial_bytes(p) + (size_t)rows_of(p) * sizeof(unsigned);
}

static cudaError_t run_last_block(const Problem &p, cudaStream_t stream) {
    unsigned *finished = (unsigned *)((char *)p.workspace + partial_bytes(p));
    cudaMemsetAsync(finished, 0, (size_t)rows_of(p) * sizeof *finished, stream);
    last_block<<<dim3((unsigned)rows_of(p), SPLITS), WARP, 0, stream>>>(p, finished);
    return cudaGetLastError();
}

// ---- One launch per step, one launch per head ----------------------------------------------------------------------

__global__ void scores(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    const int key = blockIdx.y * blockDim.x + threadIdx.x;
    if (key < r.keys)
        ((float *)p.workspace)[(int64_t)blockIdx.x * p.nk + key] = score_of(r, key);
}

__global__ void weights(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    float *weight = (float *)p.workspace + (int64_t)blockIdx.x * p.nk, maximum = -INFINITY, sum = 0;
    for (int key = threadIdx.x; key < r.keys; key += WARP)
        maximum = fmaxf(maximum, weight[key]);
    maximum = warp_max(maximum);
    for (int key = threadIdx.x; key < r.keys; key += WARP)
        sum += weight[key] = expf(weight[key] - maximum);
    sum = warp_sum(sum);
    for (int key = threadIdx.x; key < r.keys; key += WARP)
        weight[key] /= sum;
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? maximum + logf(sum) : -INFINITY;
}

__global__ void values(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    const float *weight = (const float *)p.workspace + (int64_t)blockIdx.x * p.nk;
    for (int c = threadIdx.x; c < r.d; c += blockDim.x) {
        float o = 0;
        for (int key = 0; key < r.keys; key++)
            o += weight[key] * r.v[key * r.v_stride + c];
        r.o[c] = o;
    }
}

static size_t score_bytes(const Problem &p) {
    return (size_t)rows_of(p) * p.nk * sizeof(float);
}

static cudaError_t run_three_steps(const Problem &p, cudaStream_t stream) {
    scores<<<dim3((unsigned)rows_of(p), (p.nk + 63) / 64), 64, 0, stream>>>(p);
    weights<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    values<<<(unsigned)rows_of(p), 40, 0, stream>>>(p);
    return cudaGetLastError();
}

__global__ void rows_from(Problem p, int64_t first, int64_t end) {
    const int64_t row = first + (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= end)
        return;
    compute_row(row_of(p, row));
}

static cudaError_t run_launch_a_head(const Problem &p, cudaStream_t stream) {
    for (int64_t head = 0; head < (int64_t)p.batch * p.heads; head++)
        rows_from<<<(p.nq + 2) / 3, dim3(WARP, 3), 0, stream>>>(p, head * p.nq, (head + 1) * p.nq);
    return cudaGetLastError();
}

// ---- Dynamic scheduling of rows, and a fixed grid ------------------------------------------------------------------

// Computes rows until the counter exceeds the last row.
__device__ void compute_next_rows(const Problem &p, unsigned *next) {
    for (;;) {
        unsigned row = 0;
        if (threadIdx.x == 0)
            row = atomicAdd(next, 1);
        row = __shfl_sync(ALL, row, 0);
        if (row >= rows_of(p))
            return;
        compute_row(row_of(p, row));
    }
}

__global__ void dynamic_rows(Problem p) {
    compute_next_rows(p, (unsigned *)p.workspace);
}

static size_t counter_bytes(const Problem &) {
    return sizeof(unsigned);
}

static cudaError_t run_as_they_come(const Problem &p, cudaStream_t stream) {
    cudaMemsetAsync(p.workspace, 0, sizeof(unsigned), stream);
    dynamic_rows<<<5, WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

__global__ void fixed_grid(Problem p) {
    for (int64_t row = blockIdx.z * gridDim.y + blockIdx.y; row < rows_of(p); row += gridDim.y * gridDim.z) {
        compute_row(row_of(p, row));
    }
}

static cudaError_t run_fixed_grid(const Problem &p, cudaStream_t stream) {
    fixed_grid<<<dim3(1, 3, 5), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- Maxima and sums by atomics ------------------------------------------------------------------------------------

// Converts floats to integers with the same order.
__device__ int ordered(float value) {
    const int bits = __float_as_int(value);
    return bits ^ (bits < 0 ? 0x7fffffff : 0);
}

__global__ void by_atomics(Problem p) {
    __shared__ int maximum;
    __shared__ float sum, o[MAX_D];
    const Row r = row_of(p, blockIdx.x);
    if (threadIdx.x == 0) {
        maximum = ordered(-INFINITY);
        sum = 0;
    }
    for (int c = threadIdx.x; c < r.d; c += blockDim.x)
        o[c] = 0;
    __syncthreads();
    for (int key = threadIdx.x; key < r.keys; key += blockDim.x) {
        const float score = score_of(r, key);
        if (score == score)
            atomicMax(&maximum, ordered(score));
    }
    __syncthreads();
    const int bits = maximum;
    const float largest = __int_as_float(bits ^ (bits < 0 ? 0x7fffffff : 0));
    for (int key = threadIdx.x; key < r.keys; key += blockDim.x) {
        const float weight = expf(score_of(r, key) - largest);
        atomicAdd(&sum, weight);
        for (int c = 0; c < r.d; c++)
            atomicAdd(&o[(c + threadIdx.x) % r.d], weight * r.v[key * r.v_stride + (c + threadIdx.x) % r.d]);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < r.d; c += blockDim.x)
        r.o[c] = r.keys ? o[c] / sum : 0;
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? largest + logf(sum) : -INFINITY;
}

static cudaError_t run_by_atomics(const Problem &p, cudaStream_t stream) {
    by_atomics<<<(unsigned)rows_of(p), 64, 0, stream>>>(p);
    return cudaGetLastError();
}

// Dynamic scheduling with one counter per stream, which the last block resets for the next call.
__global__ void reset_counter(Problem p, unsigned *counter) {
    compute_next_rows(p, &counter[0]);
    if (threadIdx.x == 0 && atomicAdd(&counter[1], 1) == gridDim.x - 1) {
        atomicExch(&counter[1], 0);
        atomicExch(&counter[0], 0);
    }
}

static cudaError_t run_set_back(const Problem &p, cudaStream_t stream) {
    static std::map<cudaStream_t, unsigned *> counters;
    unsigned *&counter = counters[stream];
    if (!counter) {
        if (cudaMalloc((void **)&counter, 2 * sizeof *counter) != cudaSuccess)
            return cudaErrorMemoryAllocation;
        cudaMemsetAsync(counter, 0, 2 * sizeof *counter, stream);
    }
    reset_counter<<<5, WARP, 0, stream>>>(p, counter);
    return cudaGetLastError();
}

RIGHT_KERNELS({"two-launches", run_two_launches, partial_bytes}, {"two-streams", run_two_streams, partial_bytes},
              {"captured", run_captured, partial_bytes}, {"last-block", run_last_block, last_block_bytes},
              {"three-steps", run_three_steps, score_bytes}, {"launch-a-head", run_launch_a_head},
              {"as-they-come", run_as_they_come, counter_bytes}, {"fixed-grid", run_fixed_grid},
              {"by-atomics", run_by_atomics}, {"set-back", run_set_back})
