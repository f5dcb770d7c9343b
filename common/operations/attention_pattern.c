// What a wrong case needs to be wrong: each property of it is changed by itself, and the kernel asked again.
#include "operations/attention_pattern.h"

#include "clock.h"
#include "host/parallel.h"
#include "host/verdict.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, OTHER_SEED = 4712, MOST_WORK = 1 << 22, FEW_KEYS = 16, FEW_COLUMNS = 8 };

// Whether the kernel gives the case right; *ran: it could be asked.
static bool is_right_with(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed, bool *ran) {
    struct host_problem problem;
    *ran = kernel->covers(kernel->context, which);
    if (!*ran)
        return false;
    kernel->operation->make(which, seed, true, &problem);
    if (!kernel->optional)
        problem_leave_optional(&problem);
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    *ran = kernel->run(kernel->context, &problem, outputs);
    bool right = *ran && verdict_of_all(&problem, outputs, seed);
    free(outputs);
    host_problem_free(&problem);
    return right;
}

static bool is_right(const struct diagnosed *kernel, const struct problem_case *which, bool *ran) {
    return is_right_with(kernel, which, SEED, ran);
}

bool attention_still_wrong(const struct diagnosed *kernel, const struct problem_case *which) {
    bool ran, right = is_right(kernel, which, &ran);
    return ran && !right;
}

static double work_of(const struct attention_shape *s) {
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim;
}

// A number of a shape, by its place in it; heads go with those of the keys.
struct number {
    const char *text;
    size_t at;
};
static const struct number numbers[] = {
    {"batch", offsetof(struct attention_shape, batch)},
    {"heads", offsetof(struct attention_shape, heads)},
    {"head_dim", offsetof(struct attention_shape, head_dim)},
    {"nq", offsetof(struct attention_shape, nq)},
    {"nk", offsetof(struct attention_shape, nk)},
};

static int get(const struct problem_case *which, const struct number *n) {
    int value;
    memcpy(&value, (const char *)&which->attention + n->at, sizeof value);
    return value;
}

static struct problem_case with(const struct problem_case *which, const struct number *n, int value) {
    struct problem_case changed = *which;
    memcpy((char *)&changed.attention + n->at, &value, sizeof value);
    if (n->at == offsetof(struct attention_shape, heads))
        changed.attention.kv_heads = value;
    return changed;
}

// The largest value below the case's own from which on it is wrong, and the one before, that is right. False where it
// is wrong down to the least one.
static bool boundary(const struct diagnosed *kernel, const struct problem_case *which, const struct number *n,
                     int *right, int *wrong) {
    bool ran;
    // Tensors of 16 bits may have to have rows of whole 16 bytes.
    int step = n->at == offsetof(struct attention_shape, head_dim) && which->dtype != ATTENTION_FP32 ? 8 : 1;
    struct problem_case least = with(which, n, step);
    *right = step;
    *wrong = get(which, n);
    if (*wrong <= *right || *wrong % step || !is_right(kernel, &least, &ran))
        return false;
    while (*wrong - *right > step) {
        int middle = (*right + *wrong) / 2 / step * step;
        struct problem_case between = with(which, n, middle);
        bool is = is_right(kernel, &between, &ran);
        if (!ran)
            return false;
        *(is ? right : wrong) = middle;
    }
    // Not where it hangs on the inputs.
    struct problem_case last = with(which, n, *right), first = with(which, n, *wrong);
    if (!is_right_with(kernel, &last, OTHER_SEED, &ran) || is_right_with(kernel, &first, OTHER_SEED, &ran) || !ran)
        return false;
    // Only where it stays wrong: a kernel that is wrong at each odd number has no such boundary.
    struct problem_case next = with(which, n, *wrong + step);
    return work_of(&next.attention) > MOST_WORK || attention_still_wrong(kernel, &next);
}

