// The time that is made of counts: by hand, for launches that one part of the GPU limits.
#include "../harness/cmocka_all.h"
#include "estimate.h"

#include <math.h>
#include <string.h>

// An H200: 132 SMs at 1980 MHz, 4 schedulers each. LAUNCH: what every launch takes; BEGIN: what every block does.
#define LAUNCH 4.0
#define BEGIN (2000 / 1980.0)
#define SLOWDOWN 0.2
#define IN_ORDER 1.15

static struct works one_launch(double blocks, double resident_blocks, enum work_count what, double of_a_block) {
    struct works works = {.dtype = "fp32", .shape = "1,1,1,1", .launches = 1};
    works.launch[0] = (struct work){.blocks = blocks, .blocks_run = 2, .resident_blocks = resident_blocks};
    works.launch[0].count[what] = 2 * of_a_block;
    return works;
}

static double time_of(double blocks, double resident_blocks, enum work_count what, double of_a_block) {
    struct works works = one_launch(blocks, resident_blocks, what, of_a_block);
    return estimate_of(&works, 0).us - LAUNCH;
}

// The way through a block is short beside its work.
static void near_to(double us, double wanted) {
    if (fabs(us - wanted) > 0.01 * wanted)
        fail_msg("%g us, not %g", us, wanted);
}

static void work_is_divided_by_what_a_part_can_do(void **state) {
    (void)state;
    const double cycles = 1e8, us = cycles / 1980;
    near_to(time_of(132, 132, WORK_ISSUE, 4 * cycles), us);
    near_to(time_of(132, 132, WORK_FMA, 4 * cycles), us);
    near_to(time_of(132, 132, WORK_ALU, 2 * cycles), us);
    near_to(time_of(132, 132, WORK_XU, cycles / 2), us);
    near_to(time_of(132, 132, WORK_WAVEFRONTS, cycles), us);
    near_to(time_of(132, 132, WORK_PASSES, cycles), us);
    // Tensor cores that never rest take the GPU to its power limit, and so the clock down.
    near_to(time_of(132, 132, WORK_WGMMA, 2048 * cycles), us / (1 - SLOWDOWN));
    near_to(time_of(132, 132, WORK_MMA, 0.655 * 2048 * cycles), us / (1 - SLOWDOWN));
    near_to(time_of(132, 132, WORK_CYCLES, cycles), IN_ORDER * us);
}

static void blocks_come_in_waves(void **state) {
    (void)state;
    const double cycles = 1e8, us = cycles / 1980;
    near_to(time_of(133, 132, WORK_WAVEFRONTS, cycles), 2 * us);    // one block more than fit
    near_to(time_of(1, 132, WORK_WAVEFRONTS, cycles), us);          // an empty GPU helps nobody
    near_to(time_of(264, 264, WORK_WAVEFRONTS, cycles), 2 * us);    // two that share an SM take turns,
    near_to(time_of(264, 264, WORK_CYCLES, cycles), IN_ORDER * us); // and wait at the same time
    near_to(time_of(265, 264, WORK_CYCLES, cycles), 2 * IN_ORDER * us);
}

static void the_busiest_part_is_named(void **state) {
    (void)state;
    struct works works = one_launch(132, 132, WORK_WAVEFRONTS, 1e8);
    works.launch[0].count[WORK_ISSUE] = 2 * 1e8;
    struct estimate estimate = estimate_of(&works, 0);
    assert_string_equal(estimate.busiest, "shared memory");
    assert_true(estimate.busy > 0.9 && estimate.busy < 1);
    // Two parts that are as busy hinder each other. Issue slots are on the way through a block, too.
    works.launch[0].count[WORK_ISSUE] = 2 * 4 * 1e8;
    works.launch[0].count[WORK_CYCLES] = 2 * 1e8;
    assert_true(estimate_of(&works, 0).us > 1.2 * estimate.us);
    assert_true(estimate_of(&works, 0).busy < 0.8);
    estimate = estimate_of(&works, 4.15e6 * 1e9);
    assert_string_equal(estimate.busiest, "device memory");
}

static void a_tie_has_two_names(void **state) {
    (void)state;
    struct works works = one_launch(132, 132, WORK_WAVEFRONTS, 1e8);
    works.launch[0].count[WORK_XU] = 2 * 0.5 * 0.99e8;
    struct estimate estimate = estimate_of(&works, 0);
    assert_string_equal(estimate.busiest, "shared memory");
    assert_string_equal(estimate.as_busy, "exponentials and conversions");
    works.launch[0].count[WORK_XU] = 2 * 0.5 * 0.95e8;
    assert_null(estimate_of(&works, 0).as_busy);
}

// What the blocks of an SM all load comes from L2 once for all of them, as far as shared memory leaves room for it.
static void blocks_share_what_l1_has_room_for(void **state) {
    (void)state;
    struct works works = one_launch(4 * 132, 4 * 132, WORK_MISSED_SECTORS, 1e8);
    double shared = estimate_of(&works, 0).us;
    works.launch[0].shared_bytes = 64 << 10;
    double apart = estimate_of(&works, 0).us;
    assert_true(apart > 1.5 * shared);
    works.launch[0].blocks = works.launch[0].resident_blocks = 132;
    assert_true(estimate_of(&works, 0).us > 0.2 * apart);
}

static void an_empty_launch_takes_its_time(void **state) {
    (void)state;
    struct works works = one_launch(132, 132, WORK_ISSUE, 0);
    near_to(estimate_of(&works, 0).us, LAUNCH + BEGIN);
    works.launch[works.launches++] = works.launch[0];
    near_to(estimate_of(&works, 0).us, 2 * (LAUNCH + BEGIN));
}

static void bytes_of_a_case(void **state) {
    (void)state;
    struct works works = {.dtype = "bf16", .shape = "2,3,100,64"};
    assert_float_equal(work_bytes(&works), 2.0 * 4 * 2 * 3 * 100 * 64, 0);
    works = (struct works){.dtype = "fp32", .shape = "10,20"};
    assert_float_equal(work_bytes(&works), 4.0 * 2 * 10 * 20, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_divided_by_what_a_part_can_do),
        cmocka_unit_test(blocks_come_in_waves),
        cmocka_unit_test(the_busiest_part_is_named),
        cmocka_unit_test(a_tie_has_two_names),
        cmocka_unit_test(blocks_share_what_l1_has_room_for),
        cmocka_unit_test(an_empty_launch_takes_its_time),
        cmocka_unit_test(bytes_of_a_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
