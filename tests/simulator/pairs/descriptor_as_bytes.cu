// A tensor map travels as bytes behind an int, at a multiple of 64.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>

constexpr int side = 32;

struct Arguments {
    int first_row;
    alignas(64) unsigned char map[sizeof(CUtensorMap)];
};

__device__ uint32_t address_of(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__global__ void copy_box(const __grid_constant__ Arguments arguments, float *box) {
    __shared__ alignas(128) float tile[side * side];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&arguments.map) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&barrier)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&barrier)),
                     "r"((int)sizeof tile)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
                     "%3}], [%4];" ::"r"(address_of(tile)),
                     "l"(&arguments.map), "r"(0), "r"(arguments.first_row), "r"(address_of(&barrier))
                     : "memory");
    }
    uint32_t complete = 0;
    while (!complete)
        asm volatile(
            "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n selp.u32 %0, 1, 0, p;\n}"
            : "=r"(complete)
            : "r"(address_of(&barrier))
            : "memory");
    for (int i = threadIdx.x; i < side * side; i += blockDim.x)
        box[i] = tile[i];
}

static CUresult encode(CUtensorMap *map, float *values) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    if (!function)
        return CUDA_ERROR_NOT_FOUND;
    const cuuint64_t sizes[] = {side, 2 * side}, strides[] = {side * sizeof(float)};
    const cuuint32_t box[] = {side, side}, steps[] = {1, 1};
    return ((decltype(&cuTensorMapEncodeTiled))function)(
        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, values, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main() {
    float host[2 * side * side], *values, *box;
    for (int i = 0; i < 2 * side * side; i++)
        host[i] = i;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&box, side * side * sizeof *box);
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);

    CUtensorMap map;
    Arguments arguments;
    if (encode(&map, values) != CUDA_SUCCESS)
        return 2;
    arguments.first_row = 16;
    memcpy(arguments.map, &map, sizeof map);
    copy_box<<<1, 128>>>(arguments, box);
    const cudaError_t error = cudaMemcpy(host, box, side * side * sizeof *box, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < side * side; i++)
        wrong += host[i] != 16 * side + i;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
