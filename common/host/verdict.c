#include "host/verdict.h"

#include "host/parallel.h"
#include "host/tolerance.h"
#include "operation.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void verdict_sample(const struct host_problem *problem, double row_cost, uint64_t seed,
                    struct row_sample sample[MAX_TENSORS]) {
    for (int i = 0; i < problem->outputs; i++)
        sample[i] = sample_rows(problem_output(problem, i)->rows, output_rows_of(problem, i).group, row_cost, seed);
}

void verdict_sample_free(struct row_sample sample[MAX_TENSORS]) {
    for (int i = 0; i < MAX_TENSORS; i++)
        sample_free(&sample[i]);
}

void verdict_begin(struct verdict *v, const struct host_problem *problem, const struct row_sample *sample,
                   const void *reference, int output) {
    const struct host_tensor *tensor = problem_output(problem, output);
    int columns = tensor->columns;
    *v = (struct verdict){.problem = problem,
                          .tensor = tensor,
                          .sample = sample,
                          .reference = reference,
                          .output = output,
                          .expected = {host_zeros(columns, sizeof(double)), host_zeros(columns, sizeof(double)),
                                       host_zeros(columns, sizeof(double))},
                          .wrong_at = host_zeros(sample->count * columns, 1),
                          .row_error = host_zeros(sample->count, sizeof(double)),
                          .row_signal = host_zeros(sample->count, sizeof(double)),
                          .first_row = -1,
                          .rms_row = -1};
}

static void remember_first(struct verdict *v, int64_t row, int column, bool sampled, double expected, float got,
                           double bound) {
    if (v->first_row >= 0)
        return;
    v->first_row = row;
    v->first_column = column;
    v->first_sampled = sampled;
    v->first_expected = expected;
    v->first_got = got;
    v->first_bound = bound;
}

// True where every value is a number: no infinity, no NaN, and so no poison. Billions of values pass through here.
static bool all_numbers(const float *values, int count) {
    bool numbers = true;
    for (int c = 0; c < count; c++)
        numbers &= fabsf(values[c]) <= FLT_MAX;
    return numbers;
}

// A row that the reference does not cover: it was written, and it is no NaN where the inputs have none. An infinity is
// right in a row that sees nothing, as its log-sum-exp.
static void check_plain_row(struct verdict *v, int64_t row, const float *got) {
    if (all_numbers(got, v->tensor->columns))
        return;
    for (int c = 0; c < v->tensor->columns; c++) {
        bool poison = is_poison(got[c]), number = v->output ? !isnan(got[c]) : isfinite(got[c]);
        if (poison && v->partly) {
            v->skipped++;
            continue;
        }
        bool stray = !poison && v->problem->finite && !number;
        v->unwritten += poison;
        v->nan += stray;
        if (poison || stray)
            remember_first(v, row, c, false, NAN, got[c], 0);
    }
}

static void add_bits(struct verdict *v, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    v->bits = (v->bits ^ bits) * 1099511628211u + 1;
}

static void check_sampled_row(struct verdict *v, int64_t row, const float *got) {
    int columns = v->tensor->columns;
    int64_t index = v->next++;
    const struct expected_row *e = &v->expected;
    v->problem->operation->expect(v->problem, v->reference, v->output, index, &v->expected);
    double error = 0, signal = 0;
    for (int c = 0; c < columns; c++) {
        double expected = e->value[c], difference = got[c] - expected;
        bool poison = is_poison(got[c]);
        if (poison && v->partly) {
            v->skipped++;
            continue;
        }
        add_bits(v, got[c]);
        v->compared++;
        v->unwritten += poison;
        v->nan += !poison && ((isnan(got[c]) && !isnan(expected)) || (isinf(got[c]) && isfinite(expected)));
        if (poison || !tolerance_holds(got[c], expected, e->bound[c])) {
            v->wrong++;
            v->wrong_at[index * columns + c] = 1;
            remember_first(v, row, c, true, expected, got[c], e->bound[c]);
        }
        if (fabs(expected) > 0x1p-100) // results near the denormals have no relative error to speak of
            v->max_relative_error = fmax(v->max_relative_error, fabs(difference / expected));
        if (isnan(e->size[c]))
            continue;
        error += difference * difference;
        signal += e->size[c] * e->size[c];
    }
    v->row_error[index] = error;
    v->row_signal[index] = signal;
}

void verdict_rows(struct verdict *v, int64_t first_row, int64_t rows, const float *values) {
    int columns = v->tensor->columns;
    v->elements += rows * columns;
    for (int64_t r = 0; r < rows; r++) {
        bool sampled = v->next < v->sample->count && v->sample->row[v->next] == first_row + r;
        (sampled ? check_sampled_row : check_plain_row)(v, first_row + r, values + r * columns);
    }
}

