// Each row of the diagnosis's table tests itself: a kernel whose weights, divisor or lse are made from the row has to
// be explained by that row, and by no other.
#include "cmocka_all.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is right for a problem.
static void see(const struct host_problem *problem, struct observed *x) {
    const int nk = problem->which.attention.nk;
    *x = (struct observed){.which = problem->which, .problem = *problem, .rows = problem->tensor[O].rows};
    x->own_q = problem->tensor[Q].values;
    x->score = host_allocate(x->rows * nk, sizeof *x->score);
    x->raw = host_allocate(x->rows * nk, sizeof *x->raw);
    x->right = host_allocate(x->rows * nk, sizeof *x->right);
    x->largest = host_allocate(x->rows, sizeof *x->largest);
    x->right_lse = host_allocate(x->rows, sizeof *x->right_lse);
    observed_reference(problem, x);
}

static void release(struct observed *x) {
    free(x->score);
    free(x->raw);
    free(x->right);
    free(x->largest);
    free(x->right_lse);
}

// A kernel that does what an explanation says, and nothing else wrong.
static bool run_explained(void *context, const struct host_problem *problem, float *outputs) {
    const struct explanation *one = context;
    const struct attention_shape *shape = &problem->which.attention;
    const int nk = shape->nk, d = shape->head_dim;
    struct observed x;
    see(problem, &x);
    const struct case_seen seen = {.x = &x, .rows = x.rows, .nq = shape->nq, .nk = nk};
    double *weight = host_allocate(nk, sizeof *weight);
    for (int64_t r = 0; r < x.rows; r++) {
        double sum = 0;
        if (one->kind == EXPLAINS_WEIGHTS)
            explanation_weights(one, &seen, r, weight);
        else
            memcpy(weight, x.right + r * nk, (size_t)nk * sizeof *weight);
        for (int j = 0; j < nk && one->kind == EXPLAINS_MASK; j++)
            weight[j] = j < mask_limit(&one->mask, shape, r) ? exp(x.raw[r * nk + j]) : 0;
        for (int j = 0; j < nk; j++)
            sum += weight[j];
        if (one->gather == GATHER_TABLE) // the weights are divided by the sum of the right ones
            sum = 1;
        if (one->kind == EXPLAINS_DIVISOR)
            sum = explanation_of_sum_predicts(one, &seen, r);
        for (int c = 0; c < d; c++) {
            double o = 0;
            for (int j = 0; j < nk; j++)
                o += weight[j] / sum * host_row(&problem->tensor[V], shape_first_key(shape, r) + j)[c];
            outputs[r * d + c] = dtype_round(problem->tensor[O].dtype, (float)o);
        }
        if (problem->outputs > OUTPUT_LSE)
            outputs[x.rows * d + r] =
                (float)(x.right_lse[r] +
                        (one->kind == EXPLAINS_LSE ? log(explanation_of_sum_predicts(one, &seen, r)) : 0));
    }
    free(weight);
    release(&x);
    return true;
}

static bool covers(void *context, const struct problem_case *which) {
    (void)context;
    return which->attention.layout <= LAYOUT_MIXED;
}

static char *explanation_of(const struct explanation *one, const struct problem_case *which) {
    struct explanation copy = *one;
    struct case_seen seen;
    const struct diagnosed kernel = {
        .operation = &attention_operation, .covers = covers, .run = run_explained, .context = &copy, .optional = true};
    struct observed observed;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(attention_observe(&kernel, which, 3, ANY_COLUMN, &observed));
    case_seen_of(&observed, &seen);
    diagnosis_by(&seen,
                 one->kind == EXPLAINS_MASK  ? explain_mask
                 : one->kind == EXPLAINS_LSE ? explain_lse
                                             : explain_weights,
                 NULL, out);
    case_seen_free(&seen);
    attention_observed_free(&observed);
    fclose(out);
    return text;
}

