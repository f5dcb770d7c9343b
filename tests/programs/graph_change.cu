// Changes to graphs: event nodes, new parameters, disabled and removed nodes; queries of edges, and a drawing.
#include "program.cuh"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>

__device__ int variable[4];

__global__ void shift(int *x, int by) {
    x[threadIdx.x] += by;
}

static void CUDART_CB add_to(void *counter) {
    *(int *)counter += 1;
}

constexpr int LENGTH = 4;

struct Parts {
    cudaGraph_t graph;
    cudaGraphNode_t set, kernel, begin, end, to_variable, back, host;
    int *x, from[LENGTH], result[LENGTH], other[LENGTH], calls, more_calls;
    cudaEvent_t first, second, third;
};

// set -> begin -> kernel -> end -> copies to and from a device variable -> host
static void make(Parts &p) {
    OK(cudaMalloc(&p.x, sizeof p.from));
    OK(cudaEventCreate(&p.first));
    OK(cudaEventCreate(&p.second));
    OK(cudaEventCreate(&p.third));
    for (int i = 0; i < LENGTH; i++)
        p.from[i] = 10 * i;
    p.calls = p.more_calls = 0;
    OK(cudaGraphCreate(&p.graph, 0));
    cudaMemsetParams zero = {};
    zero.dst = p.x;
    zero.elementSize = 4;
    zero.width = LENGTH;
    zero.height = 1;
    OK(cudaGraphAddMemsetNode(&p.set, p.graph, nullptr, 0, &zero));
    OK(cudaGraphAddEventRecordNode(&p.begin, p.graph, &p.set, 1, p.first));
    int by = 5;
    void *arguments[] = {&p.x, &by};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)shift;
    kernel.gridDim = 1;
    kernel.blockDim = LENGTH;
    kernel.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&p.kernel, p.graph, &p.begin, 1, &kernel));
    OK(cudaGraphAddEventRecordNode(&p.end, p.graph, &p.kernel, 1, p.second));
    OK(cudaGraphAddMemcpyNodeToSymbol(&p.to_variable, p.graph, &p.end, 1, variable, p.x, sizeof p.from, 0,
                                      cudaMemcpyDeviceToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&p.back, p.graph, &p.to_variable, 1, p.result, variable, sizeof p.from, 0,
                                        cudaMemcpyDeviceToHost));
    cudaHostNodeParams host = {add_to, &p.calls};
    OK(cudaGraphAddHostNode(&p.host, p.graph, &p.back, 1, &host));
}

static void launched(Parts &p, cudaGraphExec_t exec, const int *where, int expected) {
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < LENGTH; i++)
        EXPECT(where[i] == expected);
}

static void parameters(Parts &p) {
    cudaGraphExec_t exec;
    float milliseconds;
    unsigned is_enabled = 7;
    OK(cudaGraphInstantiate(&exec, p.graph, 0));
    launched(p, exec, p.result, 5);
    EXPECT(p.calls == 1);
    OK(cudaEventElapsedTime(&milliseconds, p.first, p.second));
    EXPECT(milliseconds >= 0);
    EXPECT(cudaEventElapsedTime(&milliseconds, p.first, p.third) != cudaSuccess); // never recorded
    cudaGetLastError();
    OK(cudaGraphExecEventRecordNodeSetEvent(exec, p.end, p.third));
    cudaMemsetParams ones = {};
    ones.dst = p.x;
    ones.value = 1;
    ones.elementSize = 4;
    ones.width = LENGTH;
    ones.height = 1;
    OK(cudaGraphExecMemsetNodeSetParams(exec, p.set, &ones));
    cudaHostNodeParams host = {add_to, &p.more_calls};
    OK(cudaGraphExecHostNodeSetParams(exec, p.host, &host));
    OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, p.back, p.other, variable, sizeof p.from, 0,
                                                  cudaMemcpyDeviceToHost));
    launched(p, exec, p.other, 6);
    EXPECT(p.calls == 1 && p.more_calls == 1);
    OK(cudaEventElapsedTime(&milliseconds, p.first, p.third));
    OK(cudaGraphNodeSetEnabled(exec, p.kernel, 0));
    OK(cudaGraphNodeGetEnabled(exec, p.kernel, &is_enabled));
    EXPECT(is_enabled == 0);
    launched(p, exec, p.other, 1);
    OK(cudaGraphNodeSetEnabled(exec, p.kernel, 1));
    launched(p, exec, p.other, 6);
    EXPECT(cudaGraphExecMemsetNodeSetParams(exec, p.kernel, &ones) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaGraphExecDestroy(exec));
}

static void edges(Parts &p) {
    cudaGraphNode_t from[8], to[8], neighbours[2];
    cudaEvent_t event;
    size_t count = 0;
    OK(cudaGraphEventRecordNodeGetEvent(p.begin, &event));
    EXPECT(event == p.first);
#if CUDART_VERSION >= 13000
    OK(cudaGraphGetEdges(p.graph, nullptr, nullptr, nullptr, &count));
    EXPECT(count == 6);
    count = 8;
    OK(cudaGraphGetEdges(p.graph, from, to, nullptr, &count));
    EXPECT(count == 6 && from[0] == p.set && to[0] == p.begin && from[5] == p.back && to[5] == p.host);
    count = 2;
    OK(cudaGraphNodeGetDependentNodes(p.kernel, neighbours, nullptr, &count));
    EXPECT(count == 1 && neighbours[0] == p.end);
    OK(cudaGraphNodeGetDependencies(p.kernel, neighbours, nullptr, &count));
    EXPECT(count == 1 && neighbours[0] == p.begin);
    OK(cudaGraphRemoveDependencies(p.graph, &p.back, &p.host, nullptr, 1));
    OK(cudaGraphNodeGetDependencies(p.host, nullptr, nullptr, &count));
    EXPECT(count == 0);
#endif
    (void)from, (void)to, (void)neighbours;
    OK(cudaGraphDestroyNode(p.kernel));
    OK(cudaGraphGetNodes(p.graph, nullptr, &count));
    EXPECT(count == 6);
    char path[] = "/tmp/graph.XXXXXX";
    const int file = mkstemp(path);
    EXPECT(file >= 0);
    OK(cudaGraphDebugDotPrint(p.graph, path, 0));
    FILE *dot = fopen(path, "r");
    char text[4096];
    const size_t length = fread(text, 1, sizeof text - 1, dot);
    fclose(dot);
    remove(path);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower(text[i]);
    EXPECT(std::string(text, length).find("memset") != std::string::npos);
}

// An external event record in a captured stream becomes a node.
static void external() {
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphNode_t nodes[4];
    cudaGraphNodeType type;
    int *x = zeros<int>(LENGTH);
    size_t count = 4;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    shift<<<1, LENGTH, 0, stream>>>(x, 1);
    OK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    OK(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, nodes, &count));
    EXPECT(count == 3);
    OK(cudaGraphNodeGetType(nodes[1], &type));
    EXPECT(type == cudaGraphNodeTypeEventRecord);
    OK(cudaGraphNodeGetType(nodes[2], &type));
    EXPECT(type == cudaGraphNodeTypeWaitEvent);
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

int main() {
    Parts parts;
    make(parts);
    parameters(parts);
    edges(parts);
    OK(cudaGraphDestroy(parts.graph));
    external();
    return 0;
}
