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
    int items, heads_together;
    int blocks; // that stay on the device at a time, or fewer, one an item
    // Of items that blocks took beyond their first one; NULL: a block takes every one that is `blocks` on.
    unsigned *counter;
    // For powers of two: softmax_scale log2(e). An operand of its own for a multiply-add, as all parameters of a kernel
    // are; a product made in the kernel would be a third register that each of them reads.
    float scale;
};

// With a mask those that see the most keys come first, of some heads at a time: as many as have their keys and values
// together in L2. Without one, head by head.
template <class T>
__device__ inline Item item_of(const struct attention_problem &p, const Work &work, int number) {
    if (number >= work.items)
        return {0, 0, 0, 0, 0};
    const int blocks = (p.nq + T::QUERIES - 1) / T::QUERIES, section = work.heads_together * blocks;
    const int head0 = number / section * work.heads_together,
              heads = min(work.heads_together, p.batch * p.heads - head0);
    const int head = head0 + number % section % heads;
    const int query0 = (blocks - 1 - number % section / heads) * T::QUERIES;
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
    const int64_t L2 = 32 << 20; // of Hopper's 50 MiB
    const int64_t items = (int64_t)p->batch * p->heads * ((p->nq + v->queries - 1) / v->queries);
    int device, processors;
    if (items > INT32_MAX / 2)
        return cudaErrorInvalidConfiguration;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    *work = {(int)items, 1, (int)min((int64_t)processors, items), NULL, p->softmax_scale * 1.44269504f};
    while (p->causal && 2 * work->heads_together * (int64_t)p->nk * p->head_dim * 4 <= L2)
        work->heads_together *= 2;
    return cudaSuccess;
}
