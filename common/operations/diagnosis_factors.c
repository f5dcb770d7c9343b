// Wrong weights as right ones by a combination of columns: least squares over each partition, one column and then two.
#include "host/parallel.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The columns of all rows under one partition.
struct filled {
    double *x;  // [rows][COLUMNS][nk]
    bool *used; // [rows]
};

static double *column_of(const struct filled *f, const struct case_seen *s, int64_t row, int column) {
    return f->x + (row * COLUMNS + column) * s->nk;
}

static void fill(const struct case_seen *s, const struct partition *p, struct filled *f) {
    for (int64_t r = 0; r < s->rows; r++) {
        double *x[COLUMNS];
        if (!f->used[r])
            continue;
        for (int k = 0; k < COLUMNS; k++)
            x[k] = column_of(f, s, r, k);
        columns_fill(p, case_score(s, r), s->nk, s->x->problem.softmax_scale, x);
    }
}

// The sums of the products of columns, and of the logarithms (number COLUMNS), less the means of their rows.
struct products {
    double of[COLUMNS + 1][COLUMNS + 1];
    int64_t points;
};

static void multiply(const struct case_seen *s, const struct filled *f, struct products *p) {
    memset(p, 0, sizeof *p);
    for (int64_t r = 0; r < s->rows; r++) {
        double mean[COLUMNS + 1] = {0}, v[COLUMNS + 1];
        int points = 0;
        for (int pass = 0; pass < 2 && f->used[r]; pass++)
            for (int j = 0; j < s->nk; j++) {
                const double y = s->off[r * s->nk + j];
                if (isnan(y))
                    continue;
                for (int k = 0; k < COLUMNS; k++)
                    v[k] = column_of(f, s, r, k)[j];
                v[COLUMNS] = y;
                for (int k = 0; k <= COLUMNS && !pass; k++)
                    mean[k] += v[k];
                points += !pass;
                for (int k = 0; k <= COLUMNS && pass; k++)
                    for (int l = 0; l <= k; l++)
                        p->of[k][l] += (v[k] - mean[k] / points) * (v[l] - mean[l] / points);
            }
        p->points += points;
    }
    for (int k = 0; k <= COLUMNS; k++)
        for (int l = k + 1; l <= COLUMNS; l++)
            p->of[k][l] = p->of[l][k];
}

// The coefficients of columns i and j (j < 0: of i alone). False where the columns do not vary, or together.
static bool solve(const struct products *p, int i, int j, double a[MOST_TERMS], double *left) {
    const double *y = p->of[COLUMNS], all = y[COLUMNS], ii = p->of[i][i];
    const double least = 1e-4 * (double)p->points;
    if (!(ii > least))
        return false;
    if (j < 0) {
        a[0] = y[i] / ii;
        a[1] = 0;
        *left = all - a[0] * y[i];
        return true;
    }
    const double jj = p->of[j][j], ij = p->of[i][j], determinant = ii * jj - ij * ij;
    if (!(jj > least) || !(determinant > 1e-4 * ii * jj))
        return false;
    a[0] = (y[i] * jj - y[j] * ij) / determinant;
    a[1] = (y[j] * ii - y[i] * ij) / determinant;
    *left = all - a[0] * y[i] - a[1] * y[j];
    return true;
}

void explanation_weights(const struct explanation *one, const struct case_seen *s, int64_t row, double *weight) {
    if (one->gather || !one->terms) {
        explanation_gathered(one, s, row, weight);
        return;
    }
    double *room = host_allocate((int64_t)COLUMNS * s->nk, sizeof *room), *x[COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        x[k] = room + (int64_t)k * s->nk;
    columns_fill(&one->by, case_score(s, row), s->nk, s->x->problem.softmax_scale, x);
    for (int j = 0; j < s->nk; j++) {
        double off = 0;
        for (int i = 0; i < one->terms; i++)
            off += one->a[i] * x[one->column[i]][j];
        weight[j] = case_right(s, row)[j] * exp(off);
    }
    free(room);
}

// Whether a row has these weights but for one factor.
static bool row_has(const struct case_seen *s, int64_t r, const double *weight) {
    double got = 0, expected = 0;
    for (int j = 0; j < s->nk; j++)
        if (!isnan(s->off[r * s->nk + j])) {
            got += case_got(s, r)[j];
            expected += weight[j];
        }
    const double factor = expected > 0 ? got / expected : 0, tolerance = 4 * s->x->tolerance;
    for (int j = 0; j < s->nk; j++)
        if (!(fabs(case_got(s, r)[j] - factor * weight[j]) <=
              tolerance * (fabs(factor * weight[j]) + s->largest[r] / 16)))
            return false;
    return got > 0;
}

bool explanation_of_weights_holds(struct explanation *one, const struct case_seen *s) {
    double *weight = host_allocate(s->nk, sizeof *weight);
    int64_t failing = 0, wrong = 0;
    bool unknown;
    int j;
    one->fitting = one->rows = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        if (s->x->missing[r] || (one->only_wrong_rows && !s->wrong[r]) || !(s->largest[r] > 0))
            continue;
        explanation_weights(one, s, r, weight);
        for (unknown = false, j = 0; j < s->nk; j++)
            unknown = unknown || isnan(weight[j]);
        if (unknown)
            continue;
        one->rows++;
        wrong += s->wrong[r];
        if (row_has(s, r, weight))
            one->fitting++;
        else
            failing++;
        if (10 * failing > s->rows)
            break;
    }
    free(weight);
    return wrong > 0 && 10 * failing <= one->rows;
}

