// Kernels with a mistake that has no name: what follows from asking them says where it is. The environment variable
// RIGHT names one.
#include "../right/right.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// What a kernel does in its own way.
enum Mistake {
    PERMUTED_PAIRS,    // columns 2i and 2i + 1 change places
    HEAD_DIM_128,      // elements from 128 on are not multiplied
    HALF_THE_ELEMENTS, // of each 64, the last 32 are not
    EVERY_16TH_KEY,    // is left out
    A_TWIN,            // of two keys that outweigh all others (INPUTS=twins), the second one is
    LOST_IN_COLUMNS,   // keys 8 to 15 of each 16, in columns 8 to 15 of each 16
    SOME_LENGTHS,      // the last key is left out where there are 65 to 96
    FIRST_OF_MANY,     // only the first key counts where there are over 512
    KEYS_OF_THE_NEXT,  // the later half of the keys has the scores of the next query
    VALUES_AGAIN,      // key j has the value of key j % 48
    LATER_HEADS,       // are scaled by half as much
    MORE_QUERIES,      // than keys: they are scaled by half as much
    BF16_WEIGHTS,
    TF32_SCORES,
    BF16_VALUES,
    CHEAP_EXPONENTIAL,
    CUT_SCORES,     // to TF32 without rounding
    SMALL_WEIGHTS,  // below 1 % of the largest one count for nothing
    HALF_SUMS,      // of the values, every 16 keys
    HALF_WEIGHTS,   // the sum of the weights in fp16, every 16 keys
    USUAL_SCALE,    // whatever was asked for
    OUTPUT_LOST,    // of every other query
    KEYS_UNSEEN,    // by every other query
    SUM_INFINITE,   // of every other query
    BY_SIXTEENS,    // with a mask the last three keys are seen where there are a multiple of 16 more keys than queries
    OWN_VALUE,      // with a mask the last key's is not added, though its weight is
    LEAST_SCORE,    // instead of the largest where the scale is below 0
    SUMS_UNWEIGHED, // those of 32 keys each, relative to their own maxima, make up lse as they stand
    LSE_OF_HALF,    // lse has but the keys of even numbers
    RESCALED_TOO,   // 32 keys that raise the maximum, as if they had been there before it was
    SWAPPED,        // registers 1 and 2 of each 16 by 16 weights
    OF_HALF_LANES,  // keys 0 to 3 of each 8 have a maximum of their own, and so have the others
    COLUMNS_LATE,   // of each 32, the later 16 are not brought to a maximum that a later part raises
    LANES_APART,    // of each 16 keys those of a lane of a quad are relative to their own maximum
    BLOCK_END,      // with a mask none of 32 queries sees keys beyond the 16 in which the first one's last key is
    PACKED_LIMIT,   // with a mask a query has the limit of its row among those that share keys
    HALVES_APART,   // of each 32 keys those of even and of odd numbers are relative to their own maximum; the sum is
                    // right
    LANE_SUMS,      // the sums of keys j, j + 32 and so on, relative to their own maxima, are added up
    LANE_POWERS,    // those keys are weighed by powers of 2.72^1.44, relative to their largest score so far
    FP16_QUERIES,   // scaled by log2(e), too
    TYPED_LOG2_E,   // 1.4429
    OTHERS_TOO,     // the values of the first head are added to those of all others
    K_PACKED,       // rows of k are taken to be head_dim apart
    LSE_OF_BASE     // lse adds the maximum to a sum that is relative to the first score
};

__device__ float tf32(float x) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

__device__ float cut(float x) {
    return __uint_as_float(__float_as_uint(x) & 0xffffe000);
}

__device__ float bf16(float x) {
    return __bfloat162float(__float2bfloat16(x));
}

