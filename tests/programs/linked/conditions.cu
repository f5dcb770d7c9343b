// Conditional graph nodes: if and else, while, switch; the generic call that adds nodes; capture into an existing
// graph.
#include "linked.cuh"
#include "program.cuh"

#if CUDART_VERSION >= 13000

__global__ void set_to_parity(const int *x, cudaGraphConditionalHandle condition) {
    cudaGraphSetConditional(condition, *x & 1);
}

__global__ void add(int *log, int value) {
    log[1] += value;
}

__global__ void count_down(int *x, cudaGraphConditionalHandle condition) {
    cudaGraphSetConditional(condition, --*x != 0);
}

static cudaGraphNodeParams kernel(void *function, void **arguments) {
    cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
    params.kernel.func = function;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = arguments;
    return params;
}

static cudaGraphNode_t add_to(cudaGraph_t graph, int *log, int value) {
    void *arguments[] = {&log, &value};
    cudaGraphNodeParams params = kernel((void *)add, arguments);
    cudaGraphNode_t node;
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    return node;
}

static cudaGraphNodeParams decide(cudaGraphConditionalHandle condition, cudaGraphConditionalNodeType type,
                                  unsigned bodies) {
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    params.conditional.handle = condition;
    params.conditional.type = type;
    params.conditional.size = bodies;
    return params;
}

// log[0] is the condition, and log[1] accumulates the values that the graph adds.
static int launched(cudaGraph_t graph, int *log, int by) {
    static cudaGraph_t last;
    static cudaGraphExec_t exec;
    const int start[] = {by, 0};
    if (graph != last)
        OK(cudaGraphInstantiate(&exec, graph, 0));
    last = graph;
    OK(cudaMemcpy(log, start, sizeof start, cudaMemcpyHostToDevice));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    return to_host(log, 2)[1];
}

static void if_and_else(int *log) {
    cudaGraph_t graph;
    cudaGraphConditionalHandle condition;
    cudaGraphNode_t first, branch;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&condition, graph));
    void *arguments[] = {&log, &condition};
    cudaGraphNodeParams look = kernel((void *)set_to_parity, arguments);
    OK(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &look));
    cudaGraphNodeParams params = decide(condition, cudaGraphCondTypeIf, 2);
    OK(cudaGraphAddNode(&branch, graph, &first, nullptr, 1, &params));
    add_to(params.conditional.phGraph_out[0], log, 10);
    add_to(params.conditional.phGraph_out[1], log, 20);
    EXPECT(launched(graph, log, 3) == 10 && launched(graph, log, 4) == 20 && launched(graph, log, 5) == 10);
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(branch, &type));
    EXPECT(type == cudaGraphNodeTypeConditional);
}

// Loops while the counter is not 0; the captured loop body contains a switch.
static void while_and_switch(int *log) {
    cudaGraph_t graph;
    cudaGraphConditionalHandle more, which;
    cudaGraphNode_t loop, choice;
    cudaStream_t stream;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    OK(cudaGraphConditionalHandleCreate(&which, graph, 0));
    cudaGraphNodeParams params = decide(more, cudaGraphCondTypeWhile, 1);
    OK(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &params));
    cudaGraph_t body = params.conditional.phGraph_out[0];
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    set_to_parity<<<1, 1, 0, stream>>>(log, which);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *after;
    size_t count;
    OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &after, nullptr, &count));
    params = decide(which, cudaGraphCondTypeSwitch, 2);
    OK(cudaGraphAddNode(&choice, body, after, nullptr, count, &params));
    add_to(params.conditional.phGraph_out[0], log, 100);
    add_to(params.conditional.phGraph_out[1], log, 1);
    OK(cudaStreamUpdateCaptureDependencies(stream, &choice, nullptr, 1, cudaStreamSetCaptureDependencies));
    count_down<<<1, 1, 0, stream>>>(log, more);
    OK(cudaStreamEndCapture(stream, nullptr));
    OK(cudaStreamDestroy(stream));
    EXPECT(launched(graph, log, 5) == 203 && launched(graph, log, 1) == 1 && launched(graph, log, 2) == 101);
}

void conditions() {
    int *log = zeros<int>(2);
    if_and_else(log);
    while_and_switch(log);
}

#else

void conditions() {
}

#endif
