// The reference, against values worked out by hand and against PyTorch's.
#include "cmocka_all.h"
#include "host/inputs.h"
#include "host/npy.h"
#include "operations/attention_operation.h"
#include "operations/attention_reference.h"
#include "operations/softmax_operation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct attention_reference compute(const struct host_problem *in) {
    const struct attention_shape *s = &in->which.attention;
    struct row_sample all = sample_rows(shape_q_elements(s) / s->head_dim, s->nq, 1, 0);
    struct attention_reference reference = attention_refer(in, &all);
    sample_free(&all);
    return reference;
}

static float *copy_of(const float *values, int64_t count) {
    float *copy = malloc((size_t)count * sizeof *copy);
    return memcpy(copy, values, (size_t)count * sizeof *copy);
}

// A problem of these values and a scale of 1.
static struct host_problem problem_of(struct attention_shape shape, const float *q, const float *k, const float *v) {
    struct problem_case which = {.attention = shape};
    struct host_problem problem;
    int64_t q_count = shape_q_elements(&shape), k_count = shape_k_elements(&shape);
    attention_make_of(&which, copy_of(q, q_count), copy_of(k, k_count), copy_of(v, k_count), q_count / shape.head_dim,
                      k_count / shape.head_dim, &problem);
    problem.softmax_scale = 1;
    return problem;
}

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-14 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", got, expected);
}

static void two_by_two(void **state) {
    (void)state;
    // scale 1: q0 = (1, 0) scores 1 and 0 on the two keys, q1 = (0, 2) scores 0 and 2.
    float q[] = {1, 0, 0, 2}, k[] = {1, 0, 0, 1}, v[] = {1, 10, -2, 20};
    struct host_problem in =
        problem_of((struct attention_shape){1, 1, 1, 2, 2, 2, false, .layout = LAYOUT_BHND}, q, k, v);
    struct attention_reference ref = compute(&in);
    double p = M_E / (M_E + 1), r = 1 / (1 + exp(2));
    assert_near(ref.o[0], p * 1 + (1 - p) * -2);
    assert_near(ref.o[1], p * 10 + (1 - p) * 20);
    assert_near(ref.o[2], r * 1 + (1 - r) * -2);
    assert_near(ref.o[3], r * 10 + (1 - r) * 20);
    assert_near(ref.a[0], p * 1 + (1 - p) * 2);
    assert_near(ref.lse[0], log(M_E + 1));
    assert_near(ref.lse[1], log(1 + exp(2)));
    assert_near(ref.score_scale[0], 1);
    assert_near(ref.score_scale[1], 2);
    assert_near(ref.weight_norm[1], sqrt(r * r + (1 - r) * (1 - r)));
    attention_reference_free(&ref);
    host_problem_free(&in);
}

static void equal_scores_give_the_mean(void **state) {
    (void)state;
    float q[] = {0, 0, 0}, k[] = {1, 2, 3, 4, 5, 6}, v[] = {1, 2, 3, 5, 7, 9};
    struct host_problem in =
        problem_of((struct attention_shape){1, 1, 1, 1, 2, 3, false, .layout = LAYOUT_BHND}, q, k, v);
    struct attention_reference ref = compute(&in);
    assert_near(ref.o[0], 3);
    assert_near(ref.o[1], 4.5);
    assert_near(ref.o[2], 6);
    assert_near(ref.lse[0], log(2));
    attention_reference_free(&ref);
    host_problem_free(&in);
}

