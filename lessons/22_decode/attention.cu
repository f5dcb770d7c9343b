// Lesson 22: decoding. One query per head and many keys: the query heads that share a key head are the rows of one MMA,
// the keys of all requests are partitioned evenly among the blocks, and the block that arrives last combines the
// results.
//
// architecture: sm_80
#include "accumulator_layout.cuh"
#include "chunk.cuh"
#include "decode_config.cuh"
#include "decode_shares.cuh"
#include "ex2.cuh"
#include "float4.cuh"
#include "load_rows_async.cuh"
#include "mma.cuh"

constexpr int MMA_ROWS = 16, WARP_KEYS = 16;

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes. Each warp has WARP_KEYS keys of each tile to itself, from the copy to the partial result.
template <class E_, int D_, int WARPS_, int STAGES_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, ROWS = MMA_ROWS, WARPS = WARPS_, STAGES = STAGES_;
    static constexpr int KEYS = WARPS * WARP_KEYS, THREADS = WARPS * WARP_SIZE;
    static constexpr int PANELS = (D + PANEL - 1) / PANEL, LANE_ROWS = 2, LANE_KEYS = WARP_KEYS / LANES_PER_ROW;
    static constexpr int LANE_COLUMNS = D / LANES_PER_ROW;
    using Partial = DecodePartial<ROWS, D>;

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    using KeyTile = E[PANELS][WARP_KEYS][PANEL];
    union WarpMemory {
        struct {
            KeyTile K[STAGES], V[STAGES];
        };
        Partial partial; // at the end, when all tiles have been used
    } warp[WARPS];
    bool is_last; // of all blocks that have part in the work
};

// The address of the chunk of a row that begins at a column (lesson 11).
template <class E, int ROWS>
__device__ inline E *chunk_of(E (*panels_smem)[ROWS][PANEL], int row, int column) {
    return &panels_smem[column / PANEL][row][column % PANEL ^ row % 8 * CHUNK];
}

// The lane's part of the A operands of Q: the rows of the group are contiguous, whichever head and query they are.
template <class T, class E = typename T::E>
__device__ inline void load_queries(uint32_t (&Q_rmem)[T::D / 16][4], const struct decode_problem &p,
                                    const DecodeWork &work, int lane) {
    const int64_t first_row = ((int64_t)work.request * p.kv_heads + work.kv_head) * rows_of_group(p) + work.row0;
    const E *q = (const E *)p.q + first_row * p.head_dim; // [rows][head_dim]
#pragma unroll
    for (int column = 0; column < T::D; column += 16)
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const int row = row_of(n % 2, lane), c = column + column_of(n / 2 * 2, lane);
            const bool valid = work.row0 + row < rows_of_group(p) && c < p.head_dim;
            Q_rmem[column / 16][n] = valid ? *reinterpret_cast<const uint32_t *>(q + row * p.head_dim + c) : 0;
        }
}

// Issues the copies of the warp's keys and values of a tile, and zeros behind the last key: what lies there in the
// cache may be NaN. All copies of a tile are one group, which is empty if the share has no such tile.
template <class T, class E = typename T::E>
__device__ inline void load_tile(typename T::WarpMemory &smem, const struct decode_problem &p, const DecodeWork &work,
                                 int tile, int end, int lane) {
    constexpr int CHUNKS = T::D / CHUNK;
    const int key0 = tile * T::KEYS + threadIdx.x / WARP_SIZE * WARP_KEYS, stage = tile % T::STAGES;
    const int64_t head = work.request * p.page_stride + (int64_t)work.kv_head * p.page_size * p.head_dim;
#pragma unroll
    for (int i = lane; i < WARP_KEYS * CHUNKS && tile < end; i += WARP_SIZE) {
        const int key = i / CHUNKS, column = i % CHUNKS * CHUNK;
        const bool valid = key0 + key < work.keys && column < p.head_dim;
        const int64_t from = valid ? head + (int64_t)(key0 + key) * p.head_dim + column : 0;
        load_chunk(chunk_of(smem.K[stage], key, column), (const E *)p.k + from, valid);
        load_chunk(chunk_of(smem.V[stage], key, column), (const E *)p.v + from, valid);
    }
    cp_async_commit_group();
}

