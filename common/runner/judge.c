#include "runner/judge.h"

void judge_begin(struct judgement *j, const struct host_problem *host, const struct row_sample *sample,
                 const void *reference, bool partly) {
    *j = (struct judgement){.guard = NULL};
    for (int i = 0; i < host->outputs; i++) {
        verdict_begin(&j->verdict[i], host, sample, reference, i);
        j->verdict[i].partly = partly;
    }
}

void judge_end(struct judgement *j, const struct host_problem *host) {
    for (int i = 0; i < host->outputs; i++)
        verdict_free(&j->verdict[i]);
}

void judge_rows(void *context, int output, int64_t row, int64_t rows, const float *values) {
    struct judgement *j = context;
    verdict_rows(&j->verdict[output], row, rows, values);
}

const char *judge_failed(const struct judgement *j) {
    return *j->cause.text ? j->cause.text
           : j->guard     ? "memory beside a tensor was written"
           : j->changed   ? "an input was written"
                          : "wrong output";
}

bool judge_of_nothing(const struct judgement *j, const struct host_problem *host) {
    bool nothing = false;
    for (int i = 0; i < host->outputs; i++)
        nothing |= j->judged[i] && verdict_of_nothing(&j->verdict[i]);
    return nothing;
}
