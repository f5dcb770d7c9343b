// Products of one wgmma in each layout, copies of boxes of each rank, barriers: each case is compared with the host.
// forms: the names of the cases; forms NAME: runs one.
#include "hopper.cuh"
#include "wgmma.cuh"

#include <cmath>
#include <cstring>
#include <vector>

constexpr int M = 64;

// ---- wgmma: one instruction, A and B in each swizzle and orientation -----------------------------------------------

struct Layout {
    int swizzle, span; // as descriptors number it; bytes of a row
};

static const Layout layouts[] = {{0, 16}, {3, 32}, {2, 64}, {1, 128}};

__host__ __device__ inline int swizzled(int address, int span) {
    return span == 16 ? address : address ^ (address >> 7 & (span / 16 - 1)) << 4;
}

// Where element (row of M or N, k) of 16 bits lies, and what its descriptor says: by PTX's canonical layouts.
__host__ __device__ inline int place(int row, int k, int rows, int span, bool mn_major) {
    int byte;
    if (!mn_major) {
        byte = span == 16 ? row / 8 * 128 + row % 8 * 16 + k / 8 * rows * 16 + k % 8 * 2
                          : row / 8 * 8 * span + row % 8 * span + k * 2;
    } else if (span == 16) {
        byte = row / 8 * 256 + row % 8 * 2 + k / 8 * 128 + k % 8 * 16;
    } else {
        int run = span / 2;
        byte = row / run * 16 * span + row % run * 2 + k * span;
    }
    return swizzled(byte, span);
}

template <int A_T, int B_T, int N>
__global__ void product(const char *a, const char *b, float *d, uint64_t a_bits, uint64_t b_bits, int bytes_a,
                        int bytes_b, int keep) {
    extern __shared__ __align__(1024) char raw[];
    char *as = raw, *bs = raw + 16384;
    for (int i = threadIdx.x; i < bytes_a; i += blockDim.x)
        as[i] = a[i];
    for (int i = threadIdx.x; i < bytes_b; i += blockDim.x)
        bs[i] = b[i];
    fence_proxy_async();
    __syncthreads();
    float sum[N / 2];
    for (int i = 0; i < N / 2; i++)
        sum[i] = i + 1;
    wgmma_fence();
    if constexpr (N == 64)
        ss_n64_f32_bf16<B_T>(sum, a_bits | (smem(as) & 0x3ffff) >> 4, b_bits | (smem(bs) & 0x3ffff) >> 4, keep);
    else
        ss_n128_f32_bf16<B_T>(sum, a_bits | (smem(as) & 0x3ffff) >> 4, b_bits | (smem(bs) & 0x3ffff) >> 4, keep);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    for (int i = 0; i < N / 2; i++) {
        int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
        d[row * N + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = sum[i];
    }
}

static bool equal(const char *what, double got, double wanted) {
    if (fabs(got - wanted) <= 1e-5 * (1 + fabs(wanted)))
        return true;
    printf("%s: %g where %g is right\n", what, got, wanted);
    return false;
}

template <int B_T, int N>
static bool product_case(const Layout &a_layout, const Layout &b_layout, int keep) {
    std::vector<char> a(16384), b(65536);
    std::vector<float> a_value(M * 16), b_value(N * 16), d(M * N);
    srand(N + B_T);
    for (int i = 0; i < M * 16; i++) {
        __nv_bfloat16 x = __float2bfloat16(a_value[i] = rand() % 17 - 8);
        memcpy(&a[place(i / 16, i % 16, M, a_layout.span, false)], &x, 2);
    }
    for (int i = 0; i < N * 16; i++) {
        __nv_bfloat16 x = __float2bfloat16(b_value[i] = rand() % 17 - 8);
        memcpy(&b[place(i / 16, i % 16, N, b_layout.span, B_T)], &x, 2);
    }
    auto k_major = [](const Layout &l, int rows) {
        return l.span == 16 ? descriptor(0, rows * 16, 128, 0) : descriptor(0, 16, 8 * l.span, l.swizzle);
    };
    uint64_t a_bits = k_major(a_layout, M), b_bits = k_major(b_layout, N);
    if (B_T)
        b_bits = b_layout.span == 16 ? descriptor(0, 128, 256, 0)
                                     : descriptor(0, 16 * b_layout.span, 8 * b_layout.span, b_layout.swizzle);
    char *device_a, *device_b;
    float *device_d;
    CHECK(cudaMalloc(&device_a, a.size()));
    CHECK(cudaMalloc(&device_b, b.size()));
    CHECK(cudaMalloc(&device_d, d.size() * 4));
    CHECK(cudaMemcpy(device_a, a.data(), a.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size(), cudaMemcpyHostToDevice));
    auto kernel = product<0, B_T, N>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 16384 + 65536));
    kernel<<<1, 128, 16384 + 65536>>>(device_a, device_b, device_d, a_bits, b_bits, (int)a.size(), (int)b.size(), keep);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(d.data(), device_d, d.size() * 4, cudaMemcpyDeviceToHost));
    for (int row = 0; row < M; row++) {
        for (int column = 0; column < N; column++) {
            double sum = keep ? column / 8 * 4 + row / 8 % 2 * 2 + column % 2 + 1 : 0;
            for (int k = 0; k < 16; k++)
                sum += (double)a_value[row * 16 + k] * b_value[column * 16 + k];
            if (!equal("product", d[row * N + column], sum))
                return false;
        }
    }
    return true;
}

