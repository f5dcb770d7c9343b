// Every analysis on a kernel with the mistake, which it must name with the right line, and on one without, about which
// it must be silent.
#include "exec/report.h"
#include "exec_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SOURCE "tests/simulator/exec_findings.cu"

static struct driver *driver;

static int load(void **state) {
    (void)state;
    setenv("SIMULATOR_INSTRUCTION_LIMIT", "500000", 1);
    driver = driver_load("build/exec/exec_findings.ptx");
    return 0;
}

static int unload(void **state) {
    (void)state;
    driver_unload(driver);
    return 0;
}

// The line of the source that carries the comment "// kernel mark".
static int line_of(const char *kernel, const char *mark) {
    char line[512], comment[128];
    FILE *file = fopen(SOURCE, "r");
    assert_non_null(file);
    snprintf(comment, sizeof comment, "// %s %s", kernel, mark);
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        const char *found = strstr(line, comment);
        if (found && (found[strlen(comment)] == '\n' || found[strlen(comment)] == 0)) {
            fclose(file);
            return number;
        }
    }
    fclose(file);
    fail_msg("no line of %s has the comment \"%s\"", SOURCE, comment);
    return 0;
}

static void must_mention(const char *kernel, const char *words) {
    if (!strstr(driver_findings(), words)) {
        fail_msg("%s: \"%s\" is not in what was found:\n%s", kernel, words, driver_findings());
    }
}

static void must_name(const char *kernel, const char *mark) {
    char place[64];
    snprintf(place, sizeof place, "exec_findings.cu:%d", line_of(kernel, mark));
    must_mention(kernel, place);
}

// A kernel's buffers: zeroed, each of this many floats.
#define FLOATS 1024

static uint64_t zeros(void) {
    static const float zero[FLOATS];
    return driver_upload(zero, sizeof zero);
}

struct launch {
    const char *kernel;
    unsigned grid, block;
    int parameters;
    uint64_t parameter[3];
};

static enum sim_status run(const struct launch *launch) {
    return driver_run(driver, launch->kernel, launch->grid, launch->block, 0, launch->parameters, launch->parameter,
                      NULL);
}

static void must_be_silent(const struct launch *launch) {
    enum sim_status status = run(launch);
    if (status != SIM_OK || driver_findings()[0]) {
        fail_msg("%s: status %d, found:\n%s", launch->kernel, status, driver_findings());
    }
}

static void must_find(const struct launch *launch, enum sim_status expected, const char *kind, bool two_lines) {
    enum sim_status status = run(launch);
    if (status != expected) {
        fail_msg("%s: status %d where %d is meant, found:\n%s", launch->kernel, status, expected, driver_findings());
    }
    must_mention(launch->kernel, kind);
    must_name(launch->kernel, "here");
    if (two_lines) {
        must_name(launch->kernel, "there");
    }
    must_mention(launch->kernel, "Usual cause: ");
}

#define RUN(...)                                                                                                       \
    &(struct launch) {                                                                                                 \
        __VA_ARGS__                                                                                                    \
    }

