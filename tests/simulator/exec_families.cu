// One kernel for each family of instructions, on 64 threads; test_exec_families.c computes the same on the host.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void

KERNEL integers(const int *a, const int *b, int *out) {
    int t = threadIdx.x, x = a[t], y = b[t];
    unsigned ux = x, uy = y;
    int *o = out + 24 * t;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = __mulhi(x, y);
    o[3] = __umulhi(ux, uy);
    o[4] = y ? x / y : 0;
    o[5] = y ? ux % uy : 0;
    o[6] = min(x, y);
    o[7] = max(ux, uy);
    o[8] = x << (y & 31);
    o[9] = x >> (y & 31);
    o[10] = ux >> (y & 31);
    o[11] = __popc(x);
    o[12] = __clz(x);
    o[13] = __brev(x);
    o[14] = __ffs(x);
    o[15] = __byte_perm(x, y, 0x5140);
    o[16] = (x & y) ^ (~x | (y << 1));
    o[17] = __funnelshift_l(x, y, 13);
    o[18] = __dp4a(x, y, 7);
    o[19] = __sad(x, y, 9u);
    int64_t wide = static_cast<int64_t>(x) * y + (static_cast<int64_t>(y) << 33);
    o[20] = static_cast<int>(wide >> 32);
    o[21] = static_cast<int>(wide);
    o[22] = static_cast<int8_t>(x) + static_cast<uint16_t>(y);
    o[23] = x < y ? (ux < uy ? 3 : 2) : (ux < uy ? 1 : 0);
}

// 128-bit integers go through the carry flag.
KERNEL wide(const unsigned long long *in, unsigned long long *out) {
    int t = threadIdx.x;
    unsigned __int128 x = static_cast<unsigned __int128>(in[2 * t]) << 64 | in[2 * t + 1], y = in[(2 * t + 5) % 128];
    unsigned __int128 result[4] = {x * y, x / (y + 1), x - (y << 60), x + (y << 63)};
    for (int i = 0; i < 4; i++) {
        out[8 * t + 2 * i] = result[i] >> 64;
        out[8 * t + 2 * i + 1] = result[i];
    }
}

KERNEL floats(const float *a, const float *b, float *out) {
    int t = threadIdx.x;
    float x = a[t], y = b[t];
    float *o = out + 12 * t;
    o[0] = __fadd_rn(x, y);
    o[1] = __fmul_rn(x, y);
    o[2] = __fmaf_rn(x, y, 0.3f);
    o[3] = x / y;
    o[4] = sqrtf(fabsf(x));
    o[5] = fminf(x, y);
    o[6] = floorf(x * 10) + rintf(y * 10) + truncf(x);
    o[7] = static_cast<float>(static_cast<double>(x) * y + 1e-3);
    o[8] = static_cast<float>(static_cast<int>(x * 100)) + static_cast<unsigned>(fabsf(y) * 50);
    o[9] = __half2float(__float2half(x)) + __bfloat162float(__float2bfloat16(y));
    o[10] = expf(x);
    o[11] = __saturatef(x);
}

__constant__ float table[4] = {1, 2, 4, 8};

// Loads and stores of every width, in global, shared, local and constant memory, and through generic pointers.
KERNEL memory(const float *in, float *out) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    float4 four = reinterpret_cast<const float4 *>(in)[t];
    float2 two = reinterpret_cast<const float2 *>(in)[63 - t];
    double one = reinterpret_cast<const double *>(in)[t] == 0 ? 1 : 2;
    tile[t] = four;
    __syncthreads();
    float *generic = t & 1 ? reinterpret_cast<float *>(&tile[63 - t]) : out + 512 + t;
    float local[8];
    for (int i = 0; i < 8; i++) {
        local[i] = in[i] * (i + 1);
    }
    unsigned char byte = reinterpret_cast<const unsigned char *>(in)[t];
    short half = reinterpret_cast<const short *>(in)[t];
    float4 across = tile[(t + 5) & 63];
    __syncthreads();
    if (!(t & 1)) {
        *generic = t;
    }
    __syncthreads();
    out[8 * t] = four.x + four.y * 2 + four.z * 3 + four.w * 4;
    out[8 * t + 1] = two.x - two.y;
    out[8 * t + 2] = one;
    out[8 * t + 3] = across.x + across.w;
    out[8 * t + 4] = *generic;
    out[8 * t + 5] = local[t & 7] + local[(t + 3) & 7];
    out[8 * t + 6] = table[t & 3];
    out[8 * t + 7] = byte * 65536.0f + half;
}

