// Divergence, calls, waiting lanes and barriers, compared with the host's results.
#include "exec_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 64

static struct driver *driver;
static int in[THREADS], out[THREADS];

static int load(void **state) {
    (void)state;
    setenv("SIMULATOR_INSTRUCTION_LIMIT", "200000000", 1);
    driver = driver_load("build/exec/exec_control.ptx");
    return 0;
}

static int unload(void **state) {
    (void)state;
    driver_unload(driver);
    return 0;
}

static void run_with(const char *kernel, unsigned grid, unsigned block, uint64_t second) {
    uint64_t buffer = driver_upload(in, sizeof in);
    uint64_t parameter[2] = {buffer, second};
    enum sim_status status = driver_run(driver, kernel, grid, block, 0, 2, parameter, NULL);
    if (status != SIM_OK || driver_findings()[0])
        fail_msg("%s: status %d\n%s", kernel, status, driver_findings());
    driver_download(out, buffer, sizeof out);
    driver_free(buffer);
}

static void run(const char *kernel) {
    run_with(kernel, 1, THREADS, 0);
}

static int nested(int t) {
    int value = 0;
    if (t & 1) {
        value += 1;
        if (t & 2) {
            value += 10;
            for (int i = 0; i < t; i++)
                value += i & 4 ? 100 : 1;
        } else {
            value += 20;
        }
    } else if (t & 4) {
        value -= 5;
    }
    return value;
}

static int loops(int t) {
    int value = 0;
    for (int i = 0; i < t; i++) {
        if (i % 3 == t % 3)
            continue;
        for (int k = i; k > 0; k -= 2) {
            value += k;
            if (value % 7 == 3)
                break;
        }
    }
    return value;
}

static int early_return(int t) {
    return t % 5 == 0 ? 1 : t > 40 ? 2 : 3;
}

static int switched(int t) {
    switch (t % 9) {
    case 0:
        return t * 3;
    case 1:
        return (t - 100) ^ 0x55;
    case 2:
        return 0x55;
    case 3:
        return 7;
    case 4:
        return t * t;
    case 5:
        return -t;
    case 6:
        return t << 3;
    default:
        return 99;
    }
}

static int factorial(int n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}

static int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int walk(int depth, int *sum) {
    int mine[4];
    for (int i = 0; i < 4; i++)
        mine[i] = depth * 10 + i;
    if (depth > 0)
        walk(depth - 1, &mine[depth & 3]);
    *sum += mine[0] + mine[1] + mine[2] + mine[3];
    return *sum;
}

static int recursion(int t) {
    int sum = 0;
    return t % 3 == 0 ? factorial(t % 11) : t % 3 == 1 ? fibonacci(t % 13) : walk(t % 6, &sum);
}

static int called(int which, int x) {
    return which == 0 ? x + 1 : which == 1 ? x * 3 : -x;
}

static int pointers(int t) {
    return called(t % 3, t) + called((t + 1) % 3, t);
}

static void compare(const char *kernel, int (*expected)(int)) {
    memset(in, 0, sizeof in);
    run(kernel);
    for (int t = 0; t < THREADS; t++)
        if (out[t] != expected(t))
            fail_msg("%s: thread %d has %d, not %d", kernel, t, out[t], expected(t));
}

static void test_divergence(void **state) {
    (void)state;
    compare("nested", nested);
    compare("loops", loops);
    compare("early_return", early_return);
    compare("switched", switched);
}

static void test_calls(void **state) {
    (void)state;
    compare("recursion", recursion);
    compare("pointers", pointers);
}

static void test_independent_progress(void **state) {
    (void)state;
    static const int zero[THREADS];
    memset(in, 0, sizeof in);
    uint64_t sum = driver_upload(zero, sizeof zero);
    run_with("spin_lock", 3, THREADS, sum);
    int total;
    driver_download(&total, sum, sizeof total);
    assert_int_equal(total, 3 * THREADS);
    uint64_t answer = driver_upload(zero, sizeof zero);
    run_with("lanes_wait", 1, 32, answer);
    driver_download(out, answer, sizeof out);
    for (int t = 0; t < 32; t++)
        assert_int_equal(out[t], t < 16 ? t + 16 : -1);
}

static void test_lanes_that_wait_for_lanes(void **state) {
    (void)state;
    run_with("syncwarp_apart", 1, 32, 0);
    for (int t = 1; t < 32; t++)
        assert_int_equal(out[t], 5);
    run_with("shuffle_apart", 1, 32, 0);
    for (int t = 0; t < 32; t++) {
        int pair = 2 * (t & ~1) + 1; // the sum over the pair, doubled by each further step
        assert_int_equal(out[t], pair << ((t < 8 ? 3 : 5) - 1));
    }
}

static void test_barriers(void **state) {
    (void)state;
    for (int limit = 0; limit <= THREADS; limit += 16) {
        run_with("barrier_reduction", 1, THREADS, (uint64_t)limit);
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(out[t], limit * 4 + (limit < THREADS) * 2 + (limit == THREADS));
    }
    run("ping_pong");
    assert_int_equal(out[THREADS - 1], 62); // x -> 2 (x + 1), five times from 0
}

static void test_printf(void **state) {
    (void)state;
    char text[512] = "";
    FILE *file = tmpfile();
    fflush(stdout);
    int saved = dup(1);
    dup2(fileno(file), 1);
    in[0] = -12;
    in[1] = 34;
    run("prints");
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    assert_string_equal(text, "-12|    7|ff  |1099511627776|z|text|1.500|2.500000e-01|%|    42\n"
                              "34|    7|ff  |1099511627776|z|text|1.500|2.500000e-01|%|    42\n");
}

static void test_assert(void **state) {
    (void)state;
    memset(in, 0, sizeof in);
    run("asserts");
    in[17] = 3;
    uint64_t buffer = driver_upload(in, sizeof in);
    assert_int_equal(driver_run(driver, "asserts", 1, THREADS, 0, 1, &buffer, NULL), SIM_ASSERT);
    assert_non_null(strstr(driver_findings(), "out[threadIdx.x] != 3"));
    assert_non_null(strstr(driver_findings(), "thread (17,0,0)"));
}

static void test_heap_and_specials(void **state) {
    (void)state;
    run("heap");
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(out[t], 2 * t);
    run_with("specials", 2, 32, 0);
    for (int t = 0; t < 64; t++)
        assert_int_equal(out[t], t / 32 * 1000 + 200 + t % 32 + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_independent_progress),
        cmocka_unit_test(test_lanes_that_wait_for_lanes),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_assert),
        cmocka_unit_test(test_heap_and_specials),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
