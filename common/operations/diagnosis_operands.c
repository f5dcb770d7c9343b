// Outputs of a kernel that takes elements of Q, K, V or O from another place: another tensor, head, row or column.
#include "operations/diagnosis_operands.h"

#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"
#include "operations/diagnosis_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, TENSORS = 4 };

static bool is_query(int tensor) {
    return tensor == Q || tensor == O;
}

// ---- Where an element comes from ------------------------------------------------------------------------------------

// The first row of the head of a row; NONE: it lies outside.
static int64_t first_row(const struct attention_shape *s, const struct operand_rule *rule, int tensor, int64_t head) {
    const int heads = is_query(tensor) ? s->heads : s->kv_heads, n = is_query(tensor) ? s->nq : s->nk;
    const int64_t batch = head / heads, in_batch = head % heads;
    switch ((enum head_rule)rule->n) {
    case HEAD_FIRST:
        return 0;
    case HEAD_OF_FIRST_BATCH:
        return in_batch * n;
    case HEAD_FIRST_OF_BATCH:
        return batch * heads * n;
    case HEAD_STRIDE:
        return head * (is_query(tensor) ? s->nk : s->nq);
    default:
        return NONE;
    }
}

// The head of K and V of a query head where the rule shares them out otherwise.
static int64_t shared_head(const struct attention_shape *s, const struct operand_rule *rule, int64_t query_head) {
    const int64_t batch = query_head / s->heads, head = query_head % s->heads;
    return rule->n == HEAD_MODULO ? batch * s->kv_heads + head % s->kv_heads : query_head;
}

static void move_in_fragment(enum fragment_rule rule, int *row, int *column) {
    const int r = *row, c = *column;
    switch (rule) {
    case FRAGMENT_TRANSPOSED:
        *row = r / 8 * 8 + c % 8;
        *column = c / 8 * 8 + r % 8;
        break;
    case FRAGMENT_MATRICES:
        *row = (r ^ c) & 8 ? r ^ 8 : r;
        *column = (r ^ c) & 8 ? c ^ 8 : c;
        break;
    case FRAGMENT_ROWS:
        *row = r ^ 8;
        break;
    default:
        *column = c ^ r % 8 * 8;
    }
}

// The row that lies where a contiguous tensor would have this one; of the output, the one that is stored where this one
// should lie. NONE: a gap.
static int64_t row_if_packed(const struct host_tensor *t, const struct operand_rule *rule, bool is_output, int n,
                             int64_t row) {
    const int64_t at = layout_row(&t->layout, row), first = rule->n ? row / n * n : 0;
    if (is_output)
        return at % t->columns || at / t->columns >= t->rows ? NONE : at / t->columns;
    for (int64_t r = 0; r < t->rows; r++)
        if (layout_row(&t->layout, r) == layout_row(&t->layout, first) + (row - first) * t->columns)
            return r;
    return NONE;
}

// Which element stands in for element c of a row; NONE: a zero.
static int64_t place_of(const struct observed *x, const struct operand_rule *rule, int tensor, int64_t row, int c) {
    const struct attention_shape *s = &x->which.attention;
    const int n = is_query(tensor) ? s->nq : s->nk, d = s->head_dim;
    const int64_t head = row / n, rows = x->problem.tensor[tensor].rows;
    int r = (int)(row % n);
    int64_t first = head * n;
    switch (rule->change) {
    case OPERAND_ROWS:
        r = rule->from ? rule->from[r] : map_of(&rule->map, r, n);
        break;
    case OPERAND_COLUMNS:
        c = rule->from ? rule->from[c] : map_of(&rule->map, c, d);
        break;
    case OPERAND_HEADS:
        first = first_row(s, rule, tensor, head);
        break;
    case OPERAND_TRANSPOSED:
        return tensor == O ? first * d + (r * d + c) % n * d + (r * d + c) / n : first * d + (int64_t)c * n + r;
    case OPERAND_PACKED:
        first = row_if_packed(&x->problem.tensor[tensor], rule, tensor == O, n, row);
        r = first == NONE ? NONE : 0;
        break;
    case OPERAND_FRAGMENT:
        move_in_fragment((enum fragment_rule)rule->n, &r, &c);
        r = r < n ? r : NONE;
        c = c < d ? c : NONE;
        break;
    default:
        break;
    }
    return r == NONE || c == NONE || first == NONE || first + r >= rows ? NONE : (first + r) * d + c;
}

