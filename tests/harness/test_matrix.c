// The matrices of cases: that they hold the traps that they are there for, and that the simulator's stays small.
#include "cmocka_all.h"
#include "operations/attention_operation.h"
#include "operations/softmax_operation.h"

static struct problem_case gpu[MAX_CASES], simulator[MAX_CASES], quick[MAX_CASES];
static int gpu_count, simulator_count, quick_count;

static int build(void **state) {
    (void)state;
    gpu_count = attention_cases(MATRIX_GPU, gpu);
    simulator_count = attention_cases(MATRIX_SIMULATOR, simulator);
    quick_count = attention_cases(MATRIX_QUICK, quick);
    return 0;
}

static bool has_n(const struct problem_case *cases, int count, int n, bool causal) {
    for (int i = 0; i < count; i++)
        if ((cases[i].attention.nq == n || cases[i].attention.nk == n) && (!causal || cases[i].attention.causal))
            return true;
    return false;
}

static void both_have_every_ragged_length(void **state) {
    (void)state;
    static const int ragged[] = {1, 31, 33, 63, 64, 65, 127, 129, 191, 193, 1000};
    for (int i = 0; i < 11; i++) {
        assert_true(has_n(gpu, gpu_count, ragged[i], false));
        assert_true(has_n(gpu, gpu_count, ragged[i], true));
        assert_true(has_n(simulator, simulator_count, ragged[i], false));
    }
}

static void both_have_every_head_dimension(void **state) {
    (void)state;
    static const int head_dims[] = {1, 8, 31, 32, 40, 64, 72, 80, 96, 128, 192, 256, 300, 512};
    for (int d = 0; d < 14; d++) {
        int in_gpu = 0, in_simulator = 0;
        for (int i = 0; i < gpu_count; i++)
            in_gpu += gpu[i].attention.head_dim == head_dims[d];
        for (int i = 0; i < simulator_count; i++)
            in_simulator += simulator[i].attention.head_dim == head_dims[d];
        assert_true(in_gpu && in_simulator);
    }
}

static void facts_of(const struct problem_case *cases, int count, bool families) {
    int batches = 0, heads = 0, longer = 0, shorter = 0, causal_longer = 0, causal_shorter = 0, grouped = 0, bnhd = 0;
    int family[INPUT_FAMILIES] = {0};
    for (int i = 0; i < count; i++) {
        const struct attention_shape *s = &cases[i].attention;
        assert_true(s->batch > 0 && s->heads > 0 && s->nq > 0 && s->nk > 0 && s->head_dim <= MAX_HEAD_DIM);
        assert_int_equal(s->heads % s->kv_heads, 0);
        batches += s->batch > 1;
        heads += s->heads > 1;
        longer += s->nq > s->nk;
        shorter += s->nq < s->nk;
        causal_longer += s->causal && s->nq > s->nk;
        causal_shorter += s->causal && s->nq < s->nk;
        grouped += s->kv_heads < s->heads;
        bnhd += s->layout == LAYOUT_BNHD;
        family[cases[i].family]++;
    }
    assert_true(batches && heads && longer + causal_longer && shorter && causal_longer && causal_shorter);
    for (int f = 0; families && f < INPUTS_MASKED; f++)
        assert_true(family[f] > 0);
    if (families)
        assert_true(grouped && bnhd);
}

static void all_have_the_traps(void **state) {
    (void)state;
    facts_of(gpu, gpu_count, true);
    facts_of(simulator, simulator_count, true);
    facts_of(quick, quick_count, false);
}

// Of a list of cases: what none but a few of them have.
struct facts {
    bool between, one_query_of_many_heads, many_queries, many_keys, more_keys, most_keys, odd_keys, many_rows,
        many_heads, large_in_many_heads, keys_differ, odd_strides;
    uint64_t residues; // of nk - nq in 64, where a mask makes them count
};

static struct facts rare_facts(const struct problem_case *cases, int count) {
    struct facts f = {.residues = 0};
    for (int i = 0; i < count; i++) {
        const struct attention_shape *s = &cases[i].attention;
        int heads = s->batch * s->heads;
        f.between |= s->head_dim == 129 || s->head_dim == 257;
        f.one_query_of_many_heads |= s->nq == 1 && heads > 128 && heads < 1000;
        f.many_queries |= s->nq > 1024;
        f.many_keys |= s->nk > 2048 && s->nk % 2;
        f.more_keys |= s->nk > 4096 && s->nk % 2;
        f.most_keys |= s->nk * 4 > 48 * 1024;
        f.odd_keys |= s->nk > 512 && s->nk < 1024 && s->nk % 2;
        f.many_rows |= s->nq > 65535;
        f.many_heads |= heads > 65535;
        f.keys_differ |= heads > 65535 && s->nk > 1; // from one query to the next
        f.odd_strides |= s->layout == LAYOUT_STRIDES && s->head_dim == 64 && s->stride[2] % 8 == 4;
        f.large_in_many_heads |= cases[i].family == INPUTS_LARGE && heads > 128;
        if (s->causal)
            f.residues |= UINT64_C(1) << ((s->nk - s->nq) & 63);
    }
    return f;
}