bool explanation_holds(struct explanation *one, const struct case_seen *s) {
    return one->kind == EXPLAINS_WEIGHTS    ? explanation_of_weights_holds(one, s)
           : one->kind == EXPLAINS_MASK     ? explanation_of_mask_holds(one, s)
           : one->kind == EXPLAINS_OPERANDS ? explanation_of_operands_holds(one, s)
           : one->kind == EXPLAINS_ROUNDING ? explanation_of_rounding_holds(one, s)
                                            : explanation_of_sum_holds(one, s);
}

// A coefficient near one that has words of its own is that one.
static void snap(struct explanation *one) {
    for (int i = 0; i < one->terms; i++) {
        one->meaning[i] = hypothesis_of(one->kind, one->column[i], &one->by, one->a[i]);
        const bool named = one->meaning[i] && !isnan(one->meaning[i]->coefficient);
        one->a[i] = named ? one->meaning[i]->coefficient : one->a[i];
        one->cost += named ? 3 : 9;
    }
}

static void consider(const struct case_seen *s, const struct products *p, const struct partition *by, int i, int j,
                     bool only_wrong, struct explanations *all) {
    static const double least = 0.02;
    struct explanation one = {.kind = EXPLAINS_WEIGHTS,
                              .by = *by,
                              .terms = j < 0 ? 1 : 2,
                              .column = {i, j < 0 ? i : j},
                              .only_wrong_rows = only_wrong};
    double left;
    const double noise = 2 * s->x->tolerance;
    if (!solve(p, i, j, one.a, &left) || fabs(one.a[0]) < least || (j >= 0 && fabs(one.a[1]) < least) ||
        left > 0.02 * p->of[COLUMNS][COLUMNS] + noise * noise * (double)p->points)
        return;
    one.cost = partition_cost(by) + 6 * one.terms + 4 * only_wrong;
    snap(&one);
    for (int t = 0; t < one.terms; t++)
        if (!one.meaning[t])
            return;
    explanations_try(all, one, s, one.cost);
}

static bool has_no_partition(int column) {
    return column == COLUMN_SCALE || column == COLUMN_ABSOLUTE || column == COLUMN_CLAMPED;
}

static void search(const struct case_seen *s, bool only_wrong, struct explanations *all) {
    struct partition partitions[MOST_PARTITIONS];
    const int count = partitions_of(s->nk, partitions);
    struct filled f = {host_allocate(s->rows * COLUMNS * s->nk, sizeof(double)), host_allocate(s->rows, sizeof(bool))};
    struct products products;
    enum { MOST_WEIGHTS = 6000, LEAST_ROWS = 6 };
    // Some rows tell enough; each explanation has to hold for all of them then.
    const int64_t most = MOST_WEIGHTS / s->nk > LEAST_ROWS ? MOST_WEIGHTS / s->nk : LEAST_ROWS;
    int64_t used = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        f.used[r] = used < most && !s->x->missing[r] && (!only_wrong || s->wrong[r]);
        used += f.used[r];
    }
    for (int terms = 1; terms <= MOST_TERMS && !all->count; terms++)
        for (int i = 0; i < count; i++) {
            fill(s, &partitions[i], &f);
            multiply(s, &f, &products);
            for (int a = 0; a < COLUMNS; a++)
                for (int b = terms == 1 ? -1 : a + 1; b < (terms == 1 ? 0 : COLUMNS); b++)
                    // What is done to all scores has no partition.
                    if (i == 0 || !(has_no_partition(a) || has_no_partition(b)))
                        consider(s, &products, &partitions[i], a, b, only_wrong, all);
        }
    free(f.x);
    free(f.used);
}

void explain_factors(const struct case_seen *s, struct explanations *all) {
    int64_t wrong = 0, present = 0;
    double most = 0, least = INFINITY, widest = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        wrong += s->wrong[r];
        present += !s->x->missing[r];
        least = INFINITY, most = -INFINITY;
        for (int j = 0; j < s->nk; j++)
            if (!isnan(s->off[r * s->nk + j])) {
                least = fmin(least, s->off[r * s->nk + j]);
                most = fmax(most, s->off[r * s->nk + j]);
            }
        widest = fmax(widest, most - least);
    }
    enum { MOST_KEYS = 1000 };
    if (!wrong || s->nk > MOST_KEYS || s->nk < 4 || !(widest > 16 * s->x->tolerance))
        return;
    if (all->count)
        return;
    search(s, false, all);
    if (!all->count && wrong < present)
        search(s, true, all);
}
