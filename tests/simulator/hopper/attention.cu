// Attention of one head in bf16, d = 128, with the structure of Hopper kernels: a producer warp that loads by TMA, two
// consumer warpgroups, and pipeline stages between them. attention N compares with the host. hopper.bats makes variants
// of this file with one mistake each; a line that a finding has to name has a comment for it.
#include "hopper.cuh"
#include "wgmma.cuh"

#include <cmath>
#include <vector>

constexpr int D = 128, BM = 64, WARPGROUPS = 2, BN = 64, STAGES = 2, CHUNK = 64; // columns of a swizzled chunk
constexpr int THREADS = 128 * (WARPGROUPS + 1), ROWS = BM * WARPGROUPS;
constexpr int Q_BYTES = ROWS * D * 2, TILE_BYTES = BN * D * 2;

struct Smem {
    __nv_bfloat16 Q[ROWS * D], K[STAGES][BN * D], V[STAGES][BN * D]; // [D / CHUNK][rows][CHUNK], swizzled
    uint64_t q_full, k_full[STAGES], v_full[STAGES], empty[STAGES];
};

DEVICE uint32_t pack(float low, float high) {
    __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *(uint32_t *)&pair;
}

DEVICE void load_tile(__nv_bfloat16 *to, const CUtensorMap *map, uint64_t *barrier, int rows, int row) {
    for (int c = 0; c < D / CHUNK; c++)
        tma_load_2d(to + c * rows * CHUNK, map, barrier, c * CHUNK, row); // load
}

DEVICE void produce(Smem &s, const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v, int tiles) {
    if (threadIdx.x % 128 != 0)
        return;
    mbarrier_arrive_expect_tx(&s.q_full, Q_BYTES); // expect q
    load_tile(s.Q, q, &s.q_full, ROWS, blockIdx.x * ROWS);
    for (int i = 0; i < tiles; i++) {
        int stage = i % STAGES;
        mbarrier_wait(&s.empty[stage], (i / STAGES & 1) ^ 1);    // wait empty
        mbarrier_arrive_expect_tx(&s.k_full[stage], TILE_BYTES); // expect k
        load_tile(s.K[stage], k, &s.k_full[stage], BN, i * BN);
        mbarrier_arrive_expect_tx(&s.v_full[stage], TILE_BYTES);
        load_tile(s.V[stage], v, &s.v_full[stage], BN, i * BN);
    }
}

DEVICE void consume(Smem &s, const CUtensorMap *o_map, int tiles, int n, float scale) {
    int t = threadIdx.x % 128, group = threadIdx.x / 128 - 1, lane = t % 32;
    float o[D / 2] = {}, scores[BN / 2], row_max[2] = {-INFINITY, -INFINITY}, row_sum[2] = {};
    uint32_t q_address = smem(s.Q) + group * BM * CHUNK * 2;
    mbarrier_wait(&s.q_full, 0); // wait q
    for (int i = 0; i < tiles; i++) {
        int stage = i % STAGES;
        uint32_t parity = i / STAGES & 1, p[BN / 16][4];
        mbarrier_wait(&s.k_full[stage], parity); // wait k
        wgmma_fence();
        for (int kk = 0; kk < D / 16; kk++) {
            uint32_t chunk = kk / 4, within = kk % 4 * 32;
            ss_n64_f32_bf16<0>(scores, descriptor(q_address + chunk * ROWS * CHUNK * 2 + within, 16, 1024, 1),
                               descriptor(smem(s.K[stage]) + chunk * BN * CHUNK * 2 + within, 16, 1024, 1),
                               kk > 0); // qk
        }
        wgmma_commit_group();
        wgmma_wait_group<0>(); // wait qk
        for (int h = 0; h < 2; h++) {
            float largest = row_max[h];
            for (int j = 0; j < BN / 8; j++) {
                for (int e = 0; e < 2; e++) {
                    float &score = scores[4 * j + 2 * h + e];
                    if (i * BN + 8 * j + lane % 4 * 2 + e >= n) // early
                        score = -INFINITY;
                    largest = fmaxf(largest, score);
                }
            }
            largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
            float shrink = exp2f((row_max[h] - largest) * scale);
            row_max[h] = largest;
            row_sum[h] *= shrink;
            for (int j = 0; j < BN / 8; j++) {
                for (int e = 0; e < 2; e++) {
                    float &score = scores[4 * j + 2 * h + e];
                    score = exp2f((score - largest) * scale);
                    row_sum[h] += score;
                }
            }
            for (int j = 0; j < D / 8; j++)
                for (int e = 0; e < 2; e++)
                    o[4 * j + 2 * h + e] *= shrink;
        }
        for (int kk = 0; kk < BN / 16; kk++)
            for (int r = 0; r < 4; r++)
                p[kk][r] = pack(scores[8 * kk + 2 * r], scores[8 * kk + 2 * r + 1]);
        mbarrier_wait(&s.v_full[stage], parity);
        wgmma_fence();
        for (int kk = 0; kk < BN / 16; kk++)
            rs_n128_f32_bf16<1>(o, p[kk], descriptor(smem(s.V[stage]) + kk * 2048, BN * CHUNK * 2, 1024, 1), 1); // pv
        wgmma_commit_group();
        wgmma_wait_group<0>(); // wait pv
        if (t == 0)
            mbarrier_arrive(&s.empty[stage]); // release
    }
    // O is staged in Q's buffer, in the same layout.
    for (int h = 0; h < 2; h++) {
        row_sum[h] += __shfl_xor_sync(~0u, row_sum[h], 1);
        row_sum[h] += __shfl_xor_sync(~0u, row_sum[h], 2);
        int row = t / 32 * 16 + lane / 4 + 8 * h;
        for (int j = 0; j < D / 8; j++) {
            uint32_t chunk = j / 8, at = q_address + chunk * ROWS * CHUNK * 2 + row * CHUNK * 2;
            at += ((j % 8) ^ (row & 7)) * 16 + lane % 4 * 4;
            asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), // stage
                         "r"(pack(o[4 * j + 2 * h] / row_sum[h], o[4 * j + 2 * h + 1] / row_sum[h]))
                         : "memory");
        }
    }
    fence_proxy_async();                                           // proxy fence
    asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory"); // named barrier
    if (t == 0) {
        for (int c = 0; c < D / CHUNK; c++)
            tma_store_2d(o_map, s.Q + (c * ROWS + group * BM) * CHUNK, c * CHUNK,
                         blockIdx.x * ROWS + group * BM); // store
        bulk_commit_group();
        bulk_wait_group_read(); // wait store
    }
}

