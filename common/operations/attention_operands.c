// Which element of which row each product takes: one column of the scores after another is asked for, with queries, or
// keys, that differ in one bit of the number of their row or of their column.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32, KEYS = 32, UNKNOWN = -1, MOST_D = 256 };

struct operands {
    const struct diagnosed *kernel;
    enum attention_dtype dtype;
    int d;
    float *q, *k, *v, *o; // [ROWS][d], [KEYS][d], [KEYS][d], [ROWS][d]
};

static bool run_probe(const struct operands *x, int nk) {
    return attention_run_head(x->kernel, x->dtype, x->d, ROWS, nk, x->q, x->k, x->v, x->o);
}

static void clear(const struct operands *x) {
    memset(x->q, 0, (size_t)(ROWS * x->d) * sizeof *x->q);
    memset(x->k, 0, (size_t)(KEYS * x->d) * sizeof *x->k);
    memset(x->v, 0, (size_t)(KEYS * x->d) * sizeof *x->v);
}

// What is asked about: a bit of the rows' numbers, or of the columns'; ALL: every element is set.
enum { ALL = -1 };
struct bit {
    bool of_columns;
    int number;
};

static bool is_set(struct bit bit, int row, int column) {
    return bit.number == ALL || ((bit.of_columns ? column : row) >> bit.number & 1);
}

// Queries are large at the elements that have the bit, the second of two keys is 1 at one column: met[i] is set where
// query i meets an element that has it. False where a result is neither.
static bool probe_queries(const struct operands *x, int column, struct bit bit, bool *met) {
    clear(x);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < x->d; c++)
            x->q[i * x->d + c] = is_set(bit, i, c) ? 100 * sqrtf((float)x->d) : 0;
    x->k[x->d + column] = 1;
    for (int c = 0; c < x->d; c++)
        x->v[x->d + c] = 1;
    bool known = run_probe(x, 2);
    for (int i = 0; i < ROWS && known; i++) {
        float o = x->o[i * x->d];
        met[i] = fabsf(o - 1) < 0.01f;
        known = met[i] || fabsf(o - 0.5f) < 0.01f;
    }
    return known;
}

// All queries are large at one column; keys are 1 at the elements that have the bit. Key 0 is a half throughout: it
// takes all the weight where none of the others has it. met[j]: key j has some weight.
static bool probe_keys(const struct operands *x, int column, struct bit bit, bool *met) {
    clear(x);
    for (int i = 0; i < ROWS; i++)
        x->q[i * x->d + column] = 100 * sqrtf((float)x->d);
    for (int j = 0; j < KEYS; j++)
        for (int c = 0; c < x->d; c++)
            x->k[j * x->d + c] = j == 0 ? 0.5f : is_set(bit, j, c);
    for (int j = 0; j < KEYS; j++)
        x->v[j * x->d + j] = 1;
    if (!run_probe(x, KEYS))
        return false;
    bool none = x->o[0] > 1e-3f;
    for (int j = 0; j < KEYS; j++) {
        if (!isfinite(x->o[j]))
            return false;
        met[j] = !none && x->o[j] > 1e-3f;
    }
    return true;
}

// The element of each row that meets the column, UNKNOWN where none does, or one of the key that is a half; false where
// there is no telling.
static bool find(const struct operands *x, bool of_keys, int column, int *from_row, int *from_column) {
    bool met[ROWS];
    int unknown = 0;
    const struct bit all = {false, ALL};
    if (!(of_keys ? probe_keys : probe_queries)(x, column, all, met))
        return false;
    for (int i = 0; i < ROWS; i++) {
        from_row[i] = from_column[i] = met[i] ? 0 : UNKNOWN;
        unknown += !met[i];
    }
    if (2 * unknown > ROWS)
        return false;
    for (int of_columns = 0; of_columns < 2; of_columns++)
        for (int b = 0; 1 << b < (of_columns ? x->d : ROWS); b++) {
            const struct bit bit = {of_columns, b};
            if (!(of_keys ? probe_keys : probe_queries)(x, column, bit, met))
                return false;
            for (int i = 0; i < ROWS; i++)
                if (from_row[i] != UNKNOWN)
                    *(of_columns ? &from_column[i] : &from_row[i]) |= met[i] << b;
        }
    return true;
}

