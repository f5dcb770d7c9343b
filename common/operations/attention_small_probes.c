// Small inputs of one number each, whose results tell what the kernel does with it. Each is asked of one head, so that
// nothing else can be wrong; what is said is what was seen.
#include "attention.h"
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64, KEYS = 64 };

struct probe {
    const struct diagnosed *kernel;
    enum attention_dtype dtype;
    int head_dim; // of the case that was wrong
    FILE *out;
    int explained;
};

static bool run_probe(const struct probe *probe, int d, int nq, int nk, const float *q, const float *k, const float *v,
                      float *o) {
    return attention_run_head(probe->kernel, probe->dtype, d, nq, nk, q, k, v, o);
}

static bool is_close(double a, double b) {
    return fabs(a - b) <= 1e-2 * fmax(fabs(b), 1e-3);
}

static void report(struct probe *probe, const char *code, const char *text) {
    if (!probe->explained++)
        fputs("\nSmall probes (head_dim 64 unless stated):\n", probe->out);
    fprintf(probe->out, "  %s [%s]\n", text, code);
}

// Query i is large at element i and 0 elsewhere; the second key is 1 at the elements whose number has this bit, or has
// it not, and 0 elsewhere; its value is 1, and so is that of no other key. Where the element that is met is one of
// them met[i] is set. False where a result is neither.
enum { ALL_ELEMENTS = -1 };
static bool probe_bit(const struct probe *probe, int d, int bit, bool has, bool *met) {
    float *q = host_zeros(d * d, sizeof *q), *k = host_zeros(2 * d, sizeof *k);
    float *v = host_zeros(2 * d, sizeof *v), *o = host_zeros(d * d, sizeof *o);
    for (int i = 0; i < d; i++) {
        q[i * d + i] = 100 * sqrtf((float)d);
        k[d + i] = bit == ALL_ELEMENTS || (i >> bit & 1) == has;
        v[d + i] = 1;
    }
    bool known = run_probe(probe, d, d, 2, q, k, v, o);
    for (int i = 0; i < d && known; i++) {
        met[i] = is_close(o[i * d], 1);
        known = met[i] || is_close(o[i * d], 0.5);
    }
    free(q);
    free(k);
    free(v);
    free(o);
    return known;
}

// The same with one element in all queries alike, met by one element of the key: whether it is. Then no other query's
// can be taken for it.
static bool is_met(const struct probe *probe, int d, int of_q, int of_k, bool *met) {
    float *q = host_zeros(d * d, sizeof *q), *k = host_zeros(2 * d, sizeof *k);
    float *v = host_zeros(2 * d, sizeof *v), *o = host_zeros(d * d, sizeof *o);
    for (int i = 0; i < d; i++) {
        q[i * d + of_q] = 100 * sqrtf((float)d);
        v[d + i] = 1;
    }
    k[d + of_k] = 1;
    bool known = run_probe(probe, d, d, 2, q, k, v, o);
    *met = is_close(o[0], 1);
    known = known && (*met || is_close(o[0], 0.5));
    for (int i = 1; i < d && known; i++)
        known = is_close(o[i * d], o[0]);
    free(q);
    free(k);
    free(v);
    free(o);
    return known;
}

// Which element of k each element of q is multiplied with.
// Whether an element counts for any of many keys: all but the first have it, and nothing else.
static bool counts_anywhere(const struct probe *probe, int d, int element, bool *counts) {
    enum { MANY_KEYS = 32 };
    float *q = host_zeros(d, sizeof *q), *k = host_zeros(MANY_KEYS * d, sizeof *k);
    float *v = host_zeros(MANY_KEYS * d, sizeof *v), *o = host_zeros(d, sizeof *o);
    q[element] = 100 * sqrtf((float)d);
    for (int j = 1; j < MANY_KEYS; j++)
        k[j * d + element] = 1;
    for (int j = 0; j < MANY_KEYS; j++)
        v[j * d + j % d] = 1;
    bool known = run_probe(probe, d, 1, MANY_KEYS, q, k, v, o);
    *counts = false;
    for (int c = 0; c < d && c < MANY_KEYS && known; c++)
        *counts = *counts ||
                  !is_close(o[c], d < MANY_KEYS ? (double)((MANY_KEYS - c + d - 1) / d) / MANY_KEYS : 1.0 / MANY_KEYS);
    free(q);
    free(k);
    free(v);
    free(o);
    return known;
}

