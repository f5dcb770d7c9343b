#include "host/parallel.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>

// Whether a row's weights are the right ones.
static bool is_right(const struct observed *x, int64_t r) {
    const int nk = x->which.attention.nk;
    for (int j = 0; j < nk; j++)
        if (!observed_matches(x, r, x->got[r * nk + j], x->right[r * nk + j]))
            return false;
    return true;
}

// Whether a weight is large enough, beside the largest of its row, for its logarithm to be known: fp16 ends at 2^-24.
static bool tells(const struct observed *x, double got, double right, double largest) {
    return got > largest / 128 && right > 1e-25 && (x->which.dtype != ATTENTION_FP16 || got > 0x1p-13);
}

// Whether a key has no weight that should have a large one, as if it were masked.
static bool has_lost_keys(const struct case_seen *s) {
    for (int64_t i = 0; i < s->rows * s->nk; i++)
        if (s->wrong[i / s->nk] && s->x->got[i] == 0 && s->x->right[i] > s->x->largest[i / s->nk] / 16)
            return true;
    return false;
}

void case_seen_of(struct observed *x, struct case_seen *s) {
    const int nk = x->which.attention.nk;
    *s = (struct case_seen){.x = x, .rows = x->rows, .nq = x->which.attention.nq, .nk = nk};
    s->wrong = host_allocate(s->rows, sizeof *s->wrong);
    s->off = host_allocate(s->rows * nk, sizeof *s->off);
    s->largest = host_allocate(s->rows, sizeof *s->largest);
    for (int64_t r = 0; r < s->rows; r++) {
        const double *got = x->got + r * nk, *right = x->right + r * nk;
        s->largest[r] = 0;
        for (int j = 0; j < nk; j++)
            s->largest[r] = fmax(s->largest[r], got[j]);
        for (int j = 0; j < nk; j++)
            s->off[r * nk + j] =
                !x->missing[r] && tells(x, got[j], right[j], s->largest[r]) ? log(got[j] / right[j]) : NAN;
        s->wrong[r] = !x->missing[r] && !is_right(x, r);
    }
    s->table = host_allocate(1, sizeof *s->table);
    s->times = host_allocate(MAX_HEAD_DIM, sizeof *s->times);
    s->attended = host_allocate(s->rows, sizeof *s->attended);
    s->mask = x->which.attention.causal || has_lost_keys(s) ? mask_see(x, s->attended) : MASK_UNKNOWN;
}

void case_seen_free(struct case_seen *s) {
    free(s->wrong);
    free(s->off);
    free(s->largest);
    free(s->attended);
    free(s->table);
    free(s->times);
}

bool weights_are_proportional(const struct case_seen *s) {
    struct explanation own = {.kind = EXPLAINS_WEIGHTS};
    return explanation_of_weights_holds(&own, s) && own.fitting == own.rows;
}
