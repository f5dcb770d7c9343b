// Lesson 23: decoding with wgmma, whose operands are swapped. Keys are the 64 rows of the product, and the queries that
// share them its few columns. A producer warp keeps 192 KB of keys and values in flight, across all work of its share.
//
// architecture: sm_90a
#include "accumulator_layout.cuh"
#include "chunk.cuh"
#include "decode_combine.cuh"
#include "decode_config.cuh"
#include "decode_tensor_maps.cuh"
#include "ex2.cuh"
#include "hopper.cuh"
#include "wgmma_narrow.cuh"

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes; ROWS is the number of rows of the group, rounded up. A tile of keys belongs to one warpgroup.
template <class E_, int D_, int ROWS_, int STAGES_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, ROWS = ROWS_, KEYS = 64, STAGES = STAGES_, WARPGROUPS = 2;
    static constexpr int CONSUMERS = WARPGROUPS * WARPGROUP_SIZE, THREADS = CONSUMERS + WARP_SIZE; // and the producer
    static constexpr int PANELS = D / PANEL, LANE_COLUMNS = ROWS / LANES_PER_ROW;
    using Partial = DecodePartial<ROWS, D>;

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    struct {
        E K[PANELS][KEYS][PANEL], V[PANELS][KEYS][PANEL];
    } stage[STAGES];
    E Q[PANELS][ROWS][PANEL], P[WARPGROUPS][ROWS][PANEL];
    Partial partial[WARPGROUPS];
    float warp_result[WARPGROUPS][WARPGROUP_SIZE / WARP_SIZE][ROWS]; // of each warp: a maximum or a sum
    uint64_t full[STAGES], empty[STAGES];                            // mbarriers
    bool is_last;                                                    // of all blocks that have part in the work
};

// The producer warp: all tiles of the share, one after another, whatever work they belong to.
template <class T>
__device__ inline void produce(T &smem, const CacheMaps &maps, const struct decode_problem &p,
                               const DecodeShares &shares) {
    const int end_tile = shares.first_tile_of(blockIdx.x + 1);
    const uint64_t policy = createpolicy_evict_first(); // no other block reads the keys again
    PipelineState<T::STAGES> pipe;
    DecodeWork work = {};
    for (int tile = shares.first_tile_of(blockIdx.x); tile < end_tile;) {
        work = decode_work_at<T>(p, tile, work);
        const int end = min(work.tiles, end_tile - work.first_tile);
        for (int index = tile - work.first_tile; index < end; index++, tile++, pipe.advance()) {
            if (threadIdx.x % WARP_SIZE != 0)
                continue;
            auto &stage = smem.stage[pipe.stage];
            uint64_t *full = &smem.full[pipe.stage];
            mbarrier_wait(&smem.empty[pipe.stage], pipe.phase ^ 1);
            // TODO 1 (about 7 lines): Expect the bytes of the stage, and issue the loads of its panels of K and of V
            // with the policy. The maps have coordinates column, key, key head, page: request b has page b.
            // END TODO 1
        }
    }
}

// Loads the rows of the group, zeros where there are none. All consumer threads call it.
template <class T, class E = typename T::E>
__device__ inline void load_queries(T &smem, const struct decode_problem &p, const DecodeWork &work) {
    constexpr int CHUNKS = T::D / CHUNK;
    const int64_t first_row = ((int64_t)work.request * p.kv_heads + work.kv_head) * rows_of_group(p) + work.row0;
    for (int i = threadIdx.x; i < T::ROWS * CHUNKS; i += T::CONSUMERS) {
        const int row = i / CHUNKS, column = i % CHUNKS * CHUNK;
        const bool valid = work.row0 + row < rows_of_group(p) && column < p.head_dim;
        const E *from = (const E *)p.q + (first_row + row) * p.head_dim + column;
        *reinterpret_cast<uint4 *>(&smem.Q[column / PANEL][row][column % PANEL ^ row % 8 * CHUNK]) =
            valid ? *reinterpret_cast<const uint4 *>(from) : make_uint4(0, 0, 0, 0);
    }
    fence_proxy_async();
    consumers_sync<T>();
}

// What a thread keeps of its work: two keys' scores, or two columns of the head, of LANE_COLUMNS rows of the group. The
// rows are columns of the accumulators: a row's maximum is the same in all threads that have it.
template <class T>
struct State {
    float O[T::PANELS][LANE_ROWS][T::LANE_COLUMNS], row_max[T::LANE_COLUMNS], row_sum[T::LANE_COLUMNS];
};

