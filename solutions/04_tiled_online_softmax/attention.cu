// Lesson 04: K and V in tiles, with a running maximum and a running sum. Any nk with a fixed amount of shared memory.
//
// A block of four warps handles 32 queries, eight a warp. Each tile of 32 keys and values is loaded into shared memory
// once and serves all of them. In the scores a lane owns a key of the tile; in the output it owns every 32nd column.
#include "attention.h"
#include "float4.cuh"
#include "reduce.cuh"

constexpr int WARPS = 4;
constexpr int THREADS = WARPS * WARP_SIZE;
constexpr int ROWS = 8; // queries a warp
constexpr int QUERIES = WARPS * ROWS;
constexpr int KEYS = 32; // a tile
constexpr int NO_DIAGONAL = 1 << 30;
static_assert(KEYS == WARP_SIZE, "in the scores every lane owns one key of the tile");

// D is head_dim rounded up to one of a few sizes, so that the output row fits in registers and loops can be unrolled.
template <int D>
struct Tiles {
    float Q[QUERIES][D];
    float K[KEYS][D + 4]; // rows four banks apart: eight lanes reading 16 bytes of eight keys touch all 32 banks once
    float V[KEYS][D];
    float P[QUERIES][KEYS];
};

// Copies rows of a matrix into shared memory, zeros beyond its last row and column: 0 * V must not be 0 * NaN.
template <bool WIDE, int D, int PITCH>
__device__ void copy_tile(float (*tile_smem)[PITCH], int tile_rows, const float *matrix /* [rows][head_dim] */,
                          int first_row, int rows, int head_dim) {
    for (int i = threadIdx.x; i < tile_rows * (D / 4); i += THREADS) {
        const int row = i / (D / 4), column = i % (D / 4) * 4;
        float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first_row + row < rows && column < head_dim)
            value = load_float4<WIDE>(matrix + (int64_t)(first_row + row) * head_dim, column, head_dim);
        *reinterpret_cast<float4 *>(&tile_smem[row][column]) = value;
    }
}

template <int D, int PITCH>
__device__ void load_tile(float (*tile_smem)[PITCH], int tile_rows, const float *matrix /* [rows][head_dim] */,
                          int first_row, int rows, int head_dim, bool wide) {
    if (wide)
        copy_tile<true, D>(tile_smem, tile_rows, matrix, first_row, rows, head_dim);
    else
        copy_tile<false, D>(tile_smem, tile_rows, matrix, first_row, rows, head_dim);
}

// O_rmem += P V for the warp's rows. MASKED: row i sees only the keys of the tile up to last_key + i; a value beyond
// must not even be multiplied by its zero weight, since it may be NaN.
template <bool MASKED, int D>
__device__ void add_weighted_values(float (*O_rmem)[D / WARP_SIZE] /* [ROWS][D / 32] */, const float (*P_smem)[KEYS],
                                    const float (*V_smem)[D], int lane, int last_key) {
    for (int key0 = 0; key0 < KEYS; key0 += 4) {
        float4 p[ROWS];
        for (int i = 0; i < ROWS; i++) {
            p[i] = *reinterpret_cast<const float4 *>(&P_smem[i][key0]);
        }
        // TODO 1 (about 9 lines): for each of the four keys and each column of this lane, load the value once and
        // add it, weighted, to all ROWS rows, except where MASKED and the key lies beyond last_key + i. Element n
        // of a float4 is reinterpret_cast<const float *>(&p[i])[n]; with #pragma unroll n is known to the compiler
        // and p stays in registers.
#pragma unroll
        for (int key = key0; key < key0 + 4; key++)
#pragma unroll
            for (int j = 0; j < D / WARP_SIZE; j++) {
                const float value = V_smem[key][j * WARP_SIZE + lane];
#pragma unroll
                for (int i = 0; i < ROWS; i++)
                    if (!MASKED || key <= last_key + i)
                        O_rmem[i][j] += reinterpret_cast<const float *>(&p[i])[key - key0] * value;
            }
        // END TODO 1
    }
}