// Attention of the rows to the warp's keys of tiles first .. end - 1, as a partial result in shared memory.
template <class T, class E = typename T::E>
__device__ inline void attend(typename T::WarpMemory &smem, const struct decode_problem &p, const DecodeWork &work,
                              int first, int end, float scale, int lane) {
    uint32_t Q_rmem[T::D / 16][4];
    float O_rmem[T::LANE_ROWS][T::LANE_COLUMNS] = {}, row_max[T::LANE_ROWS], row_sum[T::LANE_ROWS] = {};
    int last_key[T::LANE_ROWS]; // that the row attends to, of the request
    for (int tile = first; tile < first + T::STAGES - 1; tile++)
        load_tile<T>(smem, p, work, tile, end, lane);
    load_queries<T>(Q_rmem, p, work, lane);
    for (int i = 0; i < T::LANE_ROWS; i++) {
        row_max[i] = -INFINITY;
        last_key[i] = last_key_of(p, work.keys, work.row0 + row_of(i, lane));
    }
    for (int tile = first; tile < end; tile++) {
        const int key0 = tile * T::KEYS + threadIdx.x / WARP_SIZE * WARP_KEYS, stage = tile % T::STAGES;
        cp_async_wait_group<T::STAGES - 2>();
        __syncwarp(); // the tile has arrived, and all lanes have read the one that is overwritten next
        load_tile<T>(smem, p, work, tile + T::STAGES - 1, end, lane);

        float S_rmem[T::LANE_ROWS][T::LANE_KEYS] = {};
#pragma unroll
        for (int column = 0; column < T::D; column += 16) {
            uint32_t k[4]; // keys 0 .. 7, two registers, and keys 8 .. 15
            ldmatrix_x4(k, chunk_of(smem.K[stage], lane / 16 * 8 + lane % 8, column + lane / 8 % 2 * 8));
            for (int n = 0; n < 2; n++)
                mma_m16n8k16<E>(&S_rmem[0][2 * n], &S_rmem[1][2 * n], Q_rmem[column / 16], &k[2 * n]);
        }
        uint32_t P_rmem[4];
#pragma unroll
        for (int i = 0; i < T::LANE_ROWS; i++) {
            float tile_max = -INFINITY;
            for (int j = 0; j < T::LANE_KEYS; j++) {
                // TODO 1 (about 2 lines): Scale the score; -inf behind the last key of the row, which is not the
                // tile's.
                // END TODO 1
            }
            const float new_max = fmaxf(row_max[i], lanes_max<LANES_PER_ROW>(tile_max));
            const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf would be NaN
            const float rescale = ex2(row_max[i] - shift);
            row_max[i] = new_max;
            row_sum[i] *= rescale;
            for (int j = 0; j < T::LANE_KEYS; j++)
                row_sum[i] += S_rmem[i][j] = ex2(S_rmem[i][j] - shift);
            for (int j = 0; j < T::LANE_COLUMNS; j++)
                O_rmem[i][j] *= rescale;
            for (int n = 0; n < 2; n++)
                P_rmem[i + 2 * n] = cvt_rn_x2<E>(S_rmem[i][2 * n], S_rmem[i][2 * n + 1]);
        }
#pragma unroll
        for (int column = 0; column < T::D; column += 16) {
            uint32_t v[4]; // columns 0 .. 7, two registers, and columns 8 .. 15
            ldmatrix_x4_trans(v, chunk_of(smem.V[stage], lane % 16, column + lane / 16 * 8));
            for (int n = 0; n < 2; n++)
                mma_m16n8k16<E>(&O_rmem[0][column / 4 + 2 * n], &O_rmem[1][column / 4 + 2 * n], P_rmem, &v[2 * n]);
        }
    }
    __syncwarp(); // all lanes have read the last tile, which the partial result overwrites
    for (int i = 0; i < T::LANE_ROWS; i++) {
        const int row = row_of(i, lane);
        smem.partial.row_max[row] = row_max[i]; // all lanes of the row store the same value
        smem.partial.row_sum[row] = lanes_sum<LANES_PER_ROW>(row_sum[i]);
        for (int j = 0; j < T::LANE_COLUMNS; j++)
            smem.partial.O[row][column_of(j, lane)] = O_rmem[i][j];
    }
}

// Four columns of a row of the sum of several partial results.
struct Merged {
    float4 O;
    float row_max, row_sum;
};
template <class Partial, class PartialOf>
__device__ inline Merged merge(PartialOf partial_of, int count, int row, int column) {
    Merged merged = {make_float4(0.0f, 0.0f, 0.0f, 0.0f), -INFINITY, 0.0f};
    for (int i = 0; i < count; i++)
        merged.row_max = fmaxf(merged.row_max, partial_of(i).row_max[row]);
#pragma unroll 8
    for (int i = 0; i < count; i++) {
        const Partial &partial = partial_of(i);
        const float4 O = *reinterpret_cast<const float4 *>(&partial.O[row][column]);
        // TODO 2 (about 6 lines): Add the partial result, relative to 2^merged.row_max: row_sum and the four columns.
        // If no part has a key that the row attends to, all maxima are -inf: avoid NaN.
        // END TODO 2
    }
    return merged;
}

