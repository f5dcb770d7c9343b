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

// ---- Features that have two values ----------------------------------------------------------------------------------

enum feature { OF_INPUTS, OF_SCALE, OF_MASK, OF_STRIDES, OF_GROUPS, OF_TYPE, FEATURES };

// Whether the case has the second value of a feature.
static bool has(const struct problem_case *which, enum feature feature) {
    const struct attention_shape *s = &which->attention;
    const bool values[FEATURES] = {
        which->family != INPUTS_NORMAL, which->has_scale,        s->causal,
        s->layout != LAYOUT_BHND,       s->heads != s->kv_heads, which->dtype == ATTENTION_FP16};
    return values[feature];
}

// Gives a case the other value. False where there is none to be had: what is special is only taken away.
static bool change(const struct problem_case *which, enum feature feature, struct problem_case *other) {
    struct attention_shape *s = &other->attention;
    *other = *which;
    switch (feature) {
    case OF_INPUTS:
        other->family = INPUTS_NORMAL;
        break;
    case OF_SCALE:
        other->has_scale = false;
        break;
    case OF_MASK:
        s->causal = !s->causal;
        return true;
    case OF_STRIDES:
        s->layout = LAYOUT_BHND;
        break;
    case OF_GROUPS:
        s->kv_heads = s->heads;
        break;
    default:
        other->dtype = has(which, OF_TYPE) ? ATTENTION_BF16 : ATTENTION_FP16;
        return which->dtype != ATTENTION_FP32;
    }
    return has(which, feature);
}

static void report_features(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    static const struct {
        const char *code[2], *with[2];
    } words[FEATURES] = {
        [OF_INPUTS] = {{NULL, "wrong-with-inputs"}, {"with INPUTS=normal", "with these inputs"}},
        [OF_SCALE] = {{NULL, "wrong-with-scale"}, {"with the default scale", "with this scale"}},
        [OF_MASK] = {{"wrong-if-not-causal", "wrong-if-causal"}, {"without a causal mask", "with a causal mask"}},
        [OF_STRIDES] = {{NULL, "wrong-with-strides"}, {"with contiguous tensors (LAYOUT=bhnd)", "with these strides"}},
        [OF_GROUPS] = {{NULL, "wrong-if-grouped"},
                       {"if each query head has its own key head", "if query heads share a key head"}},
        [OF_TYPE] = {{"wrong-in-bf16", "wrong-in-fp16"}, {"in bf16", "in fp16"}},
    };
    struct problem_case other;
    for (enum feature f = 0; f < FEATURES; f++)
        if (change(which, f, &other) && is_always(kernel, &other, CASE_RIGHT))
            fprintf(out, "  The output is right %s, and wrong %s [%s]\n", words[f].with[!has(which, f)],
                    words[f].with[has(which, f)], words[f].code[has(which, f)]);
}

// Simpler in one feature, and still wrong: that feature is not what it needs.
static void simplify(const struct diagnosed *kernel, struct problem_case *which) {
    struct problem_case plain = *which;
    plain.has_scale = false;
    plain.family = INPUTS_NORMAL;
    if (is_wrong(kernel, &plain))
        *which = plain;
    for (enum feature f = OF_MASK; f <= OF_GROUPS; f++)
        if (has(which, f) && change(which, f, &plain) && is_wrong(kernel, &plain))
            *which = plain;
}

// ---- Features that are numbers --------------------------------------------------------------------------------------

static const struct number {
    const char *text;
    size_t at;
    int least; // of a single key, or a single column, nearly every kernel is right
} numbers[] = {
    {"batch", offsetof(struct attention_shape, batch), 1},
    {"heads", offsetof(struct attention_shape, heads), 1},
    {"head_dim", offsetof(struct attention_shape, head_dim), 2},
    {"nq", offsetof(struct attention_shape, nq), 1},
    {"nk", offsetof(struct attention_shape, nk), 2},
};
enum { NUMBER_HEADS = 1, NUMBER_HEAD_DIM = 2, NUMBERS = 5 };

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

// What the kernel makes of the case with some values of a number.
enum { MOST_VALUES = 64 };
struct profile {
    const struct diagnosed *kernel;
    const struct problem_case *which;
    int number, count, value[MOST_VALUES];
    bool wrong[MOST_VALUES], unanswered;
};

// Whether the kernel could be asked for this value.
static bool ask(struct profile *p, int value) {
    const struct problem_case changed = with_number(p->which, p->number, value);
    if (p->count == MOST_VALUES || value < numbers[p->number].least ||
        attention_work(&changed.attention) > ATTENTION_MOST_WORK)
        return false;
    const enum case_result result = attention_case_result(p->kernel, &changed, SEED + (uint64_t)p->count);
    p->unanswered = p->unanswered || result == CASE_UNKNOWN;
    if (result != CASE_RIGHT && result != CASE_WRONG)
        return false;
    p->value[p->count] = value;
    p->wrong[p->count++] = result == CASE_WRONG;
    return true;
}