static void probe_elements(struct probe *probe) {
    enum { MANY = -1 };
    bool counted[MAX_HEAD_DIM], lacks[MAX_HEAD_DIM], with[MAX_HEAD_DIM], without[MAX_HEAD_DIM];
    int d = probe->head_dim, from[MAX_HEAD_DIM] = {0}, permuted = 0, first = MANY;
    bool same_shift = true;
    char where[200], text[400];
    if (!probe_bit(probe, d, ALL_ELEMENTS, true, counted))
        return;
    bool any = false;
    for (int i = 0; i < d; i++) {
        lacks[i] = !counted[i];
        any = any || counted[i];
    }
    if (!any) // it is the weights that do not follow the scores
        return;
    int left_out = 0;
    while (left_out < d && !lacks[left_out])
        left_out++;
    if (left_out < d &&
        (!is_met(probe, d, left_out, left_out, &any) || any || !counts_anywhere(probe, d, left_out, &any) || any))
        return;
    if (pattern_ranges(lacks, d, "element", "elements", where, sizeof where)) {
        snprintf(text, sizeof text, "Q K^T omits %s of the queries and keys", where);
        report(probe, "q-k-misses-elements", text);
    }
    for (int bit = 0; 1 << bit < d; bit++) {
        if (!probe_bit(probe, d, bit, true, with) || !probe_bit(probe, d, bit, false, without))
            return;
        for (int i = 0; i < d; i++)
            from[i] = from[i] == MANY || with[i] == without[i] ? MANY : from[i] | with[i] << bit;
    }
    for (int i = 0; i < d; i++) {
        lacks[i] = counted[i] && from[i] != MANY && from[i] != i;
        if (lacks[i] && first == MANY)
            first = i;
        permuted += lacks[i];
        same_shift = same_shift && (!lacks[i] || from[i] - i == from[first] - first);
    }
    bool own, other;
    if (!permuted || !is_met(probe, d, first, first, &own) || !is_met(probe, d, first, from[first], &other) || own ||
        !other)
        return;
    if (!pattern_ranges(lacks, d, "element", "elements", where, sizeof where))
        snprintf(where, sizeof where, "%d elements", permuted);
    if (same_shift && permuted > 1)
        snprintf(text, sizeof text,
                 "Q K^T is shifted: element i of a query is multiplied by element i %c %d of the key, for %s",
                 from[first] < first ? '-' : '+', abs(from[first] - first), where);
    else
        snprintf(text, sizeof text,
                 "Q K^T is permuted: %s of a query are multiplied by other elements of the key; element %d of the "
                 "query by element %d of the key",
                 where, first, from[first]);
    report(probe, same_shift && permuted > 1 ? "q-k-shifted" : "q-k-permuted", text);
}

// Of keys that seem to be lost in the column of their number: whether any value of theirs counts in any column, all
// scores being 0; and whether they count in that column where there are several queries. false: it cannot be asked.
static bool probe_missing(const struct probe *probe, const bool *missing, bool *elsewhere, bool *with_more) {
    static float q[KEYS * D], k[KEYS * D], v[KEYS * D], o[KEYS * D];
    memset(v, 0, sizeof v);
    for (int i = 0; i < KEYS * D; i++)
        v[i] = missing[i / D];
    if (!run_probe(probe, D, 1, KEYS, q, k, v, o))
        return false;
    *elsewhere = *with_more = false;
    for (int c = 0; c < D; c++)
        *elsewhere |= o[c] != 0;
    memset(v, 0, sizeof v);
    for (int j = 0; j < KEYS; j++)
        v[j * D + j] = 1;
    if (!run_probe(probe, D, KEYS, KEYS, q, k, v, o))
        return false;
    for (int j = 0; j < KEYS; j++)
        *with_more |= missing[j] && o[j] != 0;
    return true;
}

