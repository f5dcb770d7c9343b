// Lesson 29: attention over the keys of several GPUs. Each GPU has a part of the sequence; it gathers all keys and
// values and then computes its own queries.
//
// architecture: sm_90a
#include "ring.cuh"

#include "attention_part.cuh"

// A rank's workspace: all keys, then all values, [batch][kv_heads][devices * n][head_dim] each.
static size_t gathered_bytes(const ring_attention_problem &p) {
    return aligned(2 * p.devices * kv_elements(p));
}

static size_t workspace_bytes(const ring_attention_problem *p) {
    return 2 * gathered_bytes(*p);
}

// Gathers one head after the other, so that a head's keys lie one after the other. All calls are one group.
static ncclResult_t gather(const ring_attention_problem &p, [[maybe_unused]] const Rank &rank,
                           [[maybe_unused]] const void *part, [[maybe_unused]] char *all) {
    [[maybe_unused]] const size_t head_bytes = 2 * (size_t)p.n * p.head_dim;
    ncclResult_t result = ncclSuccess;
    // TODO 1 (about 3 lines): Gather the part of each head of each batch to its place in `all`, in the exchange stream.
    // END TODO 1
    return result;
}

static cudaError_t gather_all(const ring_attention_problem &p, Ring *ring) {
    ncclResult_t result = ncclGroupStart();
    for (int r = 0; r < p.devices && result == ncclSuccess; r++) {
        char *all = (char *)p.part[r].workspace;
        result = gather(p, ring->rank[r], p.part[r].k, all);
        if (result == ncclSuccess)
            result = gather(p, ring->rank[r], p.part[r].v, all + gathered_bytes(p));
    }
    const ncclResult_t ended = ncclGroupEnd();
    return nccl_error(result == ncclSuccess ? ended : result);
}

// The attention of rank r's queries to all keys that they see.
static cudaError_t attend_all(const ring_attention_problem &p, int r, cudaStream_t stream) {
    attention_problem all = own_attention(p, r);
    all.k = p.part[r].workspace;
    all.v = (char *)p.part[r].workspace + gathered_bytes(p);
    all.k_stride = all.v_stride = contiguous(p, p.kv_heads, (int64_t)p.devices * p.n);
    // TODO 2 (about 1 line): How many keys do the queries see? The last query sees the last key if attention is causal.
    // END TODO 2
    return attention_part(&all, stream);
}

const struct ring_attention_lesson ring_attention_lesson = RING_LESSON;

cudaError_t ring_attention_forward(const ring_attention_problem *p, cudaStream_t stream) {
    Ring *ring;
    cudaError_t error = open_ring(p->devices, &ring);
    if (error == cudaSuccess)
        error = begin_ring(ring, stream);
    if (error == cudaSuccess)
        error = gather_all(*p, ring);
    if (error == cudaSuccess)
        error = for_each_rank(p->devices, [&](int r) {
            [[maybe_unused]] const Rank &rank = ring->rank[r];
            cudaError_t error = cudaSuccess;
            // TODO 3 (about 1 line): The kernel waits for what is gathered.
            // END TODO 3
            return error == cudaSuccess ? attend_all(*p, r, rank.compute) : error;
        });
    return error == cudaSuccess ? end_ring(ring, stream) : error;
}
