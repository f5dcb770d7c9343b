// What a wrong case needs to be wrong: each property of it is changed by itself, and the kernel asked again.
#include "operations/attention_conditions.h"

#include "clock.h"
#include "host/inputs.h"
#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_operation.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, SEEDS = 3, FEW_KEYS = 16, FEW_COLUMNS = 8 };

double attention_work(const struct attention_shape *s) {
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim;
}

enum case_result attention_case_result(const struct diagnosed *kernel, const struct problem_case *which,
                                       uint64_t seed) {
    struct host_problem problem;
    if (!kernel->covers(kernel->context, which))
        return CASE_NOT_COVERED;
    kernel->operation->make(which, seed, true, &problem);
    if (!kernel->optional)
        problem_omit_optional(&problem);
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    enum case_result result = !kernel->run(kernel->context, &problem, outputs) ? CASE_UNKNOWN
                              : verdict_of_all(&problem, outputs, seed)        ? CASE_RIGHT
                                                                               : CASE_WRONG;
    free(outputs);
    host_problem_free(&problem);
    return result;
}

static bool is_wrong(const struct diagnosed *kernel, const struct problem_case *which) {
    return attention_case_result(kernel, which, SEED) == CASE_WRONG;
}

// Whether it is so whatever the inputs are.
static bool is_always(const struct diagnosed *kernel, const struct problem_case *which, enum case_result result) {
    for (int i = 0; i < SEEDS; i++)
        if (attention_case_result(kernel, which, SEED + (uint64_t)i) != result)
            return false;
    return true;
}

// ---- Properties -----------------------------------------------------------------------------------------------------

enum property { OF_INPUTS, OF_SCALE, OF_MASK, OF_STRIDES, OF_GROUPS, OF_TYPE, OF_LENGTHS, PROPERTIES };

// Takes a property from a case. False if it has not got it.
static bool without(const struct problem_case *which, enum property property, struct problem_case *plain) {
    struct attention_shape *s = &plain->attention;
    *plain = *which;
    switch (property) {
    case OF_INPUTS:
        plain->family = INPUTS_NORMAL;
        return which->family != INPUTS_NORMAL;
    case OF_SCALE:
        plain->has_scale = false;
        return which->has_scale;
    case OF_MASK:
        s->causal = false;
        return which->attention.causal;
    case OF_STRIDES:
        s->layout = LAYOUT_BHND;
        return which->attention.layout != LAYOUT_BHND;
    case OF_GROUPS:
        s->kv_heads = s->heads;
        return which->attention.heads != which->attention.kv_heads;
    case OF_TYPE:
        plain->dtype = ATTENTION_BF16;
        return which->dtype == ATTENTION_FP16;
    default:
        s->nq = s->nk;
        return which->attention.nq != s->nk && which->attention.layout != LAYOUT_STRIDES &&
               attention_work(s) <= ATTENTION_MOST_WORK;
    }
}

static void report_properties(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    static const struct {
        const char *code, *right, *wrong;
    } words[PROPERTIES] = {
        [OF_INPUTS] = {"wrong-with-inputs", "with INPUTS=normal", "with these inputs"},
        [OF_SCALE] = {"wrong-with-scale", "with the default scale", "with this scale"},
        [OF_MASK] = {"wrong-if-causal", "without a causal mask", "with a causal mask"},
        [OF_STRIDES] = {"wrong-with-strides", "with contiguous tensors (LAYOUT=bhnd)", "with these strides"},
        [OF_GROUPS] = {"wrong-if-grouped", "if each query head has its own key head",
                       "if query heads share a key head"},
        [OF_TYPE] = {"wrong-in-fp16", "in bf16", "in fp16, which has a narrower range"},
        [OF_LENGTHS] = {"wrong-if-lengths-differ", "if nq is this nk", "if it is not"},
    };
    struct problem_case plain;
    for (enum property p = 0; p < PROPERTIES; p++)
        if (without(which, p, &plain) && is_always(kernel, &plain, CASE_RIGHT))
            fprintf(out, "  The output is right %s, and wrong %s [%s]\n", words[p].right, words[p].wrong,
                    words[p].code);
}

