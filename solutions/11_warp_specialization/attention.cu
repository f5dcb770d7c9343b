// Lesson 11: warps with a role each. One thread copies, far ahead; warpgroups compute, with the registers that its
// warpgroup gives up, and say when a stage may be overwritten.
//
// architecture: sm_90a
#include "attention.h"
#include "chunk.cuh"
#include "hopper.cuh"
#include "items.cuh"
#include "online_softmax.cuh"
#include "output_rows.cuh"
#include "stages.cuh"
#include "tensor_maps.cuh"
#include "variant.cuh"
#include "warpgroup_rows.cuh"

constexpr float LOG2_E = 1.44269504f;
constexpr float LAZY = 8.0f; // a weight of 2^8 is as exact as one of 1
constexpr int NO_DIAGONAL = 1 << 30;

// D is head_dim rounded up to one of a few sizes, so that the output fits in registers and loops can be unrolled. A
// thread has LANE_ROWS rows of results, KEYS / LANES_PER_ROW columns of the scores and D / LANES_PER_ROW of the output.
template <class E_, int D_, int WARPGROUPS_, int KEYS_, int STAGES_>
struct Tile {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, WARPGROUPS = WARPGROUPS_, KEYS = KEYS_, STAGES = STAGES_;
    static constexpr int QUERIES = WARPGROUPS * WARPGROUP_ROWS, THREADS = (WARPGROUPS + 1) * WARPGROUP;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int SLICES = (D + SLICE - 1) / SLICE;
    static constexpr int REGISTERS = WARPGROUPS == 2 ? 240 : 160; // of 168 and 128 that the launch gives to each thread
    static_assert(KEYS % 32 == 0 && D % 32 == 0, "a swizzle repeats after 1024 bytes, and wgmma.cuh has these sizes");

    // Rows of 128 bytes, swizzled: a slice has 64 columns of all rows.
    E Q[SLICES][QUERIES][SLICE];
    E K[STAGES][SLICES][KEYS][SLICE];
    E V[STAGES][SLICES][KEYS][SLICE];
    uint64_t Q_full, K_full[STAGES], V_full[STAGES]; // barriers: the copy is there
    uint64_t K_empty[STAGES], V_empty[STAGES];       // all warpgroups are done with it
};

// The number of a thread among those that compute.
__device__ inline int own_thread() {
    return threadIdx.x - WARPGROUP;
}

// What one thread does: it copies an item's queries and tile after tile, each as soon as its stage is free.
template <class T>
__device__ inline void produce(T &tile, const TensorMaps &maps, const Item &item) {
    Ring<T::STAGES> ring;
    load_rows<T::SLICES>(tile.Q, &tile.Q_full, maps.q, item.query0, item.head, item.batch);
    for (int key0 = (item.end_key - 1) / T::KEYS * T::KEYS; key0 >= 0; key0 -= T::KEYS, ring.next()) {
        // TODO 1 (about 4 lines): when may K and V be copied? A stage that was never used is free: by which parity?
        mbarrier_wait(&tile.K_empty[ring.stage], ring.parity ^ 1);
        load_rows<T::SLICES>(tile.K[ring.stage], &tile.K_full[ring.stage], maps.k, key0, item.kv_head, item.batch);
        mbarrier_wait(&tile.V_empty[ring.stage], ring.parity ^ 1);
        load_rows<T::SLICES>(tile.V[ring.stage], &tile.V_full[ring.stage], maps.v, key0, item.kv_head, item.batch);
        // END TODO 1
    }
}

// S_rmem = Q K^T for the warpgroup's rows and all keys of the tile: starts it.
template <class T, class E = typename T::E>
__device__ inline void issue_scores(float (&S_rmem)[LANE_ROWS][T::LANE_KEYS], uint32_t q, uint32_t k) {
    q = wgmma_uniform(q), k = wgmma_uniform(k);
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        const int within = column % SLICE, before = column - within; // columns of whole slices
        wgmma<E>(S_rmem, q + wgmma_step((before * T::QUERIES + within) * sizeof(E)),
                 k + wgmma_step((before * T::KEYS + within) * sizeof(E)), column > 0);
    }
}

// O_rmem += P V for the warpgroup's rows and all columns: starts it.
template <class T, class E = typename T::E>
__device__ inline void issue_products(float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS],
                                      const uint32_t (&P_rmem)[T::KEYS / 16][4], uint32_t v) {
    v = wgmma_uniform(v);
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16) {
        wgmma<E>(O_rmem, P_rmem[key / 16], v + wgmma_step(key * SLICE * sizeof(E)));
    }
}

// Stores the warpgroup's rows of an item's output and what lse asks for. The output goes to where its queries were, and
// from there in bulk: nothing is written beyond the tensor.
template <class T>
__device__ inline void store_rows(T &tile, const TensorMaps &maps, const struct attention_problem &p, const Item &item,
                                  float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS], const RowState &rows) {
    const int warp_row = own_thread() / WARP_SIZE * WARP_ROWS, row0 = own_thread() / WARPGROUP * WARPGROUP_ROWS;
    finish_rows<T::D>(tile.Q, O_rmem, rows, p, item.batch, item.head, item.query0, warp_row);
    fence_proxy_async();
    bar_sync(1 + own_thread() / WARPGROUP, WARPGROUP);
    if (threadIdx.x % WARPGROUP == 0) {
        for (int i = 0; i < T::SLICES; i++)
            cp_async_bulk_tensor_store(&maps.o, tile.Q[i][row0], i * SLICE, item.query0 + row0, item.head, item.batch);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read();
    }
}

