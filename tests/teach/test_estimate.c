// Estimated times compared with hand calculations, for launches limited by one unit.
#include "../harness/cmocka_all.h"
#include "estimate.h"

#include <math.h>
#include <string.h>

// An H200: 132 SMs at 1980 MHz, 4 schedulers each. LAUNCH: overhead per launch; BEGIN: cycles per block.
#define LAUNCH 4.0
#define BEGIN (2000 / 1980.0)
#define SLOWDOWN 0.2
#define IN_ORDER 1.15

static struct run_work one_launch(double blocks, double resident_blocks, enum work_count what, double of_a_block) {
    struct run_work run_work = {.dtype = "fp32", .shape = "1,1,1,1", .launches = 1};
    run_work.launch[0] = (struct work){.blocks = blocks, .blocks_run = 2, .resident_blocks = resident_blocks};
    run_work.launch[0].count[what] = 2 * of_a_block;
    return run_work;
}

static double time_of(double blocks, double resident_blocks, enum work_count what, double of_a_block) {
    struct run_work run_work = one_launch(blocks, resident_blocks, what, of_a_block);
    return estimate_time(&run_work, 0).us - LAUNCH;
}

// The critical path of a block is short compared with its work.
static void assert_time_near(double us, double wanted) {
    if (fabs(us - wanted) > 0.01 * wanted)
        fail_msg("%g us, not %g", us, wanted);
}

static void time_is_work_divided_by_throughput(void **state) {
    (void)state;
    const double cycles = 1e8, us = cycles / 1980;
    assert_time_near(time_of(132, 132, WORK_ISSUE, 4 * cycles), us);
    assert_time_near(time_of(132, 132, WORK_FMA, 4 * cycles), us);
    assert_time_near(time_of(132, 132, WORK_ALU, 2 * cycles), us);
    assert_time_near(time_of(132, 132, WORK_XU, cycles / 2), us);
    assert_time_near(time_of(132, 132, WORK_WAVEFRONTS, cycles), us);
    assert_time_near(time_of(132, 132, WORK_PASSES, cycles), us);
    // Permanently busy tensor cores reach the power limit, which lowers the clock.
    assert_time_near(time_of(132, 132, WORK_WGMMA, 2048 * cycles), us / (1 - SLOWDOWN));
    assert_time_near(time_of(132, 132, WORK_MMA, 0.655 * 2048 * cycles), us / (1 - SLOWDOWN));
    assert_time_near(time_of(132, 132, WORK_CYCLES, cycles), IN_ORDER * us);
}

static void blocks_run_in_waves(void **state) {
    (void)state;
    const double cycles = 1e8, us = cycles / 1980;
    assert_time_near(time_of(133, 132, WORK_WAVEFRONTS, cycles), 2 * us); // one block more than one wave
    assert_time_near(time_of(1, 132, WORK_WAVEFRONTS, cycles), us); // a single block is not faster on an empty GPU
    assert_time_near(time_of(264, 264, WORK_WAVEFRONTS, cycles),
                     2 * us); // two blocks of an SM share its shared memory,
    assert_time_near(time_of(264, 264, WORK_CYCLES, cycles), IN_ORDER * us); // but their latencies overlap
    assert_time_near(time_of(265, 264, WORK_CYCLES, cycles), 2 * IN_ORDER * us);
}

static void names_the_busiest_unit(void **state) {
    (void)state;
    struct run_work run_work = one_launch(132, 132, WORK_WAVEFRONTS, 1e8);
    run_work.launch[0].count[WORK_ISSUE] = 2 * 1e8;
    struct estimate estimate = estimate_time(&run_work, 0);
    assert_string_equal(estimate.busiest, "shared memory");
    assert_true(estimate.busy > 0.9 && estimate.busy < 1);
    // Two equally busy units slow each other down. Issue slots are also part of the critical path.
    run_work.launch[0].count[WORK_ISSUE] = 2 * 4 * 1e8;
    run_work.launch[0].count[WORK_CYCLES] = 2 * 1e8;
    assert_true(estimate_time(&run_work, 0).us > 1.2 * estimate.us);
    assert_true(estimate_time(&run_work, 0).busy < 0.8);
    estimate = estimate_time(&run_work, 4.15e6 * 1e9);
    assert_string_equal(estimate.busiest, "device memory");
}

static void names_both_units_of_a_tie(void **state) {
    (void)state;
    struct run_work run_work = one_launch(132, 132, WORK_WAVEFRONTS, 1e8);
    run_work.launch[0].count[WORK_XU] = 2 * 0.5 * 0.99e8;
    struct estimate estimate = estimate_time(&run_work, 0);
    assert_string_equal(estimate.busiest, "shared memory");
    assert_string_equal(estimate.equally_busy, "exponentials and conversions");
    run_work.launch[0].count[WORK_XU] = 2 * 0.5 * 0.95e8;
    assert_null(estimate_time(&run_work, 0).equally_busy);
}

// Data that all blocks of an SM load comes from L2 once, as far as L1 has room next to shared memory.
static void blocks_share_data_in_l1(void **state) {
    (void)state;
    struct run_work run_work = one_launch(4 * 132, 4 * 132, WORK_MISSED_SECTORS, 1e8);
    double shared = estimate_time(&run_work, 0).us;
    run_work.launch[0].shared_bytes = 64 << 10;
    double apart = estimate_time(&run_work, 0).us;
    assert_true(apart > 1.5 * shared);
    run_work.launch[0].blocks = run_work.launch[0].resident_blocks = 132;
    assert_true(estimate_time(&run_work, 0).us > 0.2 * apart);
}

static void an_empty_launch_has_overhead(void **state) {
    (void)state;
    struct run_work run_work = one_launch(132, 132, WORK_ISSUE, 0);
    assert_time_near(estimate_time(&run_work, 0).us, LAUNCH + BEGIN);
    run_work.launch[run_work.launches++] = run_work.launch[0];
    assert_time_near(estimate_time(&run_work, 0).us, 2 * (LAUNCH + BEGIN));
}

static void bytes_of_a_case(void **state) {
    (void)state;
    struct run_work run_work = {.dtype = "bf16", .shape = "2,3,100,64"};
    assert_float_equal(work_bytes(&run_work), 2.0 * 4 * 2 * 3 * 100 * 64, 0);
    run_work = (struct run_work){.dtype = "fp32", .shape = "10,20"};
    assert_float_equal(work_bytes(&run_work), 4.0 * 2 * 10 * 20, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_work_divided_by_throughput),
        cmocka_unit_test(blocks_run_in_waves),
        cmocka_unit_test(names_the_busiest_unit),
        cmocka_unit_test(names_both_units_of_a_tie),
        cmocka_unit_test(blocks_share_data_in_l1),
        cmocka_unit_test(an_empty_launch_has_overhead),
        cmocka_unit_test(bytes_of_a_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
