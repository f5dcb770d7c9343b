#include "operations/attention_thresholds.h"

#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { SEED = 4711, OTHER_SEED, NONE = 0 };

double attention_work(const struct attention_shape *s) {
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim;
}

enum case_result attention_case_result(const struct diagnosed *kernel, const struct problem_case *which,
                                       uint64_t seed) {
    struct host_problem problem;
    if (!kernel->covers(kernel->context, which))
        return NOT_COVERED;
    kernel->operation->make(which, seed, true, &problem);
    if (!kernel->optional)
        problem_omit_optional(&problem);
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    enum case_result case_result = !kernel->run(kernel->context, &problem, outputs) ? UNKNOWN
                                   : verdict_of_all(&problem, outputs, seed)        ? RIGHT
                                                                                    : WRONG;
    free(outputs);
    host_problem_free(&problem);
    return case_result;
}

const struct number attention_numbers[NUMBERS] = {
    [NUMBER_BATCH] = {"batch", offsetof(struct attention_shape, batch)},
    [NUMBER_HEADS] = {"heads", offsetof(struct attention_shape, heads)},
    [NUMBER_HEAD_DIM] = {"head_dim", offsetof(struct attention_shape, head_dim)},
    [NUMBER_NQ] = {"nq", offsetof(struct attention_shape, nq)},
    [NUMBER_NK] = {"nk", offsetof(struct attention_shape, nk)},
};

int number_of(const struct problem_case *which, const struct number *n) {
    int value;
    memcpy(&value, (const char *)&which->attention + n->at, sizeof value);
    return value;
}

struct problem_case with_number(const struct problem_case *which, const struct number *n, int value) {
    struct problem_case changed = *which;
    memcpy((char *)&changed.attention + n->at, &value, sizeof value);
    if (n == &attention_numbers[NUMBER_HEADS])
        changed.attention.kv_heads = value;
    return changed;
}

// A case of which one number is varied.
struct varied {
    const struct diagnosed *kernel;
    const struct problem_case *which;
    const struct number *number;
    int step; // from one value that can be asked for to the next
};

static enum case_result run_probe(const struct varied *v, int value, uint64_t seed) {
    struct problem_case changed = with_number(v->which, v->number, value);
    return attention_work(&changed.attention) > ATTENTION_MOST_WORK ? NOT_COVERED
                                                                    : attention_case_result(v->kernel, &changed, seed);
}

// Where a case needs a scale or large scores to be wrong, the inputs decide more.
static bool is_plain(const struct problem_case *which) {
    return which->family == INPUTS_NORMAL && !which->has_scale;
}

// Whether it is so whatever the inputs are.
static bool is_always(const struct varied *v, int value, enum case_result case_result) {
    const int seeds = is_plain(v->which) ? 3 : 8;
    for (int i = 0; i < seeds; i++)
        if (run_probe(v, value, SEED + (uint64_t)i) != case_result)
            return false;
    return true;
}

// A value that is right and the next one, which is wrong; where the next one is so with some inputs only, the case's
// own. False where it is wrong down to the least one, or where the border hangs on the inputs.
static bool find_border(const struct varied *v, int *right, int *wrong) {
    const int own = number_of(v->which, v->number);
    *right = v->step;
    *wrong = own;
    if (*wrong <= *right || *wrong % v->step || run_probe(v, *right, SEED) != RIGHT)
        return false;
    while (*wrong - *right > v->step) {
        int middle = (*right + *wrong) / 2 / v->step * v->step;
        enum case_result case_result = run_probe(v, middle, SEED);
        if (case_result != RIGHT && case_result != WRONG)
            return false;
        *(case_result == RIGHT ? right : wrong) = middle;
    }
    // Near it a few inputs may be right by chance: from which multiple of a tile down they are all.
    for (int multiple = 8; multiple <= 128 && *right && !is_always(v, *right, RIGHT); multiple *= 2)
        *right = *right / multiple * multiple;
    if (!*right || !is_always(v, *right, RIGHT))
        return false;
    if (*wrong != own && !is_always(v, *wrong, WRONG))
        *wrong = own;
    const bool is_width = v->number == &attention_numbers[NUMBER_HEAD_DIM];
    const bool is_far = *wrong == own && 4 * *right <= 3 * own && is_plain(v->which) && is_width;
    return is_far || is_always(v, *wrong, WRONG);
}

