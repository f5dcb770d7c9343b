// Lesson 24: decoding from a cache of pages, which a table assigns to requests, and from one of e4m3, half as many
// bytes. A TMA box has keys of one page; what is e4m3 is converted between shared memory and the registers of wgmma.
//
// architecture: sm_90a
#include "decode_combine.cuh"
#include "decode_config.cuh"
#include "decode_tensor_maps.cuh"
#include "decode_warpgroup.cuh"
#include "e4m3.cuh"
#include "hopper.cuh"
#include "mma.cuh"

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes; ROWS is the number of rows of the group, rounded up. A tile of keys belongs to one warpgroup.
template <class E_, class Cache_, int D_, int ROWS_>
struct KernelTraits {
    using E = E_;         // __half or __nv_bfloat16
    using Cache = Cache_; // E, or uint8_t: e4m3
    static constexpr int D = D_, ROWS = ROWS_, KEYS = 64, WARPGROUPS = 2;
    static constexpr int CONSUMERS = WARPGROUPS * WARPGROUP_SIZE, THREADS = CONSUMERS + WARP_SIZE; // and the producer
    static constexpr int PANELS = D / PANEL, LANE_COLUMNS = ROWS / LANES_PER_ROW;
    static constexpr bool IS_E4M3 = sizeof(Cache) == 1;
    static constexpr int CACHE_PANEL = 128 / sizeof(Cache), CACHE_PANELS = (D - 1) / CACHE_PANEL + 1;
    static constexpr int STAGES = (ROWS == 32 ? 160 : 192) * 1024 / (2 * CACHE_PANELS * KEYS * 128);
    using Partial = DecodePartial<ROWS, D>;

    // A panel has 64 columns of all rows, 128 of e4m3: rows of 128 bytes, swizzled.
    struct {
        Cache K[CACHE_PANELS][KEYS][CACHE_PANEL], V[CACHE_PANELS][KEYS][CACHE_PANEL];
    } stage[STAGES];
    E Q[PANELS][ROWS][PANEL], P[WARPGROUPS][ROWS][PANEL];
    Partial partial[WARPGROUPS];
    float warp_result[WARPGROUPS][WARPGROUP_SIZE / WARP_SIZE][ROWS]; // of each warp: a maximum or a sum
    uint64_t full[STAGES], empty[STAGES];                            // mbarriers
    bool has_bad_page[STAGES];                                       // a page number of the tile is none
    bool is_last;                                                    // of all blocks that have part in the work
};

// The pages of the 32 boxes from `box` on, one in each lane; of a box without keys one that does not exist, which TMA
// reads as zeros. box_keys divides the page size.
__device__ inline int pages_of(const struct decode_problem &p, const DecodeWork &work, int box, int box_keys) {
    const int64_t key = (int64_t)(box + threadIdx.x % WARP_SIZE) * box_keys;
    if (key >= work.keys)
        return p.pages;
    int page = work.request; // without a table
    // TODO 1 (about 2 lines): With a table, the page of the key is in the request's row, which has p.pages_per_request
    // entries.
    // END TODO 1
    return page;
}