// Gates the RMS error of a group of rows. NaN fails.
static void gate(struct verdict *v, double error, double signal, double limit, int64_t row) {
    double rms = signal > 0 ? sqrt(error / signal) : 0; // no signal: every bound is the absolute one
    if (rms <= limit || v->rms_failed)
        return;
    v->rms_failed = true;
    v->rms_row = row;
    v->rms_failed_at = rms;
    v->rms_limit = limit;
}

static void gate_rows(struct verdict *v) {
    const struct operation *operation = v->problem->operation;
    const struct row_sample *sample = v->sample;
    int64_t group = output_rows_of(v->problem, v->output).group, rows = 0;
    double row_limit = operation->rms_limit(v->problem, v->reference, v->output, TOLERANCE_ONE_ROW);
    double error = 0, signal = 0;
    for (int64_t i = 0; i < sample->count; i++) {
        error += v->row_error[i];
        signal += v->row_signal[i];
        rows++;
        gate(v, v->row_error[i], v->row_signal[i], row_limit, sample->row[i]);
        if (i + 1 == sample->count || sample->row[i + 1] / group != sample->row[i] / group) {
            gate(v, error, signal, operation->rms_limit(v->problem, v->reference, v->output, rows), -1);
            error = signal = 0;
            rows = 0;
        }
    }
}

bool verdict_end(struct verdict *v) {
    double error = 0, signal = 0;
    for (int64_t i = 0; i < v->sample->count; i++) {
        error += v->row_error[i];
        signal += v->row_signal[i];
    }
    v->relative_rms = signal > 0 ? sqrt(error / signal) : 0;
    const struct operation *operation = v->problem->operation;
    if (operation->rms_limit) {
        gate_rows(v);
        gate(v, error, signal, operation->rms_limit(v->problem, v->reference, v->output, v->sample->count), -1);
    }
    return v->next == v->sample->count && !v->wrong && !v->unwritten && !v->nan && !v->rms_failed;
}

double verdict_error(const struct verdict *v) {
    return v->problem->operation->error == ERROR_RELATIVE_RMS ? v->relative_rms : v->max_relative_error;
}

static void explain_first(const struct verdict *v, FILE *out) {
    char location[96];
    v->problem->operation->describe_element(&v->problem->which, v->output, v->first_row, v->first_column, location,
                                            sizeof location);
    fprintf(out, "  first: %s%s", v->tensor->name, location);
    if (is_poison(v->first_got))
        fprintf(out, " was not written");
    else if (isnan(v->first_got))
        fprintf(out, " is NaN");
    else
        fprintf(out, " is %.8g", v->first_got);
    if (v->first_sampled && isfinite(v->first_expected))
        fprintf(out, ", expected %.8g (tolerance %.1e)", v->first_expected, v->first_bound);
    else if (v->first_sampled)
        fprintf(out, ", expected %s", isnan(v->first_expected) ? "NaN" : v->first_expected > 0 ? "inf" : "-inf");
    fputc('\n', out);
}

// The smallest power of two that makes at most limit tiles of n.
static int64_t tile_size(int64_t n, int limit) {
    int64_t tile = 1;
    while ((n - 1) / tile + 1 > limit)
        tile *= 2;
    return tile;
}

static void explain_groups(const struct verdict *v, int64_t group, FILE *out) {
    int64_t groups = v->tensor->rows / group, wrong = 0, last = -1;
    for (int64_t i = 0; i < v->sample->count; i++)
        if (v->sample->row[i] / group != last &&
            memchr(v->wrong_at + i * v->tensor->columns, 1, (size_t)v->tensor->columns)) {
            last = v->sample->row[i] / group;
            wrong++;
        }
    if (groups > 1)
        fprintf(out, "  %s with wrong elements: %s%lld of %lld\n", v->problem->operation->groups_name,
                v->compared < v->elements ? "at least " : "", (long long)wrong, (long long)groups);
}

