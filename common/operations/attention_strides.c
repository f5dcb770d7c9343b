// Whose strides a kernel that goes wrong with some does not follow: one tensor after the other lies apart, the others
// packed.
#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_borders.h"
#include "operations/attention_operation.h"
#include "operations/attention_pattern.h"

#include <stdlib.h>

enum { SEED = 4711, TENSORS = 4, LEVELS = 3, PAD = 16 };

// Level 0: batches of the tensor lie further apart than packed; 1: heads, too; 2: rows, too.
static enum answer answer_apart(const struct diagnosed *kernel, const struct problem_case *which, int tensor,
                                int level) {
    struct host_problem problem;
    if (!kernel->covers(kernel->context, which))
        return NOT_COVERED;
    attention_make(which, SEED, true, &problem);
    if (!kernel->optional)
        problem_leave_optional(&problem);
    struct row_layout *layout = &problem.tensor[tensor].layout;
    layout->stride[2] += level >= 2 ? PAD : 0;
    layout->stride[1] = layout->n * layout->stride[2] + (level >= 1 ? PAD : 0);
    layout->stride[0] = layout->heads * layout->stride[1] + PAD;
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    const enum answer answer = !kernel->run(kernel->context, &problem, outputs) ? UNKNOWN
                               : verdict_of_all(&problem, outputs, SEED)        ? RIGHT
                                                                                : WRONG;
    free(outputs);
    host_problem_free(&problem);
    return answer;
}

void attention_strides(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    static const char *const names[TENSORS] = {"q", "k", "v", "o"}, *const strides[LEVELS] = {"batch", "head", "row"};
    static const int tensors[TENSORS] = {Q, K, V, O};
    struct problem_case packed = *which;
    packed.attention.layout = LAYOUT_BHND;
    packed.attention.batch = 2;
    packed.attention.heads *= packed.attention.heads == 1 ? 2 : 1;
    packed.attention.kv_heads *= packed.attention.kv_heads == 1 ? 2 : 1;
    if (attention_work(&packed.attention) > ATTENTION_MOST_WORK || attention_answer(kernel, &packed, SEED) != RIGHT)
        return;
    // What it does not follow is asked of those that lie as LAYOUT=strides do; it has to take any.
    packed.attention.layout = LAYOUT_BHND;
    int level[TENSORS], wrong = 0;
    for (int i = 0; i < TENSORS; i++) {
        enum answer answer = RIGHT;
        for (level[i] = 0; level[i] < LEVELS; level[i]++)
            if ((answer = answer_apart(kernel, &packed, tensors[i], level[i])) != RIGHT)
                break;
        if (answer != RIGHT && answer != WRONG)
            return;
        wrong += level[i] < LEVELS;
    }
    if (!wrong)
        return;
    fprintf(out, "  packed otherwise, wrong where ");
    for (int i = 0, told = 0; i < TENSORS; i++)
        if (level[i] < LEVELS)
            fprintf(out, "%s%s alone has a %s stride of its own", told++ ? ", and where " : "", names[i],
                    strides[level[i]]);
    fprintf(out, "%s\n", wrong == 1 ? "" : wrong == 2 ? ": one may be found by the other's" : "");
}