// Grid: blocks of 32 queries, ceil(nq / 32) for each head of each batch.
template <int D>
__global__ void __launch_bounds__(THREADS)
    tiled_attention(const float *Q, // [batch][heads][nq][head_dim]
                    const float *K, // [batch][heads][nk][head_dim]
                    const float *V, // [batch][heads][nk][head_dim]
                    float *O,       // [batch][heads][nq][head_dim]
                    int nq, int nk, int head_dim, bool wide, bool causal, float softmax_scale) {
    extern __shared__ float4 smem[];
    Tiles<D> &tile = *reinterpret_cast<Tiles<D> *>(smem);

    const int query_blocks = (nq + QUERIES - 1) / QUERIES;
    const int64_t head = blockIdx.x / query_blocks;
    const int block_query = blockIdx.x % query_blocks * QUERIES;
    const float *k = K + head * nk * head_dim; // [nk][head_dim]
    const float *v = V + head * nk * head_dim; // [nk][head_dim]
    float *o = O + head * nq * head_dim;       // [nq][head_dim]

    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const float(*Q_smem)[D] = tile.Q + warp * ROWS; // [ROWS][D], the warp's own
    float(*P_smem)[KEYS] = tile.P + warp * ROWS;    // [ROWS][KEYS], the warp's own
    const int query0 = block_query + warp * ROWS;
    // Query i sees keys 0 .. i + diagonal.
    const int diagonal = causal ? nk - nq : NO_DIAGONAL;
    const int key_end = min(nk, block_query + QUERIES + diagonal);

    load_tile<D>(tile.Q, QUERIES, Q + head * nq * head_dim, block_query, nq, head_dim, wide);

    float O_rmem[ROWS][D / WARP_SIZE] = {};
    float row_max[ROWS], row_sum[ROWS]; // row_sum: this lane's keys only, added up over the warp at the end
    for (int i = 0; i < ROWS; i++) {
        row_max[i] = -INFINITY;
        row_sum[i] = 0.0f;
    }

    for (int key0 = 0; key0 < key_end; key0 += KEYS) {
        __syncthreads(); // every warp is done with the tile before
        load_tile<D>(tile.K, KEYS, k, key0, nk, head_dim, wide);
        load_tile<D>(tile.V, KEYS, v, key0, nk, head_dim, wide);
        __syncthreads();

        float score[ROWS] = {};
        // TODO 2 (about 6 lines): the dot products of this lane's key, row `lane` of the tile, with the warp's ROWS
        // queries. Load four floats of the key once and use them for all rows. #pragma unroll 4 keeps several loads in
        // flight.
#pragma unroll 4
        for (int column = 0; column < D; column += 4) {
            const float4 k4 = *reinterpret_cast<const float4 *>(&tile.K[lane][column]);
            for (int i = 0; i < ROWS; i++)
                score[i] += dot(*reinterpret_cast<const float4 *>(&Q_smem[i][column]), k4);
        }
        // END TODO 2

        for (int i = 0; i < ROWS; i++) {
            const int key = key0 + lane;
            const bool visible = key < nk && key <= query0 + i + diagonal;
            score[i] = visible ? softmax_scale * score[i] : -INFINITY;
            const float new_max = fmaxf(row_max[i], warp_max(score[i]));
            // TODO 3 (about 7 lines): this key's weight exp(score[i] - new_max), into P_smem[i][lane] and row_sum[i].
            // What was summed so far, in row_sum[i] and in O_rmem[i], is relative to the old row_max[i]: which factor
            // mends it? What happens to a row that has seen no key yet, where new_max is still -inf?
            const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf would be NaN
            const float weight = __expf(score[i] - shift);
            const float rescale = __expf(row_max[i] - shift);
            row_sum[i] = row_sum[i] * rescale + weight;
            for (int j = 0; j < D / WARP_SIZE; j++)
                O_rmem[i][j] *= rescale;
            P_smem[i][lane] = weight;
            // END TODO 3
            row_max[i] = new_max;
        }
        __syncwarp(); // the weights were written by all lanes and are read by all lanes

        const int last_key = query0 + diagonal - key0;
        if (last_key >= KEYS - 1)
            add_weighted_values<false, D>(O_rmem, P_smem, tile.V, lane, last_key);
        else
            add_weighted_values<true, D>(O_rmem, P_smem, tile.V, lane, last_key);
    }

    for (int i = 0; i < ROWS; i++) {
        const float sum = warp_sum(row_sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a row that sees no key is 0
        for (int j = 0; j < D / WARP_SIZE; j++) {
            const int column = j * WARP_SIZE + lane;
            if (query0 + i < nq && column < head_dim)
                o[(int64_t)(query0 + i) * head_dim + column] = O_rmem[i][j] * inverse;
        }
    }
}

template <int D>
static cudaError_t launch(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * ((p->nq + QUERIES - 1) / QUERIES);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const bool wide =
        rows_are_float4(p->q, p->head_dim) && rows_are_float4(p->k, p->head_dim) && rows_are_float4(p->v, p->head_dim);
    // A block gets more than 48 KB of shared memory only after the kernel has been allowed to.
    const cudaError_t error =
        cudaFuncSetAttribute(tiled_attention<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Tiles<D>));
    if (error != cudaSuccess)
        return error;
    tiled_attention<D><<<(unsigned)blocks, THREADS, sizeof(Tiles<D>), stream>>>(
        (const float *)p->q, (const float *)p->k, (const float *)p->v, (float *)p->o, p->nq, p->nk, p->head_dim, wide,
        p->causal != 0, p->softmax_scale);
    return cudaGetLastError();
}

static size_t shared_bytes(const struct attention_problem *p) {
    return p->head_dim <= 32    ? sizeof(Tiles<32>)
           : p->head_dim <= 64  ? sizeof(Tiles<64>)
           : p->head_dim <= 128 ? sizeof(Tiles<128>)
           : p->head_dim <= 256 ? sizeof(Tiles<256>)
                                : sizeof(Tiles<512>);
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .causal = 1,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = NULL,
    .shared_bytes = shared_bytes,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    return p->head_dim <= 32    ? launch<32>(p, stream)
           : p->head_dim <= 64  ? launch<64>(p, stream)
           : p->head_dim <= 128 ? launch<128>(p, stream)
           : p->head_dim <= 256 ? launch<256>(p, stream)
                                : launch<512>(p, stream);
}
