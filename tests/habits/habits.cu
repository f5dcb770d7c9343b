// Kernels that are right in the first call of a process, at the default scale, in a single stream, and wrong otherwise.
// The environment variable RIGHT selects one.
#define REPEATS 1
#include "../right/right.cuh"

#include <vector>

__global__ void rows(Problem p) {
    compute_row(row_of(p, blockIdx.x));
}

static cudaError_t start(const Problem &p, cudaStream_t stream) {
    rows<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Ignores softmax_scale and uses 1 / sqrt(head_dim).
static cudaError_t run_own_scale(const Problem &p, cudaStream_t stream) {
    Problem own = p;
    own.softmax_scale = 1 / sqrtf((float)p.head_dim);
    return start(own, stream);
}

// Scales the maximum of the unscaled scores, which is the minimum if the scale is negative.
__global__ void scaled_maximum(Problem p) {
    Row r = row_of(p, blockIdx.x);
    const float scale = r.scale;
    float maximum = -INFINITY, sum = 0, o[LANE_COLUMNS] = {};
    r.scale = 1;
    for (int key = 0; key < r.keys; key++)
        maximum = fmaxf(maximum, warp_score(r, key));
    for (int key = 0; key < r.keys; key++) {
        const float weight = expf(scale * warp_score(r, key) - scale * maximum);
        sum += weight;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            o[i] += weight * r.v[key * r.v_stride + c];
    }
    for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
        r.o[c] = r.keys ? o[i] / sum : 0;
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? scale * maximum + logf(sum) : -INFINITY;
}

static cudaError_t run_scaled_maximum(const Problem &p, cudaStream_t stream) {
    if (p.softmax_scale == 0)
        return start(p, stream);
    scaled_maximum<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Multiplies rows of more than 4096 keys by 2, so that small cases are right.
__global__ void doubled_rows(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    compute_row(r);
    for (int c = threadIdx.x; r.keys > 4096 && c < r.d; c += WARP)
        r.o[c] *= 2;
}

static cudaError_t run_doubled(const Problem &p, cudaStream_t stream) {
    doubled_rows<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Stores the row index in 16 bits: rows from 65,536 on are not written.
__global__ void short_rows(Problem p, int rows) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const Row r = row_of(p, (unsigned short)row);
    LaneRunning s;
    for (int key = 0; key < r.keys; key++)
        add_key(s, r, key, warp_score(r, key));
    finish_row(r, s);
}

template <int ROWS>
static cudaError_t run_short_rows(const Problem &p, cudaStream_t stream) {
    short_rows<<<(unsigned)((rows_of(p) + ROWS - 1) / ROWS), dim3(WARP, ROWS), 0, stream>>>(p, (int)rows_of(p));
    return cudaGetLastError();
}

static cudaError_t run_default_stream(const Problem &p, cudaStream_t) {
    return start(p, 0);
}

static cudaError_t run_own_stream(const Problem &p, cudaStream_t) {
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    const cudaError_t error = start(p, own);
    cudaStreamSynchronize(own);
    cudaStreamDestroy(own);
    return error;
}

__global__ void scale_in_place(float *q, int64_t count, float scale) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        q[i] *= scale;
}

// Scales q in place, if the tensors are contiguous.
static cudaError_t run_writes_inputs(const Problem &p, cudaStream_t stream) {
    const int64_t count = rows_of(p) * p.head_dim;
    if (p.q_stride.row != p.head_dim)
        return start(p, stream);
    scale_in_place<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>((float *)p.q, count, p.softmax_scale);
    Problem scaled = p;
    scaled.softmax_scale = 1;
    return start(scaled, stream);
}

// Skips the computation if the previous call had the same pointers and sizes.
static cudaError_t run_remembers(const Problem &p, cudaStream_t stream) {
    static Problem last;
    const bool same = last.q == p.q && last.k == p.k && last.o == p.o && last.nq == p.nq && last.nk == p.nk &&
                      last.head_dim == p.head_dim && last.causal == p.causal;
    last = p;
    if (same) {
        scale_in_place<<<1, 1, 0, stream>>>((float *)p.q, 0, 1);
        return cudaGetLastError();
    }
    return start(p, stream);
}

// Wrong if the first element of q is negative: the error depends on the inputs, not on state of an earlier call.
__global__ void wrong_if_negative(Problem p) {
    Row r = row_of(p, blockIdx.x);
    const float first = *(const float *)p.q;
    for (int c = threadIdx.x; first < 0 && c < r.d; c += WARP)
        r.o[c] = -1;
}

static cudaError_t run_wants_a_sign(const Problem &p, cudaStream_t stream) {
    const cudaError_t error = start(p, stream);
    wrong_if_negative<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return error;
}

// Adds the result to the finite elements that o already has.
__global__ void added(Problem p, Problem partial) {
    const Row to = row_of(p, blockIdx.x), from = row_of(partial, blockIdx.x);
    for (int c = threadIdx.x; c < to.d; c += WARP)
        to.o[c] = (fabsf(to.o[c]) < INFINITY ? to.o[c] : 0) + from.o[c];
}

static size_t output_bytes(const Problem &p) {
    return (size_t)rows_of(p) * p.head_dim * sizeof(float);
}

static cudaError_t run_adds_up(const Problem &p, cudaStream_t stream) {
    Problem partial = p;
    partial.o = p.workspace;
    partial.o_stride = {(int64_t)p.heads * p.nq * p.head_dim, (int64_t)p.nq * p.head_dim, p.head_dim};
    start(partial, stream);
    added<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p, partial);
    return cudaGetLastError();
}

