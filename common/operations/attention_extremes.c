// Scores that lie far from each other, in an order that is chosen: where a maximum, or what is summed up before it is
// raised, is treated wrongly, one order is right and another is not.
#include "host/parallel.h"
#include "operations/attention_ask.h"
#include "operations/attention_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64, KEYS = 200, QUERIES = 2, PLACES = 6 };

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
    bool negative; // the scale is below 0
    bool told_why; // numbers are lost
};

static double score_of(const struct scores *s, int j) {
    return (s->alone ? j == s->from : j >= s->from) ? s->height : 0;
}

enum answer { RIGHT, WRONG, NO_NUMBER, NOT_ASKED };

// How far a result may be off.
static double near_of(const struct extremes *e) {
    return e->dtype == ATTENTION_FP32 ? 1e-3 : e->dtype == ATTENTION_FP16 ? 4e-3 : 2e-2;
}

// Column 0 of the values is 1, column 1 is 1 at keys from `from` on, column 2 grows from key to key.
static enum answer ask(const struct extremes *e, const struct scores *s) {
    static float q[QUERIES * D], k[KEYS * D], v[KEYS * D], o[QUERIES * D];
    const double near = near_of(e);
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
    if (!(e->negative ? attention_ask_scaled(e->kernel, e->dtype, -1.0 / 8, D, QUERIES, KEYS, q, k, v, o)
                      : attention_ask_head(e->kernel, e->dtype, D, QUERIES, KEYS, q, k, v, o)))
        return NOT_ASKED;
    for (int i = 0; i < QUERIES; i++)
        for (int c = 0; c < 3; c++) {
            if (!isfinite(o[i * D + c]))
                return NO_NUMBER;
            if (fabs(o[i * D + c] - expected[c] / sum) > near * fabs(expected[c] / sum) + near * 1e-2)
                return WRONG;
        }
    return RIGHT;
}

bool attention_survives_steps(const struct diagnosed *kernel, enum attention_dtype dtype) {
    static const double low = 2, high = 60;
    const struct extremes e = {kernel, dtype, false, false};
    for (int from = 32; from < KEYS; from *= 2)
        if (ask(&e, &(struct scores){from, false, low}) == WRONG &&
            ask(&e, &(struct scores){from, false, high}) == RIGHT)
            return true;
    return false;
}

// The least height, of few, at which such scores come out wrong; 0: at none. *right: the one before.
static double least_height(const struct extremes *e, struct scores s, double sign, enum answer *how, double *right) {
    static const double heights[] = {1, 5, FP16_OVERFLOWS, 20, 80, FP32_OVERFLOWS, 400};
    *right = 0;
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        s.height = sign * heights[i];
        *how = ask(e, &s);
        if (*how == NOT_ASKED)
            return 0;
        if (*how != RIGHT)
            return heights[i];
        *right = heights[i];
    }
    return 0;
}

// Steps up or down, or one key that is above all: at which of these keys they go wrong.
static void say_steps(struct extremes *e, bool alone, double sign, FILE *out, int *said) {
    static const int places[PLACES] = {1, 16, 32, 64, 128, KEYS - 1};
    // A step that is low may be wrong where a high one leaves nothing of what is. Weights of e^12 are more than fp16
    // holds, those of e^89.5 more than fp32 and bf16 do: a maximum that is left as it was until then shows there.
    static const double heights[] = {400, 2, FP16_OVERFLOWS, FP32_OVERFLOWS};
    bool wrong[PLACES], all = true;
    int first = -1;
    enum answer told = RIGHT;
    double asked = 0; // the height that found them
    for (size_t h = 0; h < sizeof heights / sizeof *heights && first < 0; h++)
        for (int i = 0; i < PLACES; i++) {
            struct scores s = {places[i], alone, sign * heights[h]};
            enum answer how = ask(e, &s);
            if (how == NOT_ASKED)
                return;
            wrong[i] = how != RIGHT;
            told = wrong[i] && first < 0 ? how : told;
            first = wrong[i] && first < 0 ? places[i] : first;
            asked = heights[h];
        }
    if (first < 0)
        return;
    for (int i = 0; i < PLACES; i++)
        all = all && wrong[i];
    enum answer how;
    double right, height = least_height(e, (struct scores){first, alone, 0}, sign, &how, &right);
    if (!(*said)++)
        fprintf(out, "\nasked for %d queries with scores of 0 but for some of %d keys (head_dim %d%s), the kernel\n",
                QUERIES, KEYS, D, e->negative ? ", scale -0.125" : "");
    fprintf(out, "  gives %s where %s ", told == NO_NUMBER ? "no numbers" : "wrong results",
            alone ? "key" : "keys from");
    pattern_values(places, wrong, true, PLACES, " or ", out);
    fprintf(out, "%s %s by %g", alone ? " is" : " on are", sign > 0 ? "above the others" : "below those before", asked);
    if (!all) {
        fprintf(out, ", and is right to %g %% where %s ", 100 * near_of(e), alone ? "key" : "those from");
        pattern_values(places, wrong, false, PLACES, " or ", out);
        fprintf(out, "%s", alone ? " is" : " on are");
    }
    fputc('\n', out);
    if (height > 1 && height < asked)
        fprintf(out, "  (with %d by %g, too; by %g it is right to %g %%)\n", first, height, right, 100 * near_of(e));
    if (how == NO_NUMBER && !e->told_why && height == (e->dtype == ATTENTION_FP16 ? FP16_OVERFLOWS : FP32_OVERFLOWS)) {
        fprintf(out,
                "  (e^%g is more than %s holds: a weight, or what rescales older ones, is relative to a maximum that "
                "lies far below the "
                "row's)\n",
                height, e->dtype == ATTENTION_FP16 ? "fp16" : "fp32");
        e->told_why = true;
    }
}

void attention_extremes(const struct diagnosed *kernel, enum attention_dtype dtype, bool negative, FILE *out) {
    struct extremes e = {kernel, dtype, negative, false};
    struct scores all = {0, false, 0};
    int said = 0;
    if (ask(&e, &all) != RIGHT)
        return;
    say_steps(&e, false, 1, out, &said);
    say_steps(&e, false, -1, out, &said);
    say_steps(&e, true, 1, out, &said);
    for (int sign = -1; sign <= 1; sign += 2) {
        enum answer how;
        double right, height = least_height(&e, all, sign, &how, &right);
        if (height == 0)
            continue;
        if (!said++)
            fprintf(out,
                    "\nasked for %d queries with scores of 0 but for some of %d keys (head_dim %d%s), the kernel\n",
                    QUERIES, KEYS, D, negative ? ", scale -0.125" : "");
        fprintf(out, "  gives %s where all scores are %g\n", how == NO_NUMBER ? "no numbers" : "wrong results",
                sign * height);
    }
}