// A map of the group that holds the first wrong element: '.' right, '#' wrong, ' ' not in the sample.
static void explain_map(const struct verdict *v, FILE *out) {
    enum { LINES = 16, CHARACTERS = 32, FOLDED = 5 }; // so many equal lines are one
    const struct operation *operation = v->problem->operation;
    const struct output_rows named = output_rows_of(v->problem, v->output);
    int columns = v->tensor->columns;
    int64_t group = named.group, shown = v->first_row / group;
    int64_t row_tile = tile_size(group, LINES), column_tile = tile_size(columns, CHARACTERS);
    char map[LINES][CHARACTERS + 1], name[64] = "";
    int64_t lines = (group - 1) / row_tile + 1, characters = (columns - 1) / column_tile + 1;
    memset(map, ' ', sizeof map);
    explain_groups(v, group, out);
    for (int64_t i = 0; i < v->sample->count; i++) {
        int64_t row = v->sample->row[i];
        for (int c = 0; c < columns && row / group == shown; c++) {
            char *tile = &map[row % group / row_tile][c / column_tile];
            *tile = v->wrong_at[i * columns + c] || *tile == '#' ? '#' : '.';
        }
    }
    bool any_right = false;
    for (int64_t l = 0; l < lines; l++) {
        map[l][characters] = 0;
        any_right = any_right || strchr(map[l], '.');
    }
    if (!any_right) // it would be all #
        return;
    if (operation->group_text)
        operation->group_text(&v->problem->which, shown, name, sizeof name);
    fprintf(out, "  map of the output%s%s (line: %lld %s; character: %lld element%s; # wrong, . right)\n",
            *name ? " of " : "", name, (long long)row_tile, row_tile > 1 ? named.rows_name : named.row_name,
            (long long)column_tile, column_tile > 1 ? "s" : "");
    for (int64_t l = 0, end; l < lines; l = end) {
        for (end = l + 1; end < lines && !strcmp(map[end], map[l]);)
            end++;
        bool folded = end - l >= FOLDED;
        for (int64_t i = l; i < (folded ? l + 1 : end); i++)
            fprintf(out, "  %7lld |%s|\n", (long long)(i * row_tile), map[i]);
        if (folded)
            fprintf(out, "          ... the same lines until %lld\n", (long long)((end - 1) * row_tile));
    }
}

void verdict_explain(const struct verdict *v, bool with_map, FILE *out) {
    const char *of = v->output ? " of " : "", *name = v->output ? v->tensor->name : "";
    if (v->wrong)
        fprintf(out, "  %lld of %lld element%s%s%s wrong%s [wrong-elements]\n", (long long)v->wrong,
                (long long)v->compared, v->compared == 1 ? "" : "s", of, name,
                v->compared < v->elements ? " (a sample of the rows)" : "");
    if (v->unwritten == v->elements)
        fprintf(out, "  the whole output%s%s was never written: the kernel stored nothing there [unwritten-output]\n",
                of, name);
    else if (v->unwritten)
        fprintf(out, "  %lld of %lld elements%s%s %s never written: %s the initial poison value [unwritten-elements]\n",
                (long long)v->unwritten, (long long)v->elements, of, name, v->unwritten == 1 ? "was" : "were",
                v->unwritten == 1 ? "it still holds" : "they still hold");
    if (v->nan)
        fprintf(out, "  %lld element%s%s%s %s NaN or infinite instead of finite [not-finite-elements]\n",
                (long long)v->nan, v->nan == 1 ? "" : "s", of, name, v->nan == 1 ? "is" : "are");
    if (v->first_row >= 0 && v->unwritten < v->elements) {
        explain_first(v, out);
        if (with_map && v->wrong && v->wrong < v->compared && v->tensor->columns > 1)
            explain_map(v, out);
    }
    if (v->rms_failed && !v->wrong) {
        fprintf(out, "  every element%s%s is within its own tolerance, but the relative RMS error is %.1e", of, name,
                v->rms_failed_at);
        if (v->rms_row >= 0) {
            const struct output_rows named = output_rows_of(v->problem, v->output);
            fprintf(out, " in %s %lld of head %lld", named.row_name, (long long)(v->rms_row % named.group),
                    (long long)(v->rms_row / named.group));
        }
        fprintf(out, "; the limit for %s is %.1e [rms-error]\n",
                v->tensor->dtype == ATTENTION_FP32 ? "fp32 arithmetic" : "16-bit weights and results", v->rms_limit);
    }
}

void verdict_free(struct verdict *v) {
    free(v->expected.value);
    free(v->expected.bound);
    free(v->expected.size);
    free(v->wrong_at);
    free(v->row_error);
    free(v->row_signal);
    memset(v, 0, sizeof *v);
}

bool verdict_of_all(const struct host_problem *problem, const float *outputs, uint64_t seed) {
    const struct operation *operation = problem->operation;
    struct row_sample sample[MAX_TENSORS] = {0};
    verdict_sample(problem, 1, seed, sample);
    void *reference = operation->refer(problem, sample);
    bool right = true;
    for (int i = 0; i < problem->outputs; i++) {
        struct verdict verdict;
        int64_t rows = problem_output(problem, i)->rows;
        verdict_begin(&verdict, problem, &sample[i], reference, i);
        verdict_rows(&verdict, 0, rows, outputs);
        right = verdict_end(&verdict) && right;
        verdict_free(&verdict);
        outputs += rows * problem_output(problem, i)->columns;
    }
    operation->release(reference);
    verdict_sample_free(sample);
    return right;
}
