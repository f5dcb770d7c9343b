// The order of blocks and warps follows from a seed, is a permutation, and varies; a budget cuts off a launch.
#include "../harness/cmocka_all.h"
#include "exec_driver.h"
#include "simulator.h"

#include <string.h>

enum { COUNT = 24, SEEDS = 16 };

static struct driver *driver;

static void run(const char *kernel, unsigned grid, unsigned block, unsigned place[COUNT]) {
    static const unsigned zeros[COUNT];
    uint64_t parameters[] = {driver_upload(zeros, sizeof zeros), driver_upload(zeros, sizeof zeros)};
    assert_int_equal(driver_run(driver, kernel, grid, block, 0, 2, parameters, NULL), SIM_OK);
    driver_download(place, parameters[1], COUNT * sizeof *place);
    driver_free(parameters[0]);
    driver_free(parameters[1]);
}

static void orders(const char *kernel, unsigned grid, unsigned block) {
    unsigned own[COUNT], again[COUNT];
    int others = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool seen[COUNT] = {false}, moved = false;
        simulator_set_order(seed);
        run(kernel, grid, block, own);
        run(kernel, grid, block, again);
        assert_memory_equal(own, again, sizeof own);
        for (unsigned i = 0; i < COUNT; i++) {
            assert_true(own[i] < COUNT && !seen[own[i]]);
            seen[own[i]] = true;
            moved |= own[i] != i;
        }
        assert_false(seed == 0 && moved);
        others += moved;
    }
    assert_in_range(others, 2, SEEDS - 2);
    simulator_set_order(0);
}

static void test_blocks(void **state) {
    (void)state;
    sim_options()->host_threads = 1;
    orders("order_of_blocks", COUNT, 32);
}

static void test_warps(void **state) {
    (void)state;
    orders("order_of_warps", 1, 32 * COUNT);
}

// Whether warps run in ascending order, except one group of four, not the last one, that runs after all others.
static bool one_group_lags(const unsigned place[COUNT]) {
    for (unsigned group = 0; group + 4 < COUNT; group += 4) {
        bool lags = true;
        for (unsigned w = 0; w < COUNT; w++) {
            unsigned behind = w < group ? w : w < group + 4 ? w - group + COUNT - 4 : w - 4;
            lags &= place[w] == behind;
        }
        if (lags)
            return true;
    }
    return false;
}

static void test_a_deferred_warpgroup(void **state) {
    (void)state;
    unsigned place[COUNT];
    int lags = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        simulator_set_order(seed);
        run("order_of_warps", 1, 32 * COUNT, place);
        lags += one_group_lags(place);
    }
    simulator_set_order(0);
    assert_in_range(lags, 1, SEEDS / 2);
}

// The number of SEEDS runs whose findings contain the words; *well of the runs succeed.
static int found(const char *kernel, unsigned block, const char *words, int *well) {
    static const unsigned input[COUNT] = {1, 2, 3, 4};
    int times = 0;
    *well = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static const unsigned zeros[128];
        uint64_t parameters[] = {driver_upload(zeros, sizeof zeros), driver_upload(input, sizeof input)};
        simulator_set_order(seed);
        *well += driver_run(driver, kernel, 1, block, 0, block == 128 ? 1 : 2, parameters, NULL) == SIM_OK;
        times += strstr(driver_findings(), words) != NULL;
        driver_free(parameters[0]);
        driver_free(parameters[1]);
    }
    simulator_set_order(0);
    return times;
}

// A stage that counts as free once one of its three consumers has arrived is refilled before the others have read it,
// and these wait for a completed phase. Three arrivals have the same parity as one: in ascending order of the warps the
// result is correct.
static void test_late_consumers(void **state) {
    (void)state;
    int well;
    assert_int_equal(found("three_readers", 128, "simulator", &well), 0);
    assert_int_equal(well, SEEDS);
    found("one_of_three_readers", 128, "", &well);
    assert_in_range(well, 0, SEEDS - 4);
}

// A bulk copy may or may not have landed at the first test, and data that is read without a test is complete or in
// flight.
static void test_copies_early_and_late(void **state) {
    (void)state;
    static const unsigned input[4] = {1, 2, 3, 4};
    int well, at_once = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        unsigned out[4] = {0};
        uint64_t parameters[] = {driver_upload(out, sizeof out), driver_upload(input, sizeof input)};
        simulator_set_order(seed);
        assert_int_equal(driver_run(driver, "looks_until_copied", 1, 1, 0, 2, parameters, NULL), SIM_OK);
        driver_download(out, parameters[0], sizeof out);
        assert_int_equal(out[0], 4);
        at_once += out[1] == 0;
        driver_free(parameters[0]);
        driver_free(parameters[1]);
    }
    simulator_set_order(0);
    assert_in_range(at_once, 1, SEEDS - 1);
    assert_in_range(found("reads_before_copied", 1, "[missing-wait]", &well), 1, SEEDS - 1);
    assert_int_equal(well, 0);
    assert_in_range(found("reads_before_copied", 1, "[async-race]", &well), 1, SEEDS - 1);
}

