// A stream waits for an event after the event is recorded behind the kernel of the other stream.
#include <cstdio>

__global__ void produce(int *values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = 3 * i;
}

__global__ void consume(const int *values, int *doubled, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        doubled[i] = 2 * values[i];
}

int main() {
    const int count = 1024;
    int *values, *doubled, host[count];
    cudaStream_t producer, consumer;
    cudaEvent_t produced;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&doubled, sizeof host);
    cudaMemset(values, 0, sizeof host);
    cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&produced, cudaEventDisableTiming);
    cudaDeviceSynchronize();

    produce<<<4, 256, 0, producer>>>(values, count);
    cudaEventRecord(produced, producer);
    cudaStreamWaitEvent(consumer, produced, 0);
    consume<<<4, 256, 0, consumer>>>(values, doubled, count);

    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(host, doubled, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += host[i] != 6 * i;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