// The producer warp: all tiles of the share, one after another, whatever work they belong to.
template <class T>
__device__ inline void produce(T &smem, const CacheMaps &maps, const struct decode_problem &p,
                               const DecodeShares &shares, int box_keys) {
    const int end_tile = shares.first_tile_of(blockIdx.x + 1), boxes = T::KEYS / box_keys;
    const uint64_t policy = createpolicy_evict_first(); // no other block reads the keys again
    PipelineState<T::STAGES> pipe;
    DecodeWork work = {};
    for (int tile = shares.first_tile_of(blockIdx.x); tile < end_tile;) {
        work = decode_work_at<T>(p, tile, work);
        const int first_box = (tile - work.first_tile) * boxes;
        const int end_box = min(work.tiles, end_tile - work.first_tile) * boxes;
        int pages = 0;
        bool is_bad = false;
        for (int box = first_box; box < end_box; box++) {
            if ((box - first_box) % WARP_SIZE == 0)
                pages = pages_of(p, work, box, box_keys);
            const int page = __shfl_sync(ALL_LANES, pages, (box - first_box) % WARP_SIZE),
                      key0 = box % boxes * box_keys;
            if (threadIdx.x % WARP_SIZE == 0) {
                auto &stage = smem.stage[pipe.stage];
                uint64_t *full = &smem.full[pipe.stage];
                is_bad |= (int64_t)box * box_keys < work.keys && (page < 0 || page >= p.pages);
                if (key0 == 0)
                    mbarrier_wait(&smem.empty[pipe.stage], pipe.phase ^ 1);
                for (int i = 0; i < T::CACHE_PANELS; i++) {
                    // TODO 2 (about 5 lines): Issue the loads of the box from panel i of K and of V, to row key0 of the
                    // stage: which key of its page does it begin with? A page that does not exist is read as zeros.
                    // END TODO 2
                }
                if (key0 + box_keys == T::KEYS) {
                    smem.has_bad_page[pipe.stage] = is_bad;
                    mbarrier_arrive_expect_tx(full, sizeof stage);
                }
            }
            if (key0 + box_keys == T::KEYS) {
                pipe.advance();
                tile++;
            }
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
        const uint4 q = valid ? *reinterpret_cast<const uint4 *>(from) : make_uint4(0, 0, 0, 0);
        E *panel_row = smem.Q[column / PANEL][row];
        if (!T::IS_E4M3) {
            *reinterpret_cast<uint4 *>(&panel_row[column % PANEL ^ row % 8 * CHUNK]) = q;
            continue;
        }
        // In the order in which load_keys() has the columns: of each four the first two, then of each four the others.
        const int pair = column / 16 * 16 % PANEL, within = column % 16 / 2;
        *reinterpret_cast<uint2 *>(&panel_row[(pair ^ row % 8 * CHUNK) + within]) = make_uint2(q.x, q.z);
        *reinterpret_cast<uint2 *>(&panel_row[(pair + CHUNK ^ row % 8 * CHUNK) + within]) = make_uint2(q.y, q.w);
    }
    fence_proxy_async();
    consumers_sync<T>();
}

// The lane's part of the A operand of 16 columns of K, of e4m3: four adjacent bytes of two keys. Whose columns the
// k-step multiplies is of no account, as long as Q has them in the same order.
__device__ inline void load_keys(uint32_t (&a)[4], const uint8_t (*K_smem)[128], int column, int lane) {
    const int warp_key0 = threadIdx.x / WARP_SIZE % 4 * 16;
    for (int i = 0; i < LANE_ROWS; i++) {
        const int key = warp_key0 + row_of(i, lane), position = (column ^ key % 8 * 16) + lane % LANES_PER_ROW * 4;
        const uint32_t word = *reinterpret_cast<const uint32_t *>(&K_smem[key][position]);
        a[i] = bf16x2_of_e4m3<0, 1>(word);
        a[i + 2] = bf16x2_of_e4m3<2, 3>(word);
    }
}

// The same of V^T: 16 columns of the head by 32 keys, two k-steps. ldmatrix transposes units of two bytes: a word has
// two columns of two keys. The even columns become rows 0 .. 7 of the warp's 16, the odd ones rows 8 .. 15.
__device__ inline void load_values(uint32_t (*a)[4], const uint8_t (*V_smem)[128], int column, int key0, int lane) {
    const int key = key0 + lane;
    uint32_t words[4];
    ldmatrix_x4_trans(words, &V_smem[key][column ^ key % 8 * 16]);
    for (int n = 0; n < 4; n++) {
        // TODO 3 (about 2 lines): Bytes 0 and 2 of words[n] are two keys of the even column, bytes 1 and 3 of the odd
        // one. words[0] and [1] are keys 0 .. 7 and 8 .. 15 of the first k-step.
        // END TODO 3
    }
}

// S^T = K Q^T with K of e4m3, complete when it returns.
template <class T, class E = typename T::E>
__device__ inline void gemm_qk_e4m3(float (&S_rmem)[LANE_ROWS][T::LANE_COLUMNS], const uint8_t (*K_smem)[128],
                                    const E (&Q_smem)[T::PANELS][T::ROWS][PANEL], int lane) {
    const uint32_t q_desc = warp_uniform(descriptor_low(Q_smem));
    uint32_t K_rmem[T::D / 16][4];
    for (int column = 0; column < T::D; column += 16)
        load_keys(K_rmem[column / 16], K_smem, column, lane);
    wgmma_fence(S_rmem, K_rmem);
#pragma unroll
    for (int column = 0; column < T::D; column += 16)
        wgmma_narrow<E>(S_rmem, K_rmem[column / 16],
                        q_desc + descriptor_offset((column / PANEL * T::ROWS * PANEL + column % PANEL) * sizeof(E)),
                        column > 0);
    wgmma_commit_group();
    wgmma_wait_group<0>(S_rmem, K_rmem);
}

// O^T += V^T P^T with V of e4m3, complete when it returns.
template <class T, class E = typename T::E>
__device__ inline void gemm_pv_e4m3(State<T> &state, const uint8_t (*V_smem)[128], const E (&P_smem)[T::ROWS][PANEL],
                                    int lane) {
    const uint32_t p_desc = warp_uniform(descriptor_low(P_smem));
    const int warp_column0 = threadIdx.x / WARP_SIZE % 4 * 16;
    uint32_t V_rmem[T::PANELS][T::KEYS / 16][4];
    for (int m = 0; m < T::PANELS; m++)
        for (int key = 0; key < T::KEYS; key += 32)
            load_values(&V_rmem[m][key / 16], V_smem, m * PANEL + warp_column0, key, lane);
    for (int m = 0; m < T::PANELS; m++)
        wgmma_fence(state.O[m], V_rmem[m]);
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16)
#pragma unroll
        for (int m = 0; m < T::PANELS; m++)
            wgmma_narrow<E>(state.O[m], V_rmem[m][key / 16], p_desc + descriptor_offset(key * sizeof(E)), true);
    wgmma_commit_group();
    for (int m = 0; m < T::PANELS; m++)
        wgmma_wait_group<0>(state.O[m], V_rmem[m]);
}