static bool is_shared(const struct operand_rule *rule) {
    return rule->change == OPERAND_HEADS && (rule->n == HEAD_MODULO || rule->n == HEAD_OF_QUERY);
}

// The tensors that are read in place of Q, K and V.
static const int read_as[][3] = {{Q, V, K}, {K, Q, V}, {Q, K, K}, {Q, V, V}};

// The tensors as the kernel finds them; NULL in place of one that is as it should be. False: some lies outside.
static bool move_all(const struct observed *x, const struct operand_rule *rule, int width, float *moved[3]) {
    const float *own[] = {x->own_q, x->problem.tensor[K].values, x->own_v};
    const int d = x->which.attention.head_dim;
    bool inside = true;
    for (int t = Q; t <= V; t++) {
        const int from = rule->change == OPERAND_TENSORS ? read_as[rule->n][t] : t;
        const int64_t rows = x->problem.tensor[t].rows;
        moved[t] = NULL;
        if (!(rule->tensors >> t & 1) || is_shared(rule) || (rule->change == OPERAND_TENSORS && from == t))
            continue;
        moved[t] = host_allocate(rows * width, sizeof **moved);
        for (int64_t r = 0; r < rows; r++)
            for (int c = 0; c < width; c++) {
                const int64_t place = rule->change == OPERAND_TENSORS
                                          ? (r < x->problem.tensor[from].rows ? r * d + c : NONE)
                                          : place_of(x, rule, t, r, c);
                inside = inside && (place != NONE || rule->change != OPERAND_TENSORS);
                moved[t][r * width + c] = place == NONE ? 0 : own[from][place];
            }
    }
    return inside;
}

// ---- What the output is then ----------------------------------------------------------------------------------------

struct moved {
    const struct observed *x;
    const struct operand_rule *rule;
    float *tensor[3]; // with rows of `width` columns
    double *weight;   // [nk]
    int width;
};

// The columns that are compared.
static int first_column(const struct observed *x) {
    return x->column == ANY_COLUMN ? 0 : x->column;
}
static int end_column(const struct observed *x) {
    return x->column == ANY_COLUMN ? x->which.attention.head_dim : x->column + 1;
}

static const float *row_of(const struct moved *m, int tensor, int64_t row) {
    const float *own[] = {m->x->own_q, m->x->problem.tensor[K].values, m->x->own_v};
    return m->tensor[tensor] ? m->tensor[tensor] + row * m->width : own[tensor] + row * m->x->which.attention.head_dim;
}

// The first row of the head of K or V that a row reads.
static int64_t keys_of(const struct moved *m, int tensor, int64_t row) {
    const struct attention_shape *s = &m->x->which.attention;
    const bool shared = is_shared(m->rule) && m->rule->tensors >> tensor & 1;
    return shared ? shared_head(s, m->rule, row / s->nq) * s->nk : shape_first_key(s, row);
}

// The weights of a row. False: they read outside.
static bool weigh(const struct moved *m, int64_t row) {
    const struct attention_shape *s = &m->x->which.attention;
    const int attended = shape_attended_keys(s, (int)(row % s->nq));
    // What has been moved past the last column of both meets there.
    const int d = m->tensor[Q] && m->tensor[K] ? m->width : s->head_dim;
    const int64_t keys = keys_of(m, K, row);
    double maximum = -INFINITY, sum = 0;
    if (keys + s->nk > m->x->problem.tensor[K].rows)
        return false;
    for (int j = 0; j < attended; j++) {
        const float *q = row_of(m, Q, row), *k = row_of(m, K, keys + j);
        double dot = 0;
        for (int c = 0; c < d; c++)
            dot += (double)q[c] * k[c] * (m->rule->times ? m->rule->times[c] : 1);
        m->weight[j] = dot * m->x->problem.softmax_scale;
        maximum = fmax(maximum, m->weight[j]);
    }
    for (int j = 0; j < attended; j++)
        sum += m->weight[j] = exp(m->weight[j] - maximum);
    for (int j = 0; j < s->nk; j++)
        m->weight[j] = j < attended ? m->weight[j] / sum : 0;
    return true;
}