static void causal_is_aligned_at_the_bottom_right(void **state) {
    (void)state;
    // Zero scores: row i is the mean of the values 0 .. i + nk - nq.
    float q[4] = {0}, k[4] = {0}, v[] = {1, 2, 3, 4};
    struct host_problem in =
        problem_of((struct attention_shape){1, 1, 1, 2, 4, 1, true, .layout = LAYOUT_BHND}, q, k, v);
    struct attention_reference ref = compute(&in);
    assert_near(ref.o[0], 2);
    assert_near(ref.o[1], 2.5);
    attention_reference_free(&ref);
    host_problem_free(&in);
    in = problem_of((struct attention_shape){1, 1, 1, 4, 2, 1, true, .layout = LAYOUT_BHND}, q, k, v);
    ref = compute(&in);
    assert_near(ref.o[0], 0); // sees nothing
    assert_near(ref.o[1], 0);
    assert_near(ref.o[2], 1);
    assert_near(ref.o[3], 1.5);
    assert_true(ref.lse[0] == -INFINITY && ref.a[0] == 0);
    attention_reference_free(&ref);
    host_problem_free(&in);
}

static void head_groups_share_keys(void **state) {
    (void)state;
    float q[4] = {0}, k[4] = {0}, v[] = {1, 2, 3, 4};
    struct host_problem in =
        problem_of((struct attention_shape){1, 4, 2, 1, 2, 1, false, .layout = LAYOUT_BHND}, q, k, v);
    struct attention_reference ref = compute(&in);
    assert_near(ref.o[0], 1.5);
    assert_near(ref.o[1], 1.5);
    assert_near(ref.o[2], 3.5);
    assert_near(ref.o[3], 3.5);
    attention_reference_free(&ref);
    host_problem_free(&in);
}

static void nan_and_infinity_reach_what_they_should(void **state) {
    (void)state;
    float q[] = {1, -1}, k[] = {INFINITY, 0}, v[] = {1, 2};
    struct host_problem in =
        problem_of((struct attention_shape){1, 1, 1, 2, 2, 1, false, .layout = LAYOUT_BHND}, q, k, v);
    struct attention_reference ref = compute(&in);
    assert_true(isnan(ref.o[0])); // score +inf: inf - inf
    assert_near(ref.o[1], 2);     // score -inf: weight 0
    assert_near(ref.score_scale[1], 0);
    attention_reference_free(&ref);
    in.tensor[K].values[0] = NAN;
    ref = compute(&in);
    assert_true(isnan(ref.o[0]) && isnan(ref.o[1]));
    attention_reference_free(&ref);
    in.tensor[K].values[0] = 0, in.tensor[V].values[1] = INFINITY;
    ref = compute(&in);
    assert_true(ref.o[0] == INFINITY && ref.o[1] == INFINITY);
    attention_reference_free(&ref);
    host_problem_free(&in);
}

// Opens an index of fixtures and steps over its heading.
static FILE *open_index(const char *path) {
    char line[200];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    return file;
}

static void agrees_with_pytorch(void **state) {
    (void)state;
    FILE *index = open_index("tests/fixtures/torch/cases.csv");
    char line[200], name[100];
    int cases = 0, causal;
    double scale;
    while (fgets(line, sizeof line, index)) {
        struct arguments arguments = {0};
        struct host_problem in;
        struct message error;
        float *o;
        assert_int_equal(sscanf(line, "%99[^,],%*d,%*d,%*d,%*d,%*d,%d,%lf", name, &causal, &scale), 3);
        snprintf(arguments.data, sizeof arguments.data, "tests/fixtures/torch/%s", name);
        arguments.causal = causal;
        if (!attention_load(&arguments, &in, &o, &error))
            fail_msg("%s", error.text);
        assert_non_null(o);
        in.softmax_scale = (float)scale;
        struct attention_reference ref = compute(&in);
        for (int64_t i = 0; i < shape_q_elements(&in.which.attention); i++)
            // o was rounded to float once; both sums were in double.
            if (!(fabs(o[i] - ref.o[i]) <= 0x1p-24 * fabs(ref.o[i]) + 1e-11 * (1 + ref.a[i])))
                fail_msg("%s: element %lld is %.9g, PyTorch says %.9g", name, (long long)i, ref.o[i], o[i]);
        attention_reference_free(&ref);
        host_problem_free(&in);
        free(o);
        cases++;
    }
    fclose(index);
    assert_true(cases > 0);
}