static bool is_small(const struct problem_case *which) {
    return work_of(&which->attention) <= MOST_WORK;
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

static void say_inputs(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    struct problem_case plain = *which;
    bool ran;
    plain.dtype = ATTENTION_BF16;
    if (which->dtype == ATTENTION_FP16 && is_right(kernel, &plain, &ran))
        fprintf(out, "  right in bf16, whose range is wider at both ends, wrong in fp16\n");
    plain = *which;
    plain.family = INPUTS_NORMAL;
    if (which->family != INPUTS_NORMAL && is_right(kernel, &plain, &ran))
        fprintf(out, "  right with INPUTS=normal, wrong with INPUTS=%s\n", inputs_name(which->family));
    plain = *which;
    plain.has_scale = false;
    if (which->has_scale && is_right(kernel, &plain, &ran))
        fprintf(out, "  right with the usual scale, wrong with %g\n", which->scale);
    plain = *which;
    plain.attention.causal = false;
    if (which->attention.causal && is_right(kernel, &plain, &ran))
        fprintf(out, "  right without a mask, wrong with it\n");
    plain = *which;
    plain.attention.layout = LAYOUT_BHND;
    if (which->attention.layout != LAYOUT_BHND && is_right(kernel, &plain, &ran))
        fprintf(out, "  right where heads follow each other (LAYOUT=bhnd), wrong with these strides\n");
    plain.attention.layout = LAYOUT_BNHD;
    if (which->attention.layout == LAYOUT_MIXED && is_right(kernel, &plain, &ran))
        fprintf(out, "  right where all tensors have the same strides (LAYOUT=bnhd), wrong where they do not\n");
    plain = *which;
    plain.attention.kv_heads = plain.attention.heads;
    if (is_grouped(&which->attention) && is_right(kernel, &plain, &ran))
        fprintf(out, "  right where each head has keys of its own, wrong where heads share them\n");
}

// From how many heads of all batches on, in one batch, so that blocks that stay on the device are told from batches.
static void say_heads_together(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    enum { PROCESSORS = 132 }; // of the GPU that is simulated
    static const struct number heads = {"heads", offsetof(struct attention_shape, heads)};
    struct problem_case together = *which;
    int right, wrong;
    together.attention.heads = together.attention.kv_heads = which->attention.batch * which->attention.heads;
    together.attention.batch = 1;
    if (which->attention.batch == 1 || which->family != INPUTS_NORMAL || is_grouped(&which->attention) ||
        which->attention.layout == LAYOUT_STRIDES || !attention_still_wrong(kernel, &together) ||
        !boundary(kernel, &together, &heads, &right, &wrong))
        return;
    fprintf(out, "  right up to %d heads of all batches together, wrong from %d on%s\n", right, wrong,
            right == PROCESSORS ? ": where a block that stays has a second one" : "");
}

// A larger number with which it is right again; 0: none of those tried.
static int right_again(const struct diagnosed *kernel, const struct problem_case *which, const struct number *n,
                       int wrong) {
    static const int above[] = {7, 8, 15, 16, 31, 32, 63, 64, 127, 128};
    // A lesson says up to which head_dim it goes.
    if (n->at == offsetof(struct attention_shape, head_dim))
        return 0;
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        struct problem_case tried = with(which, n, wrong + above[i]);
        bool ran;
        if (work_of(&tried.attention) > MOST_WORK)
            return 0;
        if (is_right(kernel, &tried, &ran) && is_right_with(kernel, &tried, OTHER_SEED, &ran))
            return wrong + above[i];
    }
    return 0;
}

static void say_numbers(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int right, wrong;
        // Strides are those of one shape, and groups of one number of heads.
        if (which->attention.layout == LAYOUT_STRIDES ||
            (is_grouped(&which->attention) && numbers[i].at == offsetof(struct attention_shape, heads)))
            continue;
        // Other inputs than the normal ones are not alike in all heads.
        if (which->family != INPUTS_NORMAL && (numbers[i].at == offsetof(struct attention_shape, heads) ||
                                               numbers[i].at == offsetof(struct attention_shape, batch)))
            continue;
        // Of a single key nearly every kernel is right.
        bool is_keys = numbers[i].at == offsetof(struct attention_shape, nk);
        if (!boundary(kernel, which, &numbers[i], &right, &wrong) || (is_keys && right == 1))
            continue;
        const int again = right_again(kernel, which, &numbers[i], wrong);
        fprintf(out, "  right up to %s %d, wrong from %d on", numbers[i].text, right, wrong);
        if (again)
            fprintf(out, ", right again with %d", again);
        fputc('\n', out);
    }
    say_heads_together(kernel, which, out);
    // Both where nq is as nk and where nk is as nq, since it may be one of the two numbers alone.
    struct problem_case queries = *which, keys = *which;
    bool ran;
    queries.attention.nq = which->attention.nk;
    keys.attention.nk = which->attention.nq;
    if (which->attention.nq != which->attention.nk && is_right(kernel, &queries, &ran) && is_right(kernel, &keys, &ran))
        fprintf(out, "  right where nq = nk, wrong where nq %c nk\n",
                which->attention.nq > which->attention.nk ? '>' : '<');
}

// Halves one number after another as long as the case stays wrong, until it is small.
static bool shrink(const struct diagnosed *kernel, struct problem_case *which) {
    enum { MOST_TO_BEGIN_WITH = 1 << 27 };
    struct attention_shape *s = &which->attention;
    if (work_of(s) > MOST_TO_BEGIN_WITH || s->layout == LAYOUT_STRIDES)
        return false;
    for (bool smaller = true; smaller && !is_small(which);) {
        smaller = false;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !is_small(which); i++) {
            int value = get(which, &numbers[i]), half = (value + 1) / 2;
            bool is_heads = numbers[i].at == offsetof(struct attention_shape, heads);
            bool is_width = numbers[i].at == offsetof(struct attention_shape, head_dim);
            struct problem_case tried = with(which, &numbers[i], is_width ? (half + 7) / 8 * 8 : half);
            if (value < 2 || work_of(&tried.attention) >= work_of(s) || (is_heads && is_grouped(s)) ||
                !attention_still_wrong(kernel, &tried))
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
        bool tells =
            one.family == INPUTS_NORMAL && one.attention.nk >= FEW_KEYS && one.attention.head_dim >= FEW_COLUMNS;
        if (!found || tells)
            *which = one;
        found = true;
        if (tells)
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

void attention_pattern(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    char text[160];
    char *said = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&said, &size);
    if (!lines)
        return;
    say_inputs(kernel, which, lines);
    say_numbers(kernel, which, lines);
    fclose(lines);
    case_text(kernel->operation, which, text, sizeof text);
    if (size)
        fprintf(out, "\nwhat %s needs to be wrong, all else left as it is:\n%s", text, said);
    free(said);
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
