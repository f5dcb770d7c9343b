// Runs each kernel of patterns.cu over its access patterns, and lists the launches in the order in which a profiler
// sees them: launch,kernel,base,place of the pattern in the launch,pattern.
//
//   truth-patterns LIST.csv [--single] [KERNEL...]     --single: every pattern in a launch of its own, 8 times
#include "patterns.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PATTERNS = 96, ALL_LANES = -1 };

struct named_pattern {
    char name[32];
    struct pattern pattern;
};

static struct named_pattern patterns[MOST_PATTERNS];
static int pattern_count;
static bool whole_warp_only;
static int patterns_a_launch = PATTERNS_A_LAUNCH;

// Adds a pattern whose lane l accesses element element[l], counted in accesses.
static void add(const char *name, unsigned width, const unsigned element[32], int mask) {
    if (whole_warp_only && mask != ALL_LANES)
        return;
    struct named_pattern *p = &patterns[pattern_count++];
    snprintf(p->name, sizeof p->name, "%s", name);
    for (int lane = 0; lane < 32; lane++)
        p->pattern.offset[lane] = element[lane] * width;
    p->pattern.mask = (unsigned)mask;
}

static void add_strides(unsigned width) {
    for (unsigned stride = 1; stride <= 33; stride++) {
        char name[32];
        unsigned element[32];
        for (unsigned lane = 0; lane < 32; lane++)
            element[lane] = lane * stride;
        snprintf(name, sizeof name, "stride-%u", stride);
        add(name, width, element, ALL_LANES);
    }
}

// Lane l accesses (l / group) * far + (l % group) * near.
static void add_grid(const char *name, unsigned width, unsigned group, unsigned far, unsigned near, int mask) {
    unsigned element[32];
    for (unsigned lane = 0; lane < 32; lane++)
        element[lane] = lane / group * far + lane % group * near;
    add(name, width, element, mask);
}

static void add_random(const char *name, unsigned width, unsigned range, unsigned seed) {
    unsigned element[32];
    for (unsigned lane = 0; lane < 32; lane++) {
        seed = seed * 1664525 + 1013904223;
        element[lane] = (seed >> 8) % range;
    }
    add(name, width, element, ALL_LANES);
}

static void add_few(unsigned width) {
    add_grid("contiguous", width, 32, 0, 1, ALL_LANES);
    add_grid("broadcast", width, 32, 0, 0, ALL_LANES);
    add_grid("pairs-share", width, 2, 1, 0, ALL_LANES);
    add_grid("rows-of-8", width, 8, 512 / width, 1, ALL_LANES);
    add_grid("columns-of-8", width, 8, 1, 256 / width, ALL_LANES);
    add_grid("even-lanes", width, 32, 0, 1, 0x55555555);
    add_random("random-64", width, 64, 1);
    add_random("random-512", width, 512, 2);
}

// What tells the rules of 64- and 128-bit accesses apart: who shares with whom, which lanes are served together.
static void add_shapes(unsigned width) {
    add_grid("eights-share", width, 8, 1, 0, ALL_LANES);
    add_grid("halves-share", width, 16, 1, 0, ALL_LANES);
    add_grid("modulo-2", width, 2, 0, 1, ALL_LANES);
    add_grid("modulo-4", width, 4, 0, 1, ALL_LANES);
    add_grid("modulo-8", width, 8, 0, 1, ALL_LANES);
    add_grid("modulo-16", width, 16, 0, 1, ALL_LANES);
    add_grid("eights-share-far", width, 8, 512 / width, 0, ALL_LANES);
    add_grid("eights-share-near", width, 8, 128 / width, 0, ALL_LANES);
    add_grid("fours-share-near", width, 4, 128 / width, 0, ALL_LANES);
    add_grid("pairs-share-near", width, 2, 128 / width, 0, ALL_LANES);
    add_grid("modulo-8-near", width, 8, 0, 128 / width, ALL_LANES);
    add_grid("modulo-4-near", width, 4, 0, 128 / width, ALL_LANES);
    add_grid("halves-conflict", width, 16, 512 / width, 1, ALL_LANES);
    add_grid("eights-conflict", width, 8, 512 / width, 1, ALL_LANES);
    add_grid("fours-conflict", width, 4, 512 / width, 1, ALL_LANES);
    add_grid("pairs-conflict", width, 2, 512 / width, 1, ALL_LANES);
    add_grid("padded-rows-of-8", width, 8, 272 / width, 1, ALL_LANES);
    add_grid("padded-columns-of-8", width, 8, 1, 272 / width, ALL_LANES);
    add_grid("lanes-0-to-7", width, 32, 0, 1, 0x000000ff);
    add_grid("lanes-0-to-15", width, 32, 0, 1, 0x0000ffff);
    add_grid("lanes-16-to-31", width, 32, 0, 1, (int)0xffff0000);
    add_grid("lanes-0-and-16", width, 32, 0, 32, 0x00010001);
    add_grid("one-lane-an-eighth", width, 32, 0, 32, 0x11111111);
    add_grid("one-lane", width, 32, 0, 1, 0x00000004);
    add_random("random-32", width, 32, 3);
    add_random("random-128", width, 128, 4);
    add_random("random-256", width, 256, 5);
}

