// Inputs: repeatable, distributed as they say, and each hostile family does what it is for.
#include "cmocka_all.h"
#include "host/inputs.h"
#include "operations/attention_operation.h"
#include "operations/attention_reference.h"
#include "operations/softmax_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct attention_shape shape = {
    .batch = 2, .heads = 3, .kv_heads = 3, .nq = 50, .nk = 130, .head_dim = 33};

static struct host_problem draw(const struct attention_shape *s, enum input_family family, uint64_t seed) {
    struct problem_case which = {.attention = *s, .family = family};
    struct host_problem problem;
    attention_make(&which, seed, true, &problem);
    return problem;
}

static void a_seed_repeats_itself(void **state) {
    (void)state;
    for (int f = 0; f < INPUTS_MASKED; f++) {
        struct host_problem a = draw(&shape, (enum input_family)f, 5);
        struct host_problem b = draw(&shape, (enum input_family)f, 5);
        struct host_problem c = draw(&shape, (enum input_family)f, 6);
        size_t q = (size_t)shape_q_elements(&shape) * 4, k = (size_t)shape_k_elements(&shape) * 4;
        assert_memory_equal(a.tensor[Q].values, b.tensor[Q].values, q);
        assert_memory_equal(a.tensor[K].values, b.tensor[K].values, k);
        assert_memory_equal(a.tensor[V].values, b.tensor[V].values, k);
        assert_true(memcmp(a.tensor[Q].values, c.tensor[Q].values, q) != 0);
        assert_true(memcmp(a.tensor[K].values, c.tensor[K].values, k) != 0);
        host_problem_free(&a);
        host_problem_free(&b);
        host_problem_free(&c);
    }
}

static void normal_is_normal(void **state) {
    (void)state;
    struct attention_shape s = {.batch = 1, .heads = 4, .kv_heads = 4, .nq = 1000, .nk = 1000, .head_dim = 65};
    struct host_problem in = draw(&s, INPUTS_NORMAL, 1);
    const float *const tensors[] = {in.tensor[Q].values, in.tensor[K].values, in.tensor[V].values};
    int64_t n = shape_q_elements(&s);
    for (int t = 0; t < 3; t++) {
        double sum = 0, squares = 0, fourth = 0, neighbours = 0, inside = 0;
        for (int64_t i = 0; i < n; i++) {
            double x = tensors[t][i];
            sum += x;
            squares += x * x;
            fourth += x * x * x * x;
            neighbours += i ? x * tensors[t][i - 1] : 0;
            inside += fabs(x) < 1;
        }
        // 260,000 draws: each bound is about five standard deviations.
        assert_true(fabs(sum / (double)n) < 0.01);
        assert_true(fabs(squares / (double)n - 1) < 0.014);
        assert_true(fabs(fourth / (double)n - 3) < 0.1);
        assert_true(fabs(neighbours / (double)n) < 0.01);
        assert_true(fabs(inside / (double)n - 0.6827) < 0.005);
    }
    double product = 0;
    for (int64_t i = 0; i < n; i++)
        product += in.tensor[Q].values[i] * in.tensor[K].values[i];
    assert_true(fabs(product / (double)n) < 0.01);
    host_problem_free(&in);
}

static void all_are_finite_but_where_they_should_not_be(void **state) {
    (void)state;
    for (int f = 0; f < INPUTS_MASKED; f++) {
        struct host_problem in = draw(&shape, (enum input_family)f, 3);
        int64_t k_bad = 0, v_bad = 0;
        for (int64_t i = 0; i < shape_q_elements(&shape); i++)
            assert_true(isfinite(in.tensor[Q].values[i]));
        for (int64_t i = 0; i < shape_k_elements(&shape); i++) {
            k_bad += !isfinite(in.tensor[K].values[i]);
            v_bad += !isfinite(in.tensor[V].values[i]);
        }
        assert_int_equal(k_bad, f == INPUTS_NAN_KEY ? 33 : f == INPUTS_INF_KEY ? 2 : 0);
        assert_int_equal(v_bad, f == INPUTS_NAN_VALUE || f == INPUTS_INF_VALUE);
        assert_int_equal(in.finite, !k_bad && !v_bad);
        host_problem_free(&in);
    }
}

