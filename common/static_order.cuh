// The order in which a persistent kernel deals its work tiles out in advance.
#pragma once

#include "persistent.cuh"

// The work tiles in groups of heads that fit in L2, and in a group those of all its heads by length. The last group
// begins with the longest and ends with the shortest, the group before it the other way round, and so on in turn: so
// neighbours in the order have nearly the same length, also where groups meet, and the last ones of all are short. If
// attention is not causal, all have the same length, and the order is head by head.
template <class T>
__device__ inline WorkTile static_work_tile_at(const struct attention_problem &p, int index) {
    const int query_blocks = query_blocks_of(p, T::QUERIES), max_heads = p.causal ? heads_in_l2(p) : 1;
    const int from_end = p.batch * p.heads * query_blocks - 1 - index;
    const int group = from_end / (max_heads * query_blocks), in_group = from_end % (max_heads * query_blocks);
    const int end_head = p.batch * p.heads - group * max_heads, heads = min(end_head, max_heads);
    const int rank = in_group / heads; // by length
    return make_work_tile<T>(p, end_head - 1 - in_group % heads, group % 2 == 0 ? rank : query_blocks - 1 - rank);
}
