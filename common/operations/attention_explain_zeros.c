// An output that is 0 everywhere says nothing of its cause. The log-sum-exp of the same rows does, where the kernel
// gives it; so do values so large that what is lost shows, and the same problem in a type with another range.
#include "host/diagnosis.h"
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain.h"
#include "operations/attention_mistakes.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>

#define MISTAKE(name, code, title, reasoning) static const struct mistake name = {code, {title, reasoning}}

MISTAKE(all_keys_masked, "all-keys-masked", "all keys are masked, or none is added to the sum",
        "The output is 0 everywhere and lse is -infinity, as in fully masked rows. No tile was processed, every key "
        "was masked, or nothing was ever added to the sum of the weights. Work out the causal limit of a query, in the "
        "type that the kernel uses, and the end of the loop; then follow the sum.");
MISTAKE(sum_zero, "sum-zero", "the sum of the weights stays 0",
        "The output is 0 everywhere and lse is -infinity, although the values are multiplied by weights: very large "
        "values are visible in the output. A row whose sum is 0 is treated as fully masked. Where is a weight added to "
        "the sum, and is the row divided by that sum?");
MISTAKE(sum_infinite, "sum-infinite", "the sum of the weights is infinite",
        "The output is 0 everywhere, although the values are multiplied by weights, and lse is infinite or NaN: a "
        "finite value divided by infinity is 0. What does the sum of the weights start with, how large is the largest "
        "weight that can be added to it, and in which type?");
MISTAKE(sum_zero_or_infinite, "sum-zero-or-infinite", "the sum of the weights is infinite or stays 0",
        "The output is 0 everywhere, although the values are multiplied by weights: very large values are visible in "
        "the output. A finite value divided by infinity is 0, and a row whose sum is 0 may be treated as fully masked. "
        "What does the sum start with, and what is added to it?");
MISTAKE(weights_underflow_fp16, "weights-underflow-fp16", "the weights underflow to 0 in fp16",
        "The output is 0 everywhere in fp16, while the same problem is right in bf16. A weight below 3e-8 is 0 in "
        "fp16; in bf16 it may be as small as 1e-40. How large is the largest weight of a row, just before it is "
        "rounded, and what decides that?");
MISTAKE(weights_zero, "weights-zero", "the weights are 0 when multiplied by the values",
        "The output is 0 everywhere, but an infinite value makes it NaN: the values are multiplied by weights of 0. "
        "The subtracted maximum may be far too large, rounding to 16 bits may make the weights 0, or they are read "
        "from an address where no thread has stored them. Follow one weight from its exponential to the PV product.");
MISTAKE(values_lost, "values-lost", "the values or their weighted sum are lost",
        "The output is 0 everywhere, but lse is right: the keys are attended to, and their weights add up to the right "
        "sum. Not even an infinite value is visible. Either the values are read from a wrong address (a TMA load fills "
        "out-of-bounds elements with 0), or none is added, or the accumulator is not what is stored.");

enum { SEED = 4711, KEYS = 70, QUERIES = 5, D = 64 };

#define LARGEST 3e38f // two of it are infinite in fp32

enum probe_result { NOT_RUN, RIGHT, ZERO, OTHER };
enum lse_result { LSE_UNKNOWN, LSE_MINUS_INFINITY, LSE_NOT_FINITE, LSE_AS_EXPECTED };
struct probe_results {
    enum probe_result o;
    enum lse_result lse; // of all rows
};

static enum lse_result classify_lse(const float *lse, const double *right, const double *bound, int rows) {
    bool low = true, none = true, good = true;
    for (int r = 0; r < rows; r++) {
        low = low && lse[r] == -INFINITY;
        none = none && !(lse[r] < INFINITY);
        good = good && fabs(lse[r] - right[r]) <= bound[r];
    }
    return low ? LSE_MINUS_INFINITY : none ? LSE_NOT_FINITE : good ? LSE_AS_EXPECTED : LSE_UNKNOWN;
}

