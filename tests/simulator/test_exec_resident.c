// Blocks that wait for each other: blocks that are resident together make progress, and a grid that needs more resident
// blocks than fit is reported.
#include "../harness/long_list.h"
#include "exec_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BLOCKS = 600, ROUNDS = 3 };

static struct driver *driver;
static int words[MOST_BLOCKS + 1];

static int load(void **state) {
    (void)state;
    driver = driver_load("build/exec/exec_resident.ptx");
    return 0;
}

static int unload(void **state) {
    (void)state;
    driver_unload(driver);
    return 0;
}

static uint64_t zeros(void) {
    memset(words, 0, sizeof words);
    return driver_upload(words, sizeof words);
}

static int limit_again(void **state) {
    (void)state;
    sim_options()->instruction_limit = 200000000;
    return 0;
}

static enum sim_status run(const char *kernel, unsigned grid, int threads, uint64_t resident, uint64_t a, uint64_t b) {
    uint64_t parameter[3] = {a, b, ROUNDS};
    driver->resident_blocks = resident;
    sim_options()->host_threads = threads;
    return driver_run(driver, kernel, grid, 64, 0, 3, parameter, NULL);
}

static void must_end(enum sim_status status) {
    if (status != SIM_OK || driver_findings()[0])
        fail_msg("status %d\n%s", status, driver_findings());
}

static void must_report(enum sim_status status, const char *code) {
    assert_int_equal(status, SIM_LAUNCH_TIMEOUT);
    if (!strstr(driver_findings(), code) || !strstr(driver_findings(), "exec_resident.cu:"))
        fail_msg("not %s, but:\n%s", code, driver_findings());
}

static void test_a_barrier_among_resident_blocks(void **state) {
    (void)state;
    static const unsigned grids[] = {2, 3, 16, 132, 264};
    for (int threads = 1; threads <= 3; threads += long_list_step(1, 2)) {
        for (size_t i = 0; i < sizeof grids / sizeof *grids; i += (size_t)long_list_step(1, 3)) {
            uint64_t arrived = zeros(), sum = zeros();
            must_end(run("grid_barrier", grids[i], threads, grids[i], arrived, sum));
            driver_download(words, sum, sizeof words);
            assert_int_equal(words[0], (int)grids[i] * ROUNDS * (ROUNDS + 1) / 2);
            driver_free(arrived);
            driver_free(sum);
        }
    }
}

static void test_more_blocks_than_fit(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        uint64_t arrived = zeros(), sum = zeros();
        enum sim_status status = run("grid_barrier", 17, threads, 16, arrived, sum);
        must_report(status, "[not-resident]");
        assert_non_null(strstr(driver_findings(), " only 16 of the grid's 17 blocks fit "));
        assert_null(strstr(driver_findings(), "[instruction-limit]"));
        driver_free(arrived);
        driver_free(sum);
    }
}

// Each block waits for the next one. If all of them are resident, the last one releases the others.
static void test_a_chain_of_blocks(void **state) {
    (void)state;
    uint64_t done = zeros(), order = zeros();
    must_end(run("backwards", 100, 2, 0, done, order));
    driver_download(words, order, sizeof words);
    for (int i = 0; i < 100; i++)
        assert_int_equal(words[i], 99 - i);
    driver_free(done);
    done = zeros();
    must_report(run("backwards", 100, 2, 50, done, order), "[not-resident]");
    driver_free(done);
    driver_free(order);
}

// All blocks are resident, and all wait forever: the instruction limit is reached, no block is missing.
static void test_endless_wait(void **state) {
    (void)state;
    uint64_t flag = zeros();
    sim_options()->instruction_limit = 2000000 / (uint64_t)long_list_step(8, 8);
    must_report(run("waits_forever", 20, 2, 20, flag, 0), "[instruction-limit]");
    driver_free(flag);
}

// A host thread reaches its limit before another one has started its blocks: more blocks may still make progress.
static void test_a_late_host_thread(void **state) {
    (void)state;
    sim_options()->instruction_limit = 100000;
    for (int i = 0; i < 5; i++) {
        uint64_t flag = zeros();
        must_report(run("waits_forever", 32, 16, 32, flag, 0), "[instruction-limit]");
        driver_free(flag);
    }
}

// A block that reads a word often, but does not wait for it, depends on no other block.
static void test_polling_without_waiting(void **state) {
    (void)state;
    uint64_t flag = zeros(), out = zeros();
    const int blocks = 40 / long_list_step(5, 5);
    must_end(run("polls_often", (unsigned)blocks, 2, 4, flag, out));
    driver_download(words, out, sizeof words);
    for (int i = 0; i < blocks; i++)
        assert_int_equal(words[i], (int)(uint32_t)(200000ull * 199999 / 2));
    driver_free(flag);
    driver_free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_barrier_among_resident_blocks),
        cmocka_unit_test(test_more_blocks_than_fit),
        cmocka_unit_test(test_a_chain_of_blocks),
        cmocka_unit_test_teardown(test_endless_wait, limit_again),
        cmocka_unit_test_teardown(test_a_late_host_thread, limit_again),
        cmocka_unit_test(test_polling_without_waiting),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
