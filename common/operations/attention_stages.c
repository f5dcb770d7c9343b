// Where on the way from the scores to the output a kernel goes wrong: the weights that it gives to the keys of a case
// beside the right ones. What is said holds for every row that is wrong, or says of which.
#include "operations/attention_stages.h"

#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/attention_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, NONE = -1 };

static bool rows_match(const struct stages *s, int64_t row, int64_t other) {
    for (int j = 0; j < s->x.which.attention.nk; j++)
        if (!observed_near(&s->x, row, got_of(s, row)[j], right_of(s, other)[j]))
            return false;
    return true;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The factor that most of a row's larger weights share, the median of those that are not 0.
static double factor_of(const struct stages *s, int64_t row) {
    int nk = s->x.which.attention.nk, count = 0;
    double largest = 0, *ratio = host_allocate(nk, sizeof *ratio);
    for (int j = 0; j < nk; j++)
        largest = fmax(largest, right_of(s, row)[j]);
    for (int j = 0; j < nk; j++)
        if (right_of(s, row)[j] > largest / 64 && got_of(s, row)[j] != 0)
            ratio[count++] = got_of(s, row)[j] / right_of(s, row)[j];
    qsort(ratio, (size_t)count, sizeof *ratio, compare_doubles);
    double middle = count ? ratio[count / 2] : 0;
    free(ratio);
    return middle;
}

static bool is_odd(const struct stages *s, int64_t r, int j) {
    return !observed_near(&s->x, r, got_of(s, r)[j], s->factor[r] * right_of(s, r)[j]);
}

// The weights are off by no more than numbers of 16 bits are: they, or the scores, are rounded, which attention_probe()
// tells more of.
static bool say_rounded(const struct stages *s) {
    static const double bits8 = 0x1p-8, bits11 = 0x1p-11, least = 0x1p-14;
    int nk = s->x.which.attention.nk;
    double worst = 0, of_small = 0; // weights; of the small ones no more is known than whether they are there
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            const double off = fabs(got_of(s, r)[j] / right_of(s, r)[j] - 1);
            if (right_of(s, r)[j] > 1e-3 * s->x.largest[r])
                worst = fmax(worst, off);
            else if (right_of(s, r)[j] > 1e-6 * s->x.largest[r])
                of_small = fmax(of_small, off);
        }
    if (s->x.which.dtype != ATTENTION_FP32 || !(worst > least && worst <= 2 * bits8) || of_small > 0.1)
        return false;
    stages_say(s,
               "gives all keys nearly their weights, none off by more than %.2g: something is rounded on the way, %s",
               worst, worst <= 2 * bits11 ? "as TF32 or fp16 is" : "as 16 bits are");
    return true;
}

// What is left to say where nothing else is known of the weights.
static void say_total(struct stages *s, bool keys_count_once) {
    if (say_rounded(s))
        return;
    s->unexplained = true;
    stages_say(s, "gives keys weights that are not in proportion to the right ones");
    if (!stages_say_sums(s) && keys_count_once)
        stages_say(
            s,
            "they add up to 1: they are divided by their own sum, and the scores are wrong, or what is made of them");
}

// Rows that are not there, of which no weight is known. Returns how many.
static int64_t say_lost(struct stages *s, enum lost_row kind, const char *what) {
    int64_t lost = 0;
    for (int64_t r = 0; r < s->x.rows; r++)
        lost += s->wrong[r] = s->x.lost[r] == kind;
    if (lost == s->x.rows)
        stages_say(s, "%s: all rows", what);
    else if (lost)
        stages_say_queries(s, what, s->wrong);
    return lost;
}

// Rows of zeros have lost their keys, their weights, or what was made of both: which, their lse tells. Returns how
// many.
static int64_t say_zeros(struct stages *s) {
    bool low = s->x.lse, good = s->x.lse, infinite = s->x.lse;
    int64_t lost = say_lost(s, ROW_ZERO, "0 throughout");
    for (int64_t r = 0; r < s->x.rows && s->x.lse; r++) {
        float lse = s->x.lse[r];
        if (s->x.lost[r] != ROW_ZERO)
            continue;
        low = low && lse == -INFINITY;
        good = good && fabs(lse - s->x.right_lse[r]) < 1e-2;
        infinite = infinite && !(lse < INFINITY);
    }
    if (lost && low)
        stages_say(s, "their lse is -infinity: none of their keys is seen, or the sum of their weights is lost");
    else if (lost && good)
        stages_say(s,
                   "their lse is right, and so are their scores and the sum of their weights: the values are lost, or "
                   "the weights that they meet, or the weighted sum");
    else if (lost && infinite)
        stages_say(s, "their lse is infinite or NaN: so is the sum of the weights, and what is divided by it is 0");
    return lost;
}