static enum probe_result classify_output(const float *o, const struct prediction *right, int elements) {
    bool is_zero = true, is_right = true;
    for (int i = 0; i < elements; i++) {
        is_zero = is_zero && o[i] == 0;
        is_right = is_right && fabs(o[i] - right->value[i]) <= right->bound[i];
    }
    return is_zero ? ZERO : is_right ? RIGHT : OTHER;
}

static struct probe_results run_probe(const struct diagnosed *kernel, enum attention_dtype dtype) {
    const struct problem_case which = {.attention = {1, 2, 2, QUERIES, KEYS, D}, .dtype = dtype};
    struct probe_results probe_results = {NOT_RUN, LSE_UNKNOWN};
    struct host_problem problem;
    if (!kernel->covers(kernel->context, &which))
        return probe_results;
    attention_make(&which, SEED, true, &problem);
    if (!kernel->optional)
        problem_omit_optional(&problem);
    int64_t elements = problem_output_elements(&problem);
    const struct host_tensor *o = problem_output(&problem, OUTPUT_O);
    int of_o = (int)(o->rows * o->columns);
    float *got = host_allocate(elements, sizeof *got);
    struct prediction right = {.value = host_allocate(elements, sizeof(double)),
                               .bound = host_allocate(elements, sizeof(double))};
    variant_predict(NULL, &problem, &right);
    if (kernel->run(kernel->context, &problem, got)) {
        probe_results.o = classify_output(got, &right, of_o);
        if (kernel->optional)
            probe_results.lse = classify_lse(got + of_o, right.value + of_o, right.bound + of_o, (int)o->rows);
    }
    free(got);
    free(right.value);
    free(right.bound);
    host_problem_free(&problem);
    return probe_results;
}

// Whether values as large as this one, of keys that all have the same score, leave an output of 0. False where the
// kernel could not be asked.
static bool values_vanish(const struct diagnosed *kernel, enum attention_dtype dtype, float value, bool *vanished) {
    static float q[QUERIES * D], k[KEYS * D], v[KEYS * D], o[QUERIES * D];
    for (int i = 0; i < KEYS * D; i++)
        v[i] = value;
    if (!attention_run_head(kernel, dtype, D, QUERIES, KEYS, q, k, v, o))
        return false;
    *vanished = true;
    for (int i = 0; i < QUERIES * D; i++)
        *vanished = *vanished && o[i] == 0;
    return true;
}

// Values are multiplied by weights, and come out as 0 all the same.
static const struct mistake *refine_multiplied(const struct mistake *mistake, const struct diagnosed *kernel,
                                               enum attention_dtype dtype, enum lse_result lse) {
    bool vanished;
    if (lse == LSE_NOT_FINITE)
        return &sum_infinite;
    if (dtype == ATTENTION_FP16) { // whose largest sum is no infinity
        enum probe_result in_bf16 = run_probe(kernel, ATTENTION_BF16).o;
        if (in_bf16 == RIGHT)
            return &weights_underflow_fp16;
        dtype = in_bf16 == ZERO ? ATTENTION_BF16 : dtype;
    }
    if (lse == LSE_AS_EXPECTED)
        return &weights_zero;
    if (dtype == ATTENTION_FP16 || !values_vanish(kernel, dtype, LARGEST, &vanished))
        return mistake;
    return vanished ? &weights_zero : lse == LSE_MINUS_INFINITY ? &sum_zero : &sum_zero_or_infinite;
}

const struct mistake *attention_refine(const struct mistake *mistake, const struct diagnosed *kernel,
                                       enum attention_dtype dtype) {
    bool vanished;
    // Only where maxima grow by little: then it is not left out.
    if (attention_is_not_rescaled(mistake) && attention_survives_steps(kernel, dtype))
        return NULL;
    if (mistake != attention_output_0)
        return mistake;
    struct probe_results probe_results = run_probe(kernel, dtype);
    if (probe_results.o != ZERO || !values_vanish(kernel, dtype, INFINITY, &vanished))
        return mistake;
    if (!vanished)
        return refine_multiplied(mistake, kernel, dtype, probe_results.lse);
    return probe_results.lse == LSE_MINUS_INFINITY ? &all_keys_masked
           : probe_results.lse == LSE_AS_EXPECTED  ? &values_lost
                                                   : mistake;
}
