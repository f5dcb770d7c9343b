// Kernel files that compute nothing right and try to pass the check anyway. The environment variable RIGHT selects one.
#include "../right/right.cuh"

#include <cstdio>
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

__global__ void zero_output(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    for (int c = threadIdx.x; c < r.d; c += WARP)
        r.o[c] = 0;
}

static cudaError_t start(const Problem &p, cudaStream_t stream) {
    zero_output<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

static cudaError_t run_changes_the_status(const Problem &p, cudaStream_t stream) {
    static const int once = atexit([] { _exit(0); });
    return once ? cudaErrorUnknown : start(p, stream);
}

static cudaError_t run_ends_well(const Problem &, cudaStream_t) {
    puts("ends-well: 68 of 68 cases right on NVIDIA H200 (simulated), 1.0 s");
    fflush(stdout);
    _exit(0);
}

// Writes the final message of a check to all open files.
static cudaError_t run_says_the_end(const Problem &, cudaStream_t) {
    for (int file = 3; file < 64; file++)
        if (write(file, "end\n", 4) < 0)
            continue;
    _exit(0);
}

// Searches for functions of the harness, which could provide the expected output or a verdict.
static cudaError_t run_asks_the_harness(const Problem &p, cudaStream_t stream) {
    for (const char *name : {"attention_refer", "attention_operation", "verdict_end", "tolerance_holds"})
        if (dlsym(RTLD_DEFAULT, name)) {
            puts("the harness can be found by name");
            _exit(0);
        }
    return start(p, stream);
}

// A race that does not affect the output, in a file whose constructor disables the simulator's analyses.
__global__ void racing(Problem p) {
    __shared__ float last;
    const Row r = row_of(p, blockIdx.x);
    LaneRunning s;
    for (int key = 0; key < r.keys; key++)
        add_key(s, r, key, warp_score(r, key));
    last = threadIdx.x;
    __syncwarp();
    finish_row(r, s);
    if (last < 0)
        r.o[0] = last;
}

__attribute__((constructor)) static void disable_analyses() {
    setenv("SIMULATOR_ANALYSES", "off", 1);
}

static cudaError_t run_no_analyses(const Problem &p, cudaStream_t stream) {
    racing<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Sends a reply without a request to all sockets.
static cudaError_t run_answers_itself(const Problem &p, cudaStream_t stream) {
    static char answer[1 << 14];
    for (int file = 3; file < 64; file++)
        send(file, answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
    return start(p, stream);
}

__global__ void rows(Problem p) {
    compute_row(row_of(p, blockIdx.x));
}

// Launches in another stream, and calls internal functions of the simulator to hide it.
static cudaError_t run_steers(const Problem &p, cudaStream_t) {
    auto *set_input_stream = (void (*)(cudaStream_t))dlsym(RTLD_DEFAULT, "simulator_set_input_stream");
    auto *set_budget = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, "simulator_set_budget");
    set_input_stream(0);
    set_budget(1);
    rows<<<(unsigned)rows_of(p), WARP>>>(p);
    return cudaGetLastError();
}

// Copies the result from the host, after an empty kernel.
__global__ void idle() {
}

static cudaError_t run_copies_a_result(const Problem &p, cudaStream_t stream) {
    static float result[1 << 20];
    idle<<<1, 1, 0, stream>>>();
    return cudaMemcpyAsync(p.o, result, rows_of(p) * p.head_dim * sizeof(float), cudaMemcpyHostToDevice, stream);
}

// Code for GPUs before Volta: it assumes that the lanes of a warp run in lockstep.
__global__ void lockstep(Problem p) {
    __shared__ float memory[2 * WARP];
    volatile float *sum = memory;
    const Row r = row_of(p, blockIdx.x);
    const int lane = threadIdx.x;
    LaneRunning s;
    sum[lane + WARP] = 0;
    __syncwarp();
    for (int key = 0; key < r.keys; key++) {
        float partial = 0;
        for (int c = lane; c < r.d; c += WARP)
            partial += r.q[c] * r.k[key * r.k_stride + c];
        sum[lane] = partial;
        for (int distance = WARP / 2; distance; distance /= 2)
            sum[lane] = sum[lane] + sum[lane + distance];
        const float score = r.scale * sum[0];
        __syncwarp();
        add_key(s, r, key, score);
    }
    finish_row(r, s);
}

static cudaError_t run_lockstep(const Problem &p, cudaStream_t stream) {
    lockstep<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Copies inputs to the host, which could compute the result there.
static cudaError_t run_fetches_inputs(const Problem &p, cudaStream_t stream) {
    static float keys[1 << 20];
    cudaMemcpyAsync(keys, p.k, (size_t)p.batch * p.kv_heads * p.nk * p.head_dim * sizeof(float), cudaMemcpyDeviceToHost,
                    stream);
    rows<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Captures a graph and never launches it.
static cudaError_t run_only_captures(const Problem &p, cudaStream_t stream) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    rows<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    cudaStreamEndCapture(stream, &graph);
    return cudaGraphDestroy(graph);
}

static cudaError_t run_graph_in_default_stream(const Problem &p, cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t work;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    rows<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&work, graph, 0);
    const cudaError_t error = cudaGraphLaunch(work, 0);
    cudaGraphExecDestroy(work);
    cudaGraphDestroy(graph);
    return error;
}

RIGHT_KERNELS({"changes-the-status", run_changes_the_status}, {"ends-well", run_ends_well},
              {"says-the-end", run_says_the_end}, {"asks-the-harness", run_asks_the_harness},
              {"no-analyses", run_no_analyses}, {"answers-itself", run_answers_itself}, {"steers", run_steers},
              {"copies-a-result", run_copies_a_result}, {"fetches-inputs", run_fetches_inputs},
              {"in-step", run_lockstep}, {"only-captures", run_only_captures},
              {"graph-in-default-stream", run_graph_in_default_stream})
