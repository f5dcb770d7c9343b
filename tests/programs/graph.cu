// CUDA graphs: two captured streams launched repeatedly, the same graph by explicit nodes, new parameters, and a child
// graph.
#include "program.cuh"

__global__ void scale(float *x, float factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

__global__ void add(const float *x, const float *y, float *sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] += x[i] + y[i];
}

static void CUDART_CB count_up(void *counter) {
    ++*(int *)counter;
}

constexpr int N = 300;
static float *x, *y, *sum, *host;
static int called;

// host -> x, doubled in one stream; y tripled in another; their sum in the first.
static cudaGraph_t captured() {
    cudaStream_t one, two;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    OK(cudaStreamIsCapturing(one, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    OK(cudaMemcpyAsync(x, host, N * sizeof(float), cudaMemcpyHostToDevice, one));
    OK(cudaEventRecord(fork, one));
    OK(cudaStreamWaitEvent(two, fork, 0));
    scale<<<3, 128, 0, one>>>(x, 2, N);
    scale<<<3, 128, 0, two>>>(y, 3, N);
    OK(cudaEventRecord(join, two));
    OK(cudaStreamWaitEvent(one, join, 0));
    OK(cudaMemsetAsync(sum, 0, N * sizeof(float), one));
    add<<<3, 128, 0, one>>>(x, y, sum, N);
    OK(cudaLaunchHostFunc(one, count_up, &called));
    OK(cudaStreamEndCapture(one, &graph));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    return graph;
}

static float first_of(const float *device) {
    return to_host(device, 1)[0];
}

static void capture() {
    cudaGraph_t graph = captured();
    cudaGraphExec_t exec;
    size_t nodes = 0, roots = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(nodes == 6 && roots == 1);
    EXPECT(first_of(y) == 1 && called == 0); // captured work has not run yet
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    for (int i = 0; i < N; i++)
        host[i] = i;
    for (int again = 1; again <= 3; again++) {
        OK(cudaGraphLaunch(exec, 0));
        OK(cudaDeviceSynchronize());
        const std::vector<float> result = to_host(sum, N);
        const float tripled = again == 1 ? 3 : again == 2 ? 9 : 27;
        for (int i = 0; i < N; i++)
            EXPECT(result[i] == 2 * i + tripled);
        EXPECT(called == again);
    }
    OK(cudaGraphExecDestroy(exec));
}

static void nodes() {
    cudaGraph_t graph, whole;
    cudaGraphNode_t set, twice, more, copy, last, part;
    cudaGraphExec_t exec;
    float factor = 5, result = 0, boxed = 0;
    int n = 1;
    OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams one = {};
    one.dst = x;
    one.value = 0x3f800000; // 1.0f
    one.elementSize = 4;
    one.width = one.height = 1;
    OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &one));
    void *arguments[] = {&x, &factor, &n};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)scale;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&twice, graph, &set, 1, &kernel));
    factor = 7; // the node has its own copy
    OK(cudaGraphAddKernelNode(&more, graph, nullptr, 0, &kernel));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &more, 1, &result, x, sizeof(float), cudaMemcpyDeviceToHost));
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddDependencies(graph, &twice, &more, nullptr, 1));
#else
    OK(cudaGraphAddDependencies(graph, &twice, &more, 1));
#endif
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(copy, &type));
    EXPECT(type == cudaGraphNodeTypeMemcpy);
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(x, sizeof(float), 1, 1);
    box.dstPtr = make_cudaPitchedPtr(&boxed, sizeof(float), 1, 1);
    box.extent = make_cudaExtent(sizeof(float), 1, 1);
    box.kind = cudaMemcpyDeviceToHost;
    OK(cudaGraphAddMemcpyNode(&copy, graph, &more, 1, &box));
    OK(cudaGraphCreate(&whole, 0));
    OK(cudaGraphAddChildGraphNode(&part, whole, nullptr, 0, graph));
    cudaHostNodeParams host_function = {count_up, &called};
    OK(cudaGraphAddHostNode(&last, whole, &part, 1, &host_function));
    const int before = called;
    OK(cudaGraphInstantiate(&exec, whole, 0));
    OK(cudaGraphLaunch(exec, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT(result == 35 && boxed == 35 && called == before + 1);
    OK(cudaGraphExecDestroy(exec));

    // New parameters: for one node of the executable graph, and by an update with another graph.
    OK(cudaGraphInstantiate(&exec, graph, 0));
    factor = 2;
    OK(cudaGraphExecKernelNodeSetParams(exec, more, &kernel));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(result == 10);
    factor = 11;
    OK(cudaGraphKernelNodeSetParams(twice, &kernel));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, graph, &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(result == 77);
    EXPECT(cudaGraphExecUpdate(exec, whole, &info) == cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result != cudaGraphExecUpdateSuccess && cudaGetLastError() != cudaSuccess);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(whole));
}

// A call that cannot be captured invalidates the capture, and the stream is usable again after its end.
static void broken() {
    cudaStream_t stream, other;
    cudaGraph_t graph;
    cudaEvent_t event;
    void *memory;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMalloc(&memory, 16) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    scale<<<1, 1>>>(x, 1, 1); // in the legacy default stream, which synchronizes with this one
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(other, event, 0));
    scale<<<1, 1, 0, other>>>(x, 1, 1);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
    EXPECT(cudaGetLastError() == cudaErrorIllegalState);
    OK(cudaStreamSynchronize(stream));
}

int main() {
    OK(cudaMallocHost(&host, N * sizeof(float)));
    x = zeros<float>(N);
    y = to_device(std::vector<float>(N, 1.0f));
    sum = zeros<float>(N);
    capture();
    nodes();
    broken();
    return 0;
}
