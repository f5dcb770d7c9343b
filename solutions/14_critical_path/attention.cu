// Lesson 14: the way from "the scores are there" to "the next product is asked for" is made short.
//
// architecture: sm_90a
#include "attention.h"
#include "chunk.cuh"
#include "counter.cuh"
#include "hopper.cuh"
#include "items.cuh"
#include "online_softmax.cuh"
#include "output_rows.cuh"
#include "stages.cuh"
#include "tensor_maps.cuh"
#include "variant.cuh"
#include "warpgroup_rows.cuh"

constexpr int NO_DIAGONAL = 1 << 30;
constexpr int TURN = 8; // barriers from this number on: it is the turn of a warpgroup

// D is head_dim rounded up to one of a few sizes, so that the output fits in registers and loops can be unrolled. A
// thread has LANE_ROWS rows of results, KEYS / LANES_PER_ROW columns of the scores and D / LANES_PER_ROW of the output.
template <class E_, int D_, int WARPGROUPS_, int KEYS_, int STAGES_>
struct Tile {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, WARPGROUPS = WARPGROUPS_, KEYS = KEYS_, STAGES = STAGES_;
    static constexpr int QUERIES = WARPGROUPS * WARPGROUP_ROWS, THREADS = (WARPGROUPS + 1) * WARPGROUP;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int EARLY = D == 128 ? KEYS / 4 : 0;   // keys weighed before the last products are waited for
    static constexpr int AHEAD = EARLY / LANES_PER_ROW / 2; // a lane's columns of them that wait for no vote, either
    static constexpr bool TURNS = WARPGROUPS < 4;           // of four one is ready at any time
    static constexpr bool CARRIED = D == 128 || WARPGROUPS == 4; // from step to step: there are registers for it
    static constexpr bool PASSES = QUERIES > KEYS; // there are tiles of which not every warpgroup sees keys
    static constexpr int SLICES = (D + SLICE - 1) / SLICE;
    // With 2, 3, 4 warpgroups; of 168, 128, 96 that the launch gives to each thread.
    static constexpr int REGISTERS[] = {232, 160, 112}, PRODUCER_REGISTERS[] = {40, 32, 32};
    static_assert(KEYS % 32 == 0 && D % 32 == 0, "a swizzle repeats after 1024 bytes, and wgmma.cuh has these sizes");

    // Rows of 128 bytes, swizzled: a slice has 64 columns of all rows.
    E Q[2][SLICES][QUERIES][SLICE]; // of two items; one's output goes to where its queries were
    E K[STAGES][SLICES][KEYS][SLICE];
    E V[STAGES][SLICES][KEYS][SLICE];
    Item item[2];
    uint64_t Q_full[2], K_full[STAGES], V_full[STAGES]; // barriers: the copy is there
    uint64_t K_empty[STAGES], V_empty[STAGES];          // all warpgroups are done with it
    uint64_t Q_empty[2]; // all threads have read the item, and for each warpgroup one knows that its output has left
};

// The number of a thread among those that compute.
__device__ inline int own_thread() {
    return threadIdx.x - WARPGROUP;
}