// Of any seed: every query sees the key that holds it. Where the first query sees none, there is no such value.
static void special_values_are_masked_for_no_query(void **state) {
    (void)state;
    for (int nq = 2; nq <= 50; nq += 16) {
        struct attention_shape s = {
            .batch = 1, .heads = 2, .kv_heads = 2, .nq = nq, .nk = 35, .head_dim = 8, .causal = true};
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct host_problem in = draw(&s, seed % 2 ? INPUTS_NAN_VALUE : INPUTS_INF_KEY, seed);
            const float *values = in.tensor[seed % 2 ? V : K].values;
            int found = 0;
            for (int64_t i = 0; i < shape_k_elements(&s); i++)
                if (!isfinite(values[i])) {
                    assert_true(i / s.head_dim % s.nk < shape_attended_keys(&s, 0));
                    found++;
                }
            assert_int_equal(found, nq > s.nk ? 0 : seed % 2 ? 1 : 2);
            host_problem_free(&in);
        }
    }
}

// Of the twins every third head has a dozen, behind the first tile, whose scores are too large for a sum that is not
// relative to them.
static void a_head_of_twins_has_a_dozen(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct problem_case which = {.attention = {1, 3, 3, 16, 640, 64}, .family = INPUTS_TWINS};
        struct host_problem problem;
        int twins = 0;
        attention_make(&which, seed, true, &problem);
        const float *q = host_row(&problem.tensor[Q], 2 * 16);
        for (int key = 0; key < 640; key++) {
            float score = q[0] * host_row(&problem.tensor[K], 2 * 640 + key)[0] / 8;
            assert_true(score == 0 || (score > 86.24f && score < 87.3f && key >= 128));
            twins += score > 0;
        }
        assert_int_equal(twins, 12);
        host_problem_free(&problem);
    }
}

static void families_do_what_they_are_for(void **state) {
    (void)state;
    struct row_sample all = sample_rows(300, 50, 1, 0);
    for (int f = 0; f < INPUTS_MASKED; f++) {
        struct host_problem in = draw(&shape, (enum input_family)f, 4);
        struct attention_reference ref = attention_refer(&in, &all);
        double largest_score = 0;
        int64_t nan_rows = 0, spiked_rows = 0;
        for (int64_t i = 0; i < all.count; i++) {
            largest_score = fmax(largest_score, in.softmax_scale * ref.score_scale[i]);
            nan_rows += isnan(ref.lse[i]);
            spiked_rows += ref.weight_norm[i] > 0.999;
        }
        switch (f) {
        case INPUTS_LARGE:
            assert_true(largest_score > 1e4);
            break;
        case INPUTS_DOMINANT_FIRST:
        case INPUTS_DOMINANT_LAST:
        case INPUTS_DOMINANT_EDGE:
            assert_int_equal(spiked_rows, 300);
            break;
        case INPUTS_NAN_KEY:
            assert_int_equal(nan_rows, 50); // one head
            break;
        case INPUTS_INF_KEY:
            // Of two heads, where the query's sign makes the score +inf.
            assert_true(nan_rows > 25 && nan_rows < 75);
            break;
        case INPUTS_CONSTANT_VALUE:
            assert_true(fabs(ref.o[2] - 1.5) < 1e-12);
            break;
        case INPUTS_CROWD: // 129 keys of exp(-10) and more
            assert_true(ref.weight_norm[0] > 0.99 && ref.weight_norm[0] < 0.9999);
            break;
        case INPUTS_LOW:
            assert_true(ref.lse[1] < -1e5 && ref.lse[0] > 0);
            break;
        case INPUTS_STEEP: // the last key, 4 above the one before it
            assert_true(ref.lse[0] > 4 * 128 && ref.weight_norm[0] > 0.9);
            break;
        case INPUTS_FALLING:
            assert_true(ref.lse[0] < -30 && ref.lse[0] > -45); // the first 64 keys alone
            break;
        case INPUTS_LATE: // as if the first 64 keys were not there
            assert_true(ref.lse[0] > 3 && ref.lse[0] < 7 && largest_score > 150);
            break;
        case INPUTS_EQUAL:
            assert_true(fabs(ref.weight_norm[7] - sqrt(1 / 130.0)) < 1e-6);
            break;
        case INPUTS_EQUAL_BUT_ONE:
            assert_true(fabs(ref.weight_norm[7] - 1 / (1 + 129 * exp(-11))) < 1e-3);
            break;
        case INPUTS_TINY:
            assert_true(largest_score < 1e-30 && fabs(ref.lse[0] - log(130)) < 1e-12);
            break;
        default:
            assert_int_equal(nan_rows, 0);
        }
        attention_reference_free(&ref);
        host_problem_free(&in);
    }
    sample_free(&all);
}

