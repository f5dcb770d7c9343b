// Small inputs of one number each, whose results tell what the kernel does with it. Each is asked of one head, so that
// nothing else can be wrong; what is said is what was seen.
#include "attention.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/attention_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64, KEYS = 64, RATIOS = 8, MOST_LISTED = 4 };

struct probe {
    const struct diagnosed *kernel;
    enum attention_dtype dtype;
    FILE *out;
    int said;
};

// One head. q, k, v: [n][D], copied; o: [nq][D]. False where the kernel could not be asked.
static bool ask(const struct probe *probe, int nq, int nk, const float *q, const float *k, const float *v, float *o) {
    struct problem_case which = {.attention = {1, 1, 1, nq, nk, D, .layout = LAYOUT_BHND}, .dtype = probe->dtype};
    struct host_problem problem;
    const float *from[] = {q, k, v};
    const int rows[] = {nq, nk, nk};
    float *copy[3];
    if (!probe->kernel->covers(probe->kernel->context, &which))
        return false;
    for (int i = 0; i < 3; i++) {
        copy[i] = host_allocate((int64_t)rows[i] * D, sizeof(float));
        memcpy(copy[i], from[i], (size_t)rows[i] * D * sizeof(float));
    }
    attention_make_of(&which, copy[0], copy[1], copy[2], nq, nk, &problem);
    while (!probe->kernel->optional && problem_output(&problem, problem.outputs - 1)->optional)
        problem.outputs--;
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    bool ran = probe->kernel->run(probe->kernel->context, &problem, outputs);
    memcpy(o, outputs, (size_t)nq * D * sizeof *o);
    free(outputs);
    host_problem_free(&problem);
    return ran;
}

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-2 * fmax(fabs(b), 1e-3);
}

static void say(struct probe *probe, const char *text) {
    if (!probe->said++)
        fputs("\nasked for small inputs, the kernel\n", probe->out);
    fprintf(probe->out, "  %s\n", text);
}

// "elements 32 to 63": those of 0 .. count - 1 that are marked, where they are few ranges; false otherwise.
static bool ranges(const bool *marked, int count, const char *one, const char *many, char *text, size_t size) {
    size_t length = 0;
    int found = 0;
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && marked[end] == marked[i];)
            end++;
        if (!marked[i])
            continue;
        if (found++ == MOST_LISTED)
            return false;
        length += (size_t)snprintf(text + length, size - length, end - i > 1 ? "%s%s %d to %d" : "%s%s %d",
                                   found > 1 ? ", " : "", end - i > 1 ? many : one, i, end - 1);
    }
    return found;
}

// Query i is large at element i and 0 elsewhere; the second key is 1 throughout, its value 1, the first key and its
// value 0. Where element i is counted the result is 1, else a half.
static void ask_elements(struct probe *probe) {
    static float q[D * D], k[2 * D], v[2 * D], o[D * D];
    bool lacks[D];
    char where[200], text[300];
    for (int i = 0; i < D; i++) {
        q[i * D + i] = 100 * sqrtf(D);
        k[D + i] = v[D + i] = 1;
    }
    if (!ask(probe, D, 2, q, k, v, o))
        return;
    bool known = true;
    for (int i = 0; i < D; i++) {
        lacks[i] = near(o[i * D], 0.5);
        known = known && (lacks[i] || near(o[i * D], 1));
    }
    if (known && ranges(lacks, D, "element", "elements", where, sizeof where)) {
        snprintf(text, sizeof text, "never counts %s of q.k (head_dim %d)", where, D);
        say(probe, text);
    }
}

// All scores are 0 and value j is 1 at column j and 0 elsewhere: each column is 1 / KEYS where key j is counted.
static void ask_keys(struct probe *probe) {
    static float q[D], k[KEYS * D], v[KEYS * D], o[D];
    bool lacks[KEYS];
    char where[200], text[300];
    for (int j = 0; j < KEYS; j++)
        v[j * D + j] = 1;
    if (!ask(probe, 1, KEYS, q, k, v, o))
        return;
    double each = 0;
    int missing = 0;
    bool known = true;
    for (int j = 0; j < KEYS; j++)
        each = o[j] > each ? o[j] : each;
    for (int j = 0; j < KEYS; j++) {
        lacks[j] = o[j] == 0;
        missing += lacks[j];
        known = known && (lacks[j] || near(o[j], each));
    }
    if (known && missing && missing < KEYS && ranges(lacks, KEYS, "key", "keys", where, sizeof where)) {
        snprintf(text, sizeof text, "never adds the values of %s of %d", where, KEYS);
        say(probe, text);
    } else if (known && !missing && !near(each, 1.0 / KEYS)) {
        snprintf(text, sizeof text, "gives each of %d equal keys the weight %.4g, not %.4g: %.4g times the right one",
                 KEYS, each, 1.0 / KEYS, each * KEYS);
        say(probe, text);
    } else if (!known) {
        say(probe, "gives keys of equal scores different weights");
    }
}

