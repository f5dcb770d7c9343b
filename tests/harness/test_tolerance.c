// The bounds hold for whatever right order of summation: random problems, built so that rounding errors come together,
// pass in each of several kernels that sum in orders of their own; and where the keys differ, a kernel with weights of
// 11 bits does not. TEST_ALL=1 takes 1,000 problems, else a tenth of them.
#include "cmocka_all.h"
#include "host/inputs.h"
#include "host/parallel.h"
#include "judged.h"
#include "long_list.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KEYS_DIFFER,
    EQUAL,          // all scores
    ONE_ABOVE,      // one key by 11, all others equal
    FEW_GROUPS,     // of equal scores
    SLOWLY_RISING,  // so that a running maximum rises at each key
    NEARLY_EQUAL,   // by less than the sum's last place holds
    MANY_FAR_BELOW, // 10 to 18 below a few
    STEEP,          // few count
    KINDS
};
enum values { VALUES_DIFFER, VALUES_AGREE, VALUES_OF_ONE_SIGN, VALUES_CHANGE_SIGN, VALUE_KINDS };
static const char *const kind_name[] = {"keys differ",   "equal",        "one above",      "few groups",
                                        "slowly rising", "nearly equal", "many far below", "steep"};

enum algorithm {
    TWO_PASSES, // the maximum first, then one sum, one key after the other
    ONE_PASS,   // a running maximum that rises at a key
    LANES,      // 32 sums, every 32nd key each, then a tree
    TILES,      // a running maximum that rises at a tile of 64, powers of two
    LAZY,       // the same, which rises only by more than 8
    ALGORITHMS,
    HALF_WEIGHTS = ALGORITHMS, // two passes, and weights of 11 bits: a mistake
};
static const char *const algorithm_name[] = {"two passes", "one pass", "lanes", "tiles", "lazy", "half weights"};

enum order { FORWARD, BACKWARD, ODD_AFTER_EVEN, ORDERS };

static int operand(enum order order, int i, int n) {
    int even = (n + 1) / 2;
    return order == FORWARD ? i : order == BACKWARD ? n - 1 - i : i < even ? 2 * i : 2 * (i - even) + 1;
}

// ---- Problems
// --------------------------------------------------------------------------------------------------------

static double uniform(uint64_t seed, int stream, int64_t i) {
    return (double)(inputs_random(seed, (uint64_t)stream, (uint64_t)i) >> 11) * 0x1p-53;
}

static float score_of(enum kind kind, uint64_t seed, int j, int n) {
    float normal;
    inputs_normal_row(&normal, j, 1, seed, 60);
    double step = 1e-4 * pow(500, uniform(seed, 61, 0)), u = uniform(seed, 62, j);
    switch (kind) {
    case EQUAL:
        return 0.3f;
    case ONE_ABOVE:
        return j == (int)(uniform(seed, 61, 1) * 3) * (n - 1) / 2 ? 11 : 0;
    case FEW_GROUPS:
        return 0.7f * (float)(int)(u * 5);
    case SLOWLY_RISING:
        return (float)(step * j);
    case NEARLY_EQUAL:
        return 1 + 1e-6f * normal;
    case MANY_FAR_BELOW:
        return j % 997 == 5 ? normal : -(float)(10 + 8 * uniform(seed, 61, 2)) + 0.3f * normal;
    case STEEP:
        return 4 * normal;
    default:
        return normal;
    }
}

static float value_of(enum values values, uint64_t seed, int j, int n, int c, int d) {
    float normal;
    inputs_normal_row(&normal, (int64_t)j * d + c, 1, seed, 63);
    switch (values) {
    case VALUES_AGREE:
        return 1.3f + 0.21f * (float)c;
    case VALUES_OF_ONE_SIGN:
        return 10 + normal;
    case VALUES_CHANGE_SIGN:
        return j < n / 2 ? 1 + 0.1f * normal : -1 + 0.1f * normal;
    default:
        return normal;
    }
}