// The nearest value that is an exception to a border: right above it, direction 1, or wrong below it, -1. NONE: none of
// those tried. *sure: nor was one of them so with some inputs, or not answered.
static int find_exception(const struct varied *v, int border, int direction, bool *sure) {
    static const int apart[] = {1, 2, 3, 4, 7, 8, 12, 15, 16, 24, 31, 32, 48, 63, 64, 96, 127, 128};
    for (int i = 0; i < COUNT(apart); i++) {
        // And the multiples of a tile that lie there.
        const int values[] = {border + direction * apart[i] * v->step,
                              (border / apart[i] + (direction > 0)) * apart[i] / v->step * v->step};
        for (int j = 0; j < COUNT(values); j++) {
            if (direction > 0 ? values[j] <= border : values[j] < v->step || values[j] >= border)
                continue;
            enum case_result case_result = run_probe(v, values[j], OTHER_SEED);
            if (case_result == (direction > 0 ? RIGHT : WRONG) && is_always(v, values[j], case_result))
                return values[j];
            *sure = *sure && (case_result == NOT_COVERED || case_result == (direction > 0 ? WRONG : RIGHT));
        }
    }
    return NONE;
}

static void report_border(const struct varied *v, int right, int wrong, FILE *out) {
    const char *text = v->number->text;
    bool sure = wrong == right + v->step;
    int earlier = find_exception(v, right, -1, &sure), right_again = find_exception(v, wrong, 1, &sure);
    if (sure && !earlier && !right_again) {
        fprintf(out, "  The output is right up to %s %d, and wrong from %s %d on [right-up-to]\n", text, right, text,
                wrong);
        return;
    }
    if (earlier)
        fprintf(out, "  With these inputs the output is wrong with %s %d, right with %s %d, and wrong with %s %d", text,
                earlier, text, right, text, wrong);
    else
        fprintf(out, "  With these inputs the output is right with %s %d, and wrong with %s %d", text, right, text,
                wrong);
    if (right_again)
        fprintf(out, "; the output is right again with %s %d", text, right_again);
    fprintf(out, " [right-with-some]\n");
}

// Wrong down to the least value; a larger one, with which it is right, may be what a kernel takes for granted.
static void report_larger(const struct varied *v, FILE *out) {
    static const int multiples[] = {4, 8, 16, 32, 64, 128};
    const int value = number_of(v->which, v->number);
    for (int i = 0; i < COUNT(multiples); i++) {
        int larger = (value / multiples[i] + 1) * multiples[i];
        if (larger % v->step || run_probe(v, larger, SEED) != RIGHT || !is_always(v, larger, RIGHT))
            continue;
        fprintf(out, "  With these inputs the output is wrong with %s %d, and right with %s %d [right-with-larger]\n",
                v->number->text, value, v->number->text, larger);
        return;
    }
}

// From how many heads of all batches on, in one batch, so that blocks that stay on the device are told from batches.
static void report_heads_together(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    enum { PROCESSORS = 132 }; // of the GPU that is simulated
    struct problem_case together = *which;
    const struct varied v = {kernel, &together, &attention_numbers[NUMBER_HEADS], 1};
    int right, wrong;
    together.attention.heads = together.attention.kv_heads = which->attention.batch * which->attention.heads;
    together.attention.batch = 1;
    if (which->attention.batch == 1 || which->family != INPUTS_NORMAL ||
        which->attention.heads != which->attention.kv_heads || which->attention.layout == LAYOUT_STRIDES ||
        attention_case_result(kernel, &together, SEED) != WRONG || !find_border(&v, &right, &wrong))
        return;
    bool sure = wrong == right + v.step;
    if (find_exception(&v, right, -1, &sure) || find_exception(&v, wrong, 1, &sure) || !sure)
        return;
    // So many batches of one head do the same.
    together.attention.heads = together.attention.kv_heads = 1;
    together.attention.batch = wrong;
    if (attention_case_result(kernel, &together, SEED) != WRONG)
        return;
    together.attention.batch = right;
    if (attention_case_result(kernel, &together, SEED) != RIGHT)
        return;
    fprintf(out,
            "  The output is right with at most %d head%s in total (batch size times heads), and wrong from %d heads "
            "on%s [right-up-to-heads]\n",
            right, right == 1 ? "" : "s", wrong,
            right == PROCESSORS ? ", the first number of heads that gives a persistent block a second work tile" : "");
}