// One key, whose value has another number in each column, must come out as it is.
static void ask_columns(struct probe *probe) {
    static float q[D], k[D], v[D], o[D];
    int from[D], moved = 0;
    bool used[D] = {false};
    char text[300];
    for (int c = 0; c < D; c++)
        v[c] = (float)(c + 1);
    if (!ask(probe, 1, 1, q, k, v, o))
        return;
    for (int c = 0; c < D; c++) {
        from[c] = (int)lrintf(o[c]) - 1;
        if (!isfinite(o[c]) || from[c] < 0 || from[c] >= D || used[from[c]] ||
            fabsf(o[c] - (float)(from[c] + 1)) > 0.1f)
            break;
        used[from[c]] = true;
        moved += from[c] != c;
        if (c == D - 1 && moved) {
            int first = 0;
            while (from[first] == first)
                first++;
            snprintf(text, sizeof text,
                     "permutes columns: of one key's value the output has element %d at %d, %d of %d elsewhere",
                     from[first], first, moved, D);
            say(probe, text);
        }
    }
    bool times = isfinite(o[0]) && o[0] != 0 && !near(o[0], v[0]);
    for (int c = 0; c < D; c++)
        times = times && near(o[c], (double)o[0] * v[c]);
    if (times) {
        snprintf(text, sizeof text, "gives %.6g times the value of a single key", o[0]);
        say(probe, text);
    }
}

// ---- Precision ---------------------------------------------------------------------------------------------------

// To so many significant bits, ties to even.
static double rounded(double x, int bits) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

// The bits that explain what was got, where fewer than fp32 has do: 8 of bf16, 11 of TF32 and fp16; 0: none.
static int bits_of(const double *got, const double *exact, int count) {
    static const int candidates[] = {8, 11};
    for (int b = 0; b < 2; b++) {
        bool fits = true, differs = false;
        for (int i = 0; i < count; i++) {
            double as = rounded(exact[i], candidates[b]), far = ldexp(fabs(exact[i]), -18);
            fits = fits && fabs(got[i] - as) <= far;
            differs = differs || fabs(as - exact[i]) > 4 * far;
        }
        if (fits && differs)
            return candidates[b];
    }
    return 0;
}

static void say_bits(struct probe *probe, const char *what, int bits) {
    char text[160];
    snprintf(text, sizeof text, "rounds %s to %d bits, as %s has", what, bits, bits == 8 ? "bf16" : "TF32 or fp16");
    say(probe, text);
}

static void ask_value_precision(struct probe *probe) {
    static float q[D], k[D], v[D], o[D];
    double got[D], exact[D];
    for (int c = 0; c < D; c++)
        v[c] = 1 + (float)(c * 37 % D + 1) / 127.37f;
    if (!ask(probe, 1, 1, q, k, v, o))
        return;
    for (int c = 0; c < D; c++) {
        got[c] = o[c];
        exact[c] = v[c];
    }
    int bits = bits_of(got, exact, D);
    if (bits)
        say_bits(probe, "values or the output", bits);
}

// Key 1 lies below key 0 by a known difference; column 0 of the output has the weight of key 0, column 1 that of key 1.
// Their quotient knows nothing of the sum.
static bool ask_ratios(struct probe *probe, const float *factor_q, const float *factor_k, double ratio[RATIOS]) {
    static float q[D], k[2 * D], v[2 * D], o[D];
    v[0] = v[D + 1] = 1;
    for (int i = 0; i < RATIOS; i++) {
        q[0] = factor_q[i] * sqrtf(D);
        k[D] = -factor_k[i];
        if (!ask(probe, 1, 2, q, k, v, o) || !(o[0] > 0) || !(o[1] > 0))
            return false;
        ratio[i] = (double)o[1] / o[0];
    }
    return true;
}

static void ask_weight_precision(struct probe *probe) {
    float one[RATIOS], steps[RATIOS];
    double ratio[RATIOS], exact[RATIOS], worst = 0;
    char text[200];
    for (int i = 0; i < RATIOS; i++) {
        one[i] = 1;
        steps[i] = 0.5f * (float)(i + 1);
        exact[i] = exp(-(double)steps[i]);
    }
    if (!ask_ratios(probe, one, steps, ratio))
        return;
    for (int i = 0; i < RATIOS; i++)
        worst = fmax(worst, fabs(ratio[i] / exact[i] - 1));
    int bits = bits_of(ratio, exact, RATIOS);
    if (bits) {
        say_bits(probe, "the weights", bits);
    } else if (worst > 1e-5 && worst < 0.05) {
        snprintf(text, sizeof text,
                 "has an exponential that is off by up to %.1e: exp(-0.5) comes out as %.7f, not %.7f", worst, ratio[0],
                 exact[0]);
        say(probe, text);
    }
}

static void ask_score_precision(struct probe *probe) {
    float x[RATIOS], y[RATIOS];
    double ratio[RATIOS], got[RATIOS], exact[RATIOS], both[2][RATIOS];
    for (int i = 0; i < RATIOS; i++) {
        x[i] = 2.13671875f + 0.0371093f * (float)i; // q[0] / 8, which has the same bits
        y[i] = 1.52734f + 0.0291748f * (float)i;
    }
    if (!ask_ratios(probe, x, y, ratio))
        return;
    for (int b = 0; b < 2; b++) {
        bool fits = true, differs = false;
        for (int i = 0; i < RATIOS; i++) {
            got[i] = -log(ratio[i]);
            exact[i] = (double)x[i] * y[i];
            both[b][i] = rounded(x[i], b ? 11 : 8) * rounded(y[i], b ? 11 : 8);
            fits = fits && fabs(got[i] - both[b][i]) <= 1e-5;
            differs = differs || fabs(exact[i] - both[b][i]) > 1e-4;
        }
        if (fits && differs) {
            say_bits(probe, "queries and keys", b ? 11 : 8);
            return;
        }
    }
}

void attention_probe(const struct diagnosed *kernel, enum attention_dtype dtype, FILE *out) {
    struct probe probe = {.kernel = kernel, .dtype = dtype, .out = out};
    ask_elements(&probe);
    ask_keys(&probe);
    ask_columns(&probe);
    if (dtype == ATTENTION_FP32) {
        ask_value_precision(&probe);
        ask_weight_precision(&probe);
        ask_score_precision(&probe);
    }
}
