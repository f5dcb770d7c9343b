// Access patterns: 32 byte offsets, one a lane, that a kernel of patterns.cu reads or writes with one instruction again
// and again, so that a profiler's sums tell what a single such access costs.
#ifndef PATTERNS_H
#define PATTERNS_H

#ifdef __cplusplus
extern "C" {
#endif

// A launch runs up to four patterns. Pattern p is accessed PATTERN_FIRST_WEIGHT * base^p times: the counts of a single
// access are then the digits of the launch's sum in that base, and a stray count or two lands below the first digit.
enum { PATTERNS_A_LAUNCH = 4, PATTERN_FIRST_WEIGHT = 8, PATTERN_MEMORY = 32768 };

// Which patterns a kernel runs. PATTERN_WHOLE_WARP: none that leaves lanes out. PATTERN_ALONE: one a launch, where
// stray counts come with every few accesses and would spill into the digits of other patterns.
enum pattern_set {
    PATTERN_STRIDES = 1,
    PATTERN_FEW = 2,
    PATTERN_SHAPES = 4,
    PATTERN_MISALIGNED = 8,
    PATTERN_WHOLE_WARP = 16,
    PATTERN_ALONE = 32,
    PATTERN_ROWS = 64,
};

struct pattern {
    unsigned offset[32]; // bytes, below PATTERN_MEMORY minus the width of the access
    unsigned mask;       // lanes that take part
};

// What a kernel is told, as a parameter and so in constant memory: reading it adds nothing to the counts.
struct pattern_batch {
    struct pattern pattern[PATTERNS_A_LAUNCH];
    int count;
    unsigned base;
    char *memory; // [PATTERN_MEMORY], device
};

struct pattern_kernel {
    const char *name;
    const void *kernel; // void (struct pattern_batch batch)
    unsigned width;     // bytes a lane, 16 for a row of ldmatrix
    unsigned sets;
    unsigned base; // above the largest count of one access; small where an access takes long
};

extern const struct pattern_kernel pattern_kernels[]; // ended by one without a name

#ifdef __cplusplus
}
#endif

#endif