// Whether a row of the output is what the rule makes of it.
static bool row_fits(const struct moved *m, int64_t row) {
    const struct observed *x = m->x;
    const struct attention_shape *s = &x->which.attention;
    const int d = s->head_dim;
    const bool of_scores = m->rule->tensors & (1u << Q | 1u << K) || m->rule->times;
    const double *weight = x->right + row * s->nk;
    const int64_t values = keys_of(m, V, row);
    if (m->rule->tensors >> O & 1) {
        for (int c = first_column(x); c < end_column(x); c++) {
            const int64_t place = place_of(x, m->rule, O, row, c);
            if (place == NONE ? m->rule->change != OPERAND_PACKED
                              : !(fabs(x->o[row * d + c] - x->right_o[place]) <= 2 * x->tolerance * x->size_o[place]))
                return false;
        }
        return true;
    }
    if ((of_scores && !weigh(m, row)) || values + s->nk > x->problem.tensor[V].rows)
        return false;
    weight = of_scores ? m->weight : weight;
    for (int c = first_column(x); c < end_column(x); c++) {
        double sum = 0, sizes = 0;
        for (int j = 0; j < s->nk; j++) {
            const double term = weight[j] * row_of(m, V, values + j)[c];
            sum += term;
            sizes += fabs(term);
        }
        if (!(fabs(x->o[row * d + c] - sum) <= 2 * x->tolerance * sizes + 1e-6))
            return false;
    }
    return true;
}

bool explanation_of_operands_holds(struct explanation *one, const struct case_seen *s) {
    enum { PANEL = 64 };
    const int d = s->x->which.attention.head_dim;
    struct moved m = {.x = s->x, .rule = &one->operand, .width = d};
    int64_t failing = 0, wrong = 0;
    if (one->operand.change == OPERAND_FRAGMENT || (one->operand.map.kind == MAP_MODULO && one->operand.map.n == PANEL))
        m.width = (d + PANEL - 1) / PANEL * PANEL; // rows of shared memory
    bool inside = move_all(s->x, &one->operand, m.width, m.tensor);
    m.weight = host_allocate(s->nk, sizeof *m.weight);
    one->fitting = one->rows = 0;
    for (int64_t r = 0; r < s->rows && inside && 10 * failing <= s->rows; r++) {
        if (s->x->missing[r] || !shape_attended_keys(&s->x->which.attention, (int)(r % s->nq)))
            continue;
        one->rows++;
        const bool fits = row_fits(&m, r), is_wrong = !observed_is_right(s->x, r, s->x->column);
        one->fitting += fits;
        failing += !fits;
        wrong += fits && is_wrong;
    }
    for (int t = Q; t <= V; t++)
        free(m.tensor[t]);
    free(m.weight);
    return inside && wrong > 0 && 10 * failing <= one->rows;
}

// ---- Rules that are tried -------------------------------------------------------------------------------------------

static void try(struct operand_rule rule, const struct case_seen *s, double cost, struct explanations *all) {
    struct explanation one = {.kind = EXPLAINS_OPERANDS, .operand = rule, .cost = cost};
    if (explanation_of_operands_holds(&one, s)) {
        one.cost += 2 * log2(1 + (double)(one.rows - one.fitting));
        explanations_add(all, &one);
    }
}

static void try_maps(enum operand_change change, int count, const unsigned *tensors, int kinds,
                     const struct case_seen *s, struct explanations *all) {
    struct index_map maps[MOST_MAPS];
    const int found = count > 1 ? maps_of(count, maps) : 0;
    for (int i = 0; i < found; i++)
        for (int t = 0; t < kinds; t++)
            // One key for all keys is what is left where the others have no weight.
            if (!(tensors[t] & (1u << K | 1u << V) && maps[i].kind == MAP_FIRST && !maps[i].n))
                try((struct operand_rule){.change = change, .tensors = tensors[t], .map = maps[i]}, s,
                    5 + 2 * t + map_cost(&maps[i]), all);
}

// Whether in all rows column `to` of the output, or in all heads row `to`, is right for another one.
static bool holds_other(const struct observed *x, bool of_columns, int to, int from) {
    const int d = x->which.attention.head_dim, nq = x->which.attention.nq;
    for (int64_t r = 0; r < x->rows; r++)
        for (int c = 0; c < d; c++) {
            const int64_t place = of_columns ? r * d + from : (r - r % nq + from) * d + c;
            if (!x->missing[r] && (of_columns ? c == to : r % nq == to) &&
                !(fabs(x->o[r * d + c] - x->right_o[place]) <= 2 * x->tolerance * x->size_o[place]))
                return false;
        }
    return true;
}

