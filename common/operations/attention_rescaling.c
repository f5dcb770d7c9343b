#include "host/tolerance.h"
#include "operations/attention_head.h"

#include <math.h>
#include <string.h>

// By how much a lazy maximum may be passed: the weights are then below 2^8, or what the variant lets them grow to.
static double laziness(const struct variant *v) {
    return (v->lazy_bits ? v->lazy_bits : 8) * M_LN2;
}

int tile_keys(const struct variant *v, const struct attention_shape *s) {
    return v->wide_tile && s->head_dim > (v->wide ? v->wide : 256) ? v->wide_tile : v->tile;
}

int tile_count(const struct variant *v, const struct attention_shape *s) {
    int keys = tile_keys(v, s);
    return (s->nk + keys - 1) / keys;
}

// Rows that raise their maxima together, those of a warp: the wider they are, the fewer of them fit in its registers.
static int rows_together(const struct variant *v, const struct attention_shape *s) {
    if (!v->lazy_rows)
        return 1;
    return s->head_dim <= 128 ? v->lazy_rows : s->head_dim <= 256 ? v->lazy_rows / 2 : v->lazy_rows / 4;
}

static double maximum_of_tile(const struct head *h, int i, int tile) {
    const struct attention_shape *s = &h->in->which.attention;
    int keys = tile_keys(h->variant, s), first = tile * keys, end = first + keys < s->nk ? first + keys : s->nk;
    return maximum_of(h->score + (int64_t)i * s->nk, first, end, 1);
}

// Whether rows first .. end - 1 raise their maxima at this tile; running holds them up to the one before.
static bool is_raised(struct head *h, int first, int end, int tile) {
    const struct attention_shape *s = &h->in->which.attention;
    int tiles = tile_count(h->variant, s);
    double lazy = laziness(h->variant);
    bool raised = false, close = false;
    for (int i = first; i < end && !raised; i++) {
        double old = tile ? h->running[(int64_t)i * tiles + tile - 1] : -INFINITY;
        double growth = maximum_of_tile(h, i, tile) - old; // NaN where nothing has been seen
        double error = 2 * tolerance_lse(h->in->which.dtype, lazy, h->score_scale[i], h->scale, s->head_dim);
        raised = growth > lazy + error;
        close |= fabs(growth - lazy) <= error;
    }
    for (int i = first; i < end && close && !raised; i++)
        h->ambiguous[i] = true;
    return raised;
}

void compute_running_maxima(struct head *h) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    memset(h->ambiguous, 0, (size_t)s->nq * sizeof *h->ambiguous);
    if (!v->rescale)
        return;
    int tiles = tile_count(v, s), rows = rows_together(v, s);
    for (int first = 0; first < s->nq; first += rows) {
        int end = first + rows < s->nq ? first + rows : s->nq;
        for (int tile = 0; tile < tiles; tile++) {
            bool raised = !v->lazy_rows || is_raised(h, first, end, tile);
            for (int i = first; i < end; i++) {
                double *running = h->running + (int64_t)i * tiles + tile, old = tile ? running[-1] : -INFINITY;
                *running = raised ? fmax(old, maximum_of_tile(h, i, tile)) : old;
            }
        }
    }
}

// Whether row i belongs to rows of which some see a key of the first tile: their sums and outputs, still 0, are then
// multiplied by exp(-maximum).
static bool empty_is_rescaled(const struct head *h, int i) {
    const struct attention_shape *s = &h->in->which.attention;
    int tiles = tile_count(h->variant, s), rows = rows_together(h->variant, s), first = i / rows * rows;
    for (int other = first; other < first + rows && other < s->nq; other++)
        if (h->running[(int64_t)other * tiles] > -INFINITY)
            return true;
    return false;
}

void mistake_rescaling(struct head *h, int i) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    const double *score = h->score + (int64_t)i * s->nk;
    int keys = tile_keys(v, s), tiles = tile_count(v, s);
    const double *running = h->running + (int64_t)i * tiles; // [tiles]
    double last = running[tiles - 1];
    for (int j = 0; j < s->nk; j++) {
        h->sum_weight[j] = h->weight[j] = 0;
        if (score[j] == -INFINITY)
            continue;
        double now = running[j / keys], old = j < keys ? now : running[j / keys - 1];
        double final = exp_in_fp32(score[j] - last), kept = exp_in_fp32(score[j] - now);
        h->sum_weight[j] = v->rescale == RESCALE_OUTPUT_ONLY || v->rescale == RESCALE_NONE ? kept : final;
        h->weight[j] = v->rescale == RESCALE_SUM_ONLY || v->rescale == RESCALE_NONE ? kept : final;
        if (v->rescale == RESCALE_INVERTED)
            h->sum_weight[j] = h->weight[j] = kept * exp_in_fp32(last - now);
        if (v->rescale == RESCALE_TILE_OLD_MAXIMUM)
            h->sum_weight[j] = h->weight[j] = exp_in_fp32(score[j] - old) * exp_in_fp32(now - last);
        if (v->rescale == RESCALE_BASE_E)
            h->sum_weight[j] = h->weight[j] = kept * exp_in_fp32((now - last) * M_LOG2E);
        if (v->rescale == RESCALE_LATE && isinf(dtype_round(h->in->which.dtype, (float)kept)))
            h->weight[j] = INFINITY;
        if (v->rescale == RESCALE_LATE && h->in->which.dtype == ATTENTION_FP16 && fabs(kept - 65520) < 16)
            h->ambiguous[i] = true;
    }
    if (v->rescale == RESCALE_EMPTY && exp_in_fp32(-running[0]) == INFINITY && empty_is_rescaled(h, i))
        h->sum_weight[0] = h->weight[0] = NAN;
}
