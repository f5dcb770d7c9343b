// Whose strides a kernel that goes wrong with some does not follow: one tensor after the other lies apart, the others
// packed.
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/attention_thresholds.h"

enum { SEED = 4711, TENSORS = 4, LEVELS = 3 };

void attention_strides(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    static const char *const names[TENSORS] = {"q", "k", "v", "o"}, *const strides[LEVELS] = {"batch", "head", "row"};
    static const int tensors[TENSORS] = {Q, K, V, O};
    struct problem_case packed = *which;
    packed.attention.layout = LAYOUT_BHND;
    packed.attention.batch = 2;
    packed.attention.heads *= packed.attention.heads == 1 ? 2 : 1;
    packed.attention.kv_heads *= packed.attention.kv_heads == 1 ? 2 : 1;
    if (attention_work(&packed.attention) > ATTENTION_MOST_WORK ||
        attention_case_result(kernel, &packed, SEED) != RIGHT)
        return;
    int level[TENSORS], wrong = 0;
    for (int i = 0; i < TENSORS; i++) {
        enum case_result case_result = RIGHT;
        struct problem_case padded = packed;
        padded.attention.layout = LAYOUT_PADDED;
        padded.attention.stride[0] = tensors[i];
        for (level[i] = 0; level[i] < LEVELS; level[i]++) {
            padded.attention.stride[1] = level[i];
            if ((case_result = attention_case_result(kernel, &padded, SEED)) != RIGHT)
                break;
        }
        // A stray access ends a call without an answer, and so does the end of patience.
        if (case_result != RIGHT && case_result != WRONG && attention_case_result(kernel, &packed, SEED) != RIGHT)
            return;
        wrong += level[i] < LEVELS;
    }
    if (!wrong)
        return;
    fprintf(out, "  The kernel fails (wrong result or out-of-bounds access) if only ");
    for (int i = 0, reported = 0; i < TENSORS; i++)
        if (level[i] < LEVELS)
            fprintf(out, "%s%s has another %s stride than a contiguous tensor", reported++ ? ", and if only " : "",
                    names[i], strides[level[i]]);
    fprintf(out, ", and all other tensors are contiguous%s [stride-of",
            wrong == 2 ? ". The kernel may address one of the two tensors with the stride of the other" : "");
    for (int i = 0; i < TENSORS; i++)
        if (level[i] < LEVELS)
            fprintf(out, "-%s-%s", names[i], strides[level[i]]);
    fprintf(out, "]\n");
}