static void test_races_between_warps(void **state) {
    (void)state;
    uint64_t a = zeros(), b = zeros();
    must_find(RUN("missing_barrier", 1, 256, 1, {a}), SIM_LAUNCH_FAILURE, "race: ", true);
    must_be_silent(RUN("with_barrier", 1, 256, 1, {a}));
    must_find(RUN("missing_second_barrier", 1, 64, 2, {a, b}), SIM_LAUNCH_FAILURE, "race: ", true);
    must_be_silent(RUN("with_second_barrier", 1, 64, 2, {a, b}));
    must_find(RUN("different_values", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "race", false);
    must_be_silent(RUN("same_value", 1, 64, 1, {a}));
    must_be_silent(RUN("neighbours", 1, 64, 1, {a}));
    must_be_silent(RUN("named_barrier", 1, 128, 1, {a}));
    must_find(RUN("named_barrier_too_early", 1, 128, 1, {a}), SIM_LAUNCH_FAILURE, "race: ", true);
    must_be_silent(RUN("atomics", 1, 128, 1, {a}));
    must_find(RUN("atomic_and_plain", 1, 128, 1, {a}), SIM_LAUNCH_FAILURE, "race: ", true);
    must_be_silent(RUN("flag", 1, 64, 1, {a}));
}

static void test_races_within_a_warp(void **state) {
    (void)state;
    uint64_t a = zeros();
    must_find(RUN("missing_syncwarp", 1, 32, 1, {a}), SIM_LAUNCH_FAILURE, "race within a warp: ", true);
    must_be_silent(RUN("with_syncwarp", 1, 32, 1, {a}));
    must_be_silent(RUN("with_half_syncwarp", 1, 32, 1, {a}));
}

static void test_races_between_blocks(void **state) {
    (void)state;
    uint64_t a = zeros(), b = zeros(), c = zeros(), counter = zeros();
    must_find(RUN("blocks_race", 4, 32, 1, {a}), SIM_LAUNCH_FAILURE, "race between blocks: ", false);
    must_be_silent(RUN("blocks_apart", 4, 32, 1, {a}));
    must_be_silent(RUN("blocks_same_value", 4, 32, 1, {a}));
    must_find(RUN("blocks_shift", 4, 32, 2, {a, 128}), SIM_LAUNCH_FAILURE, "race between blocks: ", true);
    must_be_silent(RUN("blocks_halves", 8, 33, 1, {b}));
    must_be_silent(RUN("last_block", 16, 32, 3, {a, counter, c}));
    float sum;
    driver_download(&sum, c, sizeof sum);
    assert_true(sum == 120);
}

static void test_uninitialised(void **state) {
    (void)state;
    uint64_t a = zeros(), fresh = driver_alloc(4 * FLOATS);
    must_find(RUN("uninitialised_shared", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "byte 160 of shared memory", false);
    must_find(RUN("copy", 1, 32, 2, {a, fresh}), SIM_LAUNCH_FAILURE, "uninitialised read: ", false);
    must_be_silent(RUN("copy", 1, 32, 2, {fresh, a}));
    must_be_silent(RUN("copy", 1, 32, 2, {a, fresh}));
    must_find(RUN("copy", 1, 33, 2, {a, fresh}), SIM_LAUNCH_FAILURE, "at byte 128 of allocation", false);
}

static void test_out_of_bounds(void **state) {
    (void)state;
    uint64_t a = zeros(), gone = zeros();
    must_find(RUN("past_the_end", 33, 32, 1, {a}), SIM_ILLEGAL_ADDRESS, "1 byte(s) past the last byte of allocation",
              false);
    must_mention("past_the_end", "block (32,0,0), thread (0,0,0)");
    must_find(RUN("past_the_end", 1, 32, 1, {a - 8}), SIM_ILLEGAL_ADDRESS, "8 byte(s) before allocation", false);
    must_find(RUN("past_the_end", 1, 32, 1, {0}), SIM_ILLEGAL_ADDRESS, "a null or a host pointer", false);
    driver_free(gone);
    must_find(RUN("past_the_end", 1, 32, 1, {gone}), SIM_ILLEGAL_ADDRESS, "that was freed", false);
    must_find(RUN("inlined", 1, 32, 1, {a}), SIM_ILLEGAL_ADDRESS, "out of bounds: ", false);
    char called[64];
    snprintf(called, sizeof called, "(called at exec_findings.cu:%d)", line_of("inlined", "caller"));
    must_mention("inlined", called);
    must_find(RUN("shared_past_the_end", 1, 32, 2, {a, 3}), SIM_ILLEGAL_ADDRESS,
              "the block's shared memory, which has 128", false);
    must_find(RUN("local_past_the_end", 1, 32, 2, {a, 3}), SIM_ILLEGAL_ADDRESS, "local memory out of bounds: ", false);
    must_find(RUN("misaligned", 1, 32, 1, {a}), SIM_MISALIGNED_ADDRESS, "not a multiple of 16", false);
    must_find(RUN("write_constant", 1, 4, 1, {driver_variable(driver, "constant")}), SIM_ILLEGAL_ADDRESS, "read-only",
              false);
}

static void test_barriers(void **state) {
    (void)state;
    uint64_t a = zeros();
    must_find(RUN("divergent_barrier", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "divergent barrier: ", true);
    must_be_silent(RUN("uniform_barrier", 1, 64, 2, {a, 1}));
    must_be_silent(RUN("uniform_barrier", 1, 64, 2, {a, 5}));
    must_be_silent(RUN("early_return", 1, 128, 2, {a, 40}));
    must_find(RUN("deadlock", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "deadlock: ", true);
    must_mention("deadlock", "warp 1, lanes ffffffff: exec_findings.cu:");
}

static void test_lanes(void **state) {
    (void)state;
    uint64_t a = zeros();
    must_find(RUN("exited_lanes", 1, 32, 2, {a, 20}), SIM_LAUNCH_FAILURE, "lane 20, which has exited", false);
    must_be_silent(RUN("exited_lanes", 1, 32, 2, {a, 32}));
    must_be_silent(RUN("partial_warp", 1, 40, 1, {a}));
    must_be_silent(RUN("present_lanes", 1, 32, 2, {a, 20}));
    must_find(RUN("absent_source", 1, 32, 1, {a}), SIM_LAUNCH_FAILURE, "lane 16", false);
}

static void test_asynchronous_copies(void **state) {
    (void)state;
    uint64_t a = zeros(), b = zeros();
    must_find(RUN("missing_wait", 1, 64, 2, {a, b}), SIM_LAUNCH_FAILURE, "missing wait: ", true);
    must_be_silent(RUN("with_wait", 1, 64, 2, {a, b}));
}

static void test_ends(void **state) {
    (void)state;
    uint64_t a = zeros();
    must_find(RUN("endless", 1, 32, 1, {a}), SIM_LAUNCH_TIMEOUT, "instruction limit: ", false);
    must_find(RUN("endless_in_one_lane", 1, 32, 1, {a}), SIM_LAUNCH_TIMEOUT, "instruction limit: ", false);
    must_find(RUN("endless_with_barrier", 1, 64, 1, {a}), SIM_LAUNCH_TIMEOUT, "instruction limit: ", false);
    // The limit is on a block, not on all of a launch.
    must_be_silent(RUN("busy", 64, 32, 2, {a, 10000}));
    must_find(RUN("trapped", 1, 32, 1, {1}), SIM_TRAP, "trap: ", false);
    must_be_silent(RUN("trapped", 1, 32, 1, {0}));
}

// One finding for each pair of lines however often it happens, and a count of all.
static void test_each_once(void **state) {
    (void)state;
    uint64_t a = zeros();
    unsigned before = sim_report_total();
    run(RUN("missing_syncwarp", 4, 32, 1, {a}));
    must_mention("missing_syncwarp", "times)");
    assert_int_equal(sim_report_total() - before, 1);
    must_find(RUN("unrolled", 1, 128, 1, {a}), SIM_LAUNCH_FAILURE, "race: ", true);
    assert_int_equal(sim_report_total() - before, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_races_between_warps),
        cmocka_unit_test(test_races_within_a_warp),
        cmocka_unit_test(test_races_between_blocks),
        cmocka_unit_test(test_uninitialised),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_asynchronous_copies),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_each_once),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
