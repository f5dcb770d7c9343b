// The command line and SHAPE: what is understood, and that everything else gets one line.
#include "arguments.h"
#include "cmocka_all.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

// Splits text at blanks and parses it.
static bool parse(const char *text, struct arguments *arguments, struct message *error) {
    static char copy[1000];
    char *argv[MOST] = {"attention"};
    int argc = 1;
    strcpy(copy, text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    error->text[0] = 0;
    return arguments_parse(argc, argv, arguments, error);
}

static void a_check_is_understood(void **state) {
    (void)state;
    struct arguments a;
    struct message error;
    assert_true(parse(
        "check --name lesson-02 --source lessons/02_vectorized/attention.cu --kernel build/x.so --shape 2,3,5:7,40 "
        "--causal --seed 18446744073709551615 --time-limit 5 --device sim --inputs large --quick",
        &a, &error));
    assert_int_equal(a.action, ACTION_CHECK);
    assert_int_equal(a.device, DEVICE_SIMULATOR);
    assert_int_equal(a.kernels, 1);
    assert_string_equal(a.kernel[0].name, "lesson-02_vectorized");
    assert_string_equal(a.kernel[0].library, "build/x.so");
    assert_true(a.seed == UINT64_MAX && a.has_seed);
    assert_int_equal(a.time_limit, 5);
    assert_true(a.quick && a.causal && a.shape.attention.causal);
    assert_int_equal(a.shape.attention.nq, 5);
    assert_int_equal(a.shape.attention.nk, 7);
}

static void a_bench_of_several_is_understood(void **state) {
    (void)state;
    struct arguments a;
    struct message error;
    assert_true(parse(
        "bench --kernel a.so --name solution-01_basic_attention --source solutions/01_basic_attention/attention.cu "
        "--kernel b.so --name kernel-mine.cu --source mine.cu --results results --commit abc --device gpu",
        &a, &error));
    assert_int_equal(a.action, ACTION_BENCH);
    assert_int_equal(a.device, DEVICE_GPU);
    assert_int_equal(a.kernels, 2);
    assert_string_equal(a.kernel[0].name, "solution-01_basic_attention");
    assert_string_equal(a.kernel[1].name, "kernel-mine.cu");
    assert_string_equal(a.kernel[1].source, "mine.cu");
    assert_string_equal(a.results, "results");
    assert_string_equal(a.commit, "abc");
    assert_int_equal(a.time_limit, 60);
}

static void types_layouts_and_lse_are_understood(void **state) {
    (void)state;
    struct arguments a;
    struct message error;
    assert_true(parse("check --kernel x.so", &a, &error));
    assert_false(a.has_dtype || a.lse);
    assert_int_equal(a.layout.layout, LAYOUT_BHND);
    assert_true(parse("bench --kernel x.so --dtype bf16 --lse --layout bnhd", &a, &error));
    assert_true(a.has_dtype && a.lse);
    assert_int_equal(a.dtype, ATTENTION_BF16);
    assert_int_equal(a.layout.layout, LAYOUT_BNHD);
    // In either order, with the strides in the shape, too.
    for (int i = 0; i < 2; i++) {
        assert_true(parse(i ? "check --kernel x.so --layout 960,40,120 --shape 2,3:1,8,40 --dtype fp16"
                            : "check --kernel x.so --dtype fp16 --shape 2,3:1,8,40 --layout 960,40,120",
                          &a, &error));
        assert_int_equal(a.dtype, ATTENTION_FP16);
        assert_int_equal(a.shape.attention.layout, LAYOUT_STRIDES);
        assert_memory_equal(a.shape.attention.stride, ((int64_t[]){960, 40, 120}), 3 * sizeof(int64_t));
        assert_int_equal(a.shape.attention.kv_heads, 1);
    }
}

static void refuse(const char *text, const char *expected) {
    struct arguments a;
    struct message error;
    assert_false(parse(text, &a, &error));
    assert_null(strchr(error.text, '\n'));
    if (!strstr(error.text, expected))
        fail_msg("'%s' does not say '%s'", error.text, expected);
}

static void bad_types_and_layouts_get_one_line(void **state) {
    (void)state;
    refuse("check --kernel x.so --dtype fp8", "DTYPE=fp8 is unknown: use fp32, fp16, bf16 or e4m3");
    refuse("check --kernel x.so --layout 1,2", "LAYOUT=1,2 is unknown");
    refuse("check --kernel x.so --layout 960,40,120", "give SHAPE=B,H,N,D, too");
    refuse("check --kernel x.so --layout 960,40,120 --shape 5,6", "give SHAPE=B,H,N,D, too");
    refuse("check --kernel x.so --layout 960,40,120 --data d", "give SHAPE=B,H,N,D, too");
    refuse("check --kernel x.so --shape 2,3,8,40 --layout 960,39,120", "overlap");
    refuse("check --kernel x.so --shape 2,3,8,40 --layout 959,40,120", "from one batch to the next are 959 elements");
    refuse("check --kernel x.so --shape 1,1,2147483647,1 --layout 1,1,1099511627776", "no device has the memory");
    refuse("check --kernel x.so --shape 1,8:3,5,64", "8 heads cannot share 3 key heads evenly");
}

static void arguments_are_handed_over(void **state) {
    (void)state;
    struct arguments a, b;
    struct message error;
    assert_true(parse("bench --kernel x.so --kernel y.so --name one --source a/b.cu --dtype fp16 --shape 2,3:1,8,40 "
                      "--layout 960,40,120 --lse --seed 7 --results r --commit abc --state s --ceilings c.so",
                      &a, &error));
    int file = arguments_send(&a);
    memset(&b, 0xA5, sizeof b);
    arguments_receive(&b);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(fcntl(file, F_GETFD), -1); // no child process inherits it
    assert_null(getenv("ATTENTION_ARGUMENTS_FD"));
}

static void bad_command_lines_get_one_line(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "chek --kernel x.so",
        "check",
        "check --kernel",
        "check --kernel x.so --kernel y.so",
        "check --kernel x.so --name a --name b",
        "check --kernel x.so --device tpu",
        "check --kernel x.so --seed -1",
        "check --kernel x.so --seed 1x",
        "check --kernel x.so --seed 18446744073709551616",
        "check --kernel x.so --time-limit 0",
        "check --kernel x.so --time-limit 1.5",
        "check --kernel x.so --layout nhbd",
        "check --kernel x.so --frobnicate 1",
        "check --kernel x.so stray",
        "check --kernel x.so --shape 1,2,3",
        "check --kernel x.so --data d --shape 1,1,1,1",
        "check --kernel x.so --data d --inputs large",
        "bench --kernel x.so --data d",
        "bench --kernel x.so --inputs large",
    };
    struct arguments a;
    struct message error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(parse(bad[i], &a, &error));
        assert_true(strlen(error.text) > 10);
        assert_null(strchr(error.text, '\n'));
    }
    char *argv[2 * MAX_KERNELS + 5] = {"attention", "bench"};
    for (int i = 0; i <= MAX_KERNELS; i++) {
        argv[2 + 2 * i] = "--kernel";
        argv[3 + 2 * i] = "x.so";
    }
    assert_false(arguments_parse(2 * MAX_KERNELS + 4, argv, &a, &error));
}