static bool products() {
    bool right = true;
    for (const Layout &a : layouts) {
        for (const Layout &b : layouts) {
            bool same = product_case<0, 64>(a, b, 0) && product_case<1, 64>(a, b, 1) && product_case<0, 128>(a, b, 1) &&
                        product_case<1, 128>(a, b, 0);
            if (!same)
                printf("rows of A of %d bytes, of B of %d\n", a.span, b.span);
            right &= same;
        }
    }
    return right;
}

// ---- Boxes of 1 to 5 dimensions, in and out, beyond the tensor on all sides ----------------------------------------

template <int RANK>
DEVICE void load_box(uint32_t to, const CUtensorMap *map, uint64_t *barrier, const int *c) {
    uint32_t b = smem(barrier);
#define LOAD(n, places, ...)                                                                                           \
    asm volatile("cp.async.bulk.tensor." #n                                                                            \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" places                      \
                 "}], [%2];" ::"r"(to),                                                                                \
                 "l"(map), "r"(b), __VA_ARGS__                                                                         \
                 : "memory")
    if constexpr (RANK == 1)
        LOAD(1, "%3", "r"(c[0]));
    else if constexpr (RANK == 2)
        LOAD(2, "%3, %4", "r"(c[0]), "r"(c[1]));
    else if constexpr (RANK == 3)
        LOAD(3, "%3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]));
    else if constexpr (RANK == 4)
        LOAD(4, "%3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    else
        LOAD(5, "%3, %4, %5, %6, %7", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
}

template <int RANK>
DEVICE void store_box(const CUtensorMap *map, uint32_t from, const int *c) {
#define STORE(n, places, ...)                                                                                          \
    asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%0, {" places                       \
                 "}], [%1];" ::"l"(map),                                                                               \
                 "r"(from), __VA_ARGS__                                                                                \
                 : "memory")
    if constexpr (RANK == 1)
        STORE(1, "%2", "r"(c[0]));
    else if constexpr (RANK == 2)
        STORE(2, "%2, %3", "r"(c[0]), "r"(c[1]));
    else if constexpr (RANK == 3)
        STORE(3, "%2, %3, %4", "r"(c[0]), "r"(c[1]), "r"(c[2]));
    else if constexpr (RANK == 4)
        STORE(4, "%2, %3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    else
        STORE(5, "%2, %3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
}

struct At {
    int c[5];
};

template <int RANK>
__global__ void box(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, At at, int bytes,
                    char *seen) {
    extern __shared__ __align__(1024) char raw[];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&barrier, bytes);
        load_box<RANK>(smem(raw), &in, &barrier, at.c);
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        seen[i] = raw[i];
    if (threadIdx.x == 0) {
        store_box<RANK>(&out, smem(raw), at.c);
        bulk_commit_group();
        bulk_wait_group();
    }
}

template <int RANK>
static bool box_case(CUtensorMapSwizzle swizzle, int inner, const int *corner) {
    const cuuint64_t size[5] = {40, 7, 5, 4, 3};
    const cuuint32_t box_size[5] = {(cuuint32_t)inner, 4, 3, 2, 2}, step[5] = {1, 1, 1, 1, 1};
    cuuint64_t stride[4];
    size_t elements = 48, count = inner; // a row has 8 more than the tensor
    int bytes, taken[5];
    for (int i = 1; i < RANK; i++) {
        stride[i - 1] = elements * 4;
        elements *= size[i];
        count *= box_size[i];
    }
    for (int i = 0; i < 5; i++)
        taken[i] = i < RANK ? box_size[i] : 1;
    bytes = (int)count * 4;
    std::vector<int> host(elements), result(elements), seen(count);
    for (size_t i = 0; i < elements; i++)
        host[i] = (int)i + 1;
    int *in, *out;
    char *device_seen;
    CHECK(cudaMalloc(&in, elements * 4));
    CHECK(cudaMalloc(&out, elements * 4));
    CHECK(cudaMalloc(&device_seen, bytes));
    CHECK(cudaMemcpy(in, host.data(), elements * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, elements * 4));
    CUtensorMap maps[2];
    for (int i = 0; i < 2; i++) {
        if (find_encode()(&maps[i], CU_TENSOR_MAP_DATA_TYPE_INT32, RANK, i ? out : in, size, stride, box_size, step,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
            return false;
    }
    At at = {};
    memcpy(at.c, corner, RANK * sizeof(int));
    box<RANK><<<1, 32, bytes + 1024>>>(maps[0], maps[1], at, bytes, device_seen);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(seen.data(), device_seen, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(result.data(), out, elements * 4, cudaMemcpyDeviceToHost));
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        size_t rest = i, from = 0, step_size = 1;
        bool within = true;
        for (int r = 0; r < RANK; r++) {
            int c = corner[r] + (int)(rest % taken[r]);
            rest /= taken[r];
            within = within && c >= 0 && c < (int)size[r];
            from += c * step_size;
            step_size *= r ? size[r] : 48;
        }
        int span = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 16 : 16 << (int)swizzle;
        int got = seen[swizzled((int)i * 4, span) / 4], wanted = within ? host[from] : 0;
        if (!equal("a box", got, wanted) || (within && !equal("a stored box", result[from], wanted)))
            return false;
        inside += within;
    }
    size_t stored = 0;
    for (int x : result)
        stored += x != 0;
    return equal("elements stored", (double)stored, (double)inside);
}

template <int RANK>
static bool boxes_of() {
    const int corners[4][5] = {{0, 0, 0, 0, 0}, {-3, -1, -1, -1, -1}, {36, 5, 3, 3, 2}, {100, 0, 0, 0, 0}};
    bool right = true;
    for (const int *corner : corners) {
        bool same = box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_NONE, 12, corner) &&
                    box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_32B, 8, corner) &&
                    box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_64B, 16, corner) &&
                    box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_128B, 32, corner);
        if (!same)
            printf("%d dimensions, from %d on\n", RANK, corner[0]);
        right &= same;
    }
    return right;
}