// One query, whose scaled scores are element 0 of the keys.
static struct host_problem make(enum kind kind, enum values values, uint64_t seed) {
    static const int head_dims[] = {2, 4, 8, 16};
    int d = head_dims[(int)(uniform(seed, 64, 0) * 4)], n = (int)(2 * pow(8192, uniform(seed, 64, 1)));
    struct problem_case which = {.attention = {1, 1, 1, 1, n, d, .layout = LAYOUT_BHND}};
    float *q = host_allocate(d, sizeof *q), *k = host_allocate((int64_t)n * d, sizeof *k),
          *v = host_allocate((int64_t)n * d, sizeof *v);
    struct host_problem problem;
    for (int c = 0; c < d; c++)
        q[c] = c ? 0 : sqrtf((float)d);
    for (int64_t i = 0; i < (int64_t)n * d; i++) {
        k[i] = i % d ? 0 : score_of(kind, seed, (int)(i / d), n);
        v[i] = value_of(values, seed, (int)(i / d), n, (int)(i % d), d);
    }
    attention_make_of(&which, q, k, v, 1, n, &problem);
    return problem;
}

// ---- Right kernels
// ---------------------------------------------------------------------------------------------------

struct sums {
    float maximum, sum, o[16];
};

static void add(struct sums *s, const float *v, float weight, int d) {
    s->sum += weight;
    for (int c = 0; c < d; c++)
        s->o[c] += weight * v[c];
}

static void rise(struct sums *s, float factor, int d) {
    s->sum *= factor;
    for (int c = 0; c < d; c++)
        s->o[c] *= factor;
}

static struct sums two_passes(const float *score, const struct host_tensor *v, int n, enum order order, bool half) {
    struct sums s = {.maximum = -INFINITY};
    for (int i = 0; i < n; i++)
        s.maximum = fmaxf(s.maximum, score[i]);
    for (int i = 0; i < n; i++) {
        int j = operand(order, i, n);
        float p = expf(score[j] - s.maximum);
        add(&s, host_row(v, j), half ? dtype_round(ATTENTION_FP16, p) : p, v->columns);
    }
    return s;
}

static struct sums one_pass(const float *score, const struct host_tensor *v, int n, enum order order) {
    struct sums s = {.maximum = -INFINITY};
    for (int i = 0; i < n; i++) {
        int j = operand(order, i, n);
        float larger = fmaxf(s.maximum, score[j]);
        rise(&s, expf(s.maximum - larger), v->columns);
        s.maximum = larger;
        add(&s, host_row(v, j), expf(score[j] - larger), v->columns);
    }
    return s;
}

static struct sums lanes(const float *score, const struct host_tensor *v, int n, enum order order) {
    struct sums lane[32] = {{0}};
    float maximum = -INFINITY;
    for (int i = 0; i < n; i++)
        maximum = fmaxf(maximum, score[i]);
    for (int i = 0; i < n; i++) {
        int j = operand(order, i, n);
        add(&lane[i % 32], host_row(v, j), expf(score[j] - maximum), v->columns);
    }
    for (int distance = 16; distance; distance /= 2)
        for (int l = 0; l < distance; l++) {
            lane[l].sum += lane[l + distance].sum;
            for (int c = 0; c < v->columns; c++)
                lane[l].o[c] += lane[l + distance].o[c];
        }
    lane[0].maximum = maximum;
    return lane[0];
}

static struct sums tiles(const float *score, const struct host_tensor *v, int n, enum order order, float most) {
    enum { TILE = 64 };
    const float log2_e = (float)M_LOG2E;
    struct sums s = {.maximum = -INFINITY};
    for (int first = 0; first < n; first += TILE) {
        float larger = s.maximum;
        for (int i = first; i < n && i < first + TILE; i++)
            larger = fmaxf(larger, score[operand(order, i, n)]);
        if (larger > s.maximum + most || first == 0) {
            rise(&s, exp2f((s.maximum - larger) * log2_e), v->columns);
            s.maximum = larger;
        }
        for (int i = first; i < n && i < first + TILE; i++) {
            int j = operand(order, i, n);
            add(&s, host_row(v, j), exp2f(fmaf(score[j], log2_e, -s.maximum * log2_e)), v->columns);
        }
    }
    return s;
}

