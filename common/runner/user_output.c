#include "runner/user_output.h"

#include "operation.h"

#include <stdio.h>

void user_output_compare(const struct host_problem *host, const float *output, uint64_t seed, const char *folder) {
    const struct operation *operation = host->operation;
    const struct host_tensor *tensor = problem_output(host, 0);
    struct row_sample sample[MAX_TENSORS] = {0};
    verdict_sample(host, operation->row_cost(&host->which), seed, sample);
    void *reference = operation->refer(host, sample);
    struct verdict verdict;
    verdict_begin(&verdict, host, &sample[0], reference, 0);
    verdict_rows(&verdict, 0, tensor->rows, output);
    bool right = verdict_end(&verdict);
    if (host->rounded)
        printf("%s/%s.npy was computed from inputs that were not rounded; it differs from the reference by a relative "
               "rms of %.1e\n",
               folder, tensor->name, verdict.relative_rms);
    else
        printf("%s/%s.npy differs from the reference by a relative rms of %.1e%s\n", folder, tensor->name,
               verdict.relative_rms, right ? "" : ":");
    if (!right && !host->rounded) {
        bool causal = host->which.attention.causal;
        verdict_explain(&verdict, true, stdout);
        message_exit(EXIT_CHECK_FAILED,
                     "%s/o.npy is not the attention of q, k and v%s with scale 1/sqrt(head_dim): was it computed with "
                     "%s, another scale, dropout, bfloat16 or TF32? Remove o.npy to check only the kernel",
                     folder, causal ? ", causal," : "", causal ? "no mask" : "a mask (CAUSAL=1)");
    }
    verdict_free(&verdict);
    operation->release(reference);
    verdict_sample_free(sample);
}

bool user_output_is_sampled(const struct host_problem *host, uint64_t seed) {
    const struct operation *operation = host->operation;
    int64_t rows = problem_output(host, 0)->rows;
    struct row_sample sample =
        sample_rows(rows, operation->group(&host->which), operation->row_cost(&host->which), seed);
    bool some = sample.count < rows;
    sample_free(&sample);
    return some;
}