static bool boxes() {
    return boxes_of<1>() & boxes_of<2>() & boxes_of<3>() & boxes_of<4>() & boxes_of<5>();
}

// ---- Barriers: states, counts, phases ------------------------------------------------------------------------------

__global__ void phases(int *out) {
    __shared__ uint64_t barrier;
    __shared__ int value;
    uint32_t pending, done, address = smem(&barrier);
    uint64_t state;
    if (threadIdx.x == 0)
        mbarrier_init(&barrier, 64 + 3);
    __syncthreads();
    for (int i = 0; i < 5; i++) {
        if (threadIdx.x == 0) {
            value = i;
            asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 2;"
                         : "=l"(state)
                         : "r"(address)
                         : "memory");
            asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
            asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(address) : "memory");
            asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 64;" ::"r"(address) : "memory");
            asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], 1;"
                         : "=l"(state)
                         : "r"(address)
                         : "memory");
            out[i] = (int)pending;
        }
        state = mbarrier_arrive(&barrier);
        do
            asm volatile("{.reg .pred p;\n mbarrier.test_wait.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                         : "=r"(done)
                         : "r"(address), "l"(state)
                         : "memory");
        while (!done);
        if (threadIdx.x == 63)
            out[5 + i] = value;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    if (threadIdx.x == 0)
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address) : "memory");
}