// Every wrong row is the mean of the values that it sees.
static bool say_equal(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int visible = shape_visible_keys(shape, (int)(r % shape->nq));
        for (int j = 0; j < visible && s->wrong[r]; j++)
            if (!observed_near(&s->x, r, got_of(s, r)[j], 1.0 / visible))
                return false;
    }
    stages_say(s, "gives all keys of these rows the same weight, as if their scores were all the same");
    return true;
}

// The weights where all scores are 0, since the queries are.
static void ask_equal(struct stages *s) {
    int64_t elements = s->x.rows * s->x.which.attention.head_dim;
    float *q = host_zeros(elements, sizeof *q);
    s->equal = host_allocate(s->x.rows * s->x.which.attention.nk, sizeof *s->equal);
    if (!observed_weights(&s->x, q, s->equal)) {
        free(s->equal);
        s->equal = NULL;
    }
    free(q);
}

// Of weights that belong to the columns alike, and are neither too many nor too few keys'.
static void say_weights(struct stages *s, int odd) {
    int nk = s->x.which.attention.nk;
    if (!odd) {
        stages_say_divisor(s);
        stages_say_extra_keys(s);
        return;
    }
    // A row that has lost a key may have the weights that another one should have: that says less.
    if (say_equal(s) || stages_say_rounded(s) || stages_say_dropped(s) ||
        (!stages_left_out(s) && stages_say_other_rows(s)) || stages_say_other_heads(s) || stages_say_scale(s))
        return;
    bool uneven = stages_say_equal_scores(s);
    if (stages_left_out(s))
        stages_say_keys(s, odd);
    else if (stages_say_moved(s) || stages_say_permuted(s) || stages_say_fragments(s) || stages_say_parts(s) ||
             stages_say_threads(s) || stages_say_quads(s) || stages_say_classes(s) || stages_say_mixture(s))
        return;
    else if (stages_say_curve(s) || stages_say_powers(s))
        return;
    else if (odd < nk && stages_say_scores(s))
        return;
    else if (odd < nk)
        stages_say_keys(s, odd);
    else if (!stages_say_added_rows(s))
        say_total(s, s->equal && !uneven);
}

// Which keys are not in proportion in some wrong row. Returns how many.
static int note_odd(struct stages *s) {
    int nk = s->x.which.attention.nk, odd = 0;
    for (int j = 0; j < nk; j++) {
        s->odd[j] = false;
        for (int64_t r = 0; r < s->x.rows && !s->odd[j]; r++)
            s->odd[j] = s->wrong[r] && is_odd(s, r, j);
        odd += s->odd[j];
    }
    return odd;
}

// Marks the few wrong rows that are wrong in many more keys than the most of them: theirs is another effect of the same
// mistake, which would hide that of the others.
static bool find_few(const struct stages *s, int64_t wrong, bool *few /* [rows] */) {
    int nk = s->x.which.attention.nk;
    int64_t *with = host_zeros(nk + 1, sizeof *with), marked = 0, seen = 0; // [odd keys], rows
    int *count = host_allocate(s->x.rows, sizeof *count), middle = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        count[r] = 0;
        for (int j = 0; j < nk && s->wrong[r]; j++)
            count[r] += is_odd(s, r, j);
        with[count[r]] += s->wrong[r];
    }
    while (2 * (seen += with[middle]) < wrong)
        middle++;
    for (int64_t r = 0; r < s->x.rows; r++) {
        few[r] = s->wrong[r] && count[r] > 2 * middle + 4;
        marked += few[r];
    }
    free(with);
    free(count);
    return marked > 0 && 5 * marked <= wrong;
}

