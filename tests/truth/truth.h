// The truth suite: kernels of a line or a few, one for each form of a PTX instruction, whose results were taken once on
// a GPU. A form is a kernel that writes result[i] from a[i], b[i] and c[i]; the same program runs it on a GPU and on
// the simulator.
//
//   integer.cu real.cu half.cu convert.cu approximate.cu video.cu    forms that are one PTX instruction, lane by lane
//   warp.cu memory.cu atomic.cu matrix.cu sparse.cu wmma.cu          forms that need a warp, memory, or tensor cores
//   texture.cu surface.cu                                            forms that read and write arrays
//   wgmma.cu sparse_wgmma.cu barrier.cu bulk.cu tensor.cu cluster.cu forms of Hopper, for sm_90a
//   inputs.c     the inputs, from a seed
//   run.c        runs every form and writes what it computed
//   compare.c    compares two such files
#ifndef TRUTH_H
#define TRUTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRUTH_ELEMENTS = 2048, TRUTH_BLOCK = 256 };

// What an array holds. Types of the same width differ in how their inputs are drawn.
enum truth_type {
    TRUTH_NONE, // no such input
    TRUTH_I16,
    TRUTH_I32,
    TRUTH_I64,
    TRUTH_SHIFT, // 32-bit, 0 to 71: shift amounts past the width are in
    TRUTH_F16,
    TRUTH_BF16,
    TRUTH_F16X2,
    TRUTH_BF16X2,
    TRUTH_F32,
    TRUTH_F64,
    TRUTH_ANGLE,       // fp32 in [-100 pi, 100 pi]
    TRUTH_POWER,       // fp32 in [-160, 160]: where exp2 goes from 0 to infinity
    TRUTH_SMALL_F16X2, // integers from -4 to 4: sums of their products are exact
    TRUTH_SMALL_BF16X2,
    TRUTH_SMALL_F32,
    TRUTH_UNIT_F16X2, // uniform in [-1, 1)
    TRUTH_UNIT_BF16X2,
    TRUTH_UNIT_F32,
};

// How a result is compared with the GPU's.
enum truth_comparison {
    TRUTH_EXACT,     // bit for bit
    TRUTH_RELATIVE,  // both within bound * |exact value|
    TRUTH_ABSOLUTE,  // both within bound
    TRUTH_ULP,       // both within bound units in the last place of the exact value
    TRUTH_LOGARITHM, // absolute in (0.5, 2), relative elsewhere
    TRUTH_NEAR,      // within bound of the GPU's result: there is no closed form (order of summation)
    TRUTH_FAILED,    // there is no result: only in what was written
};

struct truth_form {
    const char *name;
    const void *kernel; // void (T *result, const A *a, const B *b, const C *c)
    enum truth_type result, input[3];
    enum truth_comparison comparison;
    double bound;
    // Starts the kernel, where that takes more than 8 blocks of 256 threads and these arrays; a cudaError_t. Else NULL.
    int (*launch)(const struct truth_form *form, void *result, void *const input[3]);
};

// One table a file, ended by a form without a name. The second ones are make test-all's: a program may be linked
// without them.
extern const struct truth_form truth_integer[], truth_real[], truth_half[], truth_convert[], truth_approximate[],
    truth_warp[], truth_memory[], truth_atomic[], truth_matrix[], truth_sparse[], truth_wgmma[], truth_sparse_wgmma[],
    truth_barrier[], truth_bulk[];
#define TRUTH_LONG __attribute__((weak))
extern const struct truth_form truth_video[] TRUTH_LONG, truth_tensor[] TRUTH_LONG, truth_cluster[] TRUTH_LONG,
    truth_wmma[] TRUTH_LONG, truth_texture[] TRUTH_LONG, truth_surface[] TRUTH_LONG;

// A file of results holds such a record for each form that ran or failed, each followed by its first `elements`
// results.
struct truth_result {
    char name[64];
    int32_t comparison, type, input[3], elements;
    double bound;
    uint64_t hash; // of the bytes of all TRUTH_ELEMENTS results
};

size_t truth_type_bytes(enum truth_type type);

// Fills values[TRUTH_ELEMENTS] of type for input number 0, 1 or 2. The same on every machine.
void truth_fill(enum truth_type type, int input, void *values);

#ifdef __cplusplus
}
#endif

#endif
