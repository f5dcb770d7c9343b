// The order of blocks and warps follows from a seed, is one of all of them, and not always the same; a budget ends a
// launch.
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
        simulator_order(seed);
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
    simulator_order(0);
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

static void test_budget(void **state) {
    (void)state;
    unsigned place[COUNT], written = 0;
    unsigned long cut = simulator_cut_launches();
    simulator_budget(40);
    run("order_of_blocks", COUNT, 32, place);
    for (unsigned i = 0; i < COUNT; i++)
        written += place[i] > 0;
    assert_true(written > 0 && written < COUNT - 1);
    run("order_of_blocks", COUNT, 32, place);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(place[i], 0);
    assert_int_equal(simulator_cut_launches(), cut + 2);
    simulator_budget(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_warps),
        cmocka_unit_test(test_budget),
    };
    driver = driver_load("build/exec/exec_order.ptx");
    int failed = cmocka_run_group_tests_name("order", tests, NULL, NULL);
    driver_unload(driver);
    return failed;
}