// Reads off which column, or row of its head, each one of the output holds.
static void try_places(const struct case_seen *s, bool of_columns, struct explanations *all) {
    enum { MOST = 256 };
    const int count = of_columns ? s->x->which.attention.head_dim : s->nq;
    int others = 0, found = 0;
    for (int to = 0; to < count && to == found && count <= MOST; to++) {
        int from = to;
        for (int i = 0; i <= count && !holds_other(s->x, of_columns, to, from); i++)
            from = i;
        s->table->from[to] = (int16_t)from;
        found += from < count;
        others += from != to;
    }
    if (found == count && others)
        try((struct operand_rule){.change = of_columns ? OPERAND_COLUMNS : OPERAND_ROWS,
                                  .tensors = 1u << O,
                                  .from = s->table->from},
            s, 12, all);
}

// Least squares of what each element of the dot product counts, from the logarithms of the weights.
static bool read_times(const struct case_seen *s, float *times) {
    enum { MOST_ROWS = 64 };
    const int d = s->x->which.attention.head_dim, width = d + 1;
    double *a = host_zeros((int64_t)d * width, sizeof *a),
           *term = host_allocate((int64_t)width * (s->nk + 1), sizeof *term);
    int64_t points = 0, rows = 0;
    bool found = false, any = false, known = true;
    for (int64_t r = 0; r < s->rows && rows < MOST_ROWS; r++) {
        const float *q = s->x->own_q + r * d;
        const int64_t keys = shape_first_key(&s->x->which.attention, r);
        double *mean = term + (int64_t)width * s->nk;
        int count = 0;
        memset(mean, 0, (size_t)width * sizeof *mean);
        for (int j = 0; j < s->nk; j++) {
            double *t = term + (int64_t)width * count;
            if (isnan(s->off[r * s->nk + j]))
                continue;
            for (int c = 0; c < d; c++)
                t[c] = (double)q[c] * host_row(&s->x->problem.tensor[K], keys + j)[c] * s->x->problem.softmax_scale;
            t[d] = s->off[r * s->nk + j];
            for (int c = 0; c < width; c++)
                mean[c] += t[c];
            count++;
        }
        for (int i = 0; i < count; i++) {
            double *t = term + (int64_t)width * i;
            for (int c = 0; c < width; c++)
                t[c] -= mean[c] / count;
            for (int c = 0; c < d; c++)
                for (int b = 0; b < width; b++)
                    a[c * width + b] += t[c] * t[b];
        }
        points += count > 1 ? count - 1 : 0;
        rows += count > 1;
    }
    for (int i = 0; i < d && (known = points > 2 * d && a[i * width + i] > 1e-9); i++)
        for (int k = 0; k < d; k++)
            for (int b = width - 1; b >= i && k != i && a[k * width + i] != 0; b--)
                a[k * width + b] -= a[k * width + i] / a[i * width + i] * a[i * width + b];
    for (int c = 0; c < d && known; c++) {
        const double count = 1 + a[c * width + d] / a[c * width + c];
        times[c] = (float)lrint(count);
        known = fabs(count - times[c]) < 0.2 && times[c] >= 0 && times[c] < 4;
        found = found || times[c] != 1;
        any = any || times[c] > 0;
    }
    free(a);
    free(term);
    return known && found && any;
}

