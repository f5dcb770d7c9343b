// A graph has an edge from the kernel node that writes the scores to the kernel node that reads them.
#include <cstdio>

__global__ void score(float *scores, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        scores[i] = i * 0.5f;
}

__global__ void halve(const float *scores, float *halves, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        halves[i] = scores[i] * 0.5f;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, void *kernel, void **arguments, const cudaGraphNode_t *before) {
    cudaKernelNodeParams parameters = {};
    parameters.func = kernel;
    parameters.gridDim = dim3(4);
    parameters.blockDim = dim3(128);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    cudaGraphAddKernelNode(&node, graph, before, before ? 1 : 0, &parameters);
    return node;
}

int main() {
    int count = 512;
    float *scores, *halves, host[512];
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaMalloc(&scores, sizeof host);
    cudaMalloc(&halves, sizeof host);
    cudaMemset(scores, 0, sizeof host);

    cudaGraphCreate(&graph, 0);
    void *score_arguments[] = {&scores, &count}, *halve_arguments[] = {&scores, &halves, &count};
    const cudaGraphNode_t scored = add_kernel(graph, (void *)score, score_arguments, nullptr);
    const cudaGraphNode_t halved = add_kernel(graph, (void *)halve, halve_arguments, &scored);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, 0);

    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(host, halves, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = !scored || !halved;
    for (int i = 0; i < count; i++)
        wrong += host[i] != i * 0.25f;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