// All scores are 0 and value j is 1 at column j and 0 elsewhere: each column is 1 / KEYS where key j is counted.
static void probe_keys(struct probe *probe) {
    static float q[D], k[KEYS * D], v[KEYS * D], o[D];
    bool lacks[KEYS];
    char where[200], text[400];
    for (int j = 0; j < KEYS; j++)
        v[j * D + j] = 1;
    if (!run_probe(probe, D, 1, KEYS, q, k, v, o))
        return;
    double each = 0;
    int missing = 0;
    bool known = true;
    for (int j = 0; j < KEYS; j++)
        each = o[j] > each ? o[j] : each;
    for (int j = 0; j < KEYS; j++) {
        lacks[j] = o[j] == 0;
        missing += lacks[j];
        known = known && (lacks[j] || is_close(o[j], each));
    }
    if (known && missing && missing < KEYS && pattern_ranges(lacks, KEYS, "key", "keys", where, sizeof where)) {
        bool elsewhere, with_more;
        if (!probe_missing(probe, lacks, &elsewhere, &with_more))
            return;
        snprintf(text, sizeof text,
                 elsewhere ? "The values of %s are lost in some columns%s" : "The values of %s are never added%s",
                 where, with_more ? ", if there is only one query" : "");
        report(probe, elsewhere ? "values-lost-in-columns" : "values-never-added", text);
    } else if (known && !missing && !is_close(each, 1.0 / KEYS)) {
        snprintf(text, sizeof text,
                 "Each of %d equal keys has the weight %.4g instead of %.4g: %.4g times the right one", KEYS, each,
                 1.0 / KEYS, each * KEYS);
        report(probe, "equal-keys-weight", text);
    } else if (!known) {
        report(probe, "equal-keys-differ", "Keys with equal scores have different weights in the weighted sum");
    }
}

// Query i is met by key i alone, far above the others, and all values are 1: a result above 1 is that of a sum without
// that key.
static void probe_sum(struct probe *probe) {
    static float q[KEYS * D], k[KEYS * D], v[KEYS * D], o[KEYS * D];
    bool lacks[KEYS];
    char where[200], text[400];
    int lacking = 0;
    for (int i = 0; i < KEYS; i++) {
        q[i * D + i] = 64; // a score of 8
        k[i * D + i] = 1;
    }
    for (int i = 0; i < KEYS * D; i++)
        v[i] = 1;
    if (!run_probe(probe, D, KEYS, KEYS, q, k, v, o))
        return;
    for (int i = 0; i < KEYS; i++) {
        lacks[i] = o[i * D] > 10;
        lacking += lacks[i];
        if (!lacks[i] && !(o[i * D] > 0.9f && o[i * D] < 1.5f))
            return;
        for (int c = 1; c < D; c++) // else columns have sums of their own
            if (!is_close(o[i * D + c], o[i * D]))
                return;
    }
    if (lacking < KEYS && pattern_ranges(lacks, KEYS, "key", "keys", where, sizeof where)) {
        snprintf(text, sizeof text, "The row sum omits the weights of %s", where);
        report(probe, "row-sum-misses-keys", text);
    }
}

// One key, whose value has another number in each column, must come out as it is.
static void probe_columns(struct probe *probe) {
    static float q[D], k[D], v[D], o[D];
    int from[D], permuted = 0;
    bool used[D] = {false};
    char text[400];
    for (int c = 0; c < D; c++)
        v[c] = (float)(c + 1);
    if (!run_probe(probe, D, 1, 1, q, k, v, o))
        return;
    for (int c = 0; c < D; c++) {
        from[c] = (int)lrintf(o[c]) - 1;
        if (!isfinite(o[c]) || from[c] < 0 || from[c] >= D || used[from[c]] ||
            fabsf(o[c] - (float)(from[c] + 1)) > 0.1f)
            break;
        used[from[c]] = true;
        permuted += from[c] != c;
        if (c == D - 1 && permuted) {
            int first = 0;
            while (from[first] == first)
                first++;
            snprintf(text, sizeof text,
                     "Columns are permuted: with a single key, column %d of the output is column %d of V; %d of %d "
                     "columns are affected",
                     first, from[first], permuted, D);
            report(probe, "single-key-columns-permuted", text);
        }
    }
    bool times = isfinite(o[0]) && o[0] != 0 && !is_close(o[0], v[0]);
    for (int c = 0; c < D; c++)
        times = times && is_close(o[c], (double)o[0] * v[c]);
    if (times) {
        snprintf(text, sizeof text, "With a single key, the output is %.6g times the value of that key", o[0]);
        report(probe, "single-key-scaled", text);
    }
}

static void report_precision(void *probe, const char *code, const char *text) {
    report(probe, code, text);
}

bool attention_small_probes(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    enum attention_dtype dtype = which->dtype;
    struct probe probe = {.kernel = kernel, .dtype = dtype, .head_dim = which->attention.head_dim, .out = out};
    probe_elements(&probe);
    const bool explained = probe.explained;
    probe_keys(&probe);
    probe_sum(&probe);
    probe_columns(&probe);
    attention_precision(kernel, dtype, report_precision, &probe);
    return explained;
}
