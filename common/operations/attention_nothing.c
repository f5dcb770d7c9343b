// An output that is 0 everywhere says nothing of its cause. The log-sum-exp of the same rows does, where the kernel
// gives it; so do values so large that what is lost shows, and the same problem in a type with another range.
#include "host/diagnosis.h"
#include "host/parallel.h"
#include "operations/attention_ask.h"
#include "operations/attention_mistakes.h"
#include "operations/attention_operation.h"
#include "operations/attention_pattern.h"

#include <math.h>
#include <stdlib.h>

#define MISTAKE(name, title, reasoning) static const struct mistake name = {title, reasoning}

MISTAKE(
    nothing_seen, "no key is seen, or none is in the sum",
    "The output is 0 everywhere and lse -infinity, as for rows that see no key. No tile was worked on, every key was "
    "hidden, or nothing was ever added to the sum of the weights. Work out the last key that a query may see, in "
    "the type in which the kernel does, and the end of the loop; then follow the sum.");
MISTAKE(sum_0, "the sum of the weights stays 0",
        "The output is 0 everywhere and lse -infinity, though the values are weighted: values large enough show. A row "
        "whose sum is 0 is taken for one that sees no key. Where is a weight added to the sum, and is it that sum by "
        "which the row is divided?");
MISTAKE(
    sum_infinite, "the sum of the weights is infinite",
    "The output is 0 everywhere, though the values are weighted, and lse is no number: a number divided by infinity "
    "is 0. What does the sum of the weights begin with, which is the largest weight that can be added to it, and "
    "in which type?");
MISTAKE(sum_unknown, "the sum of the weights is infinite or stays 0",
        "The output is 0 everywhere, though the values are weighted: values large enough show. A number divided by "
        "infinity is 0, and a row whose sum is 0 may be taken for one that sees no key. What does the sum begin with, "
        "and what is added to it?");
MISTAKE(rounded_to_0, "the weights are rounded to 0 in fp16",
        "The output is 0 everywhere in fp16, while the same problem comes out right in bf16. A weight below 3e-8 is 0 "
        "in fp16; in bf16 it may be as small as 1e-40. How large is the largest weight of a row, just before it is "
        "rounded, and what decides that?");
MISTAKE(weights_0, "the weights are 0 where they meet the values",
        "The output is 0 everywhere, but an infinite value makes it NaN: the values are multiplied, by weights of 0. "
        "What is subtracted from the scores may be far too large, a rounding to 16 bits may take the weights away, or "
        "they are read from where nobody has stored them. Follow one from its exponential to the product.");
MISTAKE(value_lost, "the values or their weighted sum are lost",
        "The output is 0 everywhere, but lse is right: the keys are seen, and their weights add up to the right sum. "
        "Not even an infinite value shows. Either the values are read from elsewhere, and a bulk copy reads 0 outside "
        "its tensor, or none is added up, or what is added up is not what is stored.");

enum { SEED = 4711, KEYS = 70, QUERIES = 5, D = 64 };

#define LARGEST 3e38f // two of it are infinite in fp32

enum answer { NOT_ASKED, RIGHT, ZERO, OTHER };
enum lse_answer { LSE_UNKNOWN, LSE_LOW, LSE_NO_NUMBER, LSE_AS_IT_SHOULD };
struct answers {
    enum answer o;
    enum lse_answer lse; // of all rows
};

static enum lse_answer hear_lse(const float *lse, const double *right, const double *bound, int rows) {
    bool low = true, none = true, good = true;
    for (int r = 0; r < rows; r++) {
        low = low && lse[r] == -INFINITY;
        none = none && !(lse[r] < INFINITY);
        good = good && fabs(lse[r] - right[r]) <= bound[r];
    }
    return low ? LSE_LOW : none ? LSE_NO_NUMBER : good ? LSE_AS_IT_SHOULD : LSE_UNKNOWN;
}