static void both_have_what_a_kernel_rounds_to_and_counts_in(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct facts f = rare_facts(k ? gpu : simulator, k ? gpu_count : simulator_count);
        assert_true(f.between && f.one_query_of_many_heads && f.many_queries && f.odd_keys);
        assert_true(f.many_keys && f.more_keys && f.most_keys);
        assert_true(f.many_rows && f.many_heads && f.large_in_many_heads && f.keys_differ);
        assert_true(f.odd_strides);
        assert_true(__builtin_popcountll(f.residues) >= (k ? 64 : 20));
    }
}

static void the_gpu_gets_large_ones(void **state) {
    (void)state;
    bool reference_shape = false, large_k = false, large_q = false, large_scores = false;
    for (int i = 0; i < gpu_count; i++) {
        const struct attention_shape *s = &gpu[i].attention;
        reference_shape |= s->batch == 1 && s->heads == 16 && s->nq == 4096 && s->nk == 4096 && s->head_dim == 128;
        large_k |= shape_k_elements(s) > INT64_C(1) << 31;
        large_q |= shape_q_elements(s) > INT64_C(1) << 31;
        large_scores |= (int64_t)s->batch * s->heads * s->nq * s->nk > INT64_C(1) << 31;
    }
    assert_true(reference_shape && large_k && large_q && large_scores);
}

static double pairs_of(const struct attention_shape *s) {
    return (double)s->batch * s->heads * s->nq * s->nk;
}

// On two cores lesson 01, which takes no mask, needs about 4 seconds for a million pairs of a query and a key; lesson
// 04, the first that takes one, a fifth of a second.
static void the_simulator_gets_small_ones(void **state) {
    (void)state;
    double pairs = 0, causal_pairs = 0, quick_pairs = 0;
    for (int i = 0; i < simulator_count; i++) {
        const struct attention_shape *s = &simulator[i].attention;
        bool in_part = (int64_t)s->batch * s->heads * s->nq > 65535; // as the check runs it
        *(s->causal ? &causal_pairs : &pairs) += in_part ? 0 : pairs_of(s);
    }
    for (int i = 0; i < quick_count; i++)
        quick_pairs += pairs_of(&quick[i].attention);
    assert_in_range((int)pairs, 80000, 400000);
    assert_in_range((int)causal_pairs, 20000, 1500000);
    assert_in_range((int)quick_pairs, 1000, 10000);
}

static void softmax_has_odd_and_long_rows(void **state) {
    (void)state;
    struct problem_case cases[MAX_CASES];
    static const enum matrix_kind kinds[] = {MATRIX_GPU, MATRIX_SIMULATOR};
    for (int k = 0; k < 2; k++) {
        int count = softmax_cases(kinds[k], cases), mismatched = 0, one = 0, family[INPUT_FAMILIES] = {0};
        int64_t longest = 0, elements = 0, largest = 0;
        for (int i = 0; i < count; i++) {
            int64_t size = cases[i].matrix.rows * cases[i].matrix.columns;
            mismatched += cases[i].matrix.columns % 2;
            one += cases[i].matrix.columns == 1;
            longest = cases[i].matrix.columns > longest ? cases[i].matrix.columns : longest;
            largest = size > largest ? size : largest;
            // The simulator runs a part of a case with more rows than a grid may have in two of its directions.
            elements += cases[i].matrix.rows <= 65535 || k == 0 ? size : 0;
            family[cases[i].family]++;
        }
        assert_true(mismatched > 10 && one);
        assert_true(k == 0 ? longest >= 131072 && largest > INT64_C(1) << 31 : longest >= 32768 && elements < 500000);
        assert_true(family[INPUTS_MASKED] && family[INPUTS_LARGE] && family[INPUTS_NAN_KEY] && family[INPUTS_OFFSET]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_have_every_ragged_length),
        cmocka_unit_test(both_have_every_head_dimension),
        cmocka_unit_test(all_have_the_traps),
        cmocka_unit_test(both_have_what_a_kernel_rounds_to_and_counts_in),
        cmocka_unit_test(the_gpu_gets_large_ones),
        cmocka_unit_test(the_simulator_gets_small_ones),
        cmocka_unit_test(softmax_has_odd_and_long_rows),
    };
    return cmocka_run_group_tests_name("matrix", tests, build, NULL);
}