// Whether the text is one sentence with this code.
static bool has_only(const char *text, const char *code) {
    char bracket[80];
    snprintf(bracket, sizeof bracket, " [%s]\n", code);
    const char *found = strstr(text, bracket);
    return found && strchr(text, '\n') + 1 == found + strlen(bracket) && !found[strlen(bracket)];
}

static int tried, failed;

static void assert_told_of(const struct explanation *one, const char *code, const struct problem_case *which) {
    char *text = explanation_of(one, which);
    tried++;
    if (!has_only(text, code)) {
        failed++;
        print_error("%s: of partition %d, tile %d, ways %d, map %d %d %d is told:\n%s", code, one->by.kind,
                    one->by.tile, one->by.ways, one->map.kind, one->map.n, one->map.m, text);
    }
    free(text);
}

static void assert_told(const struct explanation *one, const char *code, int nk) {
    assert_told_of(one, code, &(struct problem_case){.attention = {1, 2, 2, 9, nk, 64}});
}

static void assert_all_told(int least) {
    const int all = tried, not_told = failed;
    tried = failed = 0;
    if (not_told)
        fail_msg("%d of %d are not told", not_told, all);
    assert_true(all >= least);
}

// One partition of each class.
static const struct partition partitions[] = {
    {KEYS_ALL, 1, 1, false},    {KEYS_ALL, 32, 1, false},    {KEYS_ALL, 16, 1, true},      {KEYS_TILE, 32, 1, false},
    {KEYS_SPLIT, 1, 3, false},  {KEYS_MODULO, 1, 32, false}, {TILES_MODULO, 16, 4, false}, {TILES_MODULO, 4, 2, false},
    {QUAD_LANES, 16, 1, false}, {QUAD_PAIRS, 32, 1, false},  {TILE_MODULO, 32, 2, false},
};

// Under the first two partitions of each row that it is for.
static void rows_are_told(void **state) {
    (void)state;
    for (int i = 0; i < hypothesis_count; i++) {
        const struct hypothesis *h = &hypotheses[i];
        int done = 0;
        for (size_t p = 0; p < sizeof partitions / sizeof *partitions && done < (h->column == COLUMN_SCALE ? 1 : 2);
             p++) {
            struct explanation one = {.kind = h->kind,
                                      .by = partitions[p],
                                      .terms = 1,
                                      .column = {h->column},
                                      .a = {isnan(h->coefficient) ? -0.6 : h->coefficient},
                                      .meaning = {h}};
            if (!(h->partitions & partition_class(&partitions[p])) ||
                hypothesis_of(h->kind, h->column, &one.by, one.a[0]) != h)
                continue;
            assert_told(&one, h->code, 140);
            done++;
        }
    }
    assert_all_told(40);
}