static void say_rows(struct stages *s) {
    if (!stages_say_limits(s) && !stages_say_visible(s))
        say_weights(s, note_odd(s));
}

static void say_wrong_rows(struct stages *s, int64_t wrong) {
    bool *few = host_allocate(s->x.rows, sizeof *few);
    if (find_few(s, wrong, few)) {
        for (int64_t r = 0; r < s->x.rows; r++)
            s->wrong[r] = s->wrong[r] && !few[r];
        stages_say_queries(s, "wrong in many more keys than the others, and left out of what follows", few);
    }
    say_rows(s);
    free(few);
}

// Which rows are not right by the weights that are known of them. Returns how many.
static int64_t note_wrong(struct stages *s) {
    int64_t wrong = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        s->factor[r] = factor_of(s, r);
        s->wrong[r] = !s->x.lost[r] && !rows_match(s, r, r);
        wrong += s->wrong[r];
    }
    return wrong;
}

bool stages_say_column(const struct stages *s, int column) {
    static const double most_seconds = 2;
    const int nk = s->x.which.attention.nk, d = s->x.which.attention.head_dim;
    const int64_t rows = s->x.problem.tensor[V].rows;
    if (nk * s->x.seconds > most_seconds * patience_factor())
        return false;
    struct stages one = *s;
    one.unexplained = false;
    one.equal = NULL; // that is of other columns
    one.x.got = host_allocate(s->x.rows * nk, sizeof *one.x.got);
    one.wrong = host_allocate(s->x.rows, sizeof *one.wrong);
    one.factor = host_allocate(s->x.rows, sizeof *one.factor);
    one.odd = host_allocate(nk, sizeof *one.odd);
    float *v = host_allocate(rows * d, sizeof *v), *o = host_allocate(s->x.rows * d, sizeof *o);
    bool ran = true;
    for (int j = 0; j < nk && ran; j++) {
        for (int64_t e = 0; e < rows * d; e++)
            v[e] = e / d % nk == j;
        ran = observed_ask(&one.x, NULL, v, o);
        for (int64_t r = 0; r < s->x.rows; r++)
            one.x.got[r * nk + j] = o[r * d + column];
    }
    char *text = NULL;
    size_t size = 0;
    one.out = open_memstream(&text, &size);
    if (one.out) {
        if (ran && note_wrong(&one))
            say_rows(&one);
        fclose(one.out);
        if (size && !one.unexplained)
            fprintf(s->out, "  in column %d it\n%s", column, text);
        free(text);
    }
    free(v);
    free(o);
    free(one.x.got);
    free(one.wrong);
    free(one.factor);
    free(one.odd);
    return size && !one.unexplained;
}

static void say_all(struct stages *s) {
    int64_t wrong,
        lost = say_lost(s, ROW_UNWRITTEN, s->x.lost_in_part ? "never written in some columns" : "never written") +
               say_lost(s, ROW_NO_NUMBERS, s->x.lost_in_part ? "no numbers in some columns" : "no numbers") +
               say_zeros(s);
    for (int64_t r = 0; r < s->x.rows; r++)
        s->no_numbers = s->no_numbers || s->x.lost[r] == ROW_NO_NUMBERS;
    wrong = note_wrong(s);
    const bool alone = stages_say_alone(s);
    const bool foreign = stages_say_foreign(s);
    if (!s->x.repeats) {
        stages_say(s, "gives other results when it is called again with the same inputs: it reads something that this "
                      "call has not set, that other calls leave behind, or that hangs on which block comes first");
        return;
    }
    if (alone)
        stages_say_influence(s);
    if ((!wrong && lost) || foreign)
        return;
    if (!wrong && !s->x.weighs_as_shown)
        stages_say(s,
                   "gives every key its right weight in one column, and an output that is not the sum of the values by "
                   "these weights: it is off by up to %.2g of their sizes",
                   s->x.off);
    else if (!wrong && !stages_say_lse(s))
        stages_say(s, "gives every key its right weight, to %g: what is wrong is smaller, a rounding on the way",
                   s->x.near);
    if (wrong && wrong + lost < s->x.rows)
        stages_say_queries(s, "wrong", s->wrong);
    // What is off by so little is rounded, and columns by themselves, too.
    const bool is_rounding = s->x.off <= 0x1p-6;
    if (!s->x.weighs_as_shown && !is_rounding && !(wrong && stages_say_added_rows(s)))
        stages_say_columns(s);
    else if (wrong && (s->x.weighs_as_shown || is_rounding))
        say_wrong_rows(s, wrong);
    if (wrong && s->unexplained && !alone)
        stages_say_influence(s);
}