// What one thread does: it copies tile after tile of item after item, each as soon as its stage is free, in the order
// of their use: the keys of a tile, then the values of the one before it, which may be another item's last.
template <class T>
__device__ inline void produce(T &tile, const TensorMaps &maps, const struct attention_problem &p, const Work &work) {
    Ring<T::STAGES> ring, value_ring;
    Ring<2> q;
    int number = blockIdx.x, value_key0 = 0;
    Item item = item_of<T>(p, work, number), next = {}, value_item = {};
    for (; item.end_key > 0; item = next) {
        const int last_tile = (item.end_key - 1) / T::KEYS * T::KEYS;
        for (int key0 = last_tile; key0 >= 0; key0 -= T::KEYS, ring.next()) {
            mbarrier_wait(&tile.K_empty[ring.stage], ring.parity ^ 1);
            load_rows<T::SLICES>(tile.K[ring.stage], &tile.K_full[ring.stage], maps.k, key0, item.kv_head, item.batch,
                                 createpolicy_evict_last());
            if (key0 == last_tile)
                load_item(tile, maps, q, item);
            load_values(tile, maps, value_ring, value_item, value_key0);
            value_item = item, value_key0 = key0;
            // Asked for at the first tile and needed at the second: its way from memory is not waited for.
            if (key0 == last_tile && work.counter)
                number = atomicInc(work.counter, work.items - 1);
            if (key0 == max(0, last_tile - T::KEYS)) {
                number += work.blocks;
                next = item_of<T>(p, work, number);
            }
        }
    }
    load_item(tile, maps, q, item);
    load_values(tile, maps, value_ring, value_item, value_key0);
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

// The attention of item after item.
template <class T, class E = typename T::E>
__device__ inline void attend(T &tile, const TensorMaps &maps, const struct attention_problem &p, const Work &work) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row = own_thread() / WARP_SIZE * WARP_ROWS;
    const int warpgroup = warpgroup_of_warp() - 1, next_one = (warpgroup + 1) % T::WARPGROUPS;
    const int row0 = warpgroup * WARPGROUP_ROWS;
    const float scale = work.scale;
    const int diagonal = p.causal ? p.nk - p.nq : NO_DIAGONAL; // query i sees keys 0 .. i + diagonal
    Ring<T::STAGES> ring, before; // the tile whose scores are next, and the one whose weights are in P_rmem
    Ring<2> q;
    Item item = {};
    int pending = -1, leaving = -1; // places: of the item whose weights P_rmem has, of one whose output is leaving
    float S_rmem[LANE_ROWS][T::LANE_KEYS], O_rmem[LANE_ROWS][T::LANE_COLUMNS] = {}, rescale[LANE_ROWS];
    RowState rows, pending_rows;
    uint32_t P_rmem[T::KEYS / 16][4] = {};

    auto take_turn = [&] { T::TURNS ? bar_sync(TURN + warpgroup, 2 * WARPGROUP) : void(); };
    auto give_turn = [&] { T::TURNS ? bar_arrive(TURN + next_one, 2 * WARPGROUP) : void(); };
    auto release_output = [&] { // its place is free for queries as soon as it has been read
        if (leaving >= 0 && threadIdx.x % WARPGROUP == 0) {
            cp_async_bulk_wait_group_read();
            mbarrier_arrive(&tile.Q_empty[leaving]);
        }
        leaving = -1;
    };
    auto store_pending = [&] {
        store_rows(tile, pending, maps, p, O_rmem, pending_rows, own_thread());
        leaving = pending;
        pending = -1;
    };
    bool K_there = false; // the keys of the next step
    uint32_t q_at, k_at, v_at;
    auto aim = [&](int K_stage, const E(&V_smem)[T::SLICES][T::KEYS][SLICE]) { // descriptors of the next products
        q_at = wgmma_descriptor(tile.Q[q.stage][0][row0]);
        k_at = wgmma_descriptor(tile.K[K_stage]), v_at = wgmma_descriptor(V_smem, sizeof(T::V[0][0]));
    };
    // The scores of a tile, and the products of the one before it. FIRST: that one is another item's last, or there is
    // none. Then weights of 0 and this tile's keys are multiplied, which are there: in a branch each wgmma would be
    // waited for at once. MASK: it may have hidden keys.
    auto step = [&](auto FIRST, auto MASK, int key0) {
        constexpr bool first = FIRST.value, mask = MASK.value;
        const bool none = first && pending < 0;
        if (first || !T::CARRIED)
            aim(ring.stage, none ? tile.K[ring.stage] : tile.V[before.stage]);
        if (!K_there)
            mbarrier_wait(&tile.K_full[ring.stage], ring.parity);
        take_turn();
        wgmma_fence(S_rmem, O_rmem, P_rmem);
        issue_scores<T>(S_rmem, q_at, k_at);
        wgmma_commit_group();
        if (!none)
            mbarrier_wait(&tile.V_full[before.stage], before.parity);
        wgmma_fence();
        issue_products<T>(O_rmem, P_rmem, v_at);
        wgmma_commit_group();
        give_turn();
        if (T::CARRIED)
            aim((ring.stage + 1) % T::STAGES, tile.V[ring.stage]);
        release_output();
        wgmma_wait_group<1>(S_rmem);
        if (!none)
            release(&tile.K_empty[ring.stage]);
        if (first)
            pending_rows = rows, rows = {};

        // Row r of the warp sees keys 0 .. last_key + r of the tile.
        const int last_key = item.query0 + warp_row + diagonal - key0;
        if (mask && (last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk))
            hide_keys(S_rmem, last_key, p.nk - 1 - key0, lane);
        float ahead[LANE_ROWS][T::AHEAD + 1]; // no array has 0 elements
        const bool grown = first || passes<T::AHEAD>(S_rmem, scale, rows, ahead);
        // TODO 1 (about 2 lines): what if a score has passed its row's limit? A new item begins with new maxima.
        if (grown)
            raise_far<E, T::AHEAD>(S_rmem, scale, rows, rescale, ahead);
        // END TODO 1
        weigh_from<T::AHEAD, T::EARLY / LANES_PER_ROW, T::CARRIED>(S_rmem, scale, rows, ahead);
        keep_in_place(S_rmem);
        if (T::EARLY > 0) // ptxas moves a wait to the front of all that has no branch; this one is over at once
            mbarrier_wait(&tile.Q_full[q.stage], q.parity);
        wgmma_wait_group<0>(O_rmem, P_rmem);
        release(none ? &tile.K_empty[ring.stage] : &tile.V_empty[before.stage]);
        for (int key = 0; key < T::EARLY; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        if (!first && grown)
            rescale_rows(O_rmem, rescale);
        if (first && pending >= 0)
            store_pending();
        if (first)
            clear_rows(O_rmem);
        pending = q.stage;
        weigh<T::EARLY / LANES_PER_ROW, T::LANE_KEYS, T::CARRIED>(S_rmem, scale, rows);
        for (int key = T::EARLY; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        before = ring;
        ring.next();
        // TODO 2 (about 1 line): are the next tile's keys there? Then its step need not wait for the answer.
        K_there = mbarrier_test_wait(&tile.K_full[ring.stage], ring.parity);
        // END TODO 2
    };
    auto finish = [&] { // the products that are left where no scores follow
        mbarrier_wait(&tile.V_full[before.stage], before.parity);
        wgmma_fence(O_rmem, P_rmem);
        issue_products<T>(O_rmem, P_rmem, wgmma_descriptor(tile.V[before.stage], sizeof(T::V[0][0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(O_rmem);
        release(&tile.V_empty[before.stage]);
        pending_rows = rows;
        store_pending();
        clear_rows(P_rmem);
    };
    for (;; q.next()) {
        release_output();
        mbarrier_wait(&tile.Q_full[q.stage], q.parity);
        item = warp_item(tile.item[q.stage]);
        const int own_end = T::PASSES ? end_key_of(p, item, row0, WARPGROUP_ROWS) : item.end_key; // of keys seen
        // The last tile first: it is the one that has a mask.
        int key0 = (item.end_key - 1) / T::KEYS * T::KEYS;
        // Each tile that it passes by takes a stage, and the pending one's products hold another.
        if (T::PASSES && pending >= 0 && (own_end == 0 || key0 - own_end >= (T::STAGES - 1) * T::KEYS))
            finish();
        if (item.end_key == 0)
            break;
        for (; T::PASSES && key0 >= own_end; key0 -= T::KEYS, ring.next()) {
            release_output();
            K_there = false;
            take_turn();
            give_turn();
            if (threadIdx.x % WARPGROUP < WARP_SIZE) { // others might miss a phase, once this warp has released
                mbarrier_wait(&tile.K_full[ring.stage], ring.parity);
                release(&tile.K_empty[ring.stage]);
                mbarrier_wait(&tile.V_full[ring.stage], ring.parity);
                release(&tile.V_empty[ring.stage]);
            }
        }
        if (own_end == 0) {
            mbarrier_arrive(&tile.Q_empty[q.stage]);
            release(&tile.Q_empty[q.stage]);
            continue;
        }
        q.stage = __shfl_sync(ALL_LANES, q.stage, 0); // the compiler keeps it where all lanes have the same then
        step(std::true_type{}, std::true_type{}, key0);
        key0 -= T::KEYS;
        // TODO 3 (about 4 lines): first the tiles that may have hidden keys. Which row sees the fewest?
        for (; key0 >= 0 && item.query0 + row0 + diagonal < key0 + T::KEYS - 1; key0 -= T::KEYS)
            step(std::false_type{}, std::true_type{}, key0);
        for (; key0 >= 0; key0 -= T::KEYS)
            step(std::false_type{}, std::false_type{}, key0);
        // END TODO 3
        if (!T::TURNS)
            finish();
    }
    if (!T::PASSES && pending >= 0)
        finish();
    release_output(); // shared memory is there until it has been read
}

// Grid: work.blocks.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_kernel(const __grid_constant__ TensorMaps maps, const __grid_constant__ struct attention_problem p,
                     const Work work) {
    extern __shared__ __align__(1024) unsigned char smem[]; // the swizzle is one of addresses
    T &tile = *reinterpret_cast<T *>(smem);
    if (threadIdx.x == 0) {
        mbarriers_init(tile.Q_full, 1);
        mbarriers_init(tile.Q_empty, T::WARPGROUPS * (WARPGROUP + 1));
        mbarriers_init(tile.K_full, 1);
        mbarriers_init(tile.V_full, 1);
        mbarriers_init(tile.K_empty, T::WARPGROUPS);
        mbarriers_init(tile.V_empty, T::WARPGROUPS);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (warpgroup_of_warp() == 0) {
        setmaxnreg_dec<T::PRODUCER_REGISTERS[T::WARPGROUPS - 2]>();
        if (threadIdx.x == 0)
            produce(tile, maps, p, work);
        return;
    }
    setmaxnreg_inc<T::REGISTERS[T::WARPGROUPS - 2]>();
    if (T::TURNS && own_thread() < WARPGROUP)
        bar_arrive(TURN, 2 * WARPGROUP); // the first turn is the first warpgroup's
    attend(tile, maps, p, work);
}

template <class T>
static cudaError_t launch(const struct Variant *v, const struct attention_problem *p, cudaStream_t stream) {
    struct TensorMaps maps;
    struct Work work;
    cudaError_t error = make_tensor_maps(&maps, p, v);
    if (error == cudaSuccess)
        error = cut_into_items(&work, v, p);
    if (error == cudaSuccess)
        error = take_counter(&work.counter);
    if (error == cudaSuccess)
        error = allow_shared_bytes(v);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<work.blocks, T::THREADS, sizeof(T), stream>>>(maps, *p, work);
    return cudaGetLastError();
}

template <class T>
static struct Variant variant() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

template <class E>
static const struct Variant variants[] = {
    variant<Tile<E, 64, 3, 128, 3>>(), variant<Tile<E, 64, 4, 64, 4>>(), // the second: fewer keys beyond the diagonal
    variant<Tile<E, 96, 3, 96, 2>>(), variant<Tile<E, 128, 2, 128, 2>>(), variant<Tile<E, 256, 2, 64, 1>>(),
};

static const struct Variant *variant_of(const struct attention_problem *p) {
    const struct Variant *v = first_variant(p, p->dtype == ATTENTION_FP16 ? variants<__half> : variants<__nv_bfloat16>);
    return p->causal && v->head_dim == 64 && p->nq <= 1024 ? v + 1 : v;
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
