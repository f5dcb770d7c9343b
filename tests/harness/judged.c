#include "judged.h"

#include "host/parallel.h"
#include "operations/attention_operation.h"

#include <stdio.h>

static struct row_sample every_nth(int64_t all, int64_t rows) {
    struct row_sample sample = {.count = rows && rows < all ? rows : all};
    sample.row = host_allocate(sample.count, sizeof *sample.row);
    for (int64_t i = 0; i < sample.count; i++)
        sample.row[i] = sample.count == all ? i : i * (all - 1) / (sample.count - 1);
    return sample;
}

void judged_begin(struct judged *j, const struct problem_case *which, uint64_t seed, int64_t rows) {
    struct problem_case complete = *which;
    if (!complete.attention.kv_heads)
        complete.attention.kv_heads = complete.attention.heads;
    attention_make(&complete, seed, true, &j->problem);
    j->sample = every_nth(problem_output(&j->problem, OUTPUT_O)->rows, rows);
    j->reference = attention_operation.refer(&j->problem, &j->sample);
    verdict_begin(&j->verdict, &j->problem, &j->sample, j->reference, OUTPUT_O);
    verdict_begin(&j->lse, &j->problem, &j->sample, j->reference, OUTPUT_LSE);
}

bool judged_kernel(struct judged *j, enum fp32_kernel kernel) {
    float o[MAX_HEAD_DIM], lse;
    for (int64_t i = 0; i < j->sample.count; i++) {
        lse = fp32_attention_row(&j->problem, kernel, j->sample.row[i], o);
        verdict_rows(&j->verdict, j->sample.row[i], 1, o);
        verdict_rows(&j->lse, j->sample.row[i], 1, &lse);
    }
    return verdict_end(&j->verdict);
}

void judged_end(struct judged *j) {
    verdict_free(&j->verdict);
    verdict_free(&j->lse);
    attention_operation.release(j->reference);
    sample_free(&j->sample);
    host_problem_free(&j->problem);
}

bool judged_passes(struct problem_case which, uint64_t seed, enum fp32_kernel kernel, int64_t rows) {
    struct judged j;
    bool is_right_one = kernel <= FP32_ONLINE;
    judged_begin(&j, &which, seed, rows);
    bool right = judged_kernel(&j, kernel);
    right = (!is_right_one || verdict_end(&j.lse)) && right;
    if (!right && is_right_one) {
        char text[160];
        case_text(&attention_operation, &j.problem.which, text, sizeof text);
        fprintf(stderr, "%s kernel %d seed %llu:\n", text, kernel, (unsigned long long)seed);
        verdict_explain(&j.verdict, true, stderr);
        verdict_explain(&j.lse, true, stderr);
    }
    judged_end(&j);
    return right;
}
