// architecture: sm_90a
#include "runner/ceilings.h"
#include "runner/sm_count.cuh"
#include "wgmma.cuh"

#include <cuda_runtime.h>
#include <stdint.h>

namespace {

// Two warpgroups an SM: one's products are in the queue while the other waits for its own.
constexpr int WARPGROUP = 128;
constexpr int WARPGROUPS = 2;
constexpr int THREADS = WARPGROUPS * WARPGROUP;
constexpr int M = 64, N = 256, K = 16; // of one wgmma
constexpr int CHUNK = 64;              // elements of k that a row of 128 bytes holds, the width of the swizzle
constexpr int CHUNKS = 2;
constexpr int PASSES = 4; // over all chunks, before the sums begin anew
constexpr int ROUNDS = 512;
constexpr int A_BYTES = M * CHUNK * 2;
constexpr int B_BYTES = N * CHUNK * 2;
constexpr int SHARED_BYTES = CHUNKS * (WARPGROUPS * A_BYTES + B_BYTES);
constexpr int SWIZZLE_BYTES = 1024; // the period of the swizzle, to which a tile has to be aligned
constexpr double WGMMA_FLOPS = 2.0 * M * N * K;

// A tile of rows of 128 bytes, swizzled over 8 of them (PTX ISA, matrix descriptor: the swizzle mode is in bits 62 and
// 63, the distance of 8 rows from bit 32 on, all lengths in units of 16 bytes).
__device__ __forceinline__ uint64_t descriptor(uint32_t address_smem) {
    return (address_smem & 0x3FFFF) >> 4 | static_cast<uint64_t>(SWIZZLE_BYTES >> 4) << 32 | 1ull << 62;
}

// d = a b, or d += a b where add is 1.
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[N / 2], uint64_t a, uint64_t b, int add) {
    asm volatile("{.reg .pred add;\n"
                 "setp.ne.b32 add, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, "
                 "%8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, "
                 "%24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, "
                 "%40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, "
                 "%56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, "
                 "%72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, "
                 "%88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, "
                 "%104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, "
                 "%120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, add, 1, 1, 0, 0;}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
                   "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]),
                   "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
                   "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
                   "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]),
                   "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]),
                   "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
                   "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]),
                   "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]),
                   "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]),
                   "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]),
                   "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]),
                   "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]),
                   "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]),
                   "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
                 : "l"(a), "l"(b), "r"(add));
}

__global__ void __launch_bounds__(THREADS, 1) multiply(const uint4 *__restrict__ operands /* [SHARED_BYTES / 16] */,
                                                       float *__restrict__ sink /* [gridDim.x][THREADS] */) {
    extern __shared__ __align__(SWIZZLE_BYTES) unsigned char tiles_smem[]; // A of each warpgroup, then B; [CHUNKS] each
    for (int i = threadIdx.x; i < SHARED_BYTES / 16; i += THREADS)
        reinterpret_cast<uint4 *>(tiles_smem)[i] = operands[i];
    // What ordinary stores have written is seen by wgmma after a fence of each thread that wrote.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    // The same in all lanes, and the compiler is to know it: descriptors then take few instructions.
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / WARPGROUP, 0);
    const uint32_t start = static_cast<uint32_t>(__cvta_generic_to_shared(tiles_smem));
    const uint64_t a = descriptor(start + warpgroup * CHUNKS * A_BYTES);
    const uint64_t b = descriptor(start + WARPGROUPS * CHUNKS * A_BYTES);
    float d[N / 2] = {};
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < PASSES * CHUNKS * (CHUNK / K); step++) {
            const int chunk = step / (CHUNK / K) % CHUNKS, k = step % (CHUNK / K);
            wgmma_m64n256k16(d, a + (chunk * A_BYTES + k * K * 2) / 16, b + (chunk * B_BYTES + k * K * 2) / 16,
                             step > 0);
        }
        wgmma_commit_group();
        wgmma_wait_group<0>();
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        asm volatile("" : "+f"(d[i])::"memory"); // not read before the wait
        sum += d[i];
    }
    sink[blockIdx.x * THREADS + threadIdx.x] = sum;
}

} // namespace

size_t ceiling_tensor_cores_operands(void) {
    return SHARED_BYTES / 2;
}

size_t ceiling_tensor_cores_threads(void) {
    return static_cast<size_t>(sm_count()) * THREADS;
}

double ceiling_tensor_cores_flops(void) {
    return WGMMA_FLOPS * PASSES * CHUNKS * (CHUNK / K) * ROUNDS * WARPGROUPS * sm_count();
}

cudaError_t ceiling_tensor_cores(const void *operands, float *sink, cudaStream_t stream) {
    cudaError_t error = cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    if (error != cudaSuccess)
        return error;
    multiply<<<sm_count(), THREADS, SHARED_BYTES, stream>>>(static_cast<const uint4 *>(operands), sink);
    return cudaGetLastError();
}