void explain_operands(const struct case_seen *s, struct explanations *all) {
    static const unsigned heads[] = {1u << K | 1u << V, 1u << K, 1u << V, 1u << Q},
                          columns[] = {1u << K, 1u << Q,           1u << V,
                                       1u << O, 1u << K | 1u << Q, 1u << Q | 1u << K | 1u << V},
                          rows[] = {1u << Q, 1u << V, 1u << K, 1u << K | 1u << V, 1u << O},
                          fragments[] = {1u << K,
                                         1u << Q,
                                         1u << V,
                                         1u << O,
                                         1u << K | 1u << V,
                                         1u << Q | 1u << K,
                                         1u << Q | 1u << K | 1u << V},
                          packed[] = {1u << K, 1u << Q,           1u << V,
                                      1u << O, 1u << K | 1u << V, 1u << Q | 1u << K | 1u << V};
    enum { COUNT_PACKED = 6, COUNT_FRAGMENTS = 7 };
    const struct attention_shape *shape = &s->x->which.attention;
    for (int n = 0; n < 4; n++)
        try((struct operand_rule){.change = OPERAND_TENSORS,
                                  .tensors = n < 2    ? 7
                                             : n == 2 ? 1u << V
                                                      : 1u << K,
                                  .n = n},
            s, 5, all);
    for (int n = 0; n < HEADS; n++)
        for (int t = 0; t < 4; t++)
            if (n < HEAD_MODULO || (t < 3 && shape->kv_heads < shape->heads) || n == HEAD_STRIDE)
                try((struct operand_rule){.change = OPERAND_HEADS, .tensors = heads[t], .n = n}, s, 5 + n + t, all);
    for (int t = Q; t <= O; t++)
        try((struct operand_rule){.change = OPERAND_TRANSPOSED, .tensors = 1u << t, .n = 0}, s, 6, all);
    for (int t = 0; t < 2 * COUNT_PACKED && shape->layout != LAYOUT_BHND; t++)
        try((struct operand_rule){.change = OPERAND_PACKED, .tensors = packed[t % COUNT_PACKED], .n = t / COUNT_PACKED},
            s, 6 + t, all);
    for (int n = 0; n < FRAGMENTS; n++)
        for (int t = 0; t < COUNT_FRAGMENTS; t++)
            try((struct operand_rule){.change = OPERAND_FRAGMENT, .tensors = fragments[t], .n = n}, s, 7 + n + t, all);
    if (read_times(s, s->times))
        try((struct operand_rule){.change = OPERAND_TIMES, .times = s->times}, s, 8, all);
    if (all->count)
        return;
    try_maps(OPERAND_COLUMNS, shape->head_dim, columns, 6, s, all);
    try_maps(OPERAND_ROWS, s->nk, rows + 1, 3, s, all);
    try_maps(OPERAND_ROWS, s->nq, rows, 1, s, all);
    try_maps(OPERAND_ROWS, s->nq, rows + 4, 1, s, all);
    for (int of_columns = 0; of_columns < 2 && !all->count && s->x->column == ANY_COLUMN; of_columns++)
        try_places(s, of_columns, all);
}

// ---- Words ----------------------------------------------------------------------------------------------------------

static const char *print_times(const struct operand_rule *rule, int d, FILE *out) {
    bool *marked = host_allocate(d, sizeof *marked);
    char text[200];
    for (int c = 0; c < d; c++)
        marked[c] = rule->times[c] == 0;
    if (pattern_ranges(marked, d, "element", "elements", text, sizeof text))
        fprintf(out, "Q K^T omits %s of the queries and keys", text);
    else
        fprintf(out, "Q K^T does not count each element of a query and key once: element 0 counts %g times",
                rule->times[0]);
    free(marked);
    return "q-k-misses-elements";
}

static const char *print_heads(const struct operand_rule *rule, FILE *out) {
    static const char *const of[HEADS] = {
        "the first head",
        "the same head of the first batch",
        "the first head of its batch",
        "head h % kv_heads: query heads share key heads round-robin instead of in groups",
        "the query head's number",
        "an offset of nq rows a head instead of nk, or the other way round"};
    static const char *const codes[HEADS] = {"first-head",     "head-of-first-batch", "first-head-of-batch",
                                             "head-by-modulo", "head-of-query",       "head-offset"};
    static char code[60];
    const char *name = rule->tensors == 1u << Q   ? "q"
                       : rule->tensors == 1u << K ? "k"
                       : rule->tensors == 1u << V ? "v"
                                                  : "kv";
    fprintf(out, "Every head reads %s of %s",
            *name == 'q'   ? "the queries"
            : name[1]      ? "keys and values"
            : *name == 'k' ? "the keys"
                           : "the values",
            of[rule->n]);
    snprintf(code, sizeof code, "%s-of-%s", name, codes[rule->n]);
    return code;
}

