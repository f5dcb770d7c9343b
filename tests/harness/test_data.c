// DATA=: folders of .npy files, their shapes and their types; what cannot be used gets one line.
#include "cmocka_all.h"
#include "host/npy.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/attention-data-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char path[100];
    static const char *const names[] = {"q", "k", "v", "o"};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s.npy", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static const char *path_of(const char *name) {
    static char path[100];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    return path;
}

static void write_tensor(const char *name, int dimensions, const int64_t *size) {
    struct message error;
    int64_t elements = 1;
    for (int i = 0; i < dimensions; i++)
        elements *= size[i];
    float *data = calloc((size_t)elements, sizeof *data);
    assert_true(npy_write(path_of(name), dimensions, size, ATTENTION_FP32, data, &error));
    free(data);
}

static bool load(bool causal, struct host_problem *problem, float **o, struct message *error) {
    struct arguments arguments = {.causal = causal};
    snprintf(arguments.data, sizeof arguments.data, "%s", folder);
    return attention_load(&arguments, problem, o, error);
}

static void refuse_folder(const char *expected) {
    struct host_problem in;
    struct message error = {""};
    float *o;
    assert_false(load(false, &in, &o, &error));
    assert_null(strchr(error.text, '\n'));
    if (!strstr(error.text, expected))
        fail_msg("'%s' does not say '%s'", error.text, expected);
}

static void folders_are_read_and_judged(void **state) {
    (void)state;
    struct host_problem in;
    struct message error;
    float *o;
    refuse_folder("q.npy cannot be opened");
    write_tensor("q", 4, (int64_t[]){2, 4, 5, 8});
    refuse_folder("k.npy cannot be opened");
    write_tensor("k", 4, (int64_t[]){2, 2, 7, 8});
    write_tensor("v", 4, (int64_t[]){2, 2, 6, 8});
    refuse_folder("must be equal");
    write_tensor("v", 4, (int64_t[]){2, 2, 7, 8});
    assert_true(load(true, &in, &o, &error));
    assert_null(o);
    assert_true(in.which.attention.causal && in.finite);
    assert_int_equal(in.which.attention.nq, 5);
    assert_int_equal(in.which.attention.nk, 7);
    assert_int_equal(in.which.attention.kv_heads, 2);
    assert_true(fabsf(in.softmax_scale - 0.35355339f) < 1e-7f);
    host_problem_free(&in);
    write_tensor("o", 4, (int64_t[]){2, 4, 5, 9});
    refuse_folder("q.npy is 2x4x5x8 and o.npy is 2x4x5x9");
    write_tensor("o", 4, (int64_t[]){2, 4, 5, 8});
    assert_true(load(false, &in, &o, &error));
    assert_non_null(o);
    free(o);
    host_problem_free(&in);
    write_tensor("q", 4, (int64_t[]){2, 3, 5, 8});
    write_tensor("o", 4, (int64_t[]){2, 3, 5, 8});
    refuse_folder("a multiple of k's");
    write_tensor("q", 1, (int64_t[]){8});
    refuse_folder("1 dimensions");
    write_tensor("q", 5, (int64_t[]){1, 1, 1, 1, 8});
    refuse_folder("5 dimensions");
    write_tensor("q", 2, (int64_t[]){5, 513});
    refuse_folder("at most 512");
    unlink(path_of("o"));
    write_tensor("q", 2, (int64_t[]){5, 8});
    write_tensor("k", 3, (int64_t[]){1, 7, 8});
    write_tensor("v", 2, (int64_t[]){7, 8});
    assert_true(load(false, &in, &o, &error));
    assert_int_equal(in.which.attention.batch * in.which.attention.heads, 1);
    host_problem_free(&in);
}

static void write_typed(const char *name, enum attention_dtype dtype, float value) {
    struct message error;
    float data[2 * 5 * 8];
    for (int i = 0; i < 2 * 5 * 8; i++)
        data[i] = value + (float)i / 7;
    assert_true(npy_write(path_of(name), 3, (int64_t[]){2, 5, 8}, dtype, data, &error));
}

static bool load_as(const char *type, struct host_problem *problem, struct message *error) {
    struct arguments arguments = {.has_dtype = type != NULL};
    float *o;
    if (type)
        assert_true(dtype_from_name(type, &arguments.dtype, error));
    snprintf(arguments.data, sizeof arguments.data, "%s", folder);
    bool good = attention_load(&arguments, problem, &o, error);
    assert_true(!good || !o);
    return good;
}

static void types_of_a_folder_are_judged(void **state) {
    (void)state;
    struct host_problem in;
    struct message error = {""};
    static const char *const names[] = {"q", "k", "v"};
    unlink(path_of("o"));
    for (int i = 0; i < 3; i++)
        write_typed(names[i], ATTENTION_FP32, (float)i);
    // Whatever DTYPE asks for, rounded from fp32; without it, as the files have it.
    for (int t = -1; t <= ATTENTION_BF16; t++) {
        enum attention_dtype dtype = t < 0 ? ATTENTION_FP32 : (enum attention_dtype)t;
        assert_true(load_as(t < 0 ? NULL : dtype_of(dtype)->name, &in, &error));
        assert_int_equal(in.which.dtype, dtype);
        assert_int_equal(in.tensor[O].dtype, dtype);
        for (int e = 0; e < 80; e++)
            assert_true(in.tensor[V].values[e] == dtype_round(dtype, 2 + (float)e / 7));
        host_problem_free(&in);
    }
    for (int i = 0; i < 3; i++)
        write_typed(names[i], ATTENTION_BF16, (float)i);
    for (int t = 0; t < 2; t++) {
        assert_true(load_as(t ? "bf16" : NULL, &in, &error));
        assert_int_equal(in.which.dtype, ATTENTION_BF16);
        assert_true(in.tensor[Q].values[3] == dtype_round(ATTENTION_BF16, 3.0f / 7));
        host_problem_free(&in);
    }
    static const char *const others[] = {"fp16", "fp32"};
    for (int t = 0; t < 2; t++) {
        assert_false(load_as(others[t], &in, &error));
        assert_non_null(strstr(error.text, "holds bf16, and DTYPE="));
        assert_null(strchr(error.text, '\n'));
    }
    write_typed("v", ATTENTION_FP16, 2);
    assert_false(load_as(NULL, &in, &error));
    assert_non_null(strstr(error.text, "q.npy is bf16, but v.npy is fp16: save both with the same type"));
    assert_false(load_as("bf16", &in, &error));
    write_typed("v", ATTENTION_BF16, 2);
    write_typed("k", ATTENTION_FP32, 1);
    assert_false(load_as("bf16", &in, &error));
    assert_non_null(strstr(error.text, "q.npy is bf16, but k.npy is fp32"));
    assert_null(strchr(error.text, '\n'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_read_and_judged),
        cmocka_unit_test(types_of_a_folder_are_judged),
    };
    return cmocka_run_group_tests_name("data", tests, make_folder, remove_folder);
}