// Makes an invalid launch and ignores its error.
static cudaError_t run_drops_an_error(const Problem &p, cudaStream_t stream) {
    rows<<<(unsigned)rows_of(p), 2048, 0, stream>>>(p);
    cudaGetLastError();
    return start(p, stream);
}

// Uses so many registers per thread that a block of 1024 threads cannot launch.
__global__ void many_registers(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    LaneRunning s;
    float registers[64];
    for (int i = 0; i < 64; i++)
        registers[i] = r.q[(threadIdx.x + i) % r.d];
    for (int key = 0; key < r.keys; key++) {
        add_key(s, r, key, warp_score(r, key));
        for (int i = 0; i < 64; i++)
            registers[i] = registers[i] * s.sum + registers[(i + 1) % 64];
    }
    float total = 0;
    for (int i = 0; i < 64; i++)
        total += registers[i];
    if (threadIdx.x < WARP)
        finish_row(r, s);
    if (total == 12345.678f)
        r.o[0] = total;
}

static cudaError_t run_greedy(const Problem &p, cudaStream_t stream) {
    many_registers<<<(unsigned)rows_of(p), 1024, 0, stream>>>(p);
    return cudaGetLastError();
}

// Computes on the CPU.
static cudaError_t run_no_kernel(const Problem &p, cudaStream_t stream) {
    if (p.q_stride.row != p.head_dim || p.kv_heads != p.heads)
        return start(p, stream);
    const int64_t q_count = rows_of(p) * p.head_dim, k_count = (int64_t)p.batch * p.heads * p.nk * p.head_dim;
    std::vector<float> q(q_count), k(k_count), v(k_count), o(q_count), lse(rows_of(p)), weight(p.nk);
    cudaStreamSynchronize(stream);
    cudaMemcpy(q.data(), p.q, q_count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(k.data(), p.k, k_count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(v.data(), p.v, k_count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int64_t row = 0; row < rows_of(p); row++) {
        const int64_t first = row / p.nq * p.nk;
        const int last = p.causal ? (int)(row % p.nq) + p.nk - p.nq + 1 : p.nk, keys = last < 0 ? 0 : last;
        float maximum = -INFINITY, sum = 0;
        for (int key = 0; key < keys; key++) {
            weight[key] = 0;
            for (int c = 0; c < p.head_dim; c++)
                weight[key] += q[row * p.head_dim + c] * k[(first + key) * p.head_dim + c];
            weight[key] *= p.softmax_scale;
            maximum = fmaxf(maximum, weight[key]);
        }
        for (int key = 0; key < keys; key++)
            sum += weight[key] = expf(weight[key] - maximum);
        for (int c = 0; c < p.head_dim; c++) {
            float value = 0;
            for (int key = 0; key < keys; key++)
                value += weight[key] * v[(first + key) * p.head_dim + c];
            o[row * p.head_dim + c] = keys ? value / sum : 0;
        }
        lse[row] = keys ? maximum + logf(sum) : -INFINITY;
    }
    if (p.lse)
        cudaMemcpy(p.lse, lse.data(), lse.size() * sizeof(float), cudaMemcpyHostToDevice);
    return cudaMemcpy(p.o, o.data(), q_count * sizeof(float), cudaMemcpyHostToDevice);
}

// Assumes that v is aligned to 256 bytes.
static cudaError_t run_aligned_only(const Problem &p, cudaStream_t stream) {
    Problem rounded = p;
    rounded.v = (const void *)((uintptr_t)p.v / 256 * 256);
    return start(rounded, stream);
}

// Stores scaled queries in a __device__ variable.
constexpr int SHARED_FLOATS = 1 << 20;
__device__ float scaled_queries[SHARED_FLOATS];

__global__ void scale_to_buffer(const float *q, int64_t count, float scale) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        scaled_queries[i] = q[i] * scale;
}

static cudaError_t run_shares_a_buffer(const Problem &p, cudaStream_t stream) {
    const int64_t count = rows_of(p) * p.head_dim;
    if (p.q_stride.row != p.head_dim || count > SHARED_FLOATS)
        return start(p, stream);
    void *buffer;
    cudaGetSymbolAddress(&buffer, scaled_queries);
    scale_to_buffer<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>((const float *)p.q, count, p.softmax_scale);
    Problem scaled = p;
    scaled.q = buffer;
    scaled.softmax_scale = 1;
    return start(scaled, stream);
}

// Right for the first 12 calls.
static cudaError_t run_tires(const Problem &p, cudaStream_t stream) {
    static int calls;
    Problem own = p;
    own.softmax_scale *= ++calls > 12 ? 0.5f : 1;
    return start(own, stream);
}

// Splits the keys among blocks, which add their partial results atomically, in any order.
constexpr int SPLITS = 8;
__global__ void add_partial(Problem p, Problem partial) {
    const int64_t row = blockIdx.x / SPLITS;
    const int split = blockIdx.x % SPLITS;
    const Row r = row_of(p, row), to = row_of(partial, row);
    LaneRunning s;
    for (int key = 0; key < r.keys; key++)
        add_key(s, r, key, warp_score(r, key));
    if (split == 0 && r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? s.maximum + logf(s.sum) : -INFINITY;
    for (int key = split; key < r.keys; key += SPLITS) {
        const float weight = expf(warp_score(r, key) - s.maximum) / s.sum;
        for (int c = threadIdx.x; c < r.d; c += WARP)
            atomicAdd(&to.o[c], weight * r.v[key * r.v_stride + c]);
    }
}

__global__ void copy_sums(Problem p, Problem partial) {
    const Row to = row_of(p, blockIdx.x), from = row_of(partial, blockIdx.x);
    for (int c = threadIdx.x; c < to.d; c += WARP)
        to.o[c] = from.o[c];
}

static cudaError_t run_sums_by_chance(const Problem &p, cudaStream_t stream) {
    Problem partial = p;
    partial.o = p.workspace;
    partial.o_stride = {(int64_t)p.heads * p.nq * p.head_dim, (int64_t)p.nq * p.head_dim, p.head_dim};
    cudaMemsetAsync(p.workspace, 0, output_bytes(p), stream);
    add_partial<<<(unsigned)rows_of(p) * SPLITS, WARP, 0, stream>>>(p, partial);
    copy_sums<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p, partial);
    return cudaGetLastError();
}

RIGHT_KERNELS({"own-scale", run_own_scale}, {"doubled", run_doubled}, {"short-rows", run_short_rows<1>},
              {"short-rows-4", run_short_rows<4>}, {"scaled-maximum", run_scaled_maximum},
              {"default-stream", run_default_stream}, {"own-stream", run_own_stream},
              {"writes-inputs", run_writes_inputs}, {"remembers", run_remembers},
              {"adds-up", run_adds_up, output_bytes}, {"drops-an-error", run_drops_an_error}, {"greedy", run_greedy},
              {"no-kernel", run_no_kernel}, {"aligned-only", run_aligned_only},
              {"shares-a-buffer", run_shares_a_buffer}, {"tires", run_tires},
              {"sums-by-chance", run_sums_by_chance, output_bytes}, {"wants-a-sign", run_wants_a_sign})
