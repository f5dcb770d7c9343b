// Memory order by PTX's memory consistency model: a kernel that does not release or acquire, or only at block scope, is
// reported; a correct kernel is not; and where CUDA's samples use a weaker order, the finding is only a warning.
#include "exec_expected.h"
#include "machine/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int load(void **state) {
    (void)state;
    expected_load("exec_memory_order");
    return 0;
}

static int unload(void **state) {
    (void)state;
    expected_unload();
    return 0;
}

static const struct expected_launch *blocks(const char *kernel, unsigned grid) {
    static struct expected_launch launch;
    launch = *RUN(kernel, grid, 64, 3, {expected_zeros(), expected_zeros(), expected_zeros()});
    return &launch;
}

static void test_counters(void **state) {
    (void)state;
    must_be_silent(blocks("counts_and_fences", 16));
    must_be_silent(blocks("counts_and_all_fence", 16));
    must_be_silent(blocks("counts_volatile", 16));
    must_find(blocks("counts_and_reads", 16), SIM_LAUNCH_FAILURE, "[grid-race-acquire]", false);
    must_find(blocks("counts_for_its_block", 16), SIM_LAUNCH_FAILURE, "[grid-race-scope]", false);
}

static void test_warning(void **state) {
    (void)state;
    unsigned before = sim_report_total();
    must_find(blocks("counts_and_meets", 16), SIM_OK, "[missing-fence]", false);
    assert_int_equal(sim_report_total(), before);
}

static void test_flags_between_blocks(void **state) {
    (void)state;
    static const char *const wrong[] = {"looks", "looks_by_atomic", "fences_for_its_block"};
    must_be_silent(blocks("looks_and_fences", 2));
    must_be_silent(blocks("acquires", 2));
    for (int i = 0; i < 3; i++)
        must_find(blocks(wrong[i], 2), SIM_LAUNCH_FAILURE, "[grid-race-acquire]", false);
    must_find(blocks("acquires_of_block", 2), SIM_LAUNCH_FAILURE, "[grid-race-scope]", true);
    must_find(blocks("releases_for_its_block", 2), SIM_LAUNCH_FAILURE, "[grid-race-release]", true);
}

static void test_chain(void **state) {
    (void)state;
    must_be_silent(blocks("chain_of_own", 16));
    must_be_silent(blocks("chain_of_others_met", 16));
    must_find(blocks("chain_of_others", 16), SIM_LAUNCH_FAILURE, "[grid-race-release]", true);
}

static void test_releases_of_single_lanes(void **state) {
    (void)state;
    static const char *const right[] = {"flag_of_a_warp",
                                        "flag_of_a_lane_for_itself",
                                        "counter_of_a_warp",
                                        "release_of_a_warp",
                                        "mbarrier_of_a_warp",
                                        "release_of_a_lane_for_itself",
                                        "mbarrier_of_a_lane_for_itself"};
    static const char *const wrong[] = {"flag_of_a_lane", "counter_of_a_lane", "mbarrier_of_a_lane"};
    for (int i = 0; i < 7; i++)
        must_be_silent(RUN(right[i], 1, 64, 1, {expected_zeros()}));
    for (int i = 0; i < 3; i++)
        must_find(RUN(wrong[i], 1, 64, 1, {expected_zeros()}), SIM_LAUNCH_FAILURE, "[block-race]", true);
    must_mention("mbarrier_of_a_lane", "no __syncwarp() ");
    must_find(RUN("release_of_a_lane", 1, 64, 1, {expected_zeros()}), SIM_LAUNCH_FAILURE, "[block-race]", false);
    assert_int_equal(expected_run(RUN("flag_not_acquired", 1, 64, 1, {expected_zeros()})), SIM_LAUNCH_FAILURE);
    must_mention("flag_not_acquired", "no fence ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_warning),
        cmocka_unit_test(test_flags_between_blocks),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_releases_of_single_lanes),
    };
    return cmocka_run_group_tests_name("memory order", tests, load, unload);
}
