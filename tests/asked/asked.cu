// Kernels with mistakes that the check has no model of; it locates them by probing the kernel with inputs. The
// environment variable RIGHT selects a kernel.
#include "../right/right.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// The mistake of a kernel.
enum Mistake {
    PERMUTED_PAIRS,       // columns 2i and 2i + 1 are exchanged
    HEAD_DIM_128,         // elements from 128 on are not multiplied
    HALF_THE_ELEMENTS,    // the last 32 of each 64 elements are not multiplied
    EVERY_16TH_KEY,       // every 16th key is skipped
    SECOND_OF_TWINS,      // of two keys that dominate all others (INPUTS=twins), the second is skipped
    LOST_IN_COLUMNS,      // keys 8 to 15 of each 16 are skipped in columns 8 to 15 of each 16
    SOME_LENGTHS,         // the last key is skipped if nk is 65 to 96
    FIRST_OF_MANY,        // only the first key is used if nk exceeds 512
    NEXT_QUERY_SCORES,    // the second half of the keys has the scores of the next query
    VALUES_REPEATED,      // key j has the value of key j % 48
    LATER_HEADS,          // heads from the second on have half the scale
    MORE_QUERIES,         // half the scale if nq exceeds nk
    BF16_WEIGHTS,         // weights are rounded to bf16
    TF32_SCORES,          // q and k are rounded to TF32
    BF16_VALUES,          // values are rounded to bf16
    APPROXIMATE_EXP,      // exp is approximated by a parabola
    TRUNCATED_SCORES,     // q and k are truncated to TF32
    SMALL_WEIGHTS,        // weights below 1 % of the largest are dropped
    HALF_ACCUMULATOR,     // O is rounded to fp16 every 16 keys
    HALF_ROW_SUM,         // the row sum is rounded to fp16 every 16 keys
    DEFAULT_SCALE,        // softmax_scale is ignored
    OUTPUT_ZERO,          // O is 0 for odd queries
    ALL_KEYS_MASKED,      // odd queries have all keys masked
    INFINITE_ROW_SUM,     // the row sum is infinite for odd queries
    LIMIT_MULTIPLE_16,    // causal: the last three keys are unmasked only if nk - nq is a multiple of 16
    LAST_VALUE_SKIPPED,   // causal: the value of the last key is not added, but its weight is
    MINIMUM_SCORE,        // the minimum score is subtracted if the scale is negative
    LSE_NOT_RESCALED,     // lse adds the sums of tiles of 32 keys, each relative to its own maximum
    LSE_EVEN_KEYS,        // lse counts even keys only
    RESCALED_TOO_EARLY,   // a tile of 32 keys that raises the maximum is rescaled with the earlier tiles
    SWAPPED_REGISTERS,    // registers 1 and 2 of each 16 x 16 fragment of weights are swapped
    HALF_LANES_MAXIMUM,   // keys 0 to 3 of each 8 have their own maximum, and so do keys 4 to 7
    COLUMNS_NOT_RESCALED, // columns 16 to 31 of each 32 are not rescaled when a later tile raises the maximum
    LANE_MAXIMUM,         // of each 16 keys, the keys of one lane of a quad are relative to their own maximum
    BLOCK_LIMIT,       // causal: a block of 32 queries has the limit of its first query, rounded up to a multiple of 16
    PACKED_LIMIT,      // causal: the limit uses the row index among the query rows that share keys
    PARITY_MAXIMUM,    // even and odd keys of each 32 are relative to their own maxima; the row sum is right
    LANE_SUMS,         // the sums of keys j, j + 32, ..., each relative to its own maximum, are added without rescaling
    LANE_POWERS,       // weights of these keys are powers of 2.72^1.44, relative to their running maximum
    FP16_QUERIES,      // queries times log2(e) are rounded to fp16
    TYPED_LOG2_E,      // log2(e) is 1.4429
    OTHER_HEADS_ADDED, // the values of the first head are added to all other heads
    K_PACKED,          // the row stride of k is ignored
    LSE_FIRST_MAXIMUM  // lse adds the row max to the logarithm of a sum that is relative to the first score
};

__device__ float tf32(float x) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

__device__ float truncate_tf32(float x) {
    return __uint_as_float(__float_as_uint(x) & 0xffffe000);
}

