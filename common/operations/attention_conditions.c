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
        fprintf(out, "  The output is right in bf16, and wrong in fp16, which has a narrower range [wrong-in-fp16]\n");
    plain = *which;
    plain.family = INPUTS_NORMAL;
    if (which->family != INPUTS_NORMAL && is_right(kernel, &plain))
        fprintf(out, "  The output is right with INPUTS=normal, and wrong with INPUTS=%s [wrong-with-inputs]\n",
                inputs_name(which->family));
    plain = *which;
    plain.has_scale = false;
    if (which->has_scale && is_right(kernel, &plain))
        fprintf(out, "  The output is right with the default scale, and wrong with a scale of %g [wrong-with-scale]\n",
                which->scale);
    plain.has_scale = true;
    plain.scale = -which->scale;
    if (which->has_scale && which->scale < 0 && is_right(kernel, &plain))
        fprintf(out,
                "  The output is right with a scale of %g, and wrong with a scale of %g [wrong-with-negative-scale]\n",
                plain.scale, which->scale);
    plain = *which;
    plain.attention.causal = false;
    if (which->attention.causal && is_right(kernel, &plain))
        fprintf(out, "  The output is right without a causal mask, and wrong with a causal mask [wrong-if-causal]\n");
    plain = *which;
    plain.attention.layout = LAYOUT_BHND;
    if (which->attention.layout != LAYOUT_BHND && is_right(kernel, &plain))
        fprintf(out, "  The output is right with contiguous tensors (LAYOUT=bhnd), and wrong with these strides "
                     "[wrong-with-strides]\n");
    plain.attention.layout = LAYOUT_BNHD;
    if (which->attention.layout == LAYOUT_MIXED && is_right(kernel, &plain))
        fprintf(out, "  The output is right if all tensors have the same strides (LAYOUT=bnhd), and wrong if the "
                     "strides differ [wrong-with-mixed-strides]\n");
    if (which->attention.layout != LAYOUT_BHND)
        attention_strides(kernel, which, out);
    plain = *which;
    plain.attention.kv_heads = plain.attention.heads;
    if (is_grouped(&which->attention) && is_right(kernel, &plain))
        fprintf(out, "  The output is right if each query head has its own key head, and wrong if query heads share a "
                     "key head [wrong-if-grouped]\n");
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

// The next run of marked numbers from `from` on, as [*first, *end); false where there is none.
static bool next_range(const bool *marked, int count, int from, int *first, int *end) {
    while (from < count && !marked[from])
        from++;
    *first = from;
    while (from < count && marked[from])
        from++;
    *end = from;
    return *first < count;
}

static int count_ranges(const bool *marked, int count) {
    int ranges = 0;
    for (int first, end = 0; next_range(marked, count, end, &first, &end);)
        ranges++;
    return ranges;
}

static void append(char *text, size_t size, size_t *length, const char *separator, int first, int end) {
    if (*length < size)
        *length += (size_t)snprintf(text + *length, size - *length, end - first > 1 ? "%s%d to %d" : "%s%d", separator,
                                    first, end - 1);
}

// All ranges; with a period those of the first period, the next one and the last: "8 to 15, 24 to 31, ..., 56 to 63".
static void list_ranges(const bool *marked, int count, int period, char *text, size_t size) {
    const int ranges = count_ranges(marked, count);
    int before = period ? count_ranges(marked, period) + 1 : ranges; // before the dots
    before = before + 2 > ranges ? ranges : before;
    size_t length = 0;
    for (int i = 0, first, end = 0; next_range(marked, count, end, &first, &end); i++)
        if (i < before || i == ranges - 1)
            append(text, size, &length,
                   i == 0            ? ""
                   : i < ranges - 1  ? ", "
                   : before < ranges ? ", ..., "
                   : ranges == 2     ? " and "
                                     : ", and ",
                   first, end);
}

// The least power of two in which the marks repeat with at most so many ranges; 0: none.
static int period_of(const bool *marked, int count, int most) {
    for (int period = 2; 2 * period <= count; period *= 2) {
        bool repeats = true;
        for (int i = period; i < count && repeats; i++)
            repeats = marked[i] == marked[i - period];
        const int ranges = repeats ? count_ranges(marked, period) : 0;
        if (ranges && ranges <= most)
            return period;
    }
    return 0;
}

bool pattern_list(const bool *marked, int count, int *period, char *text, size_t size) {
    enum { FEW = 2, SOME = 4 };
    const int ranges = count_ranges(marked, count);
    *period = 0;
    if (ranges > FEW)
        *period = period_of(marked, count, FEW);
    if (ranges > SOME && !*period)
        *period = period_of(marked, count, SOME);
    if (!ranges || (ranges > SOME && !*period))
        return false;
    list_ranges(marked, count, *period, text, size);
    return true;
}

bool pattern_ranges(const bool *marked, int count, const char *one, const char *many, char *text, size_t size) {
    char list[120];
    int marks = 0, period;
    for (int i = 0; i < count; i++)
        marks += marked[i];
    if (!pattern_list(marked, count, &period, list, sizeof list))
        return false;
    const char *name = marks > 1 ? many : one;
    if (period)
        snprintf(text, size, "%s %s (period %d, of %d)", name, list, period, count);
    else
        snprintf(text, size, "%s %s (of %d)", name, list, count);
    return true;
}

void pattern_values(const int *values, const bool *marked, bool which, int count, const char *last, FILE *out) {
    int left = 0, listed = 0;
    for (int i = 0; i < count; i++)
        left += marked[i] == which;
    for (int i = 0; i < count; i++)
        if (marked[i] == which)
            fprintf(out, "%s%d", listed++ == 0 ? "" : listed == left ? last : ", ", values[i]);
}
