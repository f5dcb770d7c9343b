// How the partial results of the warpgroups of a block, and of the blocks that share work, become one: lesson 22.
#pragma once

#include "decode_config.cuh"
#include "ex2.cuh"
#include "hopper.cuh"
#include "mma.cuh"

// Four columns of a row of the sum of several partial results.
struct Merged {
    float4 O;
    float row_max, row_sum;
};
template <class Partial, class PartialOf>
__device__ inline Merged merge(PartialOf partial_of, int count, int row, int column) {
    Merged merged = {make_float4(0.0f, 0.0f, 0.0f, 0.0f), -INFINITY, 0.0f};
#pragma unroll 8
    for (int i = 0; i < count; i++)
        merged.row_max = fmaxf(merged.row_max, partial_of(i).row_max[row]);
#pragma unroll 8
    for (int i = 0; i < count; i++) {
        const Partial &partial = partial_of(i);
        const float4 O = *reinterpret_cast<const float4 *>(&partial.O[row][column]);
        const float weight = merged.row_max == -INFINITY ? 0.0f : ex2(partial.row_max[row] - merged.row_max);
        merged.row_sum += weight * partial.row_sum[row];
        merged.O.x += weight * O.x;
        merged.O.y += weight * O.y;
        merged.O.z += weight * O.z;
        merged.O.w += weight * O.w;
    }
    return merged;
}

template <class E>
__device__ inline void store_output(const struct decode_problem &p, const DecodeWork &work, int row, int column,
                                    const Merged &merged) {
    const float nan = __int_as_float(0x7fffffff), sum = merged.row_sum;
    const float value_scale = p.kv_scale == NULL ? 1.0f : p.kv_scale[p.kv_heads + work.kv_head];
    // A row without keys is 0.
    const float inverse = work.keys < 0 ? nan : sum == 0.0f ? 0.0f : value_scale / sum;
    const int64_t index = ((int64_t)work.request * p.kv_heads + work.kv_head) * rows_of_group(p) + work.row0 + row;
    if (column < p.head_dim)
        *reinterpret_cast<uint2 *>((E *)p.o + index * p.head_dim + column) =
            make_uint2(cvt_rn_x2<E>(inverse * merged.O.x, inverse * merged.O.y),
                       cvt_rn_x2<E>(inverse * merged.O.z, inverse * merged.O.w));
    if (p.lse != NULL && column == 0)
        p.lse[index] = work.keys < 0 ? nan : sum == 0.0f ? -INFINITY : (merged.row_max + log2f(sum)) / LOG2_E;
}

// Waits until all consumer threads of the block have come; the producer takes no part.
constexpr int CONSUMER_BARRIER = 1; // the warpgroups' own barriers follow
template <class T>
__device__ inline void consumers_sync() {
    bar_sync(CONSUMER_BARRIER, T::CONSUMERS);
}

// Whether this block is the last of `blocks` to arrive at the counter, which is then 0 again. What the others have
// stored before they arrived can be read then. All consumer threads call it.
template <class T>
__device__ inline bool arrive_last(unsigned *counter, int blocks, bool &is_last_smem) {
    __threadfence();
    consumers_sync<T>();
    if (threadIdx.x == 0) {
        is_last_smem = atomicInc(counter, blocks - 1) == blocks - 1;
        __threadfence();
    }
    consumers_sync<T>();
    return is_last_smem;
}

// Stores the result of work whose tiles first .. end - 1 the consumer warpgroups have computed, a partial result each:
// the output, or what this share has of it. The block that comes last sums up all shares. All consumer threads call it.
template <class T, class Partial = typename T::Partial>
__device__ inline void finish_work(T &smem, const struct decode_problem &p, const DecodeShares &shares,
                                   const DecodeWork &work, int first, int end, unsigned *arrivals) {
    Partial *kept = (Partial *)p.workspace; // [shares][KEPT_PARTIALS]
    const bool is_whole = end - first == work.tiles;
    const int units = min(T::ROWS, rows_of_group(p) - work.row0) * (T::D / 4); // four columns of a row
    const auto of_warpgroup = [&](int i) -> const Partial & { return smem.partial[i]; };
    consumers_sync<T>();
    for (int unit = threadIdx.x; unit < units; unit += T::CONSUMERS) {
        const int row = unit / (T::D / 4), column = unit % (T::D / 4) * 4;
        const Merged merged = merge<Partial>(of_warpgroup, T::WARPGROUPS, row, column);
        Partial &own = kept[KEPT_PARTIALS * blockIdx.x + (first == 0)];
        if (is_whole) {
            store_output<typename T::E>(p, work, row, column, merged);
            continue;
        }
        *reinterpret_cast<float4 *>(&own.O[row][column]) = merged.O;
        own.row_max[row] = merged.row_max; // all threads of the row store the same value
        own.row_sum[row] = merged.row_sum;
    }
    if (!is_whole) {
        const int first_share = shares.share_index(work.first_tile);
        const int parts = shares.share_index(work.first_tile + work.tiles - 1) - first_share + 1;
        const auto of_share = [&](int i) -> const Partial & {
            return kept[KEPT_PARTIALS * (first_share + i) + (i == 0)];
        };
        if (arrive_last<T>(&arrivals[first_share], parts, smem.is_last))
            for (int unit = threadIdx.x; unit < units; unit += T::CONSUMERS) {
                const int row = unit / (T::D / 4), column = unit % (T::D / 4) * 4;
                store_output<typename T::E>(p, work, row, column, merge<Partial>(of_share, parts, row, column));
            }
    }
}
