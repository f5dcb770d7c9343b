// Files that compute nothing right, and try to end well all the same. The environment variable RIGHT names one.
#include "../right/right.cuh"

#include <cstdio>
#include <dlfcn.h>
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

RIGHT_KERNELS({"changes-the-status", run_changes_the_status}, {"ends-well", run_ends_well},
              {"says-the-end", run_says_the_end}, {"asks-the-harness", run_asks_the_harness},
              {"no-analyses", run_no_analyses})