__global__ void __launch_bounds__(THREADS, 1)
    attention(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
              const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o, int n, float scale) {
    extern __shared__ __align__(1024) char raw[];
    Smem &s = *(Smem *)raw;
    int tiles = (n + BN - 1) / BN;
    if (threadIdx.x == 0) {
        mbarrier_init(&s.q_full, 1);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&s.k_full[i], 1);
            mbarrier_init(&s.v_full[i], 1);
            mbarrier_init(&s.empty[i], WARPGROUPS); // empty count
        }
        fence_mbarrier_init(); // init fence
    }
    __syncthreads(); // after init
    if (threadIdx.x < 128) {
        setmaxnreg_dec<24>();
        produce(s, &q, &k, &v, tiles);
    } else {
        setmaxnreg_inc<240>(); // more registers
        consume(s, &o, tiles, n, scale);
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 200;
    std::vector<__nv_bfloat16> host[4];
    __nv_bfloat16 *device[4];
    srand(1);
    for (int i = 0; i < 4; i++) {
        host[i].resize((size_t)n * D);
        for (auto &x : host[i])
            x = __float2bfloat16((rand() % 2001 - 1000) / 500.0f);
        CHECK(cudaMalloc(&device[i], host[i].size() * 2));
        CHECK(cudaMemcpy(device[i], host[i].data(), host[i].size() * 2, cudaMemcpyHostToDevice));
    }
    CUtensorMap q = map_2d(device[0], n, D, ROWS, CHUNK, CU_TENSOR_MAP_SWIZZLE_128B);
    CUtensorMap k = map_2d(device[1], n, D, BN, CHUNK, CU_TENSOR_MAP_SWIZZLE_128B);
    CUtensorMap v = map_2d(device[2], n, D, BN, CHUNK, CU_TENSOR_MAP_SWIZZLE_128B);
    CUtensorMap o = map_2d(device[3], n, D, BM, CHUNK, CU_TENSOR_MAP_SWIZZLE_128B);
    CHECK(cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Smem)));
    float scale = 1.44269504f / sqrtf(D);
    attention<<<(n + ROWS - 1) / ROWS, THREADS, sizeof(Smem)>>>(q, k, v, o, n, scale);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host[3].data(), device[3], host[3].size() * 2, cudaMemcpyDeviceToHost));
    double error = 0, norm = 0;
    std::vector<double> p(n), sum(D);
    for (int row = 0; row < n; row += 1 + n / 64) {
        double largest = -INFINITY, total = 0;
        for (int j = 0; j < n; j++) {
            p[j] = 0;
            for (int c = 0; c < D; c++)
                p[j] += (double)__bfloat162float(host[0][row * D + c]) * __bfloat162float(host[1][j * D + c]);
            p[j] /= sqrt((double)D);
            largest = fmax(largest, p[j]);
        }
        sum.assign(D, 0);
        for (int j = 0; j < n; j++) {
            double weight = exp(p[j] - largest);
            total += weight;
            for (int c = 0; c < D; c++)
                sum[c] += weight * __bfloat162float(host[2][j * D + c]);
        }
        for (int c = 0; c < D; c++) {
            double wanted = sum[c] / total, got = __bfloat162float(host[3][row * D + c]);
            error += (got - wanted) * (got - wanted);
            norm += wanted * wanted;
        }
    }
    error = sqrt(error / norm);
    printf("n %d: relative error %.2e\n", n, error);
    return !(error < 5e-3);
}
