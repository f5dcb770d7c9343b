// Races: both lines of a race are reported, and a kernel without a race is not reported.
#include "exec_expected.h"
#include "machine/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int load(void **state) {
    (void)state;
    expected_load("exec_races");
    return 0;
}

static int unload(void **state) {
    (void)state;
    expected_unload();
    return 0;
}

static void test_races_between_warps(void **state) {
    (void)state;
    uint64_t a = expected_zeros(), b = expected_zeros();
    must_find(RUN("missing_barrier", 1, 256, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("with_barrier", 1, 256, 1, {a}));
    must_find(RUN("missing_second_barrier", 1, 64, 2, {a, b}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("with_second_barrier", 1, 64, 2, {a, b}));
    must_find(RUN("different_values", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", false);
    must_be_silent(RUN("same_value", 1, 64, 1, {a}));
    must_be_silent(RUN("same_value_of_a_warp", 1, 64, 2, {a, expected_zeros()}));
    must_find(RUN("nearly_the_same_value", 1, 32, 1, {a}), SIM_LAUNCH_FAILURE, "[warp-race]", false);
    must_be_silent(RUN("neighbours", 1, 64, 1, {a}));
    must_be_silent(RUN("named_barrier", 1, 128, 1, {a}));
    must_find(RUN("named_barrier_too_early", 1, 128, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("atomics", 1, 128, 1, {a}));
    must_find(RUN("atomic_and_plain", 1, 128, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("flag", 1, 64, 1, {a}));
    must_find(RUN("flag_without_fence", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", true);
}

// A flag or barrier orders the accesses before it, not those before the next stage's flag or barrier.
static void test_races_between_stages(void **state) {
    (void)state;
    uint64_t a = expected_zeros();
    must_find(RUN("another_stage", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("first_stage", 1, 64, 1, {a}));
    must_be_silent(RUN("second_stage", 1, 64, 1, {a}));
    must_find(RUN("another_barrier", 1, 96, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("own_barrier", 1, 96, 1, {a}));
}

static void test_races_within_a_warp(void **state) {
    (void)state;
    uint64_t a = expected_zeros();
    must_find(RUN("missing_syncwarp", 1, 32, 1, {a}), SIM_LAUNCH_FAILURE, "[warp-race]", true);
    must_be_silent(RUN("with_syncwarp", 1, 32, 1, {a}));
    must_be_silent(RUN("with_half_syncwarp", 1, 32, 1, {a}));
}

static void test_races_between_blocks(void **state) {
    (void)state;
    uint64_t a = expected_zeros(), b = expected_zeros(), c = expected_zeros(), counter = expected_zeros();
    must_find(RUN("blocks_race", 4, 32, 1, {a}), SIM_LAUNCH_FAILURE, "[grid-race]", false);
    must_be_silent(RUN("blocks_apart", 4, 32, 1, {a}));
    must_be_silent(RUN("blocks_same_value", 4, 32, 1, {a}));
    must_find(RUN("blocks_shift", 4, 32, 2, {a, 128}), SIM_LAUNCH_FAILURE, "[grid-race]", true);
    must_be_silent(RUN("blocks_halves", 8, 33, 1, {b}));
    must_be_silent(RUN("last_block", 16, 32, 3, {a, counter, c}));
    must_find(RUN("last_block_without_fence", 16, 32, 3, {b, expected_zeros(), c}), SIM_LAUNCH_FAILURE,
              "[grid-race-release]", true);
    float sum;
    driver_download(&sum, c, sizeof sum);
    assert_true(sum == 120);
}

// A counter publishes stores that were fenced by the thread that made them, or, after a barrier, by the thread that
// counts.
static void test_last_blocks(void **state) {
    (void)state;
    static const char *const wrong[] = {"first_fences_alone", "all_fence_and_do_not_meet", "fences_too_early"};
    must_be_silent(RUN("all_fence", 16, 64, 3, {expected_zeros(), expected_zeros(), expected_zeros()}));
    must_be_silent(RUN("first_fences_after", 16, 64, 3, {expected_zeros(), expected_zeros(), expected_zeros()}));
    for (int i = 0; i < 3; i++)
        must_find(RUN(wrong[i], 16, 32, 3, {expected_zeros(), expected_zeros(), expected_zeros()}), SIM_LAUNCH_FAILURE,
                  "[grid-race-release]", false);
}

// One finding per pair of lines, with a count of its occurrences.
static void test_each_once(void **state) {
    (void)state;
    uint64_t a = expected_zeros();
    unsigned before = sim_report_total();
    expected_run(RUN("missing_syncwarp", 4, 32, 1, {a}));
    must_mention("missing_syncwarp", "times)");
    assert_int_equal(sim_report_total() - before, 1);
    must_find(RUN("unrolled", 1, 128, 1, {a}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    assert_int_equal(sim_report_total() - before, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_races_between_warps), cmocka_unit_test(test_races_between_stages),
        cmocka_unit_test(test_races_within_a_warp), cmocka_unit_test(test_races_between_blocks),
        cmocka_unit_test(test_last_blocks),         cmocka_unit_test(test_each_once),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