template <Mistake WHAT>
__device__ float mistaken_score(const Row &r, const float *q, int key) {
    const float *k = r.k + key * r.k_step;
    float sum = 0;
    for (int c = threadIdx.x; c < r.d; c += WARP) {
        if ((WHAT == HEAD_DIM_128 && c >= 128) || (WHAT == HALF_THE_ELEMENTS && c % 64 >= 32))
            continue;
        if (WHAT == FP16_QUERIES) {
            const float times = r.scale * 1.44269504f;
            sum += __half2float(__float2half(q[c] * times)) / times * k[c];
            continue;
        }
        sum += WHAT == TF32_SCORES ? tf32(q[c]) * tf32(k[c]) : WHAT == CUT_SCORES ? cut(q[c]) * cut(k[c]) : q[c] * k[c];
    }
    return r.scale * warp_sum(sum) * (WHAT == TYPED_LOG2_E ? 1.4429f / 1.44269504f : 1.0f);
}

// A parabola between two powers of two.
__device__ float cheap_exp(float x) {
    const float y = x * 1.44269504f, whole = floorf(y), part = y - whole;
    return ldexpf(1.0f + part * (0.6565f + 0.3435f * part), (int)whole);
}

template <Mistake WHAT>
__global__ void mistaken(Problem p) {
    Row r = row_of(p, blockIdx.x);
    if ((WHAT == LATER_HEADS && blockIdx.x / p.nq % p.heads > 0) || (WHAT == MORE_QUERIES && p.nq > p.nk))
        r.scale *= 0.5f;
    if (WHAT == K_PACKED)
        r.k_step = r.d;
    if (WHAT == USUAL_SCALE)
        r.scale = 1 / sqrtf((float)r.d);
    if (WHAT == SOME_LENGTHS && p.nk > 64 && p.nk <= 96 && r.keys == p.nk)
        r.keys--;
    if (WHAT == FIRST_OF_MANY && p.nk > 512)
        r.keys = min(r.keys, 1);
    if (WHAT == BY_SIXTEENS && p.causal && (p.nk - p.nq) % 16)
        r.keys = max(r.keys - 3, 0);
    const bool odd = blockIdx.x % p.nq % 2;
    if (WHAT == KEYS_UNSEEN && odd)
        r.keys = 0;
    const int query = blockIdx.x % p.nq;
    if (WHAT == BLOCK_END && p.causal)
        r.keys = min(r.keys, (max(query / 32 * 32 + 1 + p.nk - p.nq, 0) + 15) / 16 * 16);
    if (WHAT == PACKED_LIMIT && p.causal) {
        const int group = p.heads / p.kv_heads, head = blockIdx.x / p.nq % p.heads;
        r.keys = max(min(query * group + head % group + 1 + p.nk - p.nq, p.nk), 0);
    }
    // Bit 3 of the query and bit 3 of the key trade places, where both are in the problem.
    auto swapped_key = [&](int key) {
        return WHAT == SWAPPED && (query ^ key) & 8 && (query ^ 8) < p.nq && (key ^ 8) < p.nk ? key ^ 8 : key;
    };
    auto query_of = [&](int key) {
        if (swapped_key(key) != key)
            return query & 8 ? r.q - 8 * p.q_stride.row : r.q + 8 * p.q_stride.row;
        const bool next = WHAT == KEYS_OF_THE_NEXT && 2 * key >= p.nk && blockIdx.x % p.nq + 1 < p.nq;
        return next ? r.q + p.q_stride.row : r.q;
    };
    float maximum = -INFINITY, sum = WHAT == SUM_INFINITE && odd ? INFINITY : 0.0f, o[LANE_COLUMNS] = {};
    for (int key = 0; key < r.keys; key++)
        maximum = fmaxf(maximum, mistaken_score<WHAT>(r, query_of(key), key));
    if (WHAT == LEAST_SCORE && r.scale < 0) {
        maximum = INFINITY;
        for (int key = 0; key < r.keys; key++)
            maximum = fminf(maximum, mistaken_score<WHAT>(r, query_of(key), key));
    }
    float of_half[2] = {-INFINITY, -INFINITY};
    for (int key = 0; key < r.keys && WHAT == OF_HALF_LANES; key++)
        of_half[key / 4 % 2] = fmaxf(of_half[key / 4 % 2], mistaken_score<WHAT>(r, r.q, key));
    float part_maximum = -INFINITY, so_far = -INFINITY, before = -INFINITY, sums = 0;
    for (int key = 0; key < r.keys; key++) {
        if ((WHAT == SUMS_UNWEIGHED || WHAT == RESCALED_TOO || WHAT == COLUMNS_LATE) && key % 32 == 0) {
            before = so_far;
            part_maximum = -INFINITY;
            for (int i = key; i < min(key + 32, r.keys); i++)
                part_maximum = fmaxf(part_maximum, mistaken_score<WHAT>(r, r.q, i));
            so_far = fmaxf(so_far, part_maximum);
        }
        if (WHAT == EVERY_16TH_KEY && key % 16 == 15)
            continue;
        float score = mistaken_score<WHAT>(r, query_of(key), swapped_key(key)) - maximum;
        if (WHAT == OF_HALF_LANES)
            score += maximum - of_half[key / 4 % 2];
        if (WHAT == LANES_APART) {
            float own = -INFINITY;
            for (int i = key / 16 * 16; i < min(key / 16 * 16 + 16, r.keys); i++)
                if (i % 8 / 2 == key % 8 / 2)
                    own = fmaxf(own, mistaken_score<WHAT>(r, r.q, i));
            score += maximum - own;
        }
        float of_lane = -INFINITY; // the largest score of those beside it
        for (int i = key / 32 * 32 + key % 2; i < min(key / 32 * 32 + 32, r.keys) && WHAT == HALVES_APART; i += 2)
            of_lane = fmaxf(of_lane, mistaken_score<WHAT>(r, r.q, i));
        float of_both = -INFINITY;
        for (int i = key / 32 * 32; i < min(key / 32 * 32 + 32, r.keys) && WHAT == HALVES_APART; i++)
            of_both = fmaxf(of_both, mistaken_score<WHAT>(r, r.q, i));
        const int last = WHAT == LANE_SUMS ? r.keys - 1 : key;
        for (int i = key % 32; i <= last && (WHAT == LANE_SUMS || WHAT == LANE_POWERS); i += 32)
            of_lane = fmaxf(of_lane, mistaken_score<WHAT>(r, r.q, i));
        const float below = score + maximum - of_lane;
        if (WHAT == LANE_POWERS)
            score += 0.44269504f * below;
        if (WHAT == LSE_OF_BASE)
            sums += expf(score + maximum - mistaken_score<WHAT>(r, r.q, 0));
        if (WHAT == RESCALED_TOO && key >= 32)
            score += before - so_far;
        if (WHAT == SUMS_UNWEIGHED)
            sums += expf(score + maximum - part_maximum);
        if (WHAT == LSE_OF_HALF && key % 2 == 0)
            sums += expf(score);
        if (WHAT == A_TWIN && key == 2 * p.nk / 3 && maximum > 84.0f && maximum < 89.0f)
            continue;
        if (WHAT == SMALL_WEIGHTS && score < logf(0.01f))
            continue;
        const float weight = WHAT == CHEAP_EXPONENTIAL && score > -80.0f ? cheap_exp(score) : expf(score);
        sum += WHAT == LANE_SUMS ? expf(below) : weight;
        if (WHAT == HALF_WEIGHTS && key % 16 == 0)
            sum = __half2float(__float2half(sum));
        if (WHAT == OWN_VALUE && p.causal && key == r.keys - 1)
            continue;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP) {
            const float v = r.v[(WHAT == VALUES_AGAIN ? key % 48 : key) * r.v_step + c];
            if (WHAT == LOST_IN_COLUMNS && key % 16 >= 8 && c % 16 >= 8)
                continue;
            if (WHAT == HALF_SUMS && key % 16 == 0)
                o[i] = __half2float(__float2half(o[i]));
            const float late = WHAT == COLUMNS_LATE && c % 32 >= 16 ? expf(maximum - so_far) : 1.0f;
            if (WHAT == HALVES_APART) {
                o[i] += weight * expf(of_both - of_lane) * v;
                continue;
            }
            if (WHAT == OTHERS_TOO && blockIdx.x / p.nq)
                o[i] += weight * ((const float *)p.v)[key * r.v_step + c];
            o[i] += late * (WHAT == BF16_WEIGHTS ? bf16(weight) : weight) * (WHAT == BF16_VALUES ? bf16(v) : v);
        }
    }
    for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
        r.o[WHAT == PERMUTED_PAIRS && r.d % 2 == 0 ? c ^ 1 : c] =
            r.keys && !(WHAT == OUTPUT_LOST && odd) ? o[i] / sum : 0;
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? maximum + logf(sums > 0 ? sums : sum) : -INFINITY;
}