static bool is_beyond(int value, int n) {
    return value > n;
}
static bool is_within(int value, int n) {
    return value <= n;
}
static bool is_no_multiple(int value, int n) {
    return value % n != 0;
}
static bool is_multiple(int value, int n) {
    return value % n == 0;
}
static bool has_partial_tile(int value, int n) {
    return value > n && value % n != 0;
}

// Which values of a number are wrong, the simplest condition first. In words %1$s is the number, %2$d and %3$d are the
// condition's and the next.
static const struct condition {
    const char *code, *words;
    bool (*is_wrong)(int value, int n);
} conditions[] = {
    {"right-up-to", "right up to %1$s %2$d, and wrong from %1$s %3$d on", is_beyond},
    {"wrong-up-to", "wrong up to %1$s %2$d, and right from %1$s %3$d on", is_within},
    {"wrong-if-no-multiple", "right if %1$s is a multiple of %2$d, and wrong if it is not", is_no_multiple},
    {"wrong-if-multiple", "wrong if %1$s is a multiple of %2$d, and right if it is not", is_multiple},
    {"wrong-with-partial-tile", "right up to %1$s %2$d and at multiples of it, and wrong otherwise", has_partial_tile},
};

static bool fits(const struct profile *p, const struct condition *condition, int n) {
    for (int i = 0; i < p->count; i++)
        if (condition->is_wrong(p->value[i], n) != p->wrong[i])
            return false;
    return true;
}

// The condition that holds for all values. A limit is looked for between the values, all else is a power of two.
static const struct condition *find_condition(struct profile *p, int *n) {
    for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++) {
        const bool of_limit = conditions[c].is_wrong == is_beyond || conditions[c].is_wrong == is_within;
        int below = 0, above = 1 << 20;
        for (int i = 0; i < p->count && of_limit; i++)
            if (p->wrong[i] == conditions[c].is_wrong(0, 1))
                below = p->value[i] > below ? p->value[i] : below;
            else
                above = p->value[i] < above ? p->value[i] : above;
        while (of_limit && below < above - 1 && ask(p, below + (above - below) / 2))
            *(p->wrong[p->count - 1] == conditions[c].is_wrong(0, 1) ? &below : &above) = p->value[p->count - 1];
        for (*n = of_limit ? below : 2; *n <= (of_limit ? below : 256); *n *= 2)
            if (fits(p, &conditions[c], *n))
                return &conditions[c];
    }
    return NULL;
}

// Says for which values of a number the case is wrong. Each value is asked with inputs of its own.
static void report_number(const struct diagnosed *kernel, const struct problem_case *which, int number, FILE *out) {
    static const int values[] = {1,  8,  64, 128, 2,  3,  4,  5,  6,  7,  12,  15,  16,  17,  20,  24,  31,  32,  33,
                                 36, 40, 48, 63,  65, 66, 72, 80, 96, 98, 100, 127, 129, 132, 136, 144, 160, 192, 256};
    enum { FIRST = 4, VALUES = sizeof values / sizeof *values, FEWEST = 2 };
    struct profile p = {.kernel = kernel, .which = which, .number = number};
    int n = 0, wrong = ask(&p, number_of(which, number)) && p.wrong[0];
    // Where the first few are all wrong, it does not depend on this number.
    for (int i = 0; i < VALUES && (i < FIRST || wrong < p.count); i++)
        if (ask(&p, values[i]))
            wrong += p.wrong[p.count - 1];
    const struct condition *condition = wrong < FEWEST || p.count - wrong < FEWEST ? NULL : find_condition(&p, &n);
    // Of values that it was not made from it has to be so, too.
    const int asked = p.count, fresh[] = {3 * n, 3 * n + 1, 4 * n, 2 * n - 1};
    for (size_t i = 0; i < sizeof fresh / sizeof *fresh && condition; i++)
        ask(&p, fresh[i]);
    if (!condition || p.unanswered || p.count == asked || !fits(&p, condition, n))
        return;
    fputs("  With all values that were tried, the output is ", out);
    fprintf(out, condition->words, numbers[number].text, n, n + 1);
    fprintf(out, " [%s]\n", condition->code);
}

void attention_conditions(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    char text[160], *explained = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&explained, &size);
    if (!lines)
        return;
    report_features(kernel, which, lines);
    for (int i = 0; i < NUMBERS; i++)
        if (which->attention.layout != LAYOUT_STRIDES && which->family == INPUTS_NORMAL && !which->has_scale &&
            (i != NUMBER_HEADS || which->attention.heads == which->attention.kv_heads))
            report_number(kernel, which, i, lines);
    fclose(lines);
    case_text(kernel->operation, which, text, sizeof text);
    if (size)
        fprintf(out, "\nWhen %s fails (one property changed at a time, with several inputs):\n%s", text, explained);
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
    const double begin = processor_seconds();
    for (int i = 0; i < count && !(found && processor_seconds() - begin > long_enough); i++) {
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