static const char *print_map(const struct operand_rule *rule, FILE *out) {
    char map[100];
    int first = 0;
    map_text(&rule->map, map, sizeof map);
    while (rule->from && rule->from[first] == first)
        first++;
    if (rule->from) {
        const bool of_rows = rule->change == OPERAND_ROWS;
        fprintf(out, "The output holds other %s: %s %d holds that of %d", of_rows ? "rows" : "columns",
                of_rows ? "row" : "column", first, rule->from[first]);
        return of_rows ? "output-rows-displaced" : "columns-displaced";
    }
    if (rule->change == OPERAND_COLUMNS) {
        const bool of_scores = rule->tensors & (1u << Q | 1u << K);
        fprintf(out,
                of_scores ? "Q K^T reads other elements of the %s: element i is element %s"
                          : "Columns are displaced in %s: column i is column %s",
                rule->tensors == 1u << Q   ? "queries"
                : rule->tensors == 1u << K ? "keys"
                : rule->tensors == 1u << V ? "V"
                : rule->tensors == 1u << O ? "the output"
                : rule->tensors >> V & 1   ? "queries, keys and values"
                                           : "queries and keys",
                map);
        return of_scores ? "q-k-elements-displaced" : "columns-displaced";
    }
    fprintf(
        out,
        rule->tensors == 1u << Q ? "Each wrong row has the weights of another row: query i has the weights of query %s"
        : rule->tensors == 1u << V ? "Weights are multiplied by the values of other keys: the weight of key i by the "
                                     "value of key %s"
        : rule->tensors == 1u << K ? "Scores are those of other keys: key i has the score of key %s"
        : rule->tensors == 1u << O ? "Output rows are stored in the place of others: row i holds the output of query %s"
                                   : "Scores and values are those of other keys: instead of key i the kernel reads "
                                     "key %s",
        map);
    return rule->tensors == 1u << Q   ? "rows-of-other-rows"
           : rule->tensors == 1u << V ? "weights-displaced"
           : rule->tensors == 1u << K ? "keys-displaced"
           : rule->tensors == 1u << O ? "output-rows-displaced"
                                      : "keys-and-values-displaced";
}

// "K and V"
static void tensors_text(unsigned tensors, char *text, size_t size) {
    static const char name[] = "QKVO";
    *text = 0;
    for (int t = Q; t <= O; t++)
        if (tensors >> t & 1)
            snprintf(text + strlen(text), size - strlen(text), "%s%c", *text ? " and " : "", name[t]);
}

const char *explanation_of_operands_print(const struct explanation *one, int d, FILE *out) {
    static const char *const tensor_words[] = {"K and V are swapped", "Q and K are swapped",
                                               "The weighted sum reads K instead of V",
                                               "The scores are computed with V instead of K"};
    static const char *const tensor_codes[] = {"k-v-swapped", "q-k-swapped", "values-from-k", "keys-from-v"};
    static const char *const fragment_words[FRAGMENTS] = {
        "the 8 x 8 matrices of %s are transposed, or not where they should be",
        "two 8 x 8 matrices of each 16 x 16 elements of %s are exchanged",
        "rows r and r + 8 of each 16 rows of %s are exchanged",
        "chunks of 8 elements of %s are swizzled by row %% 8 on one side only, when stored or when loaded"};
    static const char *const fragment_codes[FRAGMENTS] = {"fragment-transposed", "fragment-matrices-swapped",
                                                          "fragment-rows-swapped", "swizzle-mismatch"};
    const struct operand_rule *rule = &one->operand;
    char name[40];
    tensors_text(rule->tensors, name, sizeof name);
    switch (rule->change) {
    case OPERAND_TENSORS:
        fputs(tensor_words[rule->n], out);
        return tensor_codes[rule->n];
    case OPERAND_HEADS:
        return print_heads(rule, out);
    case OPERAND_TRANSPOSED:
        fprintf(out, "%s is %s as [head_dim][n] instead of [n][head_dim]", name,
                rule->tensors == 1u << O ? "stored" : "read");
        return "operand-transposed";
    case OPERAND_PACKED:
        fprintf(out, "The strides of %s are ignored: rows lie where those of a contiguous tensor would", name);
        return "strides-ignored";
    case OPERAND_FRAGMENT:
        fputs("The output is exactly that of operands of which ", out);
        fprintf(out, fragment_words[rule->n], name);
        return fragment_codes[rule->n];
    case OPERAND_TIMES:
        return print_times(rule, d, out);
    default:
        return print_map(rule, out);
    }
}