// The attention of an item: the output, not divided yet, its maxima, and of its sums the part of the lane's own keys.
template <class T, class E = typename T::E>
__device__ inline void attend(T &tile, const struct attention_problem &p, const Item &item,
                              float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS], RowState &rows) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row = own_thread() / WARP_SIZE * WARP_ROWS;
    const int row0 = own_thread() / WARPGROUP * WARPGROUP_ROWS;
    const float scale = p.softmax_scale * LOG2_E;
    const int diagonal = p.causal ? p.nk - p.nq : NO_DIAGONAL; // query i sees keys 0 .. i + diagonal
    Ring<T::STAGES> ring;
    float S_rmem[LANE_ROWS][T::LANE_KEYS], rescale[LANE_ROWS];
    uint32_t P_rmem[T::KEYS / 16][4];

    // The last tile first: it is the one that has a mask.
    int key0 = (item.end_key - 1) / T::KEYS * T::KEYS;
    mbarrier_wait(&tile.Q_full, 0);
    for (; key0 >= 0; key0 -= T::KEYS) {
        mbarrier_wait(&tile.K_full[ring.stage], ring.parity);
        wgmma_fence(S_rmem);
        issue_scores<T>(S_rmem, wgmma_descriptor(tile.Q[0][row0]), wgmma_descriptor(tile.K[ring.stage]));
        wgmma_commit_group();
        wgmma_wait_group<0>(S_rmem);
        release(&tile.K_empty[ring.stage]);

        // Row r of the warp sees keys 0 .. last_key + r of the tile.
        const int last_key = item.query0 + warp_row + diagonal - key0;
        if (last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            hide_keys(S_rmem, last_key, p.nk - 1 - key0, lane);
        const bool grown = raise_maximum(S_rmem, scale, LAZY, rows, rescale);
        weigh<0, T::LANE_KEYS>(S_rmem, scale, rows);
        if (grown)
            rescale_rows(O_rmem, rescale);
        for (int key = 0; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);

        mbarrier_wait(&tile.V_full[ring.stage], ring.parity);
        wgmma_fence(O_rmem, P_rmem);
        issue_products<T>(O_rmem, P_rmem, wgmma_descriptor(tile.V[ring.stage], sizeof(T::V[0][0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(O_rmem);
        // TODO 2 (about 1 line): who may go on now? The keys were released above: why not further up?
        release(&tile.V_empty[ring.stage]);
        // END TODO 2
        ring.next();
    }
}

// Grid: a block for each item.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_kernel(const __grid_constant__ TensorMaps maps, const __grid_constant__ struct attention_problem p,
                     const Work work) {
    extern __shared__ __align__(1024) unsigned char smem[]; // the swizzle is one of addresses
    T &tile = *reinterpret_cast<T *>(smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&tile.Q_full, 1);
        mbarriers_init(tile.K_full, 1);
        mbarriers_init(tile.V_full, 1);
        // TODO 3 (about 2 lines): how many arrive at the barriers that say a stage is free?
        mbarriers_init(tile.K_empty, T::WARPGROUPS);
        mbarriers_init(tile.V_empty, T::WARPGROUPS);
        // END TODO 3
        fence_mbarrier_init();
    }
    __syncthreads();
    const Item item = item_of<T>(p, work, blockIdx.x);
    if (threadIdx.x < WARPGROUP) {
        setmaxnreg_dec<24>();
        if (threadIdx.x == 0)
            produce(tile, maps, item);
        return;
    }
    setmaxnreg_inc<T::REGISTERS>();
    float O_rmem[LANE_ROWS][T::LANE_COLUMNS] = {};
    RowState rows;
    attend<T>(tile, p, item, O_rmem, rows);
    store_rows<T>(tile, maps, p, item, O_rmem, rows);
}

template <class T>
static cudaError_t launch(const struct Variant *v, const struct attention_problem *p, cudaStream_t stream) {
    struct TensorMaps maps;
    struct Work work;
    cudaError_t error = make_tensor_maps(&maps, p, v);
    if (error == cudaSuccess)
        error = cut_into_items(&work, v, p);
    if (error == cudaSuccess)
        error = allow_shared_bytes(v);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<work.items, T::THREADS, sizeof(T), stream>>>(maps, *p, work);
    return cudaGetLastError();
}

template <class T>
static struct Variant variant() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

template <class E>
static const struct Variant variants[] = {
    variant<Tile<E, 64, 3, 128, 2>>(),
    variant<Tile<E, 96, 2, 128, 2>>(),
    variant<Tile<E, 128, 2, 128, 2>>(),
    variant<Tile<E, 256, 2, 64, 2>>(),
};

static const struct Variant *variant_of(const struct attention_problem *p) {
    return first_variant(p, p->dtype == ATTENTION_FP16 ? variants<__half> : variants<__nv_bfloat16>);
}

static size_t shared_bytes(const struct attention_problem *p) {
    return variant_of(p)->shared_bytes;
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,
    .max_head_dim = 256,
    .row_multiple = CHUNK,
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = 90,
    .shared_bytes = shared_bytes,
    .positive_scale = 1,
    .repeats = 1,
};

// Tensors begin at multiples of 16 bytes, and so do their rows: a bulk copy takes no others.
cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    if (p->dtype == ATTENTION_FP32 || p->head_dim > attention_lesson.max_head_dim || !(p->softmax_scale > 0.0f))
        return cudaErrorInvalidValue;
    if (!tensors_are_aligned(p) || !rows_are_chunks(p))
        return cudaErrorMisalignedAddress;
    const struct Variant *v = variant_of(p);
    return v->launch(v, p, stream);
}
