// Each condition tests itself: of a kernel that is wrong in just these cases it has to be said, and no other.
#include "cmocka_all.h"
#include "fp32_attention.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A kernel that is wrong in some cases alone.
struct sometimes_wrong {
    bool (*is_wrong)(const struct problem_case *which);
    struct problem_case which;
    const char *code;
};

static bool covers(void *context, const struct problem_case *which) {
    (void)context;
    return which->attention.layout == LAYOUT_BHND;
}

static bool if_not_causal(const struct problem_case *which) {
    return !which->attention.causal;
}
static bool if_bf16(const struct problem_case *which) {
    return which->dtype == ATTENTION_BF16;
}
static bool if_grouped(const struct problem_case *which) {
    return which->attention.heads != which->attention.kv_heads;
}
static bool from_70_keys(const struct problem_case *which) {
    return which->attention.nk >= 70;
}
static bool up_to_70_keys(const struct problem_case *which) {
    return which->attention.nk < 70;
}
static bool if_columns_are_no_multiple_of_8(const struct problem_case *which) {
    return which->attention.head_dim % 8;
}
static bool if_queries_are_even(const struct problem_case *which) {
    return which->attention.nq % 2 == 0;
}
static bool in_a_partial_second_tile(const struct problem_case *which) {
    return which->attention.nk > 32 && which->attention.nk % 32;
}

static const struct sometimes_wrong conditions[] = {
    {if_not_causal, {.attention = {1, 2, 2, 5, 33, 24}}, "wrong-if-not-causal"},
    {if_bf16, {.attention = {1, 2, 2, 5, 33, 24}, .dtype = ATTENTION_BF16}, "wrong-in-bf16"},
    {if_grouped, {.attention = {1, 4, 2, 5, 33, 24}}, "wrong-if-grouped"},
    {from_70_keys, {.attention = {1, 2, 2, 5, 99, 24}}, "right-up-to"},
    {up_to_70_keys, {.attention = {1, 2, 2, 5, 33, 24}}, "wrong-up-to"},
    {if_columns_are_no_multiple_of_8, {.attention = {1, 2, 2, 5, 33, 39}}, "wrong-if-no-multiple"},
    {if_queries_are_even, {.attention = {1, 2, 2, 6, 33, 24}}, "wrong-if-multiple"},
    {in_a_partial_second_tile, {.attention = {1, 2, 2, 5, 99, 24}}, "wrong-with-partial-tile"},
};

static bool run_sometimes(void *context, const struct host_problem *problem, float *outputs) {
    const struct sometimes_wrong *kernel = context;
    const struct host_tensor *o = &problem->tensor[O];
    for (int64_t r = 0; r < o->rows; r++)
        fp32_attention_row(problem, FP32_TWO_PASS, r, outputs + r * o->columns);
    outputs[0] += kernel->is_wrong(&problem->which);
    return true;
}

static void conditions_are_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        const struct diagnosed kernel = {.operation = &attention_operation,
                                         .covers = covers,
                                         .run = run_sometimes,
                                         .context = (void *)&conditions[i]};
        char *text = NULL, bracket[80];
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        attention_conditions(&kernel, &conditions[i].which, out);
        fclose(out);
        snprintf(bracket, sizeof bracket, " [%s]\n", conditions[i].code);
        const char *found = strstr(text, bracket), *heading = strstr(text, ":\n");
        if (!found || !heading || strchr(heading + 2, '\n') + 1 != found + strlen(bracket) || found[strlen(bracket)])
            fail_msg("%s is told:\n%s", conditions[i].code, text);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conditions_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
