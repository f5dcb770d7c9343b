// Whose strides a kernel that goes wrong with some does not follow: one tensor after the other lies apart, the others
// packed.
#include "operations/attention_borders.h"
#include "operations/attention_operation.h"
#include "operations/attention_pattern.h"

enum { SEED = 4711, TENSORS = 4, LEVELS = 3 };

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
    int level[TENSORS], wrong = 0;
    for (int i = 0; i < TENSORS; i++) {
        enum answer answer = RIGHT;
        struct problem_case apart = packed;
        apart.attention.layout = LAYOUT_APART;
        apart.attention.stride[0] = tensors[i];
        for (level[i] = 0; level[i] < LEVELS; level[i]++) {
            apart.attention.stride[1] = level[i];
            if ((answer = attention_answer(kernel, &apart, SEED)) != RIGHT)
                break;
        }
        // A stray access ends a call without an answer, and so does the end of patience.
        if (answer != RIGHT && answer != WRONG && attention_answer(kernel, &packed, SEED) != RIGHT)
            return;
        wrong += level[i] < LEVELS;
    }
    if (!wrong)
        return;
    fprintf(out, "  with all else packed wrong, or beyond a tensor's end, where ");
    for (int i = 0, told = 0; i < TENSORS; i++)
        if (level[i] < LEVELS)
            fprintf(out, "%s%s alone has a %s stride of its own", told++ ? ", and where " : "", names[i],
                    strides[level[i]]);
    fprintf(out, "%s\n", wrong == 1 ? "" : wrong == 2 ? ": one may be found by the other's" : "");
}
