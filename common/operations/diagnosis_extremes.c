#include "operations/diagnosis_extremes.h"

#include <math.h>

enum { KEYS = 200, POSITIONS = 6 };

// What is done to scores that are 0 otherwise.
enum shape { ALL_UP, ALL_DOWN, STEP_UP, STEP_DOWN, ALONE, SHAPES };

enum result { RIGHT, WRONG, NOT_FINITE, NOT_RUN };

double extreme_value(int sum, int j, int keys) {
    return sum == 0 ? 1 : sum == 1 ? 2 * j >= keys : (double)(j / 2) / 128;
}

// How far a result may be off.
static double tolerance_of(const struct score_kernel *kernel) {
    return kernel->dtype == ATTENTION_FP32 ? 1e-3 : kernel->dtype == ATTENTION_FP16 ? 4e-3 : 2e-2;
}

static enum result try(const struct score_kernel *kernel, enum shape shape, int from, double height) {
    const double tolerance = tolerance_of(kernel), sign = shape == STEP_DOWN || shape == ALL_DOWN ? -1 : 1;
    double score[KEYS], sums[EXTREME_SUMS], expected[EXTREME_SUMS] = {0}, total = 0, maximum = -INFINITY;
    for (int j = 0; j < KEYS; j++) {
        score[j] = shape <= ALL_DOWN || (shape == ALONE ? j == from : j >= from) ? sign * height : 0;
        maximum = fmax(maximum, score[j]);
    }
    for (int j = 0; j < KEYS; j++) {
        const double weight = exp(score[j] - maximum);
        total += weight;
        for (int c = 0; c < EXTREME_SUMS; c++)
            expected[c] += weight * extreme_value(c, j, KEYS);
    }
    if (!kernel->run(kernel->context, score, KEYS, sums))
        return NOT_RUN;
    for (int c = 0; c < EXTREME_SUMS; c++) {
        if (!isfinite(sums[c]))
            return NOT_FINITE;
        if (fabs(sums[c] - expected[c] / total) > tolerance * fabs(expected[c] / total) + tolerance * 1e-2)
            return WRONG;
    }
    return RIGHT;
}

// The exponential of 12 is more than fp16 holds, that of 89.5 more than fp32 and bf16 do, and that of -88 less than
// fp32 holds in full. Sums of many keys end sooner, at 88.
static const double heights[] = {1, 5, 12, 20, 80, 88, 89.5, 120, 400};
enum { HEIGHTS = sizeof heights / sizeof *heights };
static const int positions[POSITIONS] = {1, 16, 32, 64, 128, KEYS - 1};

// Reports the least height at which such scores come out wrong, and at which keys. Whether that says what is wrong.
static bool report(const struct score_kernel *kernel, enum shape shape, FILE *out, int *reported) {
    static const char *const words[SHAPES] = {
        "all scores are %s%g", "all scores are %s-%g", "the scores from key %s on are %g above the earlier ones",
        "the scores from key %s on are %g below the earlier ones", "the score of key %s is %g above the others"};
    const bool all = shape <= ALL_DOWN, down = shape == ALL_DOWN || shape == STEP_DOWN;
    const int tried = all ? 1 : POSITIONS;
    bool wrong[POSITIONS] = {false};
    enum result first = RIGHT;
    int h = -1;
    while (first == RIGHT && ++h < HEIGHTS)
        for (int i = 0; i < tried && (heights[h] != 88 || down); i++) {
            const enum result result = try(kernel, shape, positions[i], heights[h]);
            if (result == NOT_RUN)
                return true;
            wrong[i] = result != RIGHT;
            first = first == RIGHT ? result : first;
        }
    if (first == RIGHT)
        return false;
    char keys[80] = "", *end = keys;
    for (int i = 0, listed = 0; i < tried && !all; i++)
        if (wrong[i])
            end += sprintf(end, "%s%d", listed++ ? ", " : "", positions[i]);
    if (!(*reported)++)
        fprintf(out, "\nProbe (%d keys): all scores are 0, except as stated\n", KEYS);
    fprintf(out, "  The output is %s if ", first == NOT_FINITE ? "NaN or infinite" : "wrong");
    fprintf(out, words[shape], keys, heights[h]);
    if (h)
        fprintf(out, ", and right within %g %% at %g", 100 * tolerance_of(kernel),
                heights[h - 1 - (heights[h - 1] == 88 && !down)]);
    fprintf(out, " [extreme-%s-%s]\n", all ? "equal-scores" : "step", first == NOT_FINITE ? "not-finite" : "wrong");
    const bool overflows = heights[h] == (kernel->dtype == ATTENTION_FP16 ? 12 : 89.5) && first == NOT_FINITE;
    const bool underflows = shape == ALL_DOWN && (heights[h] == 88 || heights[h] == 120);
    if (overflows && shape == ALL_UP)
        fprintf(out,
                "  The exponential of the score itself overflows: the maximum is not subtracted before the exponential "
                "[maximum-not-subtracted]\n");
    else if (overflows)
        fprintf(out,
                "  The exponential e^%g overflows %s: the kernel has computed a weight or a rescale factor with a "
                "maximum far below the row max [exponential-overflows]\n",
                heights[h], kernel->dtype == ATTENTION_FP16 ? "fp16" : "fp32");
    else if (underflows)
        fprintf(out, "  All weights underflow to 0: what is subtracted is far above every score, like a maximum that "
                     "starts at 0 [maximum-starts-at-0]\n");
    return underflows || (overflows && all);
}

void diagnosis_extremes(const struct score_kernel *kernel, FILE *out) {
    int reported = 0;
    if (try(kernel, ALL_UP, 0, 0) == RIGHT)
        for (enum shape shape = ALL_UP; shape < SHAPES && !report(kernel, shape, out, &reported);)
            shape++;
}
