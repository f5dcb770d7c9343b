// Graph memory: allocated and freed by nodes, by captured calls, and by the program between launches.
#include "program.cuh"

#include <cstdint>

__global__ void fill(int *x, int value, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value + i;
}

__global__ void sum(const int *x, int *total, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}

constexpr int N = 200, BYTES = N * sizeof(int);
static int *total;

static int total_now() {
    OK(cudaDeviceSynchronize());
    const int now = to_host(total, 1)[0];
    OK(cudaMemset(total, 0, sizeof(int)));
    OK(cudaDeviceSynchronize()); // the streams here do not wait for the default stream
    return now;
}

static uint64_t in_use() {
    uint64_t bytes;
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    return bytes;
}

static cudaMemAllocNodeParams memory() {
    cudaMemAllocNodeParams params = {};
    params.bytesize = BYTES;
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location = {cudaMemLocationTypeDevice, 0};
    return params;
}

static cudaGraphNode_t launch(cudaGraph_t graph, cudaGraphNode_t after, void *kernel, void **arguments) {
    cudaKernelNodeParams params = {};
    params.func = kernel;
    params.gridDim = dim3(2);
    params.blockDim = dim3(128);
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    OK(cudaGraphAddKernelNode(&node, graph, &after, 1, &params));
    return node;
}

// Nodes allocate, fill and add up the memory; a node or the program frees it.
static cudaGraphExec_t made(bool frees, unsigned long long flags, int **address) {
    cudaGraph_t graph;
    cudaGraphNode_t first, last;
    cudaMemAllocNodeParams params = memory();
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemAllocNode(&first, graph, nullptr, 0, &params));
    *address = (int *)params.dptr;
    int value = 1, n = N;
    void *filling[] = {address, &value, &n}, *adding[] = {address, &total, &n};
    last = launch(graph, launch(graph, first, (void *)fill, filling), (void *)sum, adding);
    if (frees) {
        cudaGraphNode_t release;
        OK(cudaGraphAddMemFreeNode(&release, graph, &last, 1, params.dptr));
    }
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, flags));
    OK(cudaGraphDestroy(graph));
    return exec;
}

static void nodes() {
    constexpr int EXPECTED = N + N * (N - 1) / 2;
    int *address;
    cudaGraphExec_t exec = made(true, 0, &address);
    for (int i = 0; i < 3; i++) {
        OK(cudaGraphLaunch(exec, 0));
        EXPECT(total_now() == EXPECTED && (!simulated() || in_use() == 0));
    }
    OK(cudaGraphExecDestroy(exec));

    // The program may read and free an allocation that the graph leaves, and must free it before the next launch.
    exec = made(false, 0, &address);
    for (int i = 0; i < 2; i++) {
        OK(cudaGraphLaunch(exec, 0));
        EXPECT(total_now() == EXPECTED && in_use() >= BYTES && to_host(address, N)[N - 1] == N);
        if (i == 0)
            OK(cudaFree(address));
    }
    EXPECT(cudaGraphLaunch(exec, 0) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaFreeAsync(address, 0));
    OK(cudaGraphExecDestroy(exec));

    exec = made(false, cudaGraphInstantiateFlagAutoFreeOnLaunch, &address);
    for (int i = 0; i < 3; i++) {
        OK(cudaGraphLaunch(exec, 0));
        EXPECT(total_now() == EXPECTED);
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaFree(address));
    OK(cudaDeviceGraphMemTrim(0)); // GPUs differ in the bytes in use before the trim
}

static void captured() {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *one, *two;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&one, BYTES, stream));
    OK(cudaMallocAsync(&two, BYTES, stream));
    fill<<<2, 128, 0, stream>>>(one, 5, N);
    OK(cudaMemcpyAsync(two, one, BYTES, cudaMemcpyDeviceToDevice, stream));
    OK(cudaFreeAsync(one, stream));
    sum<<<2, 128, 0, stream>>>(two, total, N);
    OK(cudaFreeAsync(two, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    size_t count = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 7);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        OK(cudaGraphLaunch(exec, stream));
        EXPECT(total_now() == 5 * N + N * (N - 1) / 2 && in_use() == 0);
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

int main() {
    total = zeros<int>(1);
    nodes();
    captured();
    return 0;
}
