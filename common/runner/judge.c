#include "runner/judge.h"

#include "dtype.h"
#include "host/parallel.h"
#include "operation.h"

#include <stdlib.h>
#include <string.h>

static double row_cost(const struct judgement *j) {
    return j->host->operation->row_cost(&j->host->which);
}

// Of the rows in j->sample.
static void compare(struct judgement *j) {
    j->reference = j->host->operation->refer(j->host, j->sample);
    for (int i = 0; i < j->host->outputs; i++)
        verdict_begin(&j->verdict[i], j->host, &j->sample[i], j->reference, i);
}

void judge_begin(struct judgement *j, const struct host_problem *host, uint64_t seed, bool partly) {
    *j = (struct judgement){.host = host, .seed = seed, .partly = partly};
    for (int i = 0; i < host->outputs && partly; i++)
        j->kept[i] =
            host_allocate(problem_output(host, i)->rows * problem_output(host, i)->columns, sizeof *j->kept[i]);
    if (partly)
        return;
    verdict_sample(host, row_cost(j), seed, j->sample);
    compare(j);
}

void judge_end(struct judgement *j) {
    for (int i = 0; i < j->host->outputs; i++) {
        free(j->kept[i]);
        if (j->reference)
            verdict_free(&j->verdict[i]);
    }
    if (j->reference)
        j->host->operation->release(j->reference);
    verdict_sample_free(j->sample);
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

// Whether an element of the row was written, in each output that has the rows of this one.
static bool row_is_written(const struct judgement *j, int output, int64_t row) {
    for (int i = 0; i < j->host->outputs; i++) {
        int columns = problem_output(j->host, i)->columns, c = 0;
        if (problem_output(j->host, i)->rows != problem_output(j->host, output)->rows)
            continue;
        while (j->result.has[i] && c < columns && is_poison(j->kept[i][row * columns + c]))
            c++;
        if (j->result.has[i] && c == columns)
            return false;
    }
    return true;
}

// Of the written rows of an output; false if there are none.
static bool sample_written_rows(struct judgement *j, int output) {
    int64_t rows = problem_output(j->host, output)->rows, count = 0;
    int64_t *written_rows = host_allocate(rows, sizeof *written_rows);
    for (int64_t row = 0; row < rows; row++)
        if (row_is_written(j, output, row))
            written_rows[count++] = row;
    if (count)
        j->sample[output] = sample_rows(count, count, row_cost(j), j->seed);
    for (int64_t i = 0; i < j->sample[output].count; i++)
        j->sample[output].row[i] = written_rows[j->sample[output].row[i]];
    free(written_rows);
    return count;
}

// After a partly simulated launch: compares a sample of the written rows.
static void compare_written_rows(struct judgement *j) {
    j->nothing = false;
    if (j->result.part == PART_WHOLE)
        verdict_sample(j->host, row_cost(j), j->seed, j->sample);
    for (int i = 0; i < j->host->outputs && j->result.part != PART_WHOLE; i++)
        j->nothing |= !sample_written_rows(j, i);
    if (!j->nothing)
        compare(j);
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

uint64_t judge_bits(const struct judgement *j) {
    uint64_t bits = 0;
    for (int i = 0; i < j->host->outputs; i++)
        bits = bits * 1099511628211u + (j->judged[i] ? j->verdict[i].bits : 0);
    return bits;
}

const char *judge_failed(const struct judgement *j) {
    return *j->cause.text ? j->cause.text
           : j->guard     ? "the kernel writes out of bounds, next to a tensor [out-of-bounds-write]"
           : j->changed   ? "the kernel writes to an input [input-written]"
                          : "wrong output [wrong-output]";
}
