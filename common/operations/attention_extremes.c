// Scores that lie far from each other, in an order that is chosen: where a maximum, or what is summed up before it is
// raised, is treated wrongly, one order is right and another is not.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64, KEYS = 200, QUERIES = 2, POSITIONS = 6 };

// The exponential of which is more than the type holds.
#define FP16_OVERFLOWS 12
#define FP32_OVERFLOWS 89.5

// The scores are 0 but for those of the keys from `from` on, or of that one alone, which are `height`.
struct scores {
    int from;
    bool alone;
    double height;
};

struct extremes {
    const struct diagnosed *kernel;
    enum attention_dtype dtype;
    bool negative;          // the scale is below 0
    bool reported_overflow; // numbers are lost
};

static double score_of(const struct scores *s, int j) {
    return (s->alone ? j == s->from : j >= s->from) ? s->height : 0;
}

enum probe_result { RIGHT, WRONG, NOT_FINITE, NOT_RUN };

// How far a result may be off.
static double tolerance_of(const struct extremes *e) {
    return e->dtype == ATTENTION_FP32 ? 1e-3 : e->dtype == ATTENTION_FP16 ? 4e-3 : 2e-2;
}

// Column 0 of the values is 1, column 1 is 1 at keys from `from` on, column 2 grows from key to key.
static enum probe_result run_probe(const struct extremes *e, const struct scores *s) {
    static float q[QUERIES * D], k[KEYS * D], v[KEYS * D], o[QUERIES * D];
    const double tolerance = tolerance_of(e);
    double expected[3] = {0}, sum = 0, maximum = fmax(s->height, 0);
    memset(q, 0, sizeof q);
    memset(k, 0, sizeof k);
    memset(v, 0, sizeof v);
    if (!s->alone && s->from == 0)
        maximum = s->height;
    for (int i = 0; i < QUERIES; i++)
        q[i * D] = e->negative ? -8 : 8; // the square root of D
    for (int j = 0; j < KEYS; j++) {
        k[j * D] = (float)score_of(s, j);
        v[j * D] = 1;
        v[j * D + 1] = j >= s->from;
        v[j * D + 2] = (float)(j / 2) / 128;
        double weight = exp(score_of(s, j) - maximum);
        sum += weight;
        for (int c = 0; c < 3; c++)
            expected[c] += weight * v[j * D + c];
    }
    if (!(e->negative ? attention_run_scaled(e->kernel, e->dtype, -1.0 / 8, D, QUERIES, KEYS, q, k, v, o)
                      : attention_run_head(e->kernel, e->dtype, D, QUERIES, KEYS, q, k, v, o)))
        return NOT_RUN;
    for (int i = 0; i < QUERIES; i++)
        for (int c = 0; c < 3; c++) {
            if (!isfinite(o[i * D + c]))
                return NOT_FINITE;
            if (fabs(o[i * D + c] - expected[c] / sum) > tolerance * fabs(expected[c] / sum) + tolerance * 1e-2)
                return WRONG;
        }
    return RIGHT;
}

bool attention_survives_steps(const struct diagnosed *kernel, enum attention_dtype dtype) {
    static const double low = 2, high = 60;
    const struct extremes e = {kernel, dtype, false, false};
    for (int from = 32; from < KEYS; from *= 2)
        if (run_probe(&e, &(struct scores){from, false, low}) == WRONG &&
            run_probe(&e, &(struct scores){from, false, high}) == RIGHT)
            return true;
    return false;
}

// The least height, of few, at which such scores come out wrong; 0: at none. *right: the one before.
static double least_height(const struct extremes *e, struct scores s, double sign, enum probe_result *how,
                           double *right) {
    static const double heights[] = {1, 5, FP16_OVERFLOWS, 20, 80, FP32_OVERFLOWS, 400};
    *right = 0;
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        s.height = sign * heights[i];
        *how = run_probe(e, &s);
        if (*how == NOT_RUN)
            return 0;
        if (*how != RIGHT)
            return heights[i];
        *right = heights[i];
    }
    return 0;
}