// Offsets that are aligned for the access but not for a sector of 32 bytes or a line of 128.
static void add_misaligned(unsigned width) {
    unsigned element[32];
    for (unsigned shift = 1; shift <= 3; shift++) {
        char name[32];
        for (unsigned lane = 0; lane < 32; lane++)
            element[lane] = lane + shift;
        snprintf(name, sizeof name, "shifted-by-%u", shift);
        add(name, width, element, ALL_LANES);
    }
    add_grid("stride-2", width, 32, 0, 2, ALL_LANES);
    add_grid("stride-8", width, 32, 0, 8, ALL_LANES);
    add_grid("stride-33", width, 32, 0, 33, ALL_LANES);
}

// Rows of elements of 16 bytes, eight lanes a row, of which as many take part as a row has elements: rows that are no
// whole sectors.
static void add_rows(unsigned width) {
    add_grid("rows-of-5", width, 8, 5, 1, 0x1f1f1f1f);
    add_grid("rows-of-5-one", width, 8, 5, 1, 0x0000001f);
    add_grid("rows-of-5-three", width, 8, 5, 1, 0x001f1f1f);
    add_grid("rows-of-7", width, 8, 7, 1, 0x7f7f7f7f);
    add_grid("rows-of-6", width, 8, 6, 1, 0x3f3f3f3f);
    add_grid("rows-of-3", width, 8, 3, 1, 0x07070707);
    unsigned element[32]; // half a line of 128 bytes on
    for (unsigned lane = 0; lane < 32; lane++)
        element[lane] = 4 + lane / 8 * 5 + lane % 8;
    add("rows-of-5-from-4", width, element, 0x1f1f1f1f);
}

static bool check(cudaError_t status, const char *what) {
    if (status != cudaSuccess)
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    return status == cudaSuccess;
}

// Launches the kernel over all patterns, some at a time; returns the number of launches, -1 where one failed.
static int run_kernel(const struct pattern_kernel *kernel, int launch, FILE *list) {
    static void *memory;
    if (!memory && (!check(cudaMalloc(&memory, PATTERN_MEMORY), "cudaMalloc") ||
                    !check(cudaMemset(memory, 0, PATTERN_MEMORY), "cudaMemset")))
        return -1;
    pattern_count = 0;
    whole_warp_only = kernel->sets & PATTERN_WHOLE_WARP;
    if (kernel->sets & PATTERN_STRIDES)
        add_strides(kernel->width);
    if (kernel->sets & PATTERN_FEW)
        add_few(kernel->width);
    if (kernel->sets & PATTERN_SHAPES)
        add_shapes(kernel->width);
    if (kernel->sets & PATTERN_MISALIGNED)
        add_misaligned(kernel->width);
    if (kernel->sets & PATTERN_ROWS)
        add_rows(kernel->width);
    int launches = 0;
    const int at_once = kernel->sets & PATTERN_ALONE ? 1 : patterns_a_launch;
    for (int first = 0; first < pattern_count; first += at_once) {
        const int left = pattern_count - first;
        struct pattern_batch batch = {.base = kernel->base, .memory = memory};
        batch.count = left < at_once ? left : at_once;
        for (int p = 0; p < batch.count; p++) {
            batch.pattern[p] = patterns[first + p].pattern;
            fprintf(list, "%d,%s,%u,%d,%s\n", launch + launches, kernel->name, batch.base, p, patterns[first + p].name);
        }
        void *arguments[] = {&batch};
        const dim3 grid = {1, 1, 1}, block = {32, 1, 1};
        if (!check(cudaLaunchKernel(kernel->kernel, grid, block, arguments, 0, NULL), kernel->name) ||
            !check(cudaDeviceSynchronize(), kernel->name))
            return -1;
        launches++;
    }
    return launches;
}

int main(int argc, char **argv) {
    FILE *list = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (!list) {
        fprintf(stderr, "usage: %s LIST.csv [--single] [KERNEL...]\n", argv[0]);
        return 2;
    }
    int first_kernel = 2;
    if (argc > 2 && strcmp(argv[2], "--single") == 0) {
        patterns_a_launch = 1;
        first_kernel = 3;
    }
    fprintf(list, "launch,kernel,base,place,pattern\n");
    int launches = 0;
    for (const struct pattern_kernel *kernel = pattern_kernels; kernel->name; kernel++) {
        bool wanted = argc <= first_kernel;
        for (int i = first_kernel; i < argc; i++)
            wanted = wanted || strcmp(argv[i], kernel->name) == 0;
        const int more = wanted ? run_kernel(kernel, launches, list) : 0;
        if (more < 0) {
            fclose(list);
            return 1;
        }
        launches += more;
    }
    printf("%d launches\n", launches);
    return fclose(list) == 0 ? 0 : 2;
}