static void softmax_agrees_with_pytorch(void **state) {
    (void)state;
    FILE *index = open_index("tests/fixtures/torch/softmax.csv");
    char line[200], name[100], path[200];
    int cases = 0;
    while (fgets(line, sizeof line, index)) {
        struct npy x, y;
        struct message error;
        assert_int_equal(sscanf(line, "%99[^,]", name), 1);
        snprintf(path, sizeof path, "tests/fixtures/torch/%s/x.npy", name);
        assert_true(npy_read(path, &x, &error));
        snprintf(path, sizeof path, "tests/fixtures/torch/%s/y.npy", name);
        assert_true(npy_read(path, &y, &error));
        int rows = (int)x.size[0], columns = (int)x.size[1];
        double *out = malloc((size_t)columns * sizeof *out);
        for (int r = 0; r < rows; r++) {
            softmax_reference(x.data + r * columns, columns, out);
            for (int c = 0; c < columns; c++)
                if (!(fabs(out[c] - y.data[r * columns + c]) <= 0x1p-24 * out[c] + 0x1p-149))
                    fail_msg("%s: [%d][%d] is %.9g, PyTorch says %.9g", name, r, c, out[c], y.data[r * columns + c]);
        }
        free(out);
        npy_free(&x);
        npy_free(&y);
        cases++;
    }
    fclose(index);
    assert_true(cases > 0);
}

// A softmax in single precision, spoiled as the tests below want it.
static bool softmax_passes(enum input_family family, int spoil) {
    struct problem_case which = {.matrix = {6, 1025}, .family = family};
    struct host_problem problem;
    struct verdict verdict;
    softmax_make(&which, 3, true, &problem);
    const float *in = problem.tensor[0].values;
    float *out = malloc(6 * 1025 * sizeof *out);
    struct row_sample all = sample_rows(6, 6, 1, 0);
    for (int r = 0; r < 6; r++) {
        const float *x = in + r * 1025;
        float maximum = -INFINITY, sum = 0;
        for (int c = 0; c < 1025; c++)
            maximum = fmaxf(maximum, x[c]);
        for (int c = 0; c < 1025 - (spoil == 1); c++)
            sum += expf(x[c] - (spoil == 2 ? 0 : maximum));
        for (int c = 0; c < 1025; c++)
            out[r * 1025 + c] = expf(x[c] - (spoil == 2 ? 0 : maximum)) / sum;
    }
    if (spoil == 3)
        memset(out + 5 * 1025 + 1024, 0xFF, sizeof *out);
    void *reference = softmax_operation.refer(&problem, &all);
    verdict_begin(&verdict, &problem, &all, reference, 0);
    verdict_rows(&verdict, 0, 6, out);
    bool right = verdict_end(&verdict);
    verdict_free(&verdict);
    softmax_operation.release(reference);
    sample_free(&all);
    host_problem_free(&problem);
    free(out);
    return right;
}

static void softmax_lets_fp32_pass_and_no_mistake(void **state) {
    (void)state;
    for (int f = 0; f < INPUT_FAMILIES; f++)
        if (!softmax_passes((enum input_family)f, 0))
            fail_msg("%s", inputs_name((enum input_family)f));
    assert_false(softmax_passes(INPUTS_NORMAL, 1)); // one element left out of the sum
    assert_false(softmax_passes(INPUTS_DOMINANT_LAST, 1));
    assert_false(softmax_passes(INPUTS_LARGE, 2));  // no maximum subtracted
    assert_false(softmax_passes(INPUTS_NORMAL, 3)); // one element not written
    assert_false(softmax_passes(INPUTS_NAN_KEY, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_by_two),
        cmocka_unit_test(equal_scores_give_the_mean),
        cmocka_unit_test(causal_is_aligned_at_the_bottom_right),
        cmocka_unit_test(head_groups_share_keys),
        cmocka_unit_test(nan_and_infinity_reach_what_they_should),
        cmocka_unit_test(agrees_with_pytorch),
        cmocka_unit_test(softmax_agrees_with_pytorch),
        cmocka_unit_test(softmax_lets_fp32_pass_and_no_mistake),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