static bool barriers() {
    int host[10], *out;
    CHECK(cudaMalloc(&out, sizeof host));
    phases<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < 5; i++)
        right &=
            equal("what a phase lacked", host[i] <= 67 && host[i] >= 3, 1) && equal("what it guards", host[5 + i], i);
    return right;
}

// ---- Plain bulk copies ---------------------------------------------------------------------------------------------

__global__ void plain(const int *in, int *out, int count) {
    extern __shared__ __align__(128) int tile[];
    __shared__ uint64_t barrier;
    int bytes = count * 4;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&barrier, bytes);
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(tile)),
            "l"(in), "r"(bytes), "r"(smem(&barrier))
            : "memory");
    }
    mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        tile[i] *= 3;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(smem(tile)),
                     "r"(bytes)
                     : "memory");
        bulk_commit_group();
        bulk_wait_group_read();
    }
}

static bool plain_copies() {
    std::vector<int> host(1000);
    for (int i = 0; i < 1000; i++)
        host[i] = i;
    int *in, *out;
    CHECK(cudaMalloc(&in, 4000));
    CHECK(cudaMalloc(&out, 4000));
    CHECK(cudaMemcpy(in, host.data(), 4000, cudaMemcpyHostToDevice));
    plain<<<1, 128, 4000>>>(in, out, 1000);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), out, 4000, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < 1000 && right; i++)
        right = equal("a plain copy", host[i], 3 * i);
    return right;
}

// ---- A box beyond its tensor ---------------------------------------------------------------------------------------

// Nothing of such a box is stored or read: its place may be copied to again once the group has been waited for.
__global__ void beyond(const __grid_constant__ CUtensorMap map, int *out) {
    extern __shared__ __align__(1024) int tile[]; // [8][32]
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
        for (int phase = 0; phase < 2; phase++) {
            mbarrier_arrive_expect_tx(&barrier, 1024);
            tma_load_2d(tile, &map, &barrier, 0, 0);
            mbarrier_wait(&barrier, phase);
            tma_store_2d(&map, tile, 0, 8);
            bulk_commit_group();
            bulk_wait_group_read();
        }
        out[0] = tile[37];
    }
}