__device__ float bf16(float x) {
    return __bfloat162float(__float2bfloat16(x));
}

template <Mistake MISTAKE>
__device__ float wrong_score(const Row &r, const float *q, int key) {
    const float *k = r.k + key * r.k_stride;
    float sum = 0;
    for (int c = threadIdx.x; c < r.d; c += WARP) {
        if ((MISTAKE == HEAD_DIM_128 && c >= 128) || (MISTAKE == HALF_THE_ELEMENTS && c % 64 >= 32))
            continue;
        if (MISTAKE == FP16_QUERIES) {
            const float factor = r.scale * 1.44269504f;
            sum += __half2float(__float2half(q[c] * factor)) / factor * k[c];
            continue;
        }
        sum += MISTAKE == TF32_SCORES        ? tf32(q[c]) * tf32(k[c])
               : MISTAKE == TRUNCATED_SCORES ? truncate_tf32(q[c]) * truncate_tf32(k[c])
                                             : q[c] * k[c];
    }
    return r.scale * warp_sum(sum) * (MISTAKE == TYPED_LOG2_E ? 1.4429f / 1.44269504f : 1.0f);
}

// Approximates exp: a parabola between two powers of two.
__device__ float approximate_exp(float x) {
    const float y = x * 1.44269504f, whole = floorf(y), part = y - whole;
    return ldexpf(1.0f + part * (0.6565f + 0.3435f * part), (int)whole);
}

