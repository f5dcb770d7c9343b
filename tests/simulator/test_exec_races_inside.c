// Races in global memory between the threads of one block: both lines of a race are reported, and a kernel without a
// race is not reported.
#include "exec_expected.h"
#include "machine/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int load(void **state) {
    (void)state;
    expected_load("exec_races_inside");
    return 0;
}

static int unload(void **state) {
    (void)state;
    expected_unload();
    return 0;
}

#define ZEROS3                                                                                                         \
    { expected_zeros(), expected_zeros(), expected_zeros() }

static void test_barriers(void **state) {
    (void)state;
    static const char *const wrong[] = {"missing_barrier", "written_later", "shift_in_place", "named_barrier_too_early",
                                        "scratch_of_the_device"};
    static const char *const right[] = {
        "with_barrier", "written_behind_a_barrier", "shift_behind_a_barrier", "named_barrier", "own_places",
        "scan_steps"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        must_find(RUN(wrong[i], 1, 64, 3, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
    for (unsigned i = 0; i < sizeof right / sizeof *right; i++)
        must_be_silent(RUN(right[i], 1, 128, 3, ZEROS3));
    must_find(RUN("scan_step_missing", 1, 128, 1, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_find(RUN("in_each_block", 4, 64, 2, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
}

static void test_message(void **state) {
    (void)state;
    must_find(RUN("written_later", 1, 64, 2, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_mention("written_later", "byte 0 of allocation");
    must_mention("written_later", "thread (0,0,0)");
    must_mention("written_later", "write-after-read");
    must_mention("written_later", "__syncthreads()");
    must_find(RUN("scratch_of_the_device", 1, 64, 1, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_mention("scratch_of_the_device", "scratch");
}

// A read before the first write: only the missing barrier, which is the cause, is reported.
static void test_uninitialized_read_of_a_race(void **state) {
    (void)state;
    uint64_t fresh = driver_alloc(4096);
    must_find(RUN("written_later", 1, 64, 2, {fresh, expected_zeros()}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    assert_null(strstr(driver_findings(), "[uninitialized"));
    driver_free(fresh);
}

static void test_values_and_widths(void **state) {
    (void)state;
    must_find(RUN("two_writers", 1, 64, 1, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", false);
    must_be_silent(RUN("same_value", 1, 64, 1, ZEROS3));
    must_be_silent(RUN("same_value_of_a_warp", 1, 32, 1, ZEROS3));
    must_find(RUN("halves_of_a_word", 1, 64, 2, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
}

static void test_lanes(void **state) {
    (void)state;
    must_find(RUN("missing_syncwarp", 1, 32, 2, ZEROS3), SIM_LAUNCH_FAILURE, "[warp-race]", true);
    must_be_silent(RUN("with_syncwarp", 1, 32, 2, ZEROS3));
    must_find(RUN("broadcast", 1, 32, 2, ZEROS3), SIM_LAUNCH_FAILURE, "[warp-race]", true);
    must_be_silent(RUN("broadcast_behind_syncwarp", 1, 32, 2, ZEROS3));
}

static void test_signals(void **state) {
    (void)state;
    must_be_silent(RUN("atomics", 1, 128, 1, ZEROS3));
    must_find(RUN("atomic_and_plain", 1, 64, 2, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("atomics_then_plain", 1, 128, 2, ZEROS3));
    must_be_silent(RUN("flag", 1, 64, 3, ZEROS3));
    must_find(RUN("flag_without_fence", 1, 64, 3, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_be_silent(RUN("volatile_flag", 1, 64, 3, ZEROS3));
    must_be_silent(RUN("lock", 1, 64, 2, ZEROS3));
    must_find(RUN("count_without_lock", 1, 64, 1, ZEROS3), SIM_LAUNCH_FAILURE, "[block-race]", false);
    assert_int_equal(expected_run(RUN("guess", 1, 64, 1, ZEROS3)), SIM_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_uninitialized_read_of_a_race),
        cmocka_unit_test(test_values_and_widths),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
