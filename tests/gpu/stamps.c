// What the segments of a step take in a kernel with time stamps, in cycles.
//
//   stamps gpu|sim KERNEL.so SOLUTION.so DTYPE B,H,N,D [causal]
//
// Output and log-sum-exp have to be the solution's bit for bit. Prints rows as scripts/stamps records them,
// from dtype on up to over_solution: of each segment the mean over all steps that were stamped, and how much longer a
// launch takes than the solution's, for which both are launched in turn; on the simulator 1. Exit status: 0; 1 other
// bits or no steps; 2 it could not be tried.
#include "stamps.h"
#include "problem.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 20 }; // timed ones, and as many whose stamps are read

// Indexed by the point at the end of the segment. Without STAMP_EXPONENTIATED the rounding is included in "weights".
static const char *const segments[STAMP_POINTS] = {
    [STAMP_PINGPONG] = "turn",         [STAMP_ISSUED] = "ask",
    [STAMP_QK_DONE] = "scores",        [STAMP_VOTED] = "vote",
    [STAMP_PV_WAIT] = "early",         [STAMP_PV_DONE] = "products",
    [STAMP_EXPONENTIATED] = "weights", [STAMP_END] = "rounding",
};

struct kernel {
    attention_function *forward;
    attention_stamps_function *stamps;
    const struct attention_lesson *lesson;
};

struct totals {
    uint64_t cycles[STAMP_POINTS]; // of the segment that ends there
    uint64_t steps;
    bool stamped[STAMP_POINTS];
};

static void *symbol(void *library, const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (found)
        return found;
    fprintf(stderr, "stamps: %s\n", dlerror());
    exit(2);
}

static void add(struct totals *totals, const struct stamps *stamps) {
    const struct stamp_sums *sums = stamps->of[0];
    for (int i = 0; i < STAMP_BLOCKS * STAMP_WARPGROUPS; i++) {
        totals->steps += sums[i].steps;
        for (int point = STAMP_PINGPONG, before = STAMP_BEGIN; sums[i].steps && point < STAMP_POINTS; point++) {
            if (!sums[i].clock[point])
                continue;
            totals->stamped[point] = true;
            totals->cycles[point] += (uint32_t)(sums[i].clock[point] - sums[i].clock[before]);
            before = point;
        }
    }
}

static bool same_bits(const struct kernel *stamped, const struct kernel *solution, const struct attention_problem *p,
                      size_t bytes) {
    unsigned char *outputs[2] = {malloc(bytes), malloc(bytes)};
    for (int i = 0; i < 2; i++) {
        if (!outputs[i])
            exit(2);
        require(cudaMemset(p->o, 0xff, bytes), "cudaMemset");
        require((i ? solution : stamped)->forward(p, NULL), "attention_forward");
        require(cudaMemcpy(outputs[i], p->o, bytes, cudaMemcpyDeviceToHost), "the launch");
    }
    bool same = !memcmp(outputs[0], outputs[1], bytes);
    free(outputs[0]);
    free(outputs[1]);
    return same;
}

static int compare(const void *a, const void *b) {
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

// The median time of a launch over that of the solution's.
static double over_solution(const struct kernel *stamped, const struct kernel *solution,
                            const struct attention_problem *p) {
    float ms[2][LAUNCHES];
    cudaEvent_t start, end;
    require(cudaEventCreate(&start), "cudaEventCreate");
    require(cudaEventCreate(&end), "cudaEventCreate");
    for (int i = 0; i < 2 * (LAUNCHES + 5); i++) { // five to warm up
        require(cudaEventRecord(start, NULL), "cudaEventRecord");
        require((i % 2 ? solution : stamped)->forward(p, NULL), "attention_forward");
        require(cudaEventRecord(end, NULL), "cudaEventRecord");
        require(cudaEventSynchronize(end), "the launch");
        require(cudaEventElapsedTime(&ms[i % 2][i / 2 % LAUNCHES], start, end), "cudaEventElapsedTime");
    }
    for (int i = 0; i < 2; i++)
        qsort(ms[i], LAUNCHES, sizeof(float), compare);
    return ms[0][LAUNCHES / 2] / ms[1][LAUNCHES / 2];
}

int main(int argc, char **argv) {
    struct shape s = {0};
    if ((argc != 6 && argc != 7) || sscanf(argv[5], "%d,%d,%d,%d", &s.batch, &s.heads, &s.nq, &s.head_dim) != 4) {
        fprintf(stderr, "usage: stamps gpu|sim KERNEL.so SOLUTION.so DTYPE B,H,N,D [causal]\n");
        return 2;
    }
    bool gpu = !strcmp(argv[1], "gpu");
    s.kv_heads = s.heads, s.nk = s.nq, s.causal = argc == 7;
    enum attention_dtype dtype = !strcmp(argv[4], "fp16") ? ATTENTION_FP16 : ATTENTION_BF16;
    void *libraries[] = {dlopen(argv[2], RTLD_NOW | RTLD_LOCAL), dlopen(argv[3], RTLD_NOW | RTLD_LOCAL)};
    struct kernel stamped = {.stamps = (attention_stamps_function *)symbol(libraries[0], "attention_stamps")}, solution;
    stamped.forward = (attention_function *)symbol(libraries[0], "attention_forward");
    solution.forward = (attention_function *)symbol(libraries[1], "attention_forward");
    solution.lesson = symbol(libraries[1], "attention_lesson");
    const char *why_not = obstacle(solution.lesson);
    if (why_not) {
        fprintf(stderr, "stamps: %s\n", why_not);
        return 2;
    }
    size_t bytes;
    struct attention_problem p = make_problem(solution.lesson, &s, dtype, &bytes);
    if (!same_bits(&stamped, &solution, &p, bytes)) {
        fprintf(stderr, "stamps: at %s the output is not the solution's\n", argv[5]);
        return 1;
    }
    double longer = gpu ? over_solution(&stamped, &solution, &p) : 1;
    struct stamps *stamps = malloc(sizeof *stamps);
    struct stamp_tile tile;
    struct totals totals = {0};
    if (!stamps)
        return 2;
    require(stamped.stamps(&p, stamps, &tile), "attention_stamps"); // those so far
    for (int i = 0; i < (gpu ? LAUNCHES : 1); i++) {
        require(stamped.forward(&p, NULL), "attention_forward");
        require(stamped.stamps(&p, stamps, &tile), "attention_stamps");
        add(&totals, stamps);
    }
    free(stamps);
    free_problem(&p);
    if (!totals.steps) {
        fprintf(stderr, "stamps: at %s there are no steps\n", argv[5]);
        return 1;
    }
    // Without a point between them the weights end with the step.
    if (!totals.stamped[STAMP_EXPONENTIATED]) {
        totals.stamped[STAMP_EXPONENTIATED] = true, totals.stamped[STAMP_END] = false;
        totals.cycles[STAMP_EXPONENTIATED] = totals.cycles[STAMP_END];
    }
    for (int point = STAMP_PINGPONG; point < STAMP_POINTS; point++)
        if (totals.stamped[point])
            printf("%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%s,%.1f,%llu,%.4f\n", argv[4], s.batch, s.heads, s.nq, s.nk,
                   s.head_dim, s.causal, tile.warpgroups, tile.queries, tile.keys, segments[point],
                   (double)totals.cycles[point] / (double)totals.steps, (unsigned long long)totals.steps, longer);
    return 0;
}