static enum answer hear_output(const float *o, const struct prediction *right, int elements) {
    bool is_zero = true, is_right = true;
    for (int i = 0; i < elements; i++) {
        is_zero = is_zero && o[i] == 0;
        is_right = is_right && fabs(o[i] - right->value[i]) <= right->bound[i];
    }
    return is_zero ? ZERO : is_right ? RIGHT : OTHER;
}

static struct answers ask(const struct diagnosed *kernel, enum attention_dtype dtype) {
    const struct problem_case which = {.attention = {1, 2, 2, QUERIES, KEYS, D}, .dtype = dtype};
    struct answers answers = {NOT_ASKED, LSE_UNKNOWN};
    struct host_problem problem;
    if (!kernel->covers(kernel->context, &which))
        return answers;
    attention_make(&which, SEED, true, &problem);
    if (!kernel->optional)
        problem_leave_optional(&problem);
    int64_t elements = problem_output_elements(&problem);
    const struct host_tensor *o = problem_output(&problem, OUTPUT_O);
    int of_o = (int)(o->rows * o->columns);
    float *got = host_allocate(elements, sizeof *got);
    struct prediction right = {.value = host_allocate(elements, sizeof(double)),
                               .bound = host_allocate(elements, sizeof(double))};
    variant_predict(NULL, &problem, &right);
    if (kernel->run(kernel->context, &problem, got)) {
        answers.o = hear_output(got, &right, of_o);
        if (kernel->optional)
            answers.lse = hear_lse(got + of_o, right.value + of_o, right.bound + of_o, (int)o->rows);
    }
    free(got);
    free(right.value);
    free(right.bound);
    host_problem_free(&problem);
    return answers;
}

// Whether values as large as this one, of keys that all have the same score, leave an output of 0. False where the
// kernel could not be asked.
static bool hides(const struct diagnosed *kernel, enum attention_dtype dtype, float value, bool *hidden) {
    static float q[QUERIES * D], k[KEYS * D], v[KEYS * D], o[QUERIES * D];
    for (int i = 0; i < KEYS * D; i++)
        v[i] = value;
    if (!attention_ask_head(kernel, dtype, D, QUERIES, KEYS, q, k, v, o))
        return false;
    *hidden = true;
    for (int i = 0; i < QUERIES * D; i++)
        *hidden = *hidden && o[i] == 0;
    return true;
}

// Values are multiplied by weights, and come out as 0 all the same.
static const struct mistake *refine_met(const struct mistake *mistake, const struct diagnosed *kernel,
                                        enum attention_dtype dtype, enum lse_answer lse) {
    bool hidden;
    if (lse == LSE_NO_NUMBER)
        return &sum_infinite;
    if (dtype == ATTENTION_FP16) { // whose largest sum is no infinity
        enum answer in_bf16 = ask(kernel, ATTENTION_BF16).o;
        if (in_bf16 == RIGHT)
            return &rounded_to_0;
        dtype = in_bf16 == ZERO ? ATTENTION_BF16 : dtype;
    }
    if (lse == LSE_AS_IT_SHOULD)
        return &weights_0;
    if (dtype == ATTENTION_FP16 || !hides(kernel, dtype, LARGEST, &hidden))
        return mistake;
    return hidden ? &weights_0 : lse == LSE_LOW ? &sum_0 : &sum_unknown;
}

const struct mistake *attention_refine(const struct mistake *mistake, const struct diagnosed *kernel,
                                       enum attention_dtype dtype) {
    bool hidden;
    // Only where maxima grow by little: then it is not left out.
    if (attention_is_left_unscaled(mistake) && attention_survives_steps(kernel, dtype))
        return NULL;
    if (mistake != attention_output_0)
        return mistake;
    struct answers answers = ask(kernel, dtype);
    if (answers.o != ZERO || !hides(kernel, dtype, INFINITY, &hidden))
        return mistake;
    if (!hidden)
        return refine_met(mistake, kernel, dtype, answers.lse);
    return answers.lse == LSE_LOW ? &nothing_seen : answers.lse == LSE_AS_IT_SHOULD ? &value_lost : mistake;
}