static bool stored_beyond() {
    std::vector<int> host(256);
    for (int i = 0; i < 256; i++)
        host[i] = i;
    int *tensor, *out, got;
    CHECK(cudaMalloc(&tensor, 1024));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemcpy(tensor, host.data(), 1024, cudaMemcpyHostToDevice));
    const cuuint64_t size[] = {32, 8}, stride[] = {128};
    const cuuint32_t box[] = {32, 8}, step[] = {1, 1};
    CUtensorMap map;
    if (find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, size, stride, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return false;
    beyond<<<1, 32, 1024>>>(map, out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
    return equal("a place copied to again", got, 37);
}

// ---- What the encoder refuses --------------------------------------------------------------------------------------

static bool refused(const char *what, CUtensorMapDataType type, int rank, uintptr_t shift, const cuuint64_t *size,
                    const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step,
                    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill,
                    bool right) {
    static void *memory;
    CUtensorMap map;
    if (!memory)
        CHECK(cudaMalloc(&memory, 1 << 20));
    CUresult result = find_encode()(&map, type, rank, (char *)memory + shift, size, stride, box, step, interleave,
                                    swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    if (result == (right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return true;
    printf("%s: %d\n", what, (int)result);
    return false;
}

static bool encoder() {
    const cuuint64_t size[5] = {64, 64, 2, 2, 2}, none[5] = {64, 0, 2, 2, 2}, stride[4] = {128, 8192, 16384, 32768},
                     odd[4] = {136, 8192, 16384, 32768}, far[4] = {1ull << 40, 16, 16, 16};
    const cuuint32_t box[5] = {64, 64, 1, 1, 1}, wide[5] = {128, 8, 1, 1, 1}, high[5] = {64, 257, 1, 1, 1},
                     narrow[5] = {4, 8, 1, 1, 1}, empty[5] = {64, 0, 1, 1, 1}, one[5] = {1, 1, 1, 1, 1},
                     nine[5] = {1, 9, 1, 1, 1}, zero[5] = {1, 0, 1, 1, 1};
    auto bf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    auto plain = CU_TENSOR_MAP_INTERLEAVE_NONE;
    auto s128 = CU_TENSOR_MAP_SWIZZLE_128B, s64 = CU_TENSOR_MAP_SWIZZLE_64B, s0 = CU_TENSOR_MAP_SWIZZLE_NONE;
    auto zeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, nans = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    return refused("a right map", bf16, 2, 0, size, stride, box, one, plain, s128, zeros, true) &
           refused("of five dimensions", bf16, 5, 16, size, stride, box, one, plain, s128, nans, true) &
           refused("an address", bf16, 2, 8, size, stride, box, one, plain, s128, zeros, false) &
           refused("rank 0", bf16, 0, 0, size, stride, box, one, plain, s128, zeros, false) &
           refused("rank 6", bf16, 6, 0, size, stride, box, one, plain, s128, zeros, false) &
           refused("no size", bf16, 2, 0, none, stride, box, one, plain, s128, zeros, false) &
           refused("an odd stride", bf16, 2, 0, size, odd, box, one, plain, s128, zeros, false) &
           refused("a far stride", bf16, 2, 0, size, far, box, one, plain, s128, zeros, false) &
           refused("a wide box", bf16, 2, 0, size, stride, wide, one, plain, s128, zeros, false) &
           refused("a wide box without a swizzle", bf16, 2, 0, size, stride, wide, one, plain, s0, zeros, true) &
           refused("a box wider than 64", bf16, 2, 0, size, stride, box, one, plain, s64, zeros, false) &
           refused("a high box", bf16, 2, 0, size, stride, high, one, plain, s128, zeros, false) &
           refused("a narrow box", bf16, 2, 0, size, stride, narrow, one, plain, s128, zeros, false) &
           refused("an empty box", bf16, 2, 0, size, stride, empty, one, plain, s128, zeros, false) &
           refused("element stride 9", bf16, 2, 0, size, stride, box, nine, plain, s128, zeros, false) &
           refused("element stride 0", bf16, 2, 0, size, stride, box, zero, plain, s128, zeros, false) &
           refused("NaN integers", CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, 0, size, stride, box, one, plain, s128, nans,
                   false);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        bool (*run)();
    } cases[] = {{"products", products},           {"boxes", boxes},
                 {"barriers", barriers},           {"plain_copies", plain_copies},
                 {"stored_beyond", stored_beyond}, {"encoder", encoder}};
    for (auto &one : cases) {
        if (argc < 2)
            puts(one.name);
        else if (strcmp(argv[1], one.name) == 0)
            return !one.run();
    }
    return argc < 2 ? 0 : 2;
}