// Rows may have to be of whole 16 bytes.
static int step_of(const struct diagnosed *kernel, const struct problem_case *which) {
    struct problem_case mismatched =
        with_number(which, &attention_numbers[NUMBER_HEAD_DIM], (which->attention.head_dim - 1) | 1);
    return kernel->covers(kernel->context, &mismatched) ? 1 : 8;
}

static void report_numbers(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    const bool is_grouped = which->attention.heads != which->attention.kv_heads;
    // Strides are those of one shape.
    for (int i = 0; i < NUMBERS && which->attention.layout != LAYOUT_STRIDES; i++) {
        const struct varied v = {kernel, which, &attention_numbers[i],
                                 i == NUMBER_HEAD_DIM ? step_of(kernel, which) : 1};
        const bool is_head = i == NUMBER_HEADS || i == NUMBER_BATCH;
        int right, wrong;
        // Groups are those of one number of heads, and other inputs than the normal ones are not alike in all heads.
        if ((is_grouped && i == NUMBER_HEADS) || (which->family != INPUTS_NORMAL && is_head))
            continue;
        if (!find_border(&v, &right, &wrong)) {
            if (!is_head)
                report_larger(&v, out);
            // Of a single key nearly every kernel is right.
        } else if (i != NUMBER_NK || right > 1)
            report_border(&v, right, wrong, out);
    }
}

// Where it is right with as many queries as keys: which numbers of keys, or of queries, more than of the others are
// wrong.
static void report_differences(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    static const int apart[] = {1, 2, 7, 8, 15, 16, 24, 31, 32, 48, 63, 64, 96, 128};
    const int nq = which->attention.nq, nk = which->attention.nk;
    const struct varied queries = {kernel, which, &attention_numbers[NUMBER_NQ], 1},
                        keys = {kernel, which, &attention_numbers[NUMBER_NK], 1};
    // Both where nq is as nk and where nk is as nq, since it may be one of the two numbers alone.
    if (nq == nk || which->attention.layout == LAYOUT_STRIDES || !is_always(&queries, nk, RIGHT) ||
        !is_always(&keys, nq, RIGHT))
        return;
    const struct varied *larger = nq > nk ? &queries : &keys;
    const int less = nq > nk ? nk : nq, own = abs(nq - nk);
    int values[COUNT(apart) + 1], count = 0, rights = 0;
    bool right[COUNT(values)], wrong[COUNT(values)];
    bool tried_all = true;
    for (int i = 0; i < COUNT(apart); i++) {
        if (own < apart[i] && (i == 0 || own > apart[i - 1]))
            values[count++] = own;
        values[count++] = apart[i];
    }
    if (own > apart[COUNT(apart) - 1])
        values[count++] = own;
    for (int i = 0; i < count; i++) {
        const enum case_result case_result = run_probe(larger, less + values[i], SEED);
        tried_all = tried_all && case_result != UNKNOWN;
        right[i] = case_result == RIGHT && is_always(larger, less + values[i], RIGHT);
        wrong[i] = case_result == WRONG;
        rights += right[i];
    }
    if (!rights && tried_all) {
        fprintf(out, "  The output is right if nq = nk, and wrong if nq %c nk [wrong-if-lengths-differ]\n",
                nq > nk ? '>' : '<');
        return;
    }
    fprintf(out, "  With %s = %d and these inputs, the output is right if nq = nk", nq > nk ? "nk" : "nq", less);
    fprintf(out, rights ? " and if %s is " : "", nq > nk ? "nq - nk" : "nk - nq");
    pattern_values(values, right, true, count, " and ", out);
    fprintf(out, "; the output is wrong if %s is ", nq > nk ? "nq - nk" : "nk - nq");
    pattern_values(values, wrong, true, count, " and ", out);
    fprintf(out, " [right-for-differences]\n");
}

void attention_thresholds(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    report_numbers(kernel, which, out);
    report_heads_together(kernel, which, out);
    report_differences(kernel, which, out);
}