static float run(const struct host_problem *problem, enum algorithm algorithm, enum order order, float *o) {
    const struct host_tensor *v = &problem->tensor[V];
    int n = problem->which.attention.nk, d = v->columns;
    float *score = host_allocate(n, sizeof *score);
    for (int j = 0; j < n; j++)
        score[j] = problem->softmax_scale * (problem->tensor[Q].values[0] * host_row(&problem->tensor[K], j)[0]);
    struct sums s = algorithm == ONE_PASS ? one_pass(score, v, n, order)
                    : algorithm == LANES  ? lanes(score, v, n, order)
                    : algorithm == TILES  ? tiles(score, v, n, order, 0)
                    : algorithm == LAZY   ? tiles(score, v, n, order, 8)
                                          : two_passes(score, v, n, order, algorithm == HALF_WEIGHTS);
    free(score);
    for (int c = 0; c < d; c++)
        o[c] = s.o[c] / s.sum;
    return s.maximum + logf(s.sum);
}

// ---- The tests
// -------------------------------------------------------------------------------------------------------

static int problems(void) {
    return 1000 / long_list_step(10, 50);
}

static bool passes(const struct host_problem *problem, const struct row_sample *sample, const void *reference,
                   enum algorithm algorithm, enum order order, bool explain) {
    struct verdict verdict[2];
    float o[16], lse = run(problem, algorithm, order, o);
    bool right = true;
    for (int i = 0; i < 2; i++) {
        verdict_begin(&verdict[i], problem, sample, reference, i);
        verdict_rows(&verdict[i], 0, 1, i ? &lse : o);
        right = verdict_end(&verdict[i]) && right;
        if (!right && explain)
            verdict_explain(&verdict[i], true, stderr);
        verdict_free(&verdict[i]);
    }
    return right;
}

static void every_order_of_summation_passes(void **state) {
    (void)state;
    for (int i = 0; i < problems(); i++) {
        enum kind kind = (enum kind)(i % KINDS);
        enum values values = (enum values)(i / KINDS % VALUE_KINDS);
        struct host_problem problem = make(kind, values, (uint64_t)i);
        struct row_sample sample = sample_rows(1, 1, 1, 0);
        void *reference = attention_operation.refer(&problem, &sample);
        for (int a = 0; a < ALGORITHMS; a++)
            for (int order = 0; order < ORDERS; order++)
                if (!passes(&problem, &sample, reference, (enum algorithm)a, (enum order)order, true))
                    fail_msg("problem %d: %s, values %d, %d keys, head_dim %d, %s, order %d", i, kind_name[kind],
                             values, problem.which.attention.nk, problem.which.attention.head_dim, algorithm_name[a],
                             order);
        attention_operation.release(reference);
        sample_free(&sample);
        host_problem_free(&problem);
    }
}

// The bounds have not become so wide that they let everything through.
static void half_weights_fail(void **state) {
    (void)state;
    for (int i = 0; i < problems(); i++) {
        struct host_problem problem = make(KEYS_DIFFER, VALUES_DIFFER, (uint64_t)i);
        struct row_sample sample = sample_rows(1, 1, 1, 0);
        void *reference = attention_operation.refer(&problem, &sample);
        if (problem.which.attention.nk > 8)
            assert_false(passes(&problem, &sample, reference, HALF_WEIGHTS, FORWARD, false));
        attention_operation.release(reference);
        sample_free(&sample);
        host_problem_free(&problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_summation_passes),
        cmocka_unit_test(half_weights_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
