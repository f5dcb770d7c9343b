// The stream that frees a stream-ordered allocation first waits for the kernel of the other stream that reads
// it.
#include <cstdio>

__global__ void fill(int *values, int count, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = value;
}

__global__ void add_up(const int *values, int count, int *sum) {
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        mine += values[i];
    atomicAdd(sum, mine);
}

int main() {
    const int count = 1 << 14;
    int *sum, *values, *others, host = 0;
    cudaStream_t worker, cleaner;
    cudaEvent_t added;
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    cudaStreamCreateWithFlags(&worker, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&cleaner, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&added, cudaEventDisableTiming);
    cudaDeviceSynchronize();

    cudaMallocAsync(&values, count * sizeof *values, worker);
    fill<<<64, 256, 0, worker>>>(values, count, 1);
    add_up<<<4, 256, 0, worker>>>(values, count, sum);
    cudaEventRecord(added, worker);

    cudaStreamWaitEvent(cleaner, added, 0);
    cudaFreeAsync(values, cleaner);
    cudaMallocAsync(&others, count * sizeof *others, cleaner);
    fill<<<64, 256, 0, cleaner>>>(others, count, 7);
    cudaFreeAsync(others, cleaner);

    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s, sum %d, expected %d\n", cudaGetErrorName(error), host, count);
    return error != cudaSuccess || host != count;
}
