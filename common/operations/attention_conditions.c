// What a wrong case needs to be wrong: each property of it is changed by itself, and the kernel asked again.
#include "operations/attention_conditions.h"

#include "clock.h"
#include "operations/attention_thresholds.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, FEW_KEYS = 16, FEW_COLUMNS = 8 };

static bool is_right(const struct diagnosed *kernel, const struct problem_case *which) {
    return attention_case_result(kernel, which, SEED) == RIGHT;
}

bool attention_still_wrong(const struct diagnosed *kernel, const struct problem_case *which) {
    return attention_case_result(kernel, which, SEED) == WRONG;
}

static bool is_small(const struct problem_case *which) {
    return attention_work(&which->attention) <= ATTENTION_MOST_WORK;
}

static bool is_grouped(const struct attention_shape *s) {
    return s->heads != s->kv_heads;
}

// Simpler in one property, and still wrong: that property is not what it needs.
static void simplify(const struct diagnosed *kernel, struct problem_case *which) {
    struct problem_case plain = *which;
    plain.has_scale = false;
    plain.family = INPUTS_NORMAL;
    if (attention_still_wrong(kernel, &plain))
        *which = plain;
    plain = *which;
    plain.attention.causal = false;
    if (plain.attention.causal != which->attention.causal && attention_still_wrong(kernel, &plain))
        *which = plain;
    plain = *which;
    plain.attention.layout = LAYOUT_BHND;
    if (plain.attention.layout != which->attention.layout && attention_still_wrong(kernel, &plain))
        *which = plain;
    plain = *which;
    plain.attention.kv_heads = plain.attention.heads;
    if (is_grouped(&which->attention) && attention_still_wrong(kernel, &plain))
        *which = plain;
}

static void report_inputs(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    struct problem_case plain = *which;
    plain.dtype = ATTENTION_BF16;
    if (which->dtype == ATTENTION_FP16 && is_right(kernel, &plain))
        fprintf(out, "  right in bf16, which has a wider range at both ends, wrong in fp16 [wrong-in-fp16]\n");
    plain = *which;
    plain.family = INPUTS_NORMAL;
    if (which->family != INPUTS_NORMAL && is_right(kernel, &plain))
        fprintf(out, "  right with INPUTS=normal, wrong with INPUTS=%s [wrong-with-inputs]\n",
                inputs_name(which->family));
    plain = *which;
    plain.has_scale = false;
    if (which->has_scale && is_right(kernel, &plain))
        fprintf(out, "  right with the default scale, wrong with a scale of %g [wrong-with-scale]\n", which->scale);
    plain.has_scale = true;
    plain.scale = -which->scale;
    if (which->has_scale && which->scale < 0 && is_right(kernel, &plain))
        fprintf(out, "  right with a scale of %g, wrong with a scale of %g [wrong-with-negative-scale]\n", plain.scale,
                which->scale);
    plain = *which;
    plain.attention.causal = false;
    if (which->attention.causal && is_right(kernel, &plain))
        fprintf(out, "  right if not causal, wrong if causal [wrong-if-causal]\n");
    plain = *which;
    plain.attention.layout = LAYOUT_BHND;
    if (which->attention.layout != LAYOUT_BHND && is_right(kernel, &plain))
        fprintf(out, "  right with contiguous tensors (LAYOUT=bhnd), wrong with these strides [wrong-with-strides]\n");
    plain.attention.layout = LAYOUT_BNHD;
    if (which->attention.layout == LAYOUT_MIXED && is_right(kernel, &plain))
        fprintf(out, "  right if all tensors have the same strides (LAYOUT=bnhd), wrong if they differ "
                     "[wrong-with-mixed-strides]\n");
    if (which->attention.layout != LAYOUT_BHND)
        attention_strides(kernel, which, out);
    plain = *which;
    plain.attention.kv_heads = plain.attention.heads;
    if (is_grouped(&which->attention) && is_right(kernel, &plain))
        fprintf(out, "  right if each query head has a key head of its own, wrong if query heads share one "
                     "[wrong-if-grouped]\n");
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
            int value = number_of(which, &attention_numbers[i]), half = (value + 1) / 2;
            struct problem_case tried =
                with_number(which, &attention_numbers[i], i == NUMBER_HEAD_DIM ? (half + 7) / 8 * 8 : half);
            if (value < 2 || attention_work(&tried.attention) >= attention_work(s) ||
                (i == NUMBER_HEADS && is_grouped(s)) || !attention_still_wrong(kernel, &tried))
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
    for (int i = 0; i < count && !(found && clock_seconds() - begin > long_enough); i++) {
        struct problem_case one = evidence[i].which;
        if (evidence[i].outcome != OUTCOME_WRONG || !is_small(&one) || !attention_still_wrong(kernel, &one))
            continue;
        simplify(kernel, &one);
        // Inputs of a family hide what it does to others, and of a few keys or columns there is little to say.
        bool is_significant =
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

void attention_conditions(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    char text[160];
    char *explained = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&explained, &size);
    if (!lines)
        return;
    report_inputs(kernel, which, lines);
    attention_thresholds(kernel, which, lines);
    fclose(lines);
    case_text(kernel->operation, which, text, sizeof text);
    if (size)
        fprintf(out, "\nWhen %s fails (one property changed at a time):\n%s", text, explained);
    free(explained);
}

// Marked ranges one after the other; false where they are more than `most`.
static bool list_ranges(const bool *marked, int count, int most, const char *one, const char *many, char *text,
                        size_t size) {
    size_t length = 0;
    int found = 0;
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && marked[end] == marked[i];)
            end++;
        if (!marked[i])
            continue;
        if (found++ == most)
            return false;
        length += (size_t)snprintf(text + length, size - length, end - i > 1 ? "%s%s %d to %d" : "%s%s %d",
                                   found > 1 ? ", " : "", end - i > 1 ? many : one, i, end - 1);
    }
    return found;
}

// The same, of each period that they repeat in.
static bool list_repeating(const bool *marked, int count, int most, const char *one, const char *many, char *text,
                           size_t size) {
    char within[100];
    for (int period = 2; 2 * period <= count; period *= 2) {
        bool repeats = true;
        for (int i = period; i < count && repeats; i++)
            repeats = marked[i] == marked[i - period];
        if (repeats && list_ranges(marked, period, most, one, many, within, sizeof within)) {
            snprintf(text, size, "%s of each %d", within, period);
            return true;
        }
    }
    return false;
}

bool pattern_ranges(const bool *marked, int count, const char *one, const char *many, char *text, size_t size) {
    enum { FEW = 2, SOME = 4 };
    return list_ranges(marked, count, FEW, one, many, text, size) ||
           list_repeating(marked, count, FEW, one, many, text, size) ||
           list_ranges(marked, count, SOME, one, many, text, size) ||
           list_repeating(marked, count, SOME, one, many, text, size);
}

void pattern_values(const int *values, const bool *marked, bool which, int count, const char *last, FILE *out) {
    int left = 0, listed = 0;
    for (int i = 0; i < count; i++)
        left += marked[i] == which;
    for (int i = 0; i < count; i++)
        if (marked[i] == which)
            fprintf(out, "%s%d", listed++ == 0 ? "" : listed == left ? last : ", ", values[i]);
}