static void long_tensors_repeat_odd_blocks(void **state) {
    (void)state;
    struct attention_shape s = {.batch = 64, .heads = 32, .kv_heads = 32, .nq = 1, .nk = 64, .head_dim = 512};
    struct host_problem in = draw(&s, INPUTS_NORMAL, 1);
    assert_int_equal(in.tensor[Q].kept, 64 * 32);
    assert_true(in.tensor[K].kept < 64 * 32 * 64 && in.tensor[K].kept % 2 == 1);
    assert_true(host_row(&in.tensor[K], in.tensor[K].kept + 2) == in.tensor[K].values + 2 * 512);
    host_problem_free(&in);
}

static void matrices_are_repeatable_and_masked_rows_keep_an_element(void **state) {
    (void)state;
    for (int f = 0; f < INPUT_FAMILIES; f++) {
        struct problem_case which = {.matrix = {40, 77}, .family = (enum input_family)f};
        struct host_problem first, second;
        softmax_make(&which, 5, true, &first);
        softmax_make(&which, 5, true, &second);
        const float *a = first.tensor[0].values, *b = second.tensor[0].values;
        assert_int_equal(first.tensor[0].kept, 40);
        assert_memory_equal(a, b, 40 * 77 * sizeof *a);
        int infinite = 0;
        for (int r = 0; r < 40; r++) {
            int finite = 0;
            for (int c = 0; c < 77; c++)
                finite += isfinite(a[r * 77 + c]) != 0;
            infinite += 77 - finite;
            assert_true(finite > 0);
        }
        assert_true(f == INPUTS_MASKED ? infinite > 500 : infinite <= 1);
        host_problem_free(&first);
        host_problem_free(&second);
    }
}

static void names_round_trip(void **state) {
    (void)state;
    enum input_family family;
    struct message error;
    for (int f = 0; f < INPUT_FAMILIES; f++) {
        assert_true(inputs_from_name(inputs_name((enum input_family)f), &family, &error));
        assert_int_equal(family, f);
    }
    assert_false(inputs_from_name("nasty", &family, &error));
    assert_non_null(strstr(error.text, "dominant-first"));
}

static void samples_hold_the_corners(void **state) {
    (void)state;
    struct row_sample all = sample_rows(100, 10, 1, 1);
    assert_int_equal(all.count, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(all.row[i], i);
    sample_free(&all);
    struct row_sample some = sample_rows(65536, 4096, 4e6, 1), same = sample_rows(65536, 4096, 4e6, 1);
    struct row_sample other = sample_rows(65536, 4096, 4e6, 2);
    int corners = 0;
    assert_in_range(some.count, 60, 65535);
    assert_int_equal(some.count, same.count);
    assert_memory_equal(some.row, same.row, (size_t)some.count * sizeof *some.row);
    assert_true(other.count != some.count || memcmp(some.row, other.row, (size_t)some.count * sizeof *some.row));
    for (int64_t i = 0; i < some.count; i++) {
        assert_in_range(some.row[i], i ? some.row[i - 1] + 1 : 0, 65535);
        corners += some.row[i] == 0 || some.row[i] == 4095 || some.row[i] == 61440 || some.row[i] == 65535;
    }
    assert_int_equal(corners, 4);
    sample_free(&some);
    sample_free(&same);
    sample_free(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_repeats_itself),
        cmocka_unit_test(normal_is_normal),
        cmocka_unit_test(all_are_finite_but_where_they_should_not_be),
        cmocka_unit_test(special_values_are_masked_for_no_query),
        cmocka_unit_test(a_head_of_twins_has_a_dozen),
        cmocka_unit_test(families_do_what_they_are_for),
        cmocka_unit_test(long_tensors_repeat_odd_blocks),
        cmocka_unit_test(matrices_are_repeatable_and_masked_rows_keep_an_element),
        cmocka_unit_test(names_round_trip),
        cmocka_unit_test(samples_hold_the_corners),
    };
    return cmocka_run_group_tests_name("inputs", tests, NULL, NULL);
}