// 16 counters of 32 bits, then fp32 and fp64 sums.
KERNEL atomics(int *counter, float *sum, double *wide) {
    __shared__ int shared[4];
    int t = threadIdx.x;
    if (t < 4) {
        shared[t] = 0;
    }
    __syncthreads();
    atomicAdd(&counter[0], t);
    atomicSub(&counter[1], t);
    atomicMin(&counter[2], 50 - t);
    atomicMax(&counter[3], 3 * t);
    atomicMin(reinterpret_cast<unsigned *>(&counter[4]), 1000u + t);
    atomicAnd(&counter[5], ~(1 << (t & 7)));
    atomicOr(&counter[6], 1 << (t & 15));
    atomicXor(&counter[7], t * 17);
    atomicInc(reinterpret_cast<unsigned *>(&counter[8]), 40);
    atomicDec(reinterpret_cast<unsigned *>(&counter[9]), 40);
    if (t == 9) {
        atomicExch(&counter[10], 77);
    }
    atomicCAS(&counter[11], t == 40 ? 0 : 1, 5);
    atomicAdd(reinterpret_cast<unsigned long long *>(&counter[12]), 1ull << 33);
    atomicAdd(&shared[t & 3], t);
    __syncthreads();
    if (t < 4) {
        counter[16 + t] = shared[t];
    }
    atomicAdd(sum, 0.5f * t);
    atomicAdd(wide, 0.25 * t);
}

KERNEL lanes(const int *in, int *out) {
    int t = threadIdx.x, x = in[t];
    const unsigned all = 0xffffffff;
    int *o = out + 12 * t;
    o[0] = __shfl_sync(all, x, t * 7);
    o[1] = __shfl_up_sync(all, x, 3);
    o[2] = __shfl_down_sync(all, x, 5, 16);
    o[3] = __shfl_xor_sync(all, x, 9);
    o[4] = __ballot_sync(all, x & 1);
    o[5] = __any_sync(all, x == 7) * 2 + __all_sync(all, x < 1000);
    o[6] = __match_any_sync(all, x & 3);
    int uniform;
    o[7] = __match_all_sync(all, x >> 10, &uniform) + uniform;
    o[8] = __reduce_add_sync(all, x);
    o[9] = __reduce_max_sync(all, x);
    o[10] = __reduce_xor_sync(all, static_cast<unsigned>(x));
    o[11] = __activemask();
}

// A 16x16 times B 16x8, both bf16, by ldmatrix (B transposed on the way) and mma; cp.async brings them in.
KERNEL tensor(const uint4 *a, const uint4 *b, float *c) {
    __shared__ uint4 a_tile[32], b_tile[16];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&a_tile[t], &a[t], 16);
    if (t < 16) {
        __pipeline_memcpy_async(&b_tile[t], &b[t], 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    unsigned a_row = static_cast<unsigned>(__cvta_generic_to_shared(&a_tile[2 * (t % 16) + t / 16]));
    unsigned b_row = static_cast<unsigned>(__cvta_generic_to_shared(&b_tile[t % 16]));
    unsigned fa[4], fb[2];
    float d[4] = {0, 0, 0, 0};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(a_row)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"(b_row)
                 : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++) {
        c[(t / 4 + 8 * (i / 2)) * 8 + 2 * (t % 4) + i % 2] = d[i];
    }
}