// Whether row i of the queries, or of the keys, meets this one element, where all others are 0.
static bool is_multiplied(const struct operands *x, bool of_keys, int column, int i, int row, int element) {
    clear(x);
    float large = 100 * sqrtf((float)x->d);
    for (int r = 0; r < ROWS && of_keys; r++)
        x->q[r * x->d + column] = large;
    if (of_keys)
        x->k[row * x->d + element] = 1;
    else
        x->q[row * x->d + element] = large;
    if (!of_keys)
        x->k[x->d + column] = 1;
    for (int j = 0; j < KEYS && of_keys; j++)
        x->v[j * x->d + j] = 1;
    for (int c = 0; c < x->d && !of_keys; c++)
        x->v[x->d + c] = 1;
    return run_probe(x, of_keys ? KEYS : 2) && x->o[of_keys ? i : i * x->d] > (of_keys ? 0.2f : 0.9f);
}

// Whether weights of random scores add up to 1, and are the same in all columns. Scores that are others than they
// should be do so; weights that change places between their sum and the output, or are a column's own, do not, and
// would pass for scores here.
static bool weights_are_of_scores(const struct operands *x) {
    const float tolerance = x->dtype == ATTENTION_FP32 ? 1e-3f : 3e-2f;
    unsigned state = 1;
    clear(x);
    for (int i = 0; i < ROWS * x->d; i++) {
        x->q[i] = (float)((state = state * 1664525 + 1013904223) >> 24) / 64 - 2;
        x->k[i] = (float)((state = state * 1664525 + 1013904223) >> 24) / 64 - 2;
        x->v[i] = 1;
    }
    bool are = run_probe(x, KEYS);
    for (int i = 0; i < ROWS * x->d && are; i++)
        are = fabsf(x->o[i] - 1) <= tolerance;
    for (int i = 0; i < KEYS * x->d; i++)
        x->v[i] = (float)(i / x->d) / KEYS;
    are = are && run_probe(x, KEYS);
    for (int i = 0; i < ROWS * x->d && are; i++)
        are = fabsf(x->o[i] - x->o[i / x->d * x->d]) <= tolerance;
    return are;
}

// Says of the first row that takes another element which one it is.
static bool report_operand(const struct operands *x, bool of_keys, int column, FILE *out) {
    int from_row[ROWS], from_column[ROWS], first = UNKNOWN, others = 0;
    if (!find(x, of_keys, column, from_row, from_column))
        return false;
    for (int i = 0; i < ROWS; i++)
        if (from_row[i] != UNKNOWN && (from_row[i] != i || from_column[i] != column)) {
            if (from_column[i] >= x->d)
                return false;
            others++;
            first = first == UNKNOWN ? i : first;
        }
    if (!others)
        return false;
    const char *what = of_keys ? "key" : "query";
    bool own = is_multiplied(x, of_keys, column, first, first, column);
    if (own && !is_multiplied(x, of_keys, column, first, from_row[first], from_column[first]))
        return false;
    fprintf(out,
            "\nProbe of Q K^T (head_dim %d):\n  %s element %d of %s %d, the kernel reads element %d of %s %d. The same "
            "pattern holds in at least %d of %d rows [%s-elements-%s]\n",
            x->d, own ? "In addition to" : "Instead of", column, what, first, from_column[first], what, from_row[first],
            others, ROWS, what, own ? "added" : "replaced");
    return true;
}

bool attention_operands(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    struct operands x = {.kernel = kernel, .dtype = which->dtype, .d = which->attention.head_dim};
    bool explained = false;
    if (x.d < KEYS || x.d > MOST_D)
        return false;
    x.q = host_allocate(ROWS * x.d, sizeof *x.q);
    x.k = host_allocate(KEYS * x.d, sizeof *x.k);
    x.v = host_allocate(KEYS * x.d, sizeof *x.v);
    x.o = host_allocate(ROWS * x.d, sizeof *x.o);
    const int columns[] = {1, x.d / 2 + 4, x.d - 2};
    for (int of_keys = 0; of_keys < 2 && weights_are_of_scores(&x); of_keys++)
        for (int i = 0; i < 3 && !explained; i++)
            explained = report_operand(&x, of_keys, columns[i], out);
    free(x.q);
    free(x.k);
    free(x.v);
    free(x.o);
    return explained;
}