// Steps up or down, or one key that is above all: at which of these keys they go wrong.
static void report_steps(struct extremes *e, bool alone, double sign, FILE *out, int *explained) {
    static const int positions[POSITIONS] = {1, 16, 32, 64, 128, KEYS - 1};
    // A step that is low may be wrong where a high one leaves nothing of what is. Weights of e^12 are more than fp16
    // holds, those of e^89.5 more than fp32 and bf16 do: a maximum that is left as it was until then shows there.
    static const double heights[] = {400, 2, FP16_OVERFLOWS, FP32_OVERFLOWS};
    bool wrong[POSITIONS], all = true;
    int first = -1;
    enum probe_result reported = RIGHT;
    double failing_height = 0; // the height that found them
    for (size_t h = 0; h < sizeof heights / sizeof *heights && first < 0; h++)
        for (int i = 0; i < POSITIONS; i++) {
            struct scores s = {positions[i], alone, sign * heights[h]};
            enum probe_result how = run_probe(e, &s);
            if (how == NOT_RUN)
                return;
            wrong[i] = how != RIGHT;
            reported = wrong[i] && first < 0 ? how : reported;
            first = wrong[i] && first < 0 ? positions[i] : first;
            failing_height = heights[h];
        }
    if (first < 0)
        return;
    for (int i = 0; i < POSITIONS; i++)
        all = all && wrong[i];
    enum probe_result how;
    double right, height = least_height(e, (struct scores){first, alone, 0}, sign, &how, &right);
    if (!(*explained)++)
        fprintf(out, "\nProbe (%d queries, %d keys, head_dim %d%s): all scores are 0, except as stated\n", QUERIES,
                KEYS, D, e->negative ? ", scale -0.125" : "");
    fprintf(out, "  The output %s if the %s ", reported == NOT_FINITE ? "is NaN or infinite" : "is wrong",
            alone ? "score of key" : "scores from key");
    pattern_values(positions, wrong, true, POSITIONS, " or ", out);
    fprintf(out, "%s %s by %g", alone ? " is" : " on are",
            sign > 0 ? "above the other scores" : "below the earlier scores", failing_height);
    if (!all) {
        fprintf(out, "; the output is right within %g %% if the %s ", 100 * tolerance_of(e),
                alone ? "score of key" : "scores from key");
        pattern_values(positions, wrong, false, POSITIONS, " or ", out);
        fprintf(out, "%s", alone ? " is" : " on are");
    }
    fprintf(out, " [extreme-step-%s]\n", reported == NOT_FINITE ? "not-finite" : "wrong");
    if (height > 1 && height < failing_height)
        fprintf(out,
                "  The smallest such step for key %d is %g; with a step of %g the output is right within %g %% "
                "[extreme-step-smallest]\n",
                first, height, right, 100 * tolerance_of(e));
    if (how == NOT_FINITE && !e->reported_overflow &&
        height == (e->dtype == ATTENTION_FP16 ? FP16_OVERFLOWS : FP32_OVERFLOWS)) {
        fprintf(out,
                "  The exponential e^%g overflows %s: the kernel has computed a weight or a rescale factor with a "
                "maximum far below the row max [exponential-overflows]\n",
                height, e->dtype == ATTENTION_FP16 ? "fp16" : "fp32");
        e->reported_overflow = true;
    }
}

void attention_extremes(const struct diagnosed *kernel, enum attention_dtype dtype, bool negative, FILE *out) {
    struct extremes e = {kernel, dtype, negative, false};
    struct scores all = {0, false, 0};
    int explained = 0;
    if (run_probe(&e, &all) != RIGHT)
        return;
    report_steps(&e, false, 1, out, &explained);
    report_steps(&e, false, -1, out, &explained);
    report_steps(&e, true, 1, out, &explained);
    for (int sign = -1; sign <= 1; sign += 2) {
        enum probe_result how;
        double right, height = least_height(&e, all, sign, &how, &right);
        if (height == 0)
            continue;
        if (!explained++)
            fprintf(out, "\nProbe (%d queries, %d keys, head_dim %d%s): all scores are 0, except as stated\n", QUERIES,
                    KEYS, D, negative ? ", scale -0.125" : "");
        fprintf(out, "  The output %s if all scores are %g [extreme-equal-scores-%s]\n",
                how == NOT_FINITE ? "is NaN or infinite" : "is wrong", sign * height,
                how == NOT_FINITE ? "not-finite" : "wrong");
    }
}