// Simpler in one property, and still wrong: that property is not what it needs.
static void simplify(const struct diagnosed *kernel, struct problem_case *which) {
    struct problem_case plain = *which;
    plain.has_scale = false;
    plain.family = INPUTS_NORMAL;
    if (is_wrong(kernel, &plain))
        *which = plain;
    for (enum property p = OF_MASK; p <= OF_GROUPS; p++)
        if (without(which, p, &plain) && is_wrong(kernel, &plain))
            *which = plain;
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

static const struct number {
    const char *text;
    size_t at;
} numbers[] = {
    {"batch", offsetof(struct attention_shape, batch)},
    {"heads", offsetof(struct attention_shape, heads)},
    {"head_dim", offsetof(struct attention_shape, head_dim)},
    {"nq", offsetof(struct attention_shape, nq)},
    {"nk", offsetof(struct attention_shape, nk)},
};
enum { NUMBER_HEADS = 1, NUMBER_HEAD_DIM = 2, NUMBER_NK = 4, NUMBERS };

static int number_of(const struct problem_case *which, int number) {
    int value;
    memcpy(&value, (const char *)&which->attention + numbers[number].at, sizeof value);
    return value;
}

static struct problem_case with_number(const struct problem_case *which, int number, int value) {
    struct problem_case changed = *which;
    memcpy((char *)&changed.attention + numbers[number].at, &value, sizeof value);
    if (number == NUMBER_HEADS)
        changed.attention.kv_heads = value;
    return changed;
}

static enum case_result with_value(const struct diagnosed *kernel, const struct problem_case *which, int number,
                                   int value, enum case_result expected) {
    const struct problem_case changed = with_number(which, number, value);
    return attention_work(&changed.attention) > ATTENTION_MOST_WORK ? CASE_NOT_COVERED
           : is_always(kernel, &changed, expected)                  ? expected
                                                                    : CASE_UNKNOWN;
}

// Says up to which value of a number the case is right, and from which on it is wrong, if that is so with several
// inputs at the border, and at values on both sides of it.
static void report_border(const struct diagnosed *kernel, const struct problem_case *which, int number, FILE *out) {
    static const int apart[] = {1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 100};
    struct problem_case odd = with_number(which, number, (number_of(which, number) - 1) | 1);
    const int step = number == NUMBER_HEAD_DIM && !kernel->covers(kernel->context, &odd) ? 8 : 1;
    int right = step, wrong = number_of(which, number);
    struct problem_case least = with_number(which, number, right);
    if (wrong <= right || wrong % step || attention_case_result(kernel, &least, SEED) != CASE_RIGHT)
        return;
    while (wrong - right > step) {
        const int middle = (right + wrong) / 2 / step * step;
        struct problem_case changed = with_number(which, number, middle);
        *(is_wrong(kernel, &changed) ? &wrong : &right) = middle;
    }
    bool sure = with_value(kernel, which, number, right, CASE_RIGHT) == CASE_RIGHT &&
                with_value(kernel, which, number, wrong, CASE_WRONG) == CASE_WRONG;
    for (size_t i = 0; i < sizeof apart / sizeof *apart && sure; i++)
        sure = with_value(kernel, which, number, wrong + apart[i] * step, CASE_WRONG) != CASE_UNKNOWN &&
               (right <= apart[i] * step ||
                with_value(kernel, which, number, right - apart[i] * step, CASE_RIGHT) != CASE_UNKNOWN);
    // Of a single key, or a single column, nearly every kernel is right.
    if (sure && right > (number >= NUMBER_NK || number == NUMBER_HEAD_DIM))
        fprintf(out,
                "  With all values that were tried, the output is right up to %s %d, and wrong from %s %d on "
                "[right-up-to]\n",
                numbers[number].text, right, numbers[number].text, wrong);
}

void attention_conditions(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    char text[160], *explained = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&explained, &size);
    if (!lines)
        return;
    report_properties(kernel, which, lines);
    for (int i = 0; i < NUMBERS; i++)
        if (which->attention.layout != LAYOUT_STRIDES && which->family == INPUTS_NORMAL && !which->has_scale &&
            (i != NUMBER_HEADS || which->attention.heads == which->attention.kv_heads))
            report_border(kernel, which, i, lines);
    fclose(lines);
    case_text(kernel->operation, which, text, sizeof text);
    if (size)
        fprintf(out, "\nWhen %s fails (one property changed at a time, %d inputs each):\n%s", text, SEEDS, explained);
    free(explained);
}

// ---- The smallest case ----------------------------------------------------------------------------------------------

static bool is_small(const struct problem_case *which) {
    return attention_work(&which->attention) <= ATTENTION_MOST_WORK;
}

// Halves one number after another as long as the case stays wrong, until it is small.
static bool shrink(const struct diagnosed *kernel, struct problem_case *which) {
    enum { MOST_TO_BEGIN_WITH = 1 << 27 };
    struct attention_shape *s = &which->attention;
    if (attention_work(s) > MOST_TO_BEGIN_WITH || s->layout == LAYOUT_STRIDES)
        return false;
    for (bool smaller = true; smaller && !is_small(which);) {
        smaller = false;
        for (int i = 0; i < NUMBERS && !is_small(which); i++) {
            int value = number_of(which, i), half = (value + 1) / 2;
            struct problem_case tried = with_number(which, i, i == NUMBER_HEAD_DIM ? (half + 7) / 8 * 8 : half);
            if (value < 2 || attention_work(&tried.attention) >= attention_work(s) ||
                (i == NUMBER_HEADS && s->heads != s->kv_heads) || !is_wrong(kernel, &tried))
                continue;
            *which = tried;
            smaller = true;
        }
    }
    return is_small(which);
}

bool attention_simplest(const struct diagnosed *kernel, const struct evidence *evidence, int count,
                        struct problem_case *which) {
    static const double long_enough = 0.5;
    bool found = false;
    const double begin = clock_seconds();
    for (int i = 0; i < count && !(found && clock_seconds() - begin > long_enough * time_budget_factor()); i++) {
        struct problem_case one = evidence[i].which;
        if (evidence[i].outcome != OUTCOME_WRONG || !is_small(&one) || !is_wrong(kernel, &one))
            continue;
        simplify(kernel, &one);
        // Inputs of a family hide what it does to others, and of a few keys or columns there is little to say.
        const bool is_significant =
            one.family == INPUTS_NORMAL && one.attention.nk >= FEW_KEYS && one.attention.head_dim >= FEW_COLUMNS;
        if (!found || is_significant)
            *which = one;
        found = true;
        if (is_significant)
            break;
    }
    for (int i = 0; i < count && !found; i++)
        if (evidence[i].outcome == OUTCOME_WRONG && !is_small(&evidence[i].which)) {
            *which = evidence[i].which;
            if (!shrink(kernel, which))
                return false;
            simplify(kernel, which);
            found = true;
        }
    return found;
}