template <Mistake MISTAKE>
__global__ void wrong_attention(Problem p) {
    Row r = row_of(p, blockIdx.x);
    if ((MISTAKE == LATER_HEADS && blockIdx.x / p.nq % p.heads > 0) || (MISTAKE == MORE_QUERIES && p.nq > p.nk))
        r.scale *= 0.5f;
    if (MISTAKE == K_PACKED)
        r.k_stride = r.d;
    if (MISTAKE == DEFAULT_SCALE)
        r.scale = 1 / sqrtf((float)r.d);
    if (MISTAKE == SOME_LENGTHS && p.nk > 64 && p.nk <= 96 && r.keys == p.nk)
        r.keys--;
    if (MISTAKE == FIRST_OF_MANY && p.nk > 512)
        r.keys = min(r.keys, 1);
    if (MISTAKE == LIMIT_MULTIPLE_16 && p.causal && (p.nk - p.nq) % 16)
        r.keys = max(r.keys - 3, 0);
    const bool odd = blockIdx.x % p.nq % 2;
    if (MISTAKE == ALL_KEYS_MASKED && odd)
        r.keys = 0;
    const int query = blockIdx.x % p.nq;
    if (MISTAKE == BLOCK_LIMIT && p.causal)
        r.keys = min(r.keys, (max(query / 32 * 32 + 1 + p.nk - p.nq, 0) + 15) / 16 * 16);
    if (MISTAKE == PACKED_LIMIT && p.causal) {
        const int group = p.heads / p.kv_heads, head = blockIdx.x / p.nq % p.heads;
        r.keys = max(min(query * group + head % group + 1 + p.nk - p.nq, p.nk), 0);
    }
    // Exchanges bit 3 of the query and bit 3 of the key, if both rows exist.
    auto swapped_key = [&](int key) {
        return MISTAKE == SWAPPED_REGISTERS && (query ^ key) & 8 && (query ^ 8) < p.nq && (key ^ 8) < p.nk ? key ^ 8
                                                                                                           : key;
    };
    auto query_of = [&](int key) {
        if (swapped_key(key) != key)
            return query & 8 ? r.q - 8 * p.q_stride.row : r.q + 8 * p.q_stride.row;
        const bool next = MISTAKE == NEXT_QUERY_SCORES && 2 * key >= p.nk && blockIdx.x % p.nq + 1 < p.nq;
        return next ? r.q + p.q_stride.row : r.q;
    };
    float maximum = -INFINITY, sum = MISTAKE == INFINITE_ROW_SUM && odd ? INFINITY : 0.0f, o[LANE_COLUMNS] = {};
    for (int key = 0; key < r.keys; key++)
        maximum = fmaxf(maximum, wrong_score<MISTAKE>(r, query_of(key), key));
    if (MISTAKE == MINIMUM_SCORE && r.scale < 0) {
        maximum = INFINITY;
        for (int key = 0; key < r.keys; key++)
            maximum = fminf(maximum, wrong_score<MISTAKE>(r, query_of(key), key));
    }
    float half_maximum[2] = {-INFINITY, -INFINITY};
    for (int key = 0; key < r.keys && MISTAKE == HALF_LANES_MAXIMUM; key++)
        half_maximum[key / 4 % 2] = fmaxf(half_maximum[key / 4 % 2], wrong_score<MISTAKE>(r, r.q, key));
    float own_tile_maximum = -INFINITY, running_maximum = -INFINITY, previous_maximum = -INFINITY, lse_sum = 0;
    for (int key = 0; key < r.keys; key++) {
        if ((MISTAKE == LSE_NOT_RESCALED || MISTAKE == RESCALED_TOO_EARLY || MISTAKE == COLUMNS_NOT_RESCALED) &&
            key % 32 == 0) {
            previous_maximum = running_maximum;
            own_tile_maximum = -INFINITY;
            for (int i = key; i < min(key + 32, r.keys); i++)
                own_tile_maximum = fmaxf(own_tile_maximum, wrong_score<MISTAKE>(r, r.q, i));
            running_maximum = fmaxf(running_maximum, own_tile_maximum);
        }
        if (MISTAKE == EVERY_16TH_KEY && key % 16 == 15)
            continue;
        float score = wrong_score<MISTAKE>(r, query_of(key), swapped_key(key)) - maximum;
        if (MISTAKE == HALF_LANES_MAXIMUM)
            score += maximum - half_maximum[key / 4 % 2];
        if (MISTAKE == LANE_MAXIMUM) {
            float quad_lane_maximum = -INFINITY;
            for (int i = key / 16 * 16; i < min(key / 16 * 16 + 16, r.keys); i++)
                if (i % 8 / 2 == key % 8 / 2)
                    quad_lane_maximum = fmaxf(quad_lane_maximum, wrong_score<MISTAKE>(r, r.q, i));
            score += maximum - quad_lane_maximum;
        }
        float lane_maximum = -INFINITY; // maximum of the keys of the same parity or lane
        for (int i = key / 32 * 32 + key % 2; i < min(key / 32 * 32 + 32, r.keys) && MISTAKE == PARITY_MAXIMUM; i += 2)
            lane_maximum = fmaxf(lane_maximum, wrong_score<MISTAKE>(r, r.q, i));
        float tile_maximum = -INFINITY;
        for (int i = key / 32 * 32; i < min(key / 32 * 32 + 32, r.keys) && MISTAKE == PARITY_MAXIMUM; i++)
            tile_maximum = fmaxf(tile_maximum, wrong_score<MISTAKE>(r, r.q, i));
        const int last = MISTAKE == LANE_SUMS ? r.keys - 1 : key;
        for (int i = key % 32; i <= last && (MISTAKE == LANE_SUMS || MISTAKE == LANE_POWERS); i += 32)
            lane_maximum = fmaxf(lane_maximum, wrong_score<MISTAKE>(r, r.q, i));
        const float lane_score = score + maximum - lane_maximum;
        if (MISTAKE == LANE_POWERS)
            score += 0.44269504f * lane_score;
        if (MISTAKE == LSE_FIRST_MAXIMUM)
            lse_sum += expf(score + maximum - wrong_score<MISTAKE>(r, r.q, 0));
        if (MISTAKE == RESCALED_TOO_EARLY && key >= 32)
            score += previous_maximum - running_maximum;
        if (MISTAKE == LSE_NOT_RESCALED)
            lse_sum += expf(score + maximum - own_tile_maximum);
        if (MISTAKE == LSE_EVEN_KEYS && key % 2 == 0)
            lse_sum += expf(score);
        if (MISTAKE == SECOND_OF_TWINS && key == 2 * p.nk / 3 && maximum > 84.0f && maximum < 89.0f)
            continue;
        if (MISTAKE == SMALL_WEIGHTS && score < logf(0.01f))
            continue;
        const float weight = MISTAKE == APPROXIMATE_EXP && score > -80.0f ? approximate_exp(score) : expf(score);
        sum += MISTAKE == LANE_SUMS ? expf(lane_score) : weight;
        if (MISTAKE == HALF_ROW_SUM && key % 16 == 0)
            sum = __half2float(__float2half(sum));
        if (MISTAKE == LAST_VALUE_SKIPPED && p.causal && key == r.keys - 1)
            continue;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP) {
            const float v = r.v[(MISTAKE == VALUES_REPEATED ? key % 48 : key) * r.v_stride + c];
            if (MISTAKE == LOST_IN_COLUMNS && key % 16 >= 8 && c % 16 >= 8)
                continue;
            if (MISTAKE == HALF_ACCUMULATOR && key % 16 == 0)
                o[i] = __half2float(__float2half(o[i]));
            const float rescale =
                MISTAKE == COLUMNS_NOT_RESCALED && c % 32 >= 16 ? expf(maximum - running_maximum) : 1.0f;
            if (MISTAKE == PARITY_MAXIMUM) {
                o[i] += weight * expf(tile_maximum - lane_maximum) * v;
                continue;
            }
            if (MISTAKE == OTHER_HEADS_ADDED && blockIdx.x / p.nq)
                o[i] += weight * ((const float *)p.v)[key * r.v_stride + c];
            o[i] +=
                rescale * (MISTAKE == BF16_WEIGHTS ? bf16(weight) : weight) * (MISTAKE == BF16_VALUES ? bf16(v) : v);
        }
    }
    for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
        r.o[MISTAKE == PERMUTED_PAIRS && r.d % 2 == 0 ? c ^ 1 : c] =
            r.keys && !(MISTAKE == OUTPUT_ZERO && odd) ? o[i] / sum : 0;
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? maximum + logf(lse_sum > 0 ? lse_sum : sum) : -INFINITY;
}

