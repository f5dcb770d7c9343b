// The mistakes of kernels on tensor cores, in 16 bits: fragments, swizzles, stages and what is rounded.
#include "cmocka_all.h"
#include "long_list.h"
#include "subject.h"

static const struct problem_case cases[] = {
    {.attention = {1, 1, 1, 1, 1, 64}},
    {.attention = {1, 1, 1, 33, 33, 32}},
    {.attention = {1, 2, 2, 5, 37, 64}},
    {.attention = {1, 1, 1, 2, 300, 40}},
    {.attention = {1, 1, 1, 33, 33, 64, .causal = true}},
    {.attention = {1, 2, 2, 19, 11, 32, .causal = true}},
    {.attention = {1, 2, 2, 5, 70, 64}, .family = INPUTS_OFFSET},
    {.attention = {1, 1, 1, 4, 300, 64}, .family = INPUTS_RISING},
    {.attention = {1, 200, 200, 3, 20, 32}},
};
enum { CASES = sizeof cases / sizeof *cases };

static const char *diagnose(const struct variant *variant, enum attention_dtype dtype) {
    struct problem_case list[CASES];
    struct subject subject = {.run = subject_variant, .variant = variant, .causal = true, .lse = true};
    for (int i = 0; i < CASES; i++) {
        list[i] = cases[i];
        list[i].dtype = dtype;
    }
    return subject_diagnose(&subject, 70, list, CASES);
}

static void assert_named(const struct variant *variant, enum attention_dtype dtype, const char *title) {
    assert_string_equal(diagnose(variant, dtype), title);
}

static const struct {
    const char *title;
    struct variant variant;
} mistakes[] = {
    {"fragment-rows-swapped", {.q.operand = OPERAND_ROWS_SWAPPED}},
    {"fragment-rows-swapped", {.weight_operand = OPERAND_ROWS_SWAPPED}},
    {"fragment-matrices-swapped", {.q.operand = OPERAND_MATRICES_SWAPPED}},
    {"fragment-matrices-swapped", {.k.operand = OPERAND_MATRICES_SWAPPED}},
    {"fragment-matrices-swapped", {.v.operand = OPERAND_MATRICES_SWAPPED}},
    {"fragment-matrices-swapped", {.weight_operand = OPERAND_MATRICES_SWAPPED}},
    {"v-fragment-not-transposed", {.v.operand = OPERAND_TRANSPOSED}},
    {"k-fragment-transposed", {.k.operand = OPERAND_TRANSPOSED}},
    {"swizzle-mismatch", {.k.operand = OPERAND_SWIZZLED}},
    {"swizzle-mismatch", {.v.operand = OPERAND_SWIZZLED}},
    {"swizzle-mismatch", {.q.operand = OPERAND_SWIZZLED, .k.operand = OPERAND_SWIZZLED, .v.operand = OPERAND_SWIZZLED}},
    {"packed-keys-swapped", {.v.operand = OPERAND_PAIRS_SWAPPED}},
    {"maximum-not-reduced", {.maximum = MAXIMUM_OF_LANE}},
    {"sum-not-reduced", {.division = DIVISION_OF_LANE, .threads = 4}},
    {"scores-rounded", {.scores_rounded = true}},
    {"lse-of-rounded-weights", {.lse = LSE_ROUNDED, .known_keys = 64}},
    {"descriptor-offset-in-elements", {.k.operand = OPERAND_STEPS_HALVED}},
    {"stage-not-advanced", {.k.operand = OPERAND_FIRST_TILE, .v.operand = OPERAND_FIRST_TILE, .tile = 64}},
    {"values-of-previous-tile", {.v.operand = OPERAND_PREVIOUS_TILE, .tile = 64}},
    {"keys-of-previous-tile", {.k.operand = OPERAND_PREVIOUS_TILE, .tile = 64}},
    {"sum-not-reset", {.shrunk_blocks = 100}},
};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

static void mistakes_are_named_in_both_types(void **state) {
    (void)state;
    for (int i = 0; i < MISTAKES; i += long_list_step(4, 8))
        for (enum attention_dtype dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++)
            assert_named(&mistakes[i].variant, dtype, mistakes[i].title);
}

// bf16 has the range of fp32.
static void weights_overflow_in_fp16_only(void **state) {
    (void)state;
    static const struct variant late = {.rescale = RESCALE_LATE, .tile = 64, .lazy_rows = 32, .lazy_bits = 24};
    assert_named(&late, ATTENTION_FP16, "weights-overflow-fp16");
    assert_named(&late, ATTENTION_BF16, "none");
}

// Neighbours of the mistakes that have a name: tiles of another size, pairs of keys on top of a swizzle.
static void what_is_like_a_mistake_has_no_name(void **state) {
    (void)state;
    static const struct variant like[] = {
        {.k.operand = OPERAND_FIRST_TILE, .v.operand = OPERAND_FIRST_TILE, .tile = 48},
        {.v.operand = OPERAND_PREVIOUS_TILE, .tile = 48},
        {.k.operand = OPERAND_SWIZZLED, .v.operand = OPERAND_PAIRS_SWAPPED},
        {.k.operand = OPERAND_TRANSPOSED, .v.operand = OPERAND_TRANSPOSED},
        {.weight_operand = OPERAND_SWIZZLED},
        {.weight_operand = OPERAND_TRANSPOSED},
    };
    for (size_t i = 0; i < sizeof like / sizeof *like; i += (size_t)long_list_step(1, 3))
        assert_named(&like[i], ATTENTION_BF16, "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named_in_both_types),
        cmocka_unit_test(weights_overflow_in_fp16_only),
        cmocka_unit_test(what_is_like_a_mistake_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
