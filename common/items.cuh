// How attention is cut into items, and in which order they are taken.
#pragma once

#include "attention.h"
#include "reduce.cuh"
#include "variant.cuh"

// A block of queries of one head, and the keys that any of them sees: those before end_key. 0: this is no item.
struct Item {
    int batch, head, kv_head, query0, end_key;
};

struct Work {
    int items, last_heads; // of which the items that see the most keys come first
    int blocks;            // that stay on the device at a time, or fewer, one an item
    // Of items that blocks took beyond their first one; NULL: a block takes every one that is `blocks` on.
    unsigned *counter;
    // For powers of two: softmax_scale log2(e). An operand of its own for a multiply-add, as all parameters of a kernel
    // are; a product made in the kernel would be a third register that each of them reads.
    float scale;
};

// Head after head: what one item reads is in L2 for the others, and memory is read all the time. Of the last heads all
// items that see the most keys come first: the blocks end together if the last items are short.
template <class T>
__device__ inline Item item_of(const struct attention_problem &p, const Work &work, int number) {
    if (number >= work.items)
        return {0, 0, 0, 0, 0};
    const int blocks = (p.nq + T::QUERIES - 1) / T::QUERIES, last_head = p.batch * p.heads - work.last_heads;
    const int last = number - last_head * blocks; // among the items of the last heads
    const int head = last < 0 ? number / blocks : last_head + last % work.last_heads;
    const int query0 = (blocks - 1 - (last < 0 ? number % blocks : last / work.last_heads)) * T::QUERIES;
    // Where no key is seen there is one tile all the same, all hidden.
    const int end_key = p.causal ? max(1, min(p.nk, query0 + T::QUERIES + p.nk - p.nq)) : p.nk;
    return {head / p.heads, head % p.heads, head % p.heads / (p.heads / p.kv_heads), query0, end_key};
}

// An item that all lanes read alike, so that the compiler knows it to be the same in all of them: what follows from it
// is computed once for the warp, and its branches are the warp's.
__device__ inline Item warp_item(const Item &item) {
    Item same = item;
    same.query0 = __shfl_sync(ALL_LANES, item.query0, 0);
    same.end_key = __shfl_sync(ALL_LANES, item.end_key, 0);
    return same;
}

// The end of the keys that some rows of an item see, from its row0-th on; 0 where it has none of them.
__device__ inline int end_key_of(const struct attention_problem &p, const Item &item, int row0, int rows) {
    const int last = min(item.query0 + row0 + rows, p.nq) - 1;
    if (item.end_key == 0 || last < item.query0 + row0)
        return 0;
    return p.causal ? max(1, min(item.end_key, last + 1 + p.nk - p.nq)) : item.end_key;
}

// cudaErrorInvalidConfiguration where there are more items than an int can count.
static inline cudaError_t cut_into_items(struct Work *work, const struct Variant *v,
                                         const struct attention_problem *p) {
    const int64_t heads = (int64_t)p->batch * p->heads, blocks = (p->nq + v->queries - 1) / v->queries;
    const int64_t items = heads * blocks;
    int device, processors, l2_bytes;
    if (items > INT32_MAX / 2)
        return cudaErrorInvalidConfiguration;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device);
    if (error != cudaSuccess)
        return error;
    // Four items a block are enough for an end together. These heads are all read at once, again and again: no more of
    // them than L2 holds, beside what passes through it.
    const int64_t head_bytes = 4LL * p->nk * p->head_dim * p->kv_heads / p->heads; // of keys and values, 16 bits each
    const int64_t held = max(1LL, 3LL * l2_bytes / 4 / head_bytes);
    const int64_t last_heads = p->causal ? min(min(heads, held), (4 * processors + blocks - 1) / blocks) : 1;
    *work = {(int)items, (int)last_heads, (int)min((int64_t)processors, items), NULL, p->softmax_scale * 1.44269504f};
    return cudaSuccess;
}