static void maps_are_told(void **state) {
    static const struct {
        enum gather gather;
        struct index_map map;
        const char *code;
    } gathers[] = {
        {GATHER_ROWS, {MAP_FIRST, 9, 0}, "rows-of-other-rows"},
        {GATHER_ROWS, {MAP_XOR, 1, 0}, "rows-of-other-rows"},
        {GATHER_ROWS, {MAP_MODULO, 4, 0}, "rows-of-other-rows"},
        {GATHER_FRAGMENT, {MAP_BITS, 3, 7}, "fragment-bits-exchanged"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof gathers / sizeof *gathers; i++)
        assert_told(&(struct explanation){.kind = EXPLAINS_WEIGHTS, .gather = gathers[i].gather, .map = gathers[i].map},
                    gathers[i].code, 140);
    struct key_table *table = host_allocate(1, sizeof *table);
    for (int j = 0; j < 1000; j++) {
        table->from[j] = (int16_t)(j % 16 == 15 ? -1 : j);
        table->times[j] = 1;
    }
    struct explanation one = {.kind = EXPLAINS_WEIGHTS, .gather = GATHER_TABLE, .table = table};
    assert_told(&one, "keys-without-weight", 70);
    for (int j = 0; j < 1000; j++)
        table->from[j] = (int16_t)(j % 4 + j / 4); // in an order that no range of keys describes
    assert_told(&one, "weights-displaced", 70);
    for (int j = 0; j < 1000; j++) {
        table->from[j] = (int16_t)j;
        table->times[j] = j / 16 % 2 ? 2 : 1;
    }
    assert_told(&one, "keys-counted-wrong", 70);
    free(table);
    one = (struct explanation){.kind = EXPLAINS_WEIGHTS, .gather = GATHER_NEAR, .formula = {3}};
    assert_told(&one, "small-weights-dropped", 70);
    one = (struct explanation){.kind = EXPLAINS_WEIGHTS, .gather = GATHER_TRANSPOSED, .n = {4}};
    assert_told(&one, "weights-transposed", 140);
    assert_all_told(9);
}

static void sums_are_told(void **state) {
    static const struct {
        struct explanation one;
        const char *of_divisor, *of_lse; // NULL: there is none
    } rules[] = {
        {{.rule = SUM_BY_FORMULA, .formula = {0, 1, 0}}, "row-sum-power", "lse-formula"},
        {{.rule = SUM_BY_FORMULA, .formula = {0, 0, 0.7}}, "divisor-off-by-factor", "lse-formula"},
        {{.rule = SUM_BY_FORMULA, .formula = {0.44, 0.44, 0}}, NULL, "lse-formula"},
        {{.rule = SUM_BY_FORMULA, .formula = {0, -1, 0}, .n = {32, 1}}, NULL, "lse-formula"},
        {{.rule = SUM_OF_SOME_KEYS, .n = {0, 0, 99}}, "row-sum-misses-key", "lse-of-some-keys"},
        {{.rule = SUM_OF_SOME_KEYS, .n = {0, 0, -1}}, "row-sum-misses-key", "lse-of-some-keys"},
        {{.rule = SUM_OF_SOME_KEYS, .n = {16, 0, 8}}, "row-sum-misses-key", "lse-of-some-keys"},
        {{.rule = SUM_WITH_EXTRA_KEYS, .n = {0, 64}}, "row-sum-counts-extra-keys", "lse-counts-extra-keys"},
        {{.rule = SUM_PLUS_CONSTANT, .formula = {1}}, "row-sum-plus-constant", "lse-sum-plus-constant"},
        {{.rule = SUM_OF_OTHER_ROW, .map = {MAP_FIRST, 4, 0}}, "row-sum-of-other-row", "lse-sum-of-other-row"},
        {{.rule = SUM_PLUS_EARLIER_ROW, .n = {13}}, "row-sum-adds-earlier-row", "lse-sum-adds-earlier-row"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int lse = 0; lse < 2; lse++) {
            struct explanation one = rules[i].one;
            const char *code = lse ? rules[i].of_lse : rules[i].of_divisor;
            one.kind = lse ? EXPLAINS_LSE : EXPLAINS_DIVISOR;
            if (code)
                assert_told(&one, code, 100);
        }
    assert_all_told(16);
}

static void masks_are_told(void **state) {
    static const struct {
        struct mask_rule rule;
        const char *code;
        bool causal;
    } masks[] = {
        {{.kind = MASK_OFF_BY}, "causal-without-request", false},
        {{.kind = MASK_AS_IF_SQUARE}, "limit-as-if-nk-were-nq", false},
        {{.kind = MASK_OFF_BY, .n = 1}, "limit-off-by", true},
        {{.kind = MASK_OFF_BY, .n = -3}, "limit-off-by", true},
        {{.kind = MASK_OF_NOTHING}, "limit-missing", true},
        {{.kind = MASK_OF_PACKED_ROW}, "limit-of-packed-row", true},
        {{.kind = MASK_AS_IF_SQUARE}, "limit-as-if-nk-were-nq", true},
        {{.kind = MASK_OF_OTHER_QUERY, .map = {MAP_QUOTIENT, 2, 0}}, "limit-of-other-query", true},
        {{.kind = MASK_OF_FIRST, .block = 32, .tile = 16, .bound = AT_MOST}, "limit-at-most-of-first", true},
        {{.kind = MASK_OF_FIRST, .block = 16}, "limit-of-first", true},
        {{.kind = MASK_OF_LAST, .block = 16, .tile = 1}, "limit-of-last", true},
        {{.kind = MASK_OF_LAST, .tile = 16}, "limit-at-tile-end", true},
        {{.kind = MASK_DOWN_TO_TILE, .tile = 16}, "limit-at-tile-start", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        struct explanation one = {.kind = EXPLAINS_MASK, .mask = masks[i].rule};
        one.mask.block = one.mask.block ? one.mask.block : 1;
        one.mask.tile = one.mask.tile ? one.mask.tile : 1;
        assert_told_of(&one, masks[i].code,
                       &(struct problem_case){.attention = {1, 4, 2, 40, 130, 64, masks[i].causal}});
    }
    assert_all_told(13);
}

// ---- Operands from another place ------------------------------------------------------------------------------------

// A right kernel whose inputs have been moved: element i of a tensor is what this function takes from the right one.
struct moved_kernel {
    float (*element)(const struct host_problem *right, int tensor, int64_t row, int column);
    const char *code;
    int head_dim;
    enum layout layout;
};

static float own(const struct host_problem *p, int tensor, int64_t row, int column) {
    return host_row(&p->tensor[tensor], row)[column];
}

static float k_and_v_swapped(const struct host_problem *p, int tensor, int64_t row, int column) {
    return own(p, tensor == K ? V : tensor == V ? K : Q, row, column);
}

static float keys_of_first_head(const struct host_problem *p, int tensor, int64_t row, int column) {
    return own(p, tensor, tensor == K ? row % p->which.attention.nk : row, column);
}

static float values_transposed(const struct host_problem *p, int tensor, int64_t row, int column) {
    const int nk = p->which.attention.nk, d = p->which.attention.head_dim;
    const int64_t first = row / nk * nk, at = first * d + (int64_t)column * nk + row % nk;
    return tensor == V ? own(p, V, at / d, (int)(at % d)) : own(p, tensor, row, column);
}

static float values_of_previous_tile(const struct host_problem *p, int tensor, int64_t row, int column) {
    const int nk = p->which.attention.nk;
    return own(p, tensor, tensor == V && row % nk >= 32 ? row - 32 : row, column);
}

static float keys_one_later(const struct host_problem *p, int tensor, int64_t row, int column) {
    const int nk = p->which.attention.nk;
    return own(p, tensor, tensor == K && row % nk < nk - 1 ? row + 1 : row, column);
}

static float swizzled(const struct host_problem *p, int tensor, int64_t row, int column) {
    const int n = tensor == Q ? p->which.attention.nq : p->which.attention.nk;
    return own(p, tensor, row, tensor == K ? column ^ (int)(row % n) % 8 * 8 : column);
}

static float elements_omitted(const struct host_problem *p, int tensor, int64_t row, int column) {
    return tensor == Q && column % 16 >= 8 ? 0 : own(p, tensor, row, column);
}

static float elements_repeated(const struct host_problem *p, int tensor, int64_t row, int column) {
    return own(p, tensor, row, tensor == Q ? column % 16 : column);
}

static float swizzled_by_four(const struct host_problem *p, int tensor, int64_t row, int column) {
    return own(p, tensor, row, tensor == V ? column ^ ((int)(row % p->which.attention.nk) & 4) * 8 : column);
}

static float every_second_column(const struct host_problem *p, int tensor, int64_t row, int column) {
    return own(p, tensor, row, tensor == V ? column / 2 * 2 : column);
}

// The second panel of a tile of 32 keys is read 16 rows after the first.
static float panels_overlap(const struct host_problem *p, int tensor, int64_t row, int column) {
    const int n = p->which.attention.nk, key = (int)(row % n), at = key % 32 + column / 64 * 16;
    const int64_t from = row - key % 32 + at % 32;
    return tensor != K           ? own(p, tensor, row, column)
           : from / n != row / n ? 0
                                 : own(p, K, from, at / 32 * 64 + column % 64);
}

static float values_by_strides_of_keys(const struct host_problem *p, int tensor, int64_t row, int column) {
    const struct host_tensor *v = &p->tensor[V];
    const int64_t at = layout_row(&p->tensor[K].layout, row) + column;
    if (tensor != V)
        return own(p, tensor, row, column);
    for (int64_t r = 0; r < v->rows; r++)
        if (at >= layout_row(&v->layout, r) && at < layout_row(&v->layout, r) + v->columns)
            return own(p, V, r, (int)(at - layout_row(&v->layout, r)));
    return 0;
}

static const struct moved_kernel moved_kernels[] = {
    {k_and_v_swapped, "k-v-swapped", 64, LAYOUT_BHND},
    {keys_of_first_head, "k-of-first-head", 64, LAYOUT_BHND},
    {values_transposed, "operand-transposed", 64, LAYOUT_BHND},
    {values_of_previous_tile, "weights-displaced", 64, LAYOUT_BHND},
    {keys_one_later, "keys-displaced", 64, LAYOUT_BHND},
    {swizzled, "swizzle-mismatch", 64, LAYOUT_BHND},
    {swizzled_by_four, "swizzle-mismatch", 64, LAYOUT_BHND},
    {elements_omitted, "q-k-misses-elements", 64, LAYOUT_BHND},
    {elements_repeated, "q-k-elements-displaced", 64, LAYOUT_BHND},
    {every_second_column, "columns-displaced", 64, LAYOUT_BHND},
    {panels_overlap, "panels-displaced", 128, LAYOUT_BHND},
    {values_by_strides_of_keys, "strides-of-other-tensor", 40, LAYOUT_MIXED},
};

static bool run_moved(void *context, const struct host_problem *problem, float *outputs) {
    static const struct explanation right = {.kind = EXPLAINS_WEIGHTS};
    const struct moved_kernel *kernel = context;
    struct host_problem moved = *problem;
    for (int t = Q; t <= V; t++) {
        struct host_tensor *tensor = &moved.tensor[t];
        tensor->values = host_allocate(tensor->rows * tensor->columns, sizeof *tensor->values);
        for (int64_t i = 0; i < tensor->rows * tensor->columns; i++)
            tensor->values[i] = kernel->element(problem, t, i / tensor->columns, (int)(i % tensor->columns));
    }
    const bool ran = run_explained((void *)&right, &moved, outputs);
    for (int t = Q; t <= V; t++)
        free(moved.tensor[t].values);
    return ran;
}

static void operands_are_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof moved_kernels / sizeof *moved_kernels; i++) {
        const struct problem_case which = {
            .attention = {2, 2, 2, 9, 140, moved_kernels[i].head_dim, .layout = moved_kernels[i].layout}};
        const struct diagnosed kernel = {.operation = &attention_operation,
                                         .covers = covers,
                                         .run = run_moved,
                                         .context = (void *)&moved_kernels[i]};
        struct observed observed;
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        assert_true(attention_observe(&kernel, &which, 3, ANY_COLUMN, &observed));
        struct case_seen seen;
        case_seen_of(&observed, &seen);
        diagnosis_by(&seen, explain_operands, NULL, out);
        case_seen_free(&seen);
        attention_observed_free(&observed);
        fclose(out);
        if (!has_only(text, moved_kernels[i].code))
            fail_msg("%s is told:\n%s", moved_kernels[i].code, text);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_told), cmocka_unit_test(maps_are_told),
                                       cmocka_unit_test(sums_are_told), cmocka_unit_test(masks_are_told),
                                       cmocka_unit_test(operands_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