// A tile of which the case has only a key or two tells less than a longer one: the same with twice as many keys, as
// long as it is wrong, too.
static void lengthen(const struct diagnosed *kernel, struct problem_case *which) {
    enum { MOST_KEYS = 512 };
    struct problem_case longer = *which;
    longer.attention.nk *= 2;
    if (which->attention.nk > 8 && longer.attention.nk <= MOST_KEYS && longer.attention.layout != LAYOUT_STRIDES &&
        attention_still_wrong(kernel, &longer))
        *which = longer;
}

// What is known after one case has been asked.
struct told {
    bool unexplained; // it leaves open where it goes wrong
    bool located;     // it does not
    bool all_lost;    // no row has numbers other than 0
};

// Says what there is to say of one case.
static bool say_case(const struct diagnosed *kernel, const struct problem_case *which, FILE *out, struct told *told) {
    struct stages s = {.out = out};
    char text[160];
    if (!attention_observe(kernel, which, SEED, &s.x))
        return false;
    s.wrong = host_allocate(s.x.rows, sizeof *s.wrong);
    s.factor = host_allocate(s.x.rows, sizeof *s.factor);
    s.odd = host_allocate(which->attention.nk, sizeof *s.odd);
    ask_equal(&s);
    case_text(kernel->operation, which, text, sizeof text);
    fprintf(out, "\nasked for the weight of each key of %s SEED=%d, the kernel\n", text, SEED);
    say_all(&s);
    bool all_lost = true;
    for (int64_t r = 0; r < s.x.rows; r++)
        all_lost = all_lost && s.x.lost[r];
    free(s.wrong);
    free(s.factor);
    free(s.odd);
    free(s.equal);
    attention_observed_free(&s.x);
    *told = (struct told){s.unexplained, !s.unexplained && !s.no_numbers, all_lost};
    return true;
}

// A longer case that is wrong, too, of which the kernel has lost less; with a mask also one of nearly as many queries
// as keys, of which another diagonal leaves some.
static bool say_longer(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out, struct told *told) {
    static const int lengths[][2] = {{33, 40}, {40, 33}, {0, 99}, {0, 115}, {0, 150}, {0, 200}, {0, 300}}; // nq, nk
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct problem_case longer = *wrong;
        char *text = NULL;
        size_t size = 0;
        longer.attention.nq = lengths[i][0] ? lengths[i][0] : longer.attention.nq;
        longer.attention.nk = lengths[i][1];
        if ((lengths[i][0] ? !wrong->attention.causal : longer.attention.nk <= wrong->attention.nk) ||
            !attention_still_wrong(kernel, &longer))
            continue;
        FILE *lines = open_memstream(&text, &size);
        if (!lines)
            return false;
        const bool said = say_case(kernel, &longer, lines, told) && !told->all_lost;
        fclose(lines);
        if (said)
            fputs(text, out);
        free(text);
        if (said)
            return true;
    }
    return false;
}

bool attention_stages(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out) {
    struct problem_case longer = *wrong;
    struct told told, other;
    lengthen(kernel, &longer);
    if (!say_case(kernel, &longer, out, &told))
        return false;
    if (told.all_lost && wrong->attention.layout != LAYOUT_STRIDES && say_longer(kernel, &longer, out, &other))
        return other.located;
    // Several tiles may hide what one shows.
    if (told.unexplained && longer.attention.nk != wrong->attention.nk) {
        char *text = NULL;
        size_t size = 0;
        FILE *shorter = open_memstream(&text, &size);
        if (!shorter)
            return false;
        const bool said = say_case(kernel, wrong, shorter, &other);
        fclose(shorter);
        if (said && !other.unexplained) {
            fputs(text, out);
            told.located = other.located;
        }
        free(text);
    }
    return told.located;
}