template <class E>
__device__ inline void store_output(const struct decode_problem &p, const DecodeWork &work, int row, int column,
                                    const Merged &merged) {
    const float nan = __int_as_float(0x7fffffff), sum = merged.row_sum;
    const float inverse = work.keys < 0 ? nan : sum == 0.0f ? 0.0f : 1.0f / sum; // a row without keys is 0
    const int64_t index = ((int64_t)work.request * p.kv_heads + work.kv_head) * rows_of_group(p) + work.row0 + row;
    if (column < p.head_dim)
        *reinterpret_cast<uint2 *>((E *)p.o + index * p.head_dim + column) =
            make_uint2(cvt_rn_x2<E>(inverse * merged.O.x, inverse * merged.O.y),
                       cvt_rn_x2<E>(inverse * merged.O.z, inverse * merged.O.w));
    if (p.lse != NULL && column == 0)
        p.lse[index] = work.keys < 0 ? nan : sum == 0.0f ? -INFINITY : (merged.row_max + log2f(sum)) / LOG2_E;
}

// Whether this block is the last of `blocks` to arrive at the counter, which is then 0 again. What the others have
// stored before they arrived can be read then. All threads of the block call it.
__device__ inline bool arrive_last(unsigned *counter, int blocks, bool &is_last_smem) {
    // TODO 3 (about 7 lines): All threads of the block have stored their part, and other SMs can see it, before thread
    // 0 arrives by atomicInc(counter, blocks - 1), which returns how many arrived before. Tell the other threads; and
    // nothing of the others' may be read before thread 0 knew that it is last.
    // END TODO 3
    return is_last_smem;
}

// Grid: one block per share, no more than are resident; no block waits for another.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    decode_kernel(const __grid_constant__ struct decode_problem p, float scale_log2, unsigned *arrivals) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    using Partial = typename T::Partial;
    Partial *kept = (Partial *)p.workspace; // [shares][KEPT_PARTIALS]
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const DecodeShares shares = make_decode_shares<T>(p);
    const int end_tile = shares.first_tile_of(blockIdx.x + 1);
    DecodeWork work = {};
    for (int tile = shares.first_tile_of(blockIdx.x); tile < end_tile;) {
        work = decode_work_at<T>(p, tile, work);
        const int first = tile - work.first_tile, end = min(work.tiles, end_tile - work.first_tile);
        const bool is_whole = end - first == work.tiles;
        attend<T>(smem.warp[warp], p, work, first, end, scale_log2, lane);
        __syncthreads();

        // Units of four columns of a row.
        const int units = min(T::ROWS, rows_of_group(p) - work.row0) * (T::D / 4);
        const auto of_warp = [&](int i) -> const Partial & { return smem.warp[i].partial; };
        for (int unit = threadIdx.x; unit < units; unit += T::THREADS) {
            const int row = unit / (T::D / 4), column = unit % (T::D / 4) * 4;
            const Merged merged = merge<Partial>(of_warp, T::WARPS, row, column);
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
            int first_share = 0, parts = 1; // the share in which the work begins, and how many have part in it
            // TODO 4 (about 2 lines): Set both; shares.share_index() of a tile is the share that has it.
            // END TODO 4
            const auto of_share = [&](int i) -> const Partial & {
                return kept[KEPT_PARTIALS * (first_share + i) + (i == 0)];
            };
            if (arrive_last(&arrivals[first_share], parts, smem.is_last))
                for (int unit = threadIdx.x; unit < units; unit += T::THREADS) {
                    const int row = unit / (T::D / 4), column = unit % (T::D / 4) * 4;
                    store_output<typename T::E>(p, work, row, column, merge<Partial>(of_share, parts, row, column));
                }
        }
        __syncthreads(); // all threads have read the partial results, which the next tiles overwrite
        tile += end - first;
    }
}

constexpr int MIN_COMPUTE_CAPABILITY = 80;
constexpr bool IS_PAGED = false;
constexpr unsigned DTYPES = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16;

template <class E, class = E>
using Configs = ConfigList<KernelTraits<E, 64, 4, 6>, KernelTraits<E, 128, 4, 3>>;

template <class T>
static cudaError_t launch(const struct DecodeConfig *config, const struct decode_problem *p, cudaStream_t stream) {
    int shares = 0;
    unsigned *arrivals = NULL;
    cudaError_t error = count_shares(config, p, &shares);
    if (error == cudaSuccess)
        error = acquire_arrivals(&arrivals);
    if (error != cudaSuccess)
        return error;
    decode_kernel<T><<<shares, T::THREADS, sizeof(T), stream>>>(*p, p->softmax_scale * LOG2_E, arrivals);
    return cudaGetLastError();
}

#include "decode_launch.cuh"
