// Lesson 31: ring attention in zigzag order. Each GPU has a chunk from the beginning of the sequence and one from its
// end, so that all GPUs have the same work in each step of causal attention.
//
// architecture: sm_90a
#include "ring.cuh"

#include "attention_part.cuh"
#include "merge.cuh"

// A rank's workspace: keys and values that have arrived, twice, since one pair is used while the next one arrives; o
// and lse of one step; what has been merged so far, in fp32.
struct Workspace {
    char *kv[2];
    void *part_o;
    float *part_lse, *sum, *lse;
    size_t bytes;
};

static size_t kv_bytes(const ring_attention_problem &p) {
    return aligned(2 * kv_elements(p)); // of K, as many of V
}

static Workspace workspace_of(const ring_attention_problem &p, void *begin) {
    const size_t rows = (size_t)p.batch * p.heads * p.n;
    char *next = (char *)begin;
    auto take = [&](size_t bytes) {
        char *taken = next;
        next += aligned(bytes);
        return taken;
    };
    Workspace w = {{take(2 * kv_bytes(p)), take(2 * kv_bytes(p))}};
    w.part_o = take(2 * rows * p.head_dim);
    w.part_lse = (float *)take(4 * rows);
    w.sum = (float *)take(4 * rows * p.head_dim);
    w.lse = (float *)take(4 * rows);
    w.bytes = (size_t)(next - (char *)begin);
    return w;
}

static size_t workspace_bytes(const ring_attention_problem *p) {
    return workspace_of(*p, NULL).bytes;
}

struct Keys {
    const char *k, *v;
};

// The keys and values that rank r has at a step: its own, then those that have arrived.
static Keys keys_at(const ring_attention_problem &p, int r, int step) {
    if (step == 0)
        return {(const char *)p.part[r].k, (const char *)p.part[r].v};
    const char *kv = workspace_of(p, p.part[r].workspace).kv[step % 2];
    return {kv, kv + kv_bytes(p)};
}

// Passes the keys and values of a step on to the next rank, and takes those of the next step from the previous one.
static ncclResult_t pass_on(const ring_attention_problem &p, Ring *ring, int r, int step) {
    const Rank &rank = ring->rank[r];
    const Keys sent = keys_at(p, r, step), received = keys_at(p, r, step + 1);
    const int next = (r + 1) % p.devices, previous = (r + p.devices - 1) % p.devices;
    const size_t count = kv_elements(p);
    ncclResult_t result = ncclSuccess;
    result = ncclSend(sent.k, count, nccl_type(p), next, rank.comm, rank.exchange);
    if (result == ncclSuccess)
        result = ncclSend(sent.v, count, nccl_type(p), next, rank.comm, rank.exchange);
    if (result == ncclSuccess)
        result = ncclRecv((void *)received.k, count, nccl_type(p), previous, rank.comm, rank.exchange);
    if (result == ncclSuccess)
        result = ncclRecv((void *)received.v, count, nccl_type(p), previous, rank.comm, rank.exchange);
    return result;
}

static cudaError_t exchange(const ring_attention_problem &p, Ring *ring, int step) {
    ncclResult_t result = ncclGroupStart();
    for (int r = 0; r < p.devices && result == ncclSuccess; r++)
        result = pass_on(p, ring, r, step);
    const ncclResult_t ended = ncclGroupEnd();
    return nccl_error(result == ncclSuccess ? ended : result);
}

// Relative to the larger of two log-sum-exps no exponential overflows.
__device__ inline MergeWeights merge_weights(float first, float second) {
    const float largest = fmaxf(first, second), unit = largest == -INFINITY ? 0.0f : largest;
    const float a = expf(first - unit), b = expf(second - unit);
    MergeWeights weights = {0.0f, 0.0f, -INFINITY};
    if (a + b > 0.0f)
        weights = {a / (a + b), b / (a + b), unit + logf(a + b)};
    return weights;
}

// Attention of rank r's queries to the keys of a step, which are those of rank `owner`. With a causal mask, queries of
// another rank see half of the keys, or half of the queries see them.
static cudaError_t attend(const ring_attention_problem &p, int r, int step, cudaStream_t stream) {
    [[maybe_unused]] const int owner = (r - step + p.devices) % p.devices, half = p.n / 2, last_step = p.devices - 1;
    const ring_attention_part &part = p.part[r];
    const Workspace w = workspace_of(p, part.workspace);
    const Keys keys = keys_at(p, r, step);
    float *lse = part.lse ? part.lse : w.lse;
    attention_problem a = own_attention(p, r);
    a.k = keys.k, a.v = keys.v, a.causal = p.causal && owner == r;
    if (step == 0) {
        a.lse = lse;
        return attention_part(&a, stream);
    }
    a.o = w.part_o, a.lse = w.part_lse;
    // TODO 1 (about 7 lines): With a causal mask, take half of the keys if they are an earlier rank's, and half of the
    // queries if they are a later rank's. Which halves? The partial result is contiguous.
    if (p.causal && owner < r)
        a.nk = half;
    if (p.causal && owner > r) {
        a.q = (const char *)part.q + 2 * (size_t)half * p.head_dim;
        a.nq = half;
        a.o_stride = contiguous(p, p.heads, half);
    }
    // END TODO 1
    cudaError_t error = attention_part(&a, stream);
    Merge rows = {part.o, w.sum, lse, w.part_o, w.part_lse, 0, p.n, 0, a.nq, step == 1, step == last_step};
    if (!p.causal)
        return error == cudaSuccess ? merge(p, rows, stream) : error;
    // TODO 2 (about 9 lines): Merge each half of the rows by itself: the first half sees no key after step r.
    rows.rows = half;
    rows.last_merge = step == r;
    if (error == cudaSuccess && owner < r)
        error = merge(p, rows, stream);
    rows.first = half;
    rows.part_first = owner < r ? half : 0;
    rows.last_merge = step == last_step;
    if (error == cudaSuccess)
        error = merge(p, rows, stream);
    // END TODO 2
    return error;
}

const struct ring_attention_lesson zigzag_attention_lesson = RING_LESSON;

cudaError_t zigzag_attention_forward(const ring_attention_problem *p, cudaStream_t stream) {
    Ring *ring;
    cudaError_t error = open_ring(p->devices, &ring);
    if (error == cudaSuccess)
        error = begin_ring(ring, stream);
    for (int step = 0; step < p->devices && error == cudaSuccess; step++) {
        // The kernel of this step waits for the previous exchange. The exchange of this step overwrites keys and values
        // of the previous kernel.
        error = for_each_rank(p->devices, [&](int r) {
            const Rank &rank = ring->rank[r];
            cudaError_t error = cudaSuccess;
            error = order(rank.exchange, rank.exchanged, rank.compute);
            if (error == cudaSuccess)
                error = order(rank.compute, rank.computed, rank.exchange);
            return error;
        });
        if (error == cudaSuccess && step + 1 < p->devices)
            error = exchange(*p, ring, step);
        if (error == cudaSuccess)
            error = for_each_rank(p->devices, [&](int r) { return attend(*p, r, step, ring->rank[r].compute); });
    }
    return error == cudaSuccess ? end_ring(ring, stream) : error;
}