// One tile: S^T = K Q^T, softmax over its rows, and O^T += V^T P^T. key0: the tile's first key.
template <class T>
__device__ inline void attend(T &smem, State<T> &state, int stage, const struct decode_problem &p,
                              const DecodeWork &work, int key0, float scale, int warpgroup) {
    const int lane = threadIdx.x % WARP_SIZE, barrier = CONSUMER_BARRIER + 1 + warpgroup;
    auto &tile = smem.stage[stage];
    auto &P_smem = smem.P[warpgroup];
    float S_rmem[LANE_ROWS][T::LANE_COLUMNS];
    if constexpr (T::IS_E4M3)
        gemm_qk_e4m3<T>(S_rmem, tile.K[0], smem.Q, lane);
    else
        gemm_qk<T>(S_rmem, tile.K, smem.Q);
    softmax_tile<T>(S_rmem, state, P_smem, smem.warp_result[warpgroup], p, work, key0, scale, barrier);
    if constexpr (!T::IS_E4M3) // which becomes a number here, whatever its bits
        clear_behind<T>(tile.V, work.keys - key0);
    fence_proxy_async();
    bar_sync(barrier, WARPGROUP_SIZE);
    if constexpr (T::IS_E4M3)
        gemm_pv_e4m3<T>(state, tile.V[0], P_smem, lane);
    else
        gemm_pv<T>(state, tile.V, P_smem);
}