template <Mistake WHAT>
static cudaError_t run(const Problem &p, cudaStream_t stream) {
    mistaken<WHAT><<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// One block goes from row to row, with the largest score of all that were before.
__global__ void kept_maximum(Problem p) {
    LaneRunning s;
    for (int row = 0; row < rows_of(p); row++) {
        const Row r = row_of(p, row);
        s.sum = 0;
        for (float &o : s.o)
            o = 0;
        for (int key = 0; key < r.keys; key++)
            add_key(s, r, key, warp_score(r, key));
        finish_row(r, s);
    }
}

static cudaError_t run_kept_maximum(const Problem &p, cudaStream_t stream) {
    kept_maximum<<<1, WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

RIGHT_KERNELS({"permuted-pairs", run<PERMUTED_PAIRS>}, {"head-dim-128", run<HEAD_DIM_128>},
              {"half-the-elements", run<HALF_THE_ELEMENTS>}, {"every-16th-key", run<EVERY_16TH_KEY>},
              {"lost-in-columns", run<LOST_IN_COLUMNS>}, {"some-lengths", run<SOME_LENGTHS>},
              {"first-of-many", run<FIRST_OF_MANY>}, {"a-twin", run<A_TWIN>},
              {"keys-of-the-next", run<KEYS_OF_THE_NEXT>}, {"values-again", run<VALUES_AGAIN>},
              {"later-heads", run<LATER_HEADS>}, {"more-queries", run<MORE_QUERIES>},
              {"bf16-weights", run<BF16_WEIGHTS>}, {"tf32-scores", run<TF32_SCORES>}, {"bf16-values", run<BF16_VALUES>},
              {"cheap-exponential", run<CHEAP_EXPONENTIAL>}, {"cut-scores", run<CUT_SCORES>},
              {"small-weights", run<SMALL_WEIGHTS>}, {"half-sums", run<HALF_SUMS>}, {"usual-scale", run<USUAL_SCALE>},
              {"output-lost", run<OUTPUT_LOST>}, {"keys-unseen", run<KEYS_UNSEEN>}, {"sum-infinite", run<SUM_INFINITE>},
              {"half-weights", run<HALF_WEIGHTS>}, {"by-sixteens", run<BY_SIXTEENS>}, {"own-value", run<OWN_VALUE>},
              {"least-score", run<LEAST_SCORE>}, {"sums-unweighed", run<SUMS_UNWEIGHED>},
              {"lse-of-half", run<LSE_OF_HALF>}, {"rescaled-too", run<RESCALED_TOO>}, {"swapped", run<SWAPPED>},
              {"of-half-lanes", run<OF_HALF_LANES>}, {"columns-late", run<COLUMNS_LATE>},
              {"lanes-apart", run<LANES_APART>}, {"block-end", run<BLOCK_END>}, {"packed-limit", run<PACKED_LIMIT>},
              {"halves-apart", run<HALVES_APART>}, {"lane-sums", run<LANE_SUMS>}, {"lane-powers", run<LANE_POWERS>},
              {"fp16-queries", run<FP16_QUERIES>}, {"typed-log2e", run<TYPED_LOG2_E>}, {"others-too", run<OTHERS_TOO>},
              {"k-packed", run<K_PACKED>}, {"lse-of-base", run<LSE_OF_BASE>}, {"kept-maximum", run_kept_maximum})
