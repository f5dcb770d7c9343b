// The host waits for the copy from a pinned staging buffer before it refills that buffer.
#include <cstdio>

int main() {
    const int chunks = 4, chunk = 1 << 16;
    int *staging, *device, *back = new int[chunks * chunk];
    cudaStream_t stream;
    cudaMallocHost(&staging, chunk * sizeof *staging);
    cudaMalloc(&device, chunks * chunk * sizeof *device);
    cudaStreamCreate(&stream);

    for (int c = 0; c < chunks; c++) {
        for (int i = 0; i < chunk; i++)
            staging[i] = c * chunk + i;
        cudaMemcpyAsync(device + c * chunk, staging, chunk * sizeof *device, cudaMemcpyHostToDevice, stream);
        cudaStreamSynchronize(stream);
    }

    const cudaError_t error = cudaMemcpy(back, device, chunks * chunk * sizeof *back, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < chunks * chunk; i++)
        wrong += back[i] != i;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