static void test_budget(void **state) {
    (void)state;
    unsigned place[COUNT], written = 0;
    unsigned long cut = simulator_truncated_launches();
    simulator_set_budget(40);
    run("order_of_blocks", COUNT, 32, place);
    for (unsigned i = 0; i < COUNT; i++)
        written += place[i] > 0;
    assert_true(written > 0 && written < COUNT - 1);
    for (int i = 0; i < 8; i++)
        run("order_of_blocks", COUNT, 32, place);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(place[i], 0);
    assert_int_equal(simulator_truncated_launches(), cut + 9);
    assert_int_equal(simulator_coverage(), SIMULATOR_SKIPPED);
    simulator_set_budget(0);
}

enum { STEPS = 3, BLOCKS = 2000 };

// Runs the kernels one after the other within a budget, each with these of the two arrays. Returns the number of
// reliable words in the last array, all of which must be correct.
static unsigned in_part(uint64_t budget, const char *const kernel[STEPS], const char *const arrays[STEPS],
                        unsigned factor, enum simulator_coverage part) {
    static unsigned zeros[BLOCKS], got[BLOCKS];
    uint64_t array[] = {driver_upload(zeros, sizeof zeros), driver_upload(zeros, sizeof zeros)}, last = array[0];
    simulator_set_budget(budget);
    for (int i = 0; i < STEPS && kernel[i]; i++) {
        uint64_t parameters[2];
        int count = 0;
        for (const char *which = arrays[i]; *which; which++)
            parameters[count++] = last = array[*which - 'a'];
        assert_int_equal(driver_run(driver, kernel[i], BLOCKS, 32, 0, count, parameters, NULL), SIM_OK);
    }
    assert_int_equal(simulator_coverage(), part);
    simulator_overwrite_unwritten((void *)(uintptr_t)last, sizeof got, 0xFF);
    driver_download(got, last, sizeof got);
    unsigned there = 0;
    for (unsigned i = 0; i < BLOCKS && part == SIMULATOR_PARTIAL; i++) {
        assert_true(got[i] == ~0u || got[i] == factor * (i + 1));
        there += got[i] != ~0u;
    }
    simulator_set_budget(0);
    driver_free(array[0]);
    driver_free(array[1]);
    return there;
}

static void test_partial_launches(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        simulator_set_order(seed);
        assert_in_range(
            in_part(2000, (const char *[STEPS]){"step_stores"}, (const char *[STEPS]){"a"}, 1, SIMULATOR_PARTIAL), 10,
            BLOCKS - 1);
        assert_in_range(in_part(2000, (const char *[STEPS]){"step_stores", "step_reads"},
                                (const char *[STEPS]){"a", "ab"}, 1, SIMULATOR_PARTIAL),
                        10, BLOCKS - 1);
        // A word that the second kernel has not yet changed is neither read by the third one nor a result.
        assert_in_range(in_part(2000, (const char *[STEPS]){"step_stores", "step_changes"},
                                (const char *[STEPS]){"a", "a"}, 2, SIMULATOR_PARTIAL),
                        10, BLOCKS - 1);
        assert_in_range(in_part(2000, (const char *[STEPS]){"step_stores", "step_changes", "step_reads"},
                                (const char *[STEPS]){"a", "a", "ab"}, 2, SIMULATOR_PARTIAL),
                        10, BLOCKS - 1);
        in_part(2000, (const char *[STEPS]){"step_counts"}, (const char *[STEPS]){"ab"}, 1, SIMULATOR_DEPENDENT);
        in_part(2000, (const char *[STEPS]){"step_looks_beside"}, (const char *[STEPS]){"a"}, 1, SIMULATOR_DEPENDENT);
        in_part(1000000, (const char *[STEPS]){"step_counts"}, (const char *[STEPS]){"ab"}, 1, SIMULATOR_COMPLETE);
        in_part(100, (const char *[STEPS]){"step_stores", "step_stores", "step_stores"},
                (const char *[STEPS]){"a", "a", "a"}, 1, SIMULATOR_PARTIAL);
    }
    simulator_set_order(0);
}

// The last blocks run together with those at a distance of a power of two.
static void test_overlaps(void **state) {
    (void)state;
    static unsigned zeros[BLOCKS];
    const char *const kernel[] = {"step_stores", "step_in_8_bits"};
    for (int wraps = 0; wraps < 2; wraps++) {
        uint64_t parameters[] = {driver_upload(zeros, sizeof zeros)};
        simulator_set_budget(100);
        assert_int_equal(driver_run(driver, kernel[wraps], BLOCKS, 32, 0, 1, parameters, NULL), SIM_OK);
        assert_int_equal(simulator_overlap_distance((void *)(uintptr_t)parameters[0], sizeof zeros), wraps ? 1024 : 0);
        driver_free(parameters[0]);
    }
    simulator_set_budget(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_warps),
        cmocka_unit_test(test_a_deferred_warpgroup),
        cmocka_unit_test(test_late_consumers),
        cmocka_unit_test(test_copies_early_and_late),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_partial_launches),
        cmocka_unit_test(test_overlaps),
    };
    driver = driver_load("build/exec/exec_order.ptx");
    int failed = cmocka_run_group_tests_name("order", tests, NULL, NULL);
    driver_unload(driver);
    return failed;
}
