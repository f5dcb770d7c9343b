// Scores that lie far from each other, in an order that is chosen: where a maximum, or what is summed up before it is
// raised, is treated wrongly, one order is right and another is not.
#include "host/parallel.h"
#include "operations/attention_ask.h"
#include "operations/attention_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64, KEYS = 200, QUERIES = 2, PLACES = 6 };

// The scores are 0 but for those of the keys from `from` on, or of that one alone, which are `height`.
struct scores {
    int from;
    bool alone;
    double height;
};

struct extremes {
    const struct diagnosed *kernel;
    enum attention_dtype dtype;
};

static double score_of(const struct scores *s, int j) {
    return (s->alone ? j == s->from : j >= s->from) ? s->height : 0;
}

enum answer { RIGHT, WRONG, NO_NUMBER, NOT_ASKED };

// Column 0 of the values is 1, column 1 is 1 at keys from `from` on, column 2 grows from key to key.
static enum answer ask(const struct extremes *e, const struct scores *s) {
    static float q[QUERIES * D], k[KEYS * D], v[KEYS * D], o[QUERIES * D];
    const double near = e->dtype == ATTENTION_FP32 ? 1e-3 : 2e-2;
    double expected[3] = {0}, sum = 0, maximum = fmax(s->height, 0);
    memset(q, 0, sizeof q);
    memset(k, 0, sizeof k);
    memset(v, 0, sizeof v);
    if (!s->alone && s->from == 0)
        maximum = s->height;
    for (int i = 0; i < QUERIES; i++)
        q[i * D] = 8; // the square root of D
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
    if (!attention_ask_head(e->kernel, e->dtype, D, QUERIES, KEYS, q, k, v, o))
        return NOT_ASKED;
    for (int i = 0; i < QUERIES; i++)
        for (int c = 0; c < 3; c++) {
            if (!isfinite(o[i * D + c]))
                return NO_NUMBER;
            if (fabs(o[i * D + c] - expected[c] / sum) > near * (fabs(expected[c] / sum) + 1e-2))
                return WRONG;
        }
    return RIGHT;
}

// The least height, of few, at which such scores come out wrong; 0: at none. *right: the one before.
static double least_height(const struct extremes *e, struct scores s, double sign, enum answer *how, double *right) {
    static const double heights[] = {1, 5, 20, 80, 400};
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

// Steps up or down, or one key that is above all: from which of these keys on they go wrong.
static void say_steps(const struct extremes *e, bool alone, double sign, const char *what, FILE *out, int *said) {
    static const int places[PLACES] = {1, 16, 32, 64, 128, KEYS - 1};
    bool wrong[PLACES], any = false, all = true;
    double height, right;
    int first = -1;
    enum answer how = RIGHT, told = RIGHT;
    for (int i = 0; i < PLACES; i++) {
        struct scores s = {places[i], alone, sign * 400};
        how = ask(e, &s);
        if (how == NOT_ASKED)
            return;
        wrong[i] = how != RIGHT;
        any = any || wrong[i];
        all = all && wrong[i];
        if (wrong[i] && first < 0) {
            first = places[i];
            told = how;
        }
    }
    if (!any) // a step that is low may be wrong where a high one leaves nothing of what is
        for (int i = 0; i < PLACES && !any; i++) {
            struct scores s = {places[i], alone, sign * 2};
            how = ask(e, &s);
            wrong[i] = any = how == WRONG || how == NO_NUMBER;
            if (any) {
                first = places[i];
                told = how;
            }
        }
    if (!any)
        return;
    height = least_height(e, (struct scores){first, alone, 0}, sign, &how, &right);
    if (!(*said)++)
        fprintf(out, "\nasked for scores of 0 but for some of %d keys, the kernel\n", KEYS);
    fprintf(out, "  gives %s where %s %d %s %s%s\n", told == NO_NUMBER ? "no numbers" : "wrong results", what, first,
            alone ? "is" : "are", height <= 1 ? "" : "far ", sign > 0 ? "above the others" : "below those before");
    if (height > 1)
        fprintf(out, "  (by %g and more, at %g it is still right)\n", height, right);
    if (!all && first != places[0])
        fprintf(out, "  and is right where it is an earlier key\n");
}

void attention_extremes(const struct diagnosed *kernel, enum attention_dtype dtype, FILE *out) {
    const struct extremes e = {kernel, dtype};
    struct scores all = {0, false, 0};
    int said = 0;
    if (ask(&e, &all) != RIGHT)
        return;
    say_steps(&e, false, 1, "keys from", out, &said);
    say_steps(&e, false, -1, "keys from", out, &said);
    say_steps(&e, true, 1, "key", out, &said);
    for (int sign = -1; sign <= 1; sign += 2) {
        enum answer how;
        double right, height = least_height(&e, all, sign, &how, &right);
        if (height == 0)
            continue;
        if (!said++)
            fprintf(out, "\nasked for scores of 0 but for some of %d keys, the kernel\n", KEYS);
        fprintf(out, "  gives %s where all scores are %g\n", how == NO_NUMBER ? "no numbers" : "wrong results",
                sign * height);
    }
}
