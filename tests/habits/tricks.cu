// Files that compute nothing right, and try to end well all the same. The environment variable RIGHT names one.
#include "../right/right.cuh"

#include <cstdio>
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

__global__ void nothing(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    for (int c = threadIdx.x; c < r.d; c += WARP)
        r.o[c] = 0;
}

static cudaError_t start(const Problem &p, cudaStream_t stream) {
    nothing<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
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

// To whatever is open: the last word of a check that has come to its end.
static cudaError_t run_says_the_end(const Problem &, cudaStream_t) {
    for (int file = 3; file < 64; file++)
        if (write(file, "end\n", 4) < 0)
            continue;
    _exit(0);
}

// What the harness would expect, or a verdict that is always right.
static cudaError_t run_asks_the_harness(const Problem &p, cudaStream_t stream) {
    for (const char *name : {"attention_refer", "attention_operation", "verdict_end", "tolerance_holds"})
        if (dlsym(RTLD_DEFAULT, name)) {
            puts("the harness can be found by name");
            _exit(0);
        }
    return start(p, stream);
}

// A race that no number shows, in a file that asks for no analyses when it is loaded.
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

__attribute__((constructor)) static void ask_for_no_analyses() {
    setenv("SIMULATOR_ANALYSES", "off", 1);
}

static cudaError_t run_no_analyses(const Problem &p, cudaStream_t stream) {
    racing<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// To whatever is a socket: a reply without a request.
static cudaError_t run_answers_itself(const Problem &p, cudaStream_t stream) {
    static char answer[1 << 14];
    for (int file = 3; file < 64; file++)
        send(file, answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
    return start(p, stream);
}

__global__ void rows(Problem p) {
    attend_row(row_of(p, blockIdx.x));
}

// A stream that was not given, and the simulator is told that the inputs are there.
static cudaError_t run_steers(const Problem &p, cudaStream_t) {
    auto *inputs_on = (void (*)(cudaStream_t))dlsym(RTLD_DEFAULT, "simulator_set_input_stream");
    auto *budget = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, "simulator_set_budget");
    inputs_on(0);
    budget(1);
    rows<<<(unsigned)rows_of(p), WARP>>>(p);
    return cudaGetLastError();
}

// The result comes from the host, behind a kernel that does nothing.
__global__ void idle() {
}

static cudaError_t run_copies_a_result(const Problem &p, cudaStream_t stream) {
    static float result[1 << 20];
    idle<<<1, 1, 0, stream>>>();
    return cudaMemcpyAsync(p.o, result, rows_of(p) * p.head_dim * sizeof(float), cudaMemcpyHostToDevice, stream);
}

// Code from before Volta: the lanes of a warp are taken to run in step.
__global__ void in_step(Problem p) {
    __shared__ float memory[2 * WARP];
    volatile float *sum = memory;
    const Row r = row_of(p, blockIdx.x);
    const int lane = threadIdx.x;
    LaneRunning s;
    sum[lane + WARP] = 0;
    __syncwarp();
    for (int key = 0; key < r.keys; key++) {
        float part = 0;
        for (int c = lane; c < r.d; c += WARP)
            part += r.q[c] * r.k[key * r.k_step + c];
        sum[lane] = part;
        for (int distance = WARP / 2; distance; distance /= 2)
            sum[lane] = sum[lane] + sum[lane + distance];
        const float score = r.scale * sum[0];
        __syncwarp();
        add_key(s, r, key, score);
    }
    finish_row(r, s);
}

static cudaError_t run_in_step(const Problem &p, cudaStream_t stream) {
    in_step<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// Who has the inputs on the host can compute there what a kernel then stores.
static cudaError_t run_fetches_inputs(const Problem &p, cudaStream_t stream) {
    static float keys[1 << 20];
    cudaMemcpyAsync(keys, p.k, (size_t)p.batch * p.kv_heads * p.nk * p.head_dim * sizeof(float), cudaMemcpyDeviceToHost,
                    stream);
    rows<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// What is captured and never launched has done nothing.
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
              {"in-step", run_in_step}, {"only-captures", run_only_captures},
              {"graph-in-default-stream", run_graph_in_default_stream})
