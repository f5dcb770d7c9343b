#include "runner/judge.h"

#include "dtype.h"
#include "host/parallel.h"
#include "operation.h"

#include <stdlib.h>
#include <string.h>

static struct row_sample sample_of(const struct host_problem *host, int64_t rows, int64_t group, uint64_t seed) {
    return sample_rows(rows, group, host->operation->row_cost(&host->which), seed);
}

static void compare(struct judgement *j, struct row_sample sample) {
    j->sample = sample;
    j->reference = j->host->operation->refer(j->host, &j->sample);
    for (int i = 0; i < j->host->outputs; i++)
        verdict_begin(&j->verdict[i], j->host, &j->sample, j->reference, i);
}

void judge_begin(struct judgement *j, const struct host_problem *host, uint64_t seed, bool partly) {
    *j = (struct judgement){.host = host, .seed = seed, .partly = partly};
    int64_t rows = problem_output(host, 0)->rows;
    for (int i = 0; i < host->outputs && partly; i++)
        j->kept[i] = host_allocate(rows * problem_output(host, i)->columns, sizeof *j->kept[i]);
    if (!partly)
        compare(j, sample_of(host, rows, host->operation->group(&host->which), seed));
}

void judge_end(struct judgement *j) {
    for (int i = 0; i < j->host->outputs; i++) {
        free(j->kept[i]);
        if (j->reference)
            verdict_free(&j->verdict[i]);
    }
    if (j->reference)
        j->host->operation->release(j->reference);
    sample_free(&j->sample);
    j->reference = NULL;
}

static void receive_rows(void *context, int output, int64_t row, int64_t rows, const float *values) {
    struct judgement *j = context;
    int64_t columns = problem_output(j->host, output)->columns;
    if (j->partly)
        memcpy(j->kept[output] + row * columns, values, (size_t)(rows * columns) * sizeof *values);
    else
        verdict_rows(&j->verdict[output], row, rows, values);
}

// Whether an element of the row was written, in each output.
static bool row_is_written(const struct judgement *j, int64_t row) {
    for (int i = 0; i < j->host->outputs; i++) {
        int columns = problem_output(j->host, i)->columns, c = 0;
        while (j->result.has[i] && c < columns && is_poison(j->kept[i][row * columns + c]))
            c++;
        if (j->result.has[i] && c == columns)
            return false;
    }
    return true;
}

// After a partly simulated launch: compares a sample of the written rows.
static void compare_written_rows(struct judgement *j) {
    int64_t rows = problem_output(j->host, 0)->rows, count = 0;
    if (j->result.part == PART_WHOLE) {
        compare(j, sample_of(j->host, rows, j->host->operation->group(&j->host->which), j->seed));
        return;
    }
    int64_t *written_rows = host_allocate(rows, sizeof *written_rows);
    for (int64_t row = 0; row < rows; row++)
        if (row_is_written(j, row))
            written_rows[count++] = row;
    j->nothing = !count;
    if (count) {
        struct row_sample sample = sample_of(j->host, count, count, j->seed);
        for (int64_t i = 0; i < sample.count; i++)
            sample.row[i] = written_rows[sample.row[i]];
        compare(j, sample);
    }
    free(written_rows);
}

bool judge_call(struct judgement *j, struct worker *worker, const struct worker_call *call) {
    j->result = worker_call(worker, j->host, call, receive_rows, j);
    const struct worker_result *result = &j->result;
    if (result->given_up)
        return false;
    bool right = result->good && result->state == DEVICE_WELL && !*result->guard && !*result->changed;
    j->cause = result->cause;
    j->guard = *result->guard ? result->guard : NULL;
    j->changed = *result->changed ? result->changed : NULL;
    if (j->partly && result->state == DEVICE_WELL)
        compare_written_rows(j);
    for (int i = 0; i < j->host->outputs && j->reference; i++) {
        j->judged[i] = result->has[i];
        if (!j->judged[i])
            continue;
        j->verdict[i].partly = result->part != PART_WHOLE;
        if (j->partly)
            verdict_rows(&j->verdict[i], 0, problem_output(j->host, i)->rows, j->kept[i]);
        right = verdict_end(&j->verdict[i]) && right;
    }
    return right && j->judged[0];
}

const char *judge_failed(const struct judgement *j) {
    return *j->cause.text ? j->cause.text
           : j->guard     ? "the kernel writes out of bounds, next to a tensor [out-of-bounds-write]"
           : j->changed   ? "the kernel writes to an input [input-written]"
                          : "wrong output [wrong-output]";
}
