// Work split over several streams and ordered by events, with pinned memory, priorities and a host function.
#include "program.cuh"

__global__ void square(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i];
}

__global__ void add_pairs(const float *y, float *sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sums[i] = y[i] + y[i + n];
}

static void CUDART_CB count_up(void *counter) {
    ++*(int *)counter;
}

int main() {
    const int chunks = 4, length = 500, n = chunks * length;
    const std::vector<float> x = whole_numbers(n, 50);
    float *pinned, *x_device = zeros<float>(n), *y = zeros<float>(n), *sums = zeros<float>(n / 2);
    int least, greatest, called = 0;
    OK(cudaMallocHost(&pinned, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        pinned[i] = x[i];
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least);
    cudaStream_t stream[chunks], last;
    cudaEvent_t done[chunks], begin, end;
    OK(cudaStreamCreateWithPriority(&last, cudaStreamNonBlocking, greatest));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin, last));
    for (int p = 0; p < chunks; p++) {
        OK(cudaStreamCreateWithFlags(&stream[p], cudaStreamNonBlocking));
        OK(cudaEventCreateWithFlags(&done[p], cudaEventDisableTiming));
        OK(cudaMemcpyAsync(x_device + p * length, pinned + p * length, length * sizeof(float), cudaMemcpyHostToDevice,
                           stream[p]));
        square<<<(length + 127) / 128, 128, 0, stream[p]>>>(x_device + p * length, y + p * length, length);
        OK(cudaLaunchHostFunc(stream[p], count_up, &called));
        OK(cudaEventRecord(done[p], stream[p]));
        OK(cudaStreamWaitEvent(last, done[p], 0));
    }
    add_pairs<<<(n / 2 + 127) / 128, 128, 0, last>>>(y, sums, n / 2);
    OK(cudaEventRecord(end, last));
    OK(cudaMemcpyAsync(pinned, sums, n / 2 * sizeof(float), cudaMemcpyDeviceToHost, last));
    OK(cudaStreamSynchronize(last));
    OK(cudaEventQuery(end));
    float milliseconds = -1;
    OK(cudaEventElapsedTime(&milliseconds, begin, end));
    EXPECT(milliseconds >= 0 && called == chunks);
    for (int i = 0; i < n / 2; i++)
        EXPECT(pinned[i] == x[i] * x[i] + x[i + n / 2] * x[i + n / 2]);
    for (int p = 0; p < chunks; p++) {
        OK(cudaStreamDestroy(stream[p]));
        OK(cudaEventDestroy(done[p]));
    }
    OK(cudaFreeHost(pinned));
    return 0;
}