// A consumer warpgroup: every other tile of the share.
template <class T>
__device__ inline void consume(T &smem, const struct decode_problem &p, const DecodeShares &shares, float scale,
                               unsigned *arrivals) {
    const int end_tile = shares.first_tile_of(blockIdx.x + 1);
    const int lane = threadIdx.x % WARP_SIZE, warpgroup = threadIdx.x / WARPGROUP_SIZE;
    PipelineState<T::STAGES> pipe;
    DecodeWork work = {};
    for (int tile = shares.first_tile_of(blockIdx.x); tile < end_tile;) {
        work = decode_work_at<T>(p, tile, work);
        const int first = tile - work.first_tile, end = min(work.tiles, end_tile - work.first_tile);
        const float key_scale = p.kv_scale == NULL ? 1.0f : p.kv_scale[work.kv_head];
        State<T> state = {};
        for (int j = 0; j < T::LANE_COLUMNS; j++)
            state.row_max[j] = -INFINITY;
        load_queries(smem, p, work);
        for (int index = first; index < end; index++, tile++, pipe.advance()) {
            if (index % T::WARPGROUPS != warpgroup)
                continue;
            mbarrier_wait(&smem.full[pipe.stage], pipe.phase);
            for (int j = 0; j < T::LANE_COLUMNS && smem.has_bad_page[pipe.stage]; j++)
                state.row_sum[j] = __int_as_float(0x7fffffff);
            attend<T>(smem, state, pipe.stage, p, work, index * T::KEYS, key_scale * scale, warpgroup);
            __syncwarp(); // all lanes have read the stage
            if (threadIdx.x % WARP_SIZE == 0)
                mbarrier_arrive(&smem.empty[pipe.stage]);
        }
        store_partial<T>(smem.partial[warpgroup], state, smem.warp_result[warpgroup], CONSUMER_BARRIER + 1 + warpgroup,
                         [&](int i) { return T::IS_E4M3 ? lane / 4 * 2 + i : row_of(i, lane); });
        finish_work(smem, p, shares, work, first, end, arrivals);
    }
}

// Grid: one block per share, one per SM at most; no block waits for another.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    decode_kernel(const __grid_constant__ CacheMaps maps, const __grid_constant__ struct decode_problem p,
                  float scale_log2, unsigned *arrivals, int box_keys) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    const DecodeShares shares = make_decode_shares<T>(p);
    if (threadIdx.x == 0) {
        mbarriers_init(smem.full, 1);
        mbarriers_init(smem.empty, WARPGROUP_SIZE / WARP_SIZE); // one warpgroup uses a stage
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x >= T::CONSUMERS)
        produce(smem, maps, p, shares, box_keys);
    else
        consume(smem, p, shares, scale_log2, arrivals);
}

constexpr int MIN_COMPUTE_CAPABILITY = 90;
constexpr bool IS_PAGED = true;
constexpr unsigned DTYPES = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16 | 1u << ATTENTION_E4M3;

template <class E, class C = E>
using Configs = ConfigList<KernelTraits<E, C, 64, 8>, KernelTraits<E, C, 64, 16>, KernelTraits<E, C, 64, 32>,
                           KernelTraits<E, C, 128, 8>, KernelTraits<E, C, 128, 16>, KernelTraits<E, C, 128, 32>>;

template <class T>
static cudaError_t launch(const struct DecodeConfig *config, const struct decode_problem *p, cudaStream_t stream) {
    const int box_keys = box_keys_of(p, T::KEYS);
    struct CacheMaps maps;
    int shares = 0;
    unsigned *arrivals = NULL;
    cudaError_t error = count_shares(config, p, &shares);
    if (error == cudaSuccess)
        error = make_cache_maps(&maps, p, box_keys);
    if (error == cudaSuccess)
        error = acquire_arrivals(&arrivals);
    if (error != cudaSuccess)
        return error;
    decode_kernel<T>
        <<<shares, T::THREADS, sizeof(T), stream>>>(maps, *p, p->softmax_scale * LOG2_E, arrivals, box_keys);
    return cudaGetLastError();
}

#include "decode_launch.cuh"