template <Mistake MISTAKE>
static cudaError_t run(const Problem &p, cudaStream_t stream) {
    wrong_attention<MISTAKE><<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// One block processes all rows and does not reset the running maximum between rows.
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
              {"first-of-many", run<FIRST_OF_MANY>}, {"a-twin", run<SECOND_OF_TWINS>},
              {"keys-of-the-next", run<NEXT_QUERY_SCORES>}, {"values-again", run<VALUES_REPEATED>},
              {"later-heads", run<LATER_HEADS>}, {"more-queries", run<MORE_QUERIES>},
              {"bf16-weights", run<BF16_WEIGHTS>}, {"tf32-scores", run<TF32_SCORES>}, {"bf16-values", run<BF16_VALUES>},
              {"cheap-exponential", run<APPROXIMATE_EXP>}, {"cut-scores", run<TRUNCATED_SCORES>},
              {"small-weights", run<SMALL_WEIGHTS>}, {"half-sums", run<HALF_ACCUMULATOR>},
              {"usual-scale", run<DEFAULT_SCALE>}, {"output-lost", run<OUTPUT_ZERO>},
              {"keys-unseen", run<ALL_KEYS_MASKED>}, {"sum-infinite", run<INFINITE_ROW_SUM>},
              {"half-weights", run<HALF_ROW_SUM>}, {"by-sixteens", run<LIMIT_MULTIPLE_16>},
              {"own-value", run<LAST_VALUE_SKIPPED>}, {"least-score", run<MINIMUM_SCORE>},
              {"sums-unweighed", run<LSE_NOT_RESCALED>}, {"lse-of-half", run<LSE_EVEN_KEYS>},
              {"rescaled-too", run<RESCALED_TOO_EARLY>}, {"swapped", run<SWAPPED_REGISTERS>},
              {"of-half-lanes", run<HALF_LANES_MAXIMUM>}, {"columns-late", run<COLUMNS_NOT_RESCALED>},
              {"lanes-apart", run<LANE_MAXIMUM>}, {"block-end", run<BLOCK_LIMIT>}, {"packed-limit", run<PACKED_LIMIT>},
              {"halves-apart", run<PARITY_MAXIMUM>}, {"lane-sums", run<LANE_SUMS>}, {"lane-powers", run<LANE_POWERS>},
              {"fp16-queries", run<FP16_QUERIES>}, {"typed-log2e", run<TYPED_LOG2_E>},
              {"others-too", run<OTHER_HEADS_ADDED>}, {"k-packed", run<K_PACKED>},
              {"lse-of-base", run<LSE_FIRST_MAXIMUM>}, {"kept-maximum", run_kept_maximum})