// The maximum, or the sum, over the eight lanes of a warp that have the same rows; then over the warpgroup's warps.
template <class T, class Reduce>
__device__ inline void reduce_rows(float (&value)[T::LANE_COLUMNS], float (&warp_result)[4][T::ROWS], int barrier,
                                   Reduce reduce) {
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE % 4;
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        for (int distance = LANES_PER_ROW; distance < WARP_SIZE; distance *= 2)
            value[j] = reduce(value[j], __shfl_xor_sync(ALL_LANES, value[j], distance));
        if (lane < LANES_PER_ROW)
            warp_result[warp][column_of(j, lane)] = value[j];
    }
    bar_sync(barrier, WARPGROUP_SIZE);
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const int row = column_of(j, lane);
        value[j] =
            reduce(reduce(warp_result[0][row], warp_result[1][row]), reduce(warp_result[2][row], warp_result[3][row]));
    }
}

// One tile: S^T = K Q^T, softmax over its rows, and O^T += V^T P^T. key0: the tile's first key.
template <class T, class E = typename T::E>
__device__ inline void attend(T &smem, State<T> &state, int stage, const struct decode_problem &p,
                              const DecodeWork &work, int key0, float scale, int warpgroup) {
    const int lane = threadIdx.x % WARP_SIZE, warp_key0 = threadIdx.x / WARP_SIZE % 4 * 16;
    const int barrier = CONSUMER_BARRIER + 1 + warpgroup;
    const auto larger = [](float a, float b) { return fmaxf(a, b); };
    auto &tile = smem.stage[stage];
    float S_rmem[LANE_ROWS][T::LANE_COLUMNS], tile_max[T::LANE_COLUMNS];
    const uint32_t k_desc = warp_uniform(descriptor_low(tile.K)), q_desc = warp_uniform(descriptor_low(smem.Q));
    wgmma_fence(S_rmem);
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        // TODO 2 (about 3 lines): Issue the wgmma of one k-step: which operand has the 64 rows? Both are K-major,
        // panels of 64 columns, of T::KEYS and of T::ROWS rows.
        // END TODO 2
    }
    wgmma_commit_group();
    wgmma_wait_group<0>(S_rmem);

    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const int last_key = last_key_of(p, work.keys, work.row0 + column_of(j, lane)) - key0; // of the tile
        for (int i = 0; i < LANE_ROWS; i++)
            S_rmem[i][j] = warp_key0 + row_of(i, lane) <= last_key ? scale * S_rmem[i][j] : -INFINITY;
        tile_max[j] = fmaxf(S_rmem[0][j], S_rmem[1][j]);
    }
    reduce_rows<T>(tile_max, smem.warp_result[warpgroup], barrier, larger);
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const float new_max = fmaxf(state.row_max[j], tile_max[j]);
        const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf would be NaN
        const float rescale = ex2(state.row_max[j] - shift);
        state.row_max[j] = new_max;
        state.row_sum[j] *= rescale;
        for (int i = 0; i < LANE_ROWS; i++) {
            state.row_sum[j] += S_rmem[i][j] = ex2(S_rmem[i][j] - shift);
            for (int m = 0; m < T::PANELS; m++)
                state.O[m][i][j] *= rescale;
        }
    }
#pragma unroll
    for (int row = 0; row < T::ROWS; row += 8) {
        // TODO 3 (about 3 lines): Store the weights of eight rows as rows of 64 keys: two transposed matrices, of the
        // warp's first eight keys and of the others. Lane i passes the address of row i % 8 of matrix i / 8, swizzled.
        // END TODO 3
    }
    // What is behind the last key may be NaN, and 0 * NaN is NaN.
    for (int i = threadIdx.x % WARPGROUP_SIZE; key0 + T::KEYS > work.keys && i < T::KEYS * PANEL; i += WARPGROUP_SIZE)
        for (int m = 0; m < T::PANELS && key0 + i / PANEL >= work.keys; m++)
            tile.V[m][i / PANEL][i % PANEL] = E(0.0f);
    fence_proxy_async();
    bar_sync(barrier, WARPGROUP_SIZE);
    const uint32_t v_desc = warp_uniform(descriptor_low(tile.V));
    const uint32_t p_desc = warp_uniform(descriptor_low(smem.P[warpgroup]));
    for (int m = 0; m < T::PANELS; m++)
        wgmma_fence(state.O[m]);
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16)
#pragma unroll
        for (int m = 0; m < T::PANELS; m++)
            wgmma_narrow_transposed<E>(state.O[m], v_desc + descriptor_offset((m * T::KEYS + key) * PANEL * sizeof(E)),
                                       p_desc + descriptor_offset(key * sizeof(E)), true);
    wgmma_commit_group();
    for (int m = 0; m < T::PANELS; m++)
        wgmma_wait_group<0>(state.O[m]);
}