static void shapes_are_understood(void **state) {
    (void)state;
    struct shape_argument shape;
    struct message error;
    char text[SHAPE_TEXT];
    static const char *const good[] = {"1,16,4096,128", "2,3,5:7,40", "1,8:2,33,512", "1,4:1,1:2147483647,1"};
    for (int i = 0; i < 4; i++) {
        assert_true(shape_parse(good[i], &shape, &error));
        shape_text(&shape.attention, text);
        assert_string_equal(text, good[i]);
        assert_false(shape.is_matrix);
    }
    assert_true(shape_parse("2,8:2,33:65,512", &shape, &error));
    assert_int_equal(shape.attention.kv_heads, 2);
    assert_int_equal(shape.matrix.rows, 2 * 8 * 33);
    assert_int_equal(shape.matrix.columns, 65);
    assert_true(shape_parse("4096,1024", &shape, &error));
    assert_true(shape.is_matrix);
    assert_int_equal(shape.matrix.rows, 4096);
    assert_int_equal(shape.matrix.columns, 1024);
}

static void bad_shapes_get_one_line(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "1",
                                      "1,2,3",
                                      "1,2,3,4,5",
                                      "0,1,1,1",
                                      "1,0,1,1",
                                      "1,1,0,1",
                                      "1,1,1,0",
                                      "-1,1,1,1",
                                      "1,1,-1,1",
                                      "a,b,c,d",
                                      "1,1,1,1x",
                                      "1,1,1,",
                                      ",1,1,1",
                                      "1,,1,1",
                                      "1, 1,1,1",
                                      " 1,1,1,1",
                                      "1.5,1,1,1",
                                      "1,1,1:0,1",
                                      "1,1,1:,1",
                                      "1,1,1:2:3,1",
                                      "1:1,1,1,1",
                                      "1,1,1,8:8",
                                      "1,8:3,1,1",
                                      "1,2:4,1,1",
                                      "1,1,1,513",
                                      "2147483648,1,1,1",
                                      "1,1,99999999999999999999,1",
                                      "2147483647,2147483647,2147483647,512",
                                      "0,5",
                                      "5,0",
                                      "5:5,5",
                                      "5,2147483648",
                                      "9223372036854775807,2147483647"};
    struct shape_argument shape;
    struct message error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.text[0] = 0;
        assert_false(shape_parse(bad[i], &shape, &error));
        assert_memory_equal(error.text, "SHAPE=", 6);
        assert_null(strchr(error.text, '\n'));
    }
}

static void work_is_counted(void **state) {
    (void)state;
    struct attention_shape s = {.batch = 2, .heads = 3, .kv_heads = 1, .nq = 4, .nk = 6, .head_dim = 8};
    assert_true(shape_flops(&s) == 4.0 * 2 * 3 * 24 * 8);
    assert_true(shape_bytes(&s, 4) == 4.0 * (2 * (2 * 3 * 4 * 8) + 2 * (2 * 1 * 6 * 8)));
    assert_true(shape_bytes(&s, 2) == 2.0 * (2 * (2 * 3 * 4 * 8) + 2 * (2 * 1 * 6 * 8)));
    for (int nq = 1; nq < 9; nq++) {
        int pairs = 0;
        s.causal = true;
        s.nq = nq;
        for (int i = 0; i < nq; i++)
            pairs += shape_attended_keys(&s, i);
        assert_true(shape_flops(&s) == 4.0 * 2 * 3 * pairs * 8);
    }
    s.nq = 8;
    assert_int_equal(shape_attended_keys(&s, 1), 0);
    assert_int_equal(shape_attended_keys(&s, 2), 1);
    assert_int_equal(shape_attended_keys(&s, 7), 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_is_understood),
        cmocka_unit_test(a_bench_of_several_is_understood),
        cmocka_unit_test(types_layouts_and_lse_are_understood),
        cmocka_unit_test(bad_types_and_layouts_get_one_line),
        cmocka_unit_test(arguments_are_handed_over),
        cmocka_unit_test(bad_command_lines_get_one_line),
        cmocka_unit_test(shapes_are_understood),
        cmocka_unit_test(bad_shapes_get_one_line),
        cmocka_unit_test(work_is_counted),
    };
    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