// Leaves the warpgroup's partial result in shared memory. All its threads call it.
template <class T>
__device__ inline void store_partial(T &smem, State<T> &state, int warpgroup) {
    const int lane = threadIdx.x % WARP_SIZE, warp_column0 = threadIdx.x / WARP_SIZE % 4 * 16;
    typename T::Partial &partial = smem.partial[warpgroup];
    reduce_rows<T>(state.row_sum, smem.warp_result[warpgroup], CONSUMER_BARRIER + 1 + warpgroup,
                   [](float a, float b) { return a + b; });
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const int row = column_of(j, lane);
        partial.row_max[row] = state.row_max[j]; // all threads that have the row store the same value
        partial.row_sum[row] = state.row_sum[j];
        for (int m = 0; m < T::PANELS; m++)
            for (int i = 0; i < LANE_ROWS; i++)
                partial.O[row][m * PANEL + warp_column0 + row_of(i, lane)] = state.O[m][i][j];
    }
}

// A consumer warpgroup: every other tile of the share.
template <class T>
__device__ inline void consume(T &smem, const struct decode_problem &p, const DecodeShares &shares, float scale,
                               unsigned *arrivals) {
    const int end_tile = shares.first_tile_of(blockIdx.x + 1), warpgroup = threadIdx.x / WARPGROUP_SIZE;
    PipelineState<T::STAGES> pipe;
    DecodeWork work = {};
    for (int tile = shares.first_tile_of(blockIdx.x); tile < end_tile;) {
        work = decode_work_at<T>(p, tile, work);
        const int first = tile - work.first_tile, end = min(work.tiles, end_tile - work.first_tile);
        State<T> state = {};
        for (int j = 0; j < T::LANE_COLUMNS; j++)
            state.row_max[j] = -INFINITY;
        load_queries(smem, p, work);
        for (int index = first; index < end; index++, tile++, pipe.advance()) {
            if (index % T::WARPGROUPS != warpgroup)
                continue;
            mbarrier_wait(&smem.full[pipe.stage], pipe.phase);
            attend<T>(smem, state, pipe.stage, p, work, index * T::KEYS, scale, warpgroup);
            if (threadIdx.x % WARPGROUP_SIZE == 0)
                mbarrier_arrive(&smem.empty[pipe.stage]);
        }
        store_partial(smem, state, warpgroup);
        finish_work(smem, p, shares, work, first, end, arrivals);
    }
}

// Grid: one block per share, one per SM at most; no block waits for another.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    decode_kernel(const __grid_constant__ CacheMaps maps, const __grid_constant__ struct decode_problem p,
                  float scale_log2, unsigned *arrivals) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    const DecodeShares shares = make_decode_shares<T>(p);
    if (threadIdx.x == 0) {
        mbarriers_init(smem.full, 1);
        mbarriers_init(smem.empty, 1); // one warpgroup uses a stage
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x >= T::CONSUMERS)
        produce(smem, maps, p, shares);
    else
        consume(smem, p, shares, scale_log2, arrivals);
}

constexpr int MIN_COMPUTE_CAPABILITY = 90;
constexpr bool IS_PAGED = false;
constexpr unsigned DTYPES = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16;

template <class E, class = E>
using Configs = ConfigList<KernelTraits<E, 64, 8, 12>, KernelTraits<E, 64, 16, 12>, KernelTraits<E, 64, 32, 10>,
                           KernelTraits<E, 128, 8, 6>, KernelTraits<E, 128, 16, 6>, KernelTraits<E, 128, 32, 5>>;

template <class T>
static cudaError_t launch(const struct DecodeConfig *config, const struct decode_problem *p, cudaStream_t stream) {
    struct CacheMaps maps;
    int shares = 0;
    unsigned *arrivals = NULL;
    cudaError_t error = count_shares(config, p, &shares);
    if (error == cudaSuccess)
        error = make_cache_maps(&maps, p, T::KEYS);
    if (error == cudaSuccess)
        error = acquire_arrivals(&arrivals);
    if (error != cudaSuccess)
        return error;
    decode_kernel<T><<<shares, T::THREADS, sizeof(T), stream>>>(maps, *p, p->softmax_scale * LOG2_E, arrivals);
    return cudaGetLastError();
}

#include "decode_launch.cuh"
