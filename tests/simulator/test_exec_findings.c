// Every analysis except races: a kernel with the mistake must be reported with the right line, and a kernel without it
// must not be reported.
#include "exec_expected.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct driver *driver;

static int load(void **state) {
    (void)state;
    driver = expected_load("exec_findings");
    return 0;
}

static int unload(void **state) {
    (void)state;
    expected_unload();
    return 0;
}

static void test_uninitialized(void **state) {
    (void)state;
    uint64_t a = expected_zeros(), fresh = driver_alloc(4 * EXPECTED_FLOATS);
    must_find(RUN("uninitialized_shared", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "[uninitialized-shared]", false);
    must_mention("uninitialized_shared", "byte 160 of ");
    must_be_silent(RUN("exchanged", 1, 128, 1, {a}));
    must_find(RUN("copy", 1, 32, 2, {a, fresh}), SIM_LAUNCH_FAILURE, "[uninitialized-global]", false);
    must_be_silent(RUN("copy", 1, 32, 2, {fresh, a}));
    must_be_silent(RUN("copy", 1, 32, 2, {a, fresh}));
    must_find(RUN("copy", 1, 33, 2, {a, fresh}), SIM_LAUNCH_FAILURE, "[uninitialized-global]", false);
    must_mention("copy", "byte 128 of ");
}

// Uninitialized elements that a vector load reads are no finding until an instruction uses them.
static void test_uninitialized_and_unused(void **state) {
    (void)state;
    static const struct {
        uint64_t used;
        const char *line, *how;
    } uses[] = {{1, "chosen", "stores"},   {2, "stored", "stores"},    {4, "decided", "branches on"},
                {8, "address", "address"}, {16, "shuffled", "stores"}, {32, "voted", "uses"}};
    uint64_t a = expected_zeros();
    must_be_silent(RUN("padding", 1, 32, 2, {a, 0}));
    must_be_silent(RUN("past_the_rows", 1, 32, 3, {a, expected_zeros(), 7}));
    must_be_silent(RUN("scan_of_few", 1, 128, 2, {a, 0}));
    must_find(RUN("scan_of_few", 1, 128, 2, {a, 1}), SIM_LAUNCH_FAILURE, "[uninitialized-shared]", false);
    must_mention("scan_of_few", "a thread has written a value that results from uninitialized memory");
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        char place[64];
        assert_int_equal(expected_run(RUN("padding", 1, 32, 2, {a, uses[i].used})), SIM_LAUNCH_FAILURE);
        must_mention("padding", "[uninitialized-shared]");
        must_mention("padding", uses[i].how);
        snprintf(place, sizeof place, "exec_findings.cu:%d", line_of("padding", uses[i].line));
        must_mention("padding", place);
        snprintf(place, sizeof place, "exec_findings.cu:%d", line_of("padding", uses[i].used == 1 ? "second" : "here"));
        must_mention("padding", place);
    }
}

static void test_out_of_bounds(void **state) {
    (void)state;
    uint64_t a = expected_zeros(), gone = expected_zeros();
    must_find(RUN("past_the_end", 33, 32, 1, {a}), SIM_ILLEGAL_ADDRESS, "[out-of-bounds]", false);
    must_mention("past_the_end", "1 byte past ");
    must_mention("past_the_end", "block (32,0,0), thread (0,0,0)");
    must_find(RUN("past_the_end", 1, 32, 1, {a - 8}), SIM_ILLEGAL_ADDRESS, "[out-of-bounds]", false);
    must_mention("past_the_end", "8 bytes before ");
    must_find(RUN("past_the_end", 1, 32, 1, {0}), SIM_ILLEGAL_ADDRESS, "[invalid-address]", false);
    driver_free(gone);
    must_find(RUN("past_the_end", 1, 32, 1, {gone}), SIM_ILLEGAL_ADDRESS, "[use-after-free]", false);
    must_find(RUN("inlined", 1, 32, 1, {a}), SIM_ILLEGAL_ADDRESS, "[out-of-bounds]", false);
    char called[64];
    snprintf(called, sizeof called, "(called at exec_findings.cu:%d)", line_of("inlined", "caller"));
    must_mention("inlined", called);
    must_find(RUN("shared_past_the_end", 1, 32, 2, {a, 3}), SIM_ILLEGAL_ADDRESS, "[shared-out-of-bounds]", false);
    must_mention("shared_past_the_end", " 128 bytes");
    must_find(RUN("local_past_the_end", 1, 32, 2, {a, 3}), SIM_ILLEGAL_ADDRESS, "[local-out-of-bounds]", false);
    must_find(RUN("misaligned", 1, 32, 1, {a}), SIM_MISALIGNED_ADDRESS, "[misaligned-access]", false);
    must_find(RUN("write_constant", 1, 4, 1, {driver_variable(driver, "constant")}), SIM_ILLEGAL_ADDRESS,
              "[read-only-write]", false);
}

static void test_barriers(void **state) {
    (void)state;
    uint64_t a = expected_zeros();
    must_find(RUN("divergent_barrier", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "[divergent-barrier]", true);
    must_be_silent(RUN("uniform_barrier", 1, 64, 2, {a, 1}));
    must_be_silent(RUN("uniform_barrier", 1, 64, 2, {a, 5}));
    must_be_silent(RUN("early_return", 1, 128, 2, {a, 40}));
    must_find(RUN("deadlock", 1, 64, 1, {a}), SIM_LAUNCH_FAILURE, "[deadlock]", true);
    must_mention("deadlock", "warp 1, lanes ffffffff: exec_findings.cu:");
}

static void test_lanes(void **state) {
    (void)state;
    uint64_t a = expected_zeros();
    must_find(RUN("exited_lanes", 1, 32, 2, {a, 20}), SIM_LAUNCH_FAILURE, "[inactive-lanes]", false);
    must_mention("exited_lanes", "lane 20,");
    must_be_silent(RUN("exited_lanes", 1, 32, 2, {a, 32}));
    must_be_silent(RUN("partial_warp", 1, 40, 1, {a}));
    must_be_silent(RUN("present_lanes", 1, 32, 2, {a, 20}));
    must_find(RUN("absent_source", 1, 32, 1, {a}), SIM_LAUNCH_FAILURE, "[inactive-lanes]", false);
    must_mention("absent_source", "lane 16,");
}

static void test_sparse_metadata(void **state) {
    (void)state;
    uint64_t a = expected_zeros();
    must_be_silent(RUN("sparse_product", 1, 32, 2, {a, 0x4e4e94c1}));
    must_find(RUN("sparse_product", 1, 32, 2, {a, 0x44454444}), SIM_LAUNCH_FAILURE, "[sparse-metadata]", false);
    must_mention("sparse_product", "0x44454444 in lane 0: bits 16 to 19 select elements 1 and 1 ");
    must_be_silent(RUN("sparse_product_in_order", 1, 32, 2, {a, 0x4ee4eee4}));
    must_find(RUN("sparse_product_in_order", 1, 32, 2, {a, 0x4ee4eec4}), SIM_LAUNCH_FAILURE, "[sparse-metadata]",
              false);
    must_mention("sparse_product_in_order", "in lane 2: bits 4 to 7 select elements 0 and 3 ");
}

static void test_asynchronous_copies(void **state) {
    (void)state;
    uint64_t a = expected_zeros(), b = expected_zeros();
    must_find(RUN("missing_wait", 1, 64, 2, {a, b}), SIM_LAUNCH_FAILURE, "[missing-wait]", true);
    must_mention("missing_wait", " may still write: wait for the cp.async first (cp.async.wait_group, ");
    must_be_silent(RUN("with_wait", 1, 64, 2, {a, b}));
}

static void test_instruction_limit_and_trap(void **state) {
    (void)state;
    uint64_t a = expected_zeros();
    must_find(RUN("endless", 1, 32, 1, {a}), SIM_LAUNCH_TIMEOUT, "[deadlock]", false);
    must_find(RUN("endless_in_one_lane", 1, 32, 1, {a}), SIM_LAUNCH_TIMEOUT, "[deadlock]", false);
    must_mention("endless_in_one_lane", "byte 0 of allocation ");
    must_mention("endless_in_one_lane", "holds 0");
    must_find(RUN("endless_with_barrier", 1, 64, 1, {a}), SIM_LAUNCH_TIMEOUT, "[deadlock]", false);
    must_mention("endless_with_barrier", ", which holds ");
    must_find(RUN("endless_on_shared", 1, 32, 1, {a}), SIM_LAUNCH_TIMEOUT, "[instruction-limit]", false);
    must_mention("endless_on_shared", "byte 8 of shared memory, which holds 7");
    must_find(RUN("endless_lock", 2, 32, 1, {a}), SIM_LAUNCH_TIMEOUT, "[deadlock]", false);
    must_mention("endless_lock", "byte 0 of variable taken (address 0x");
    must_mention("endless_lock", "holds 3");
    // The limit applies to a block, not to a whole launch.
    must_be_silent(RUN("busy", 64, 32, 2, {a, 10000}));
    must_find(RUN("trapped", 1, 32, 1, {1}), SIM_TRAP, "[trap]", false);
    must_be_silent(RUN("trapped", 1, 32, 1, {0}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uninitialized),
        cmocka_unit_test(test_uninitialized_and_unused),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_sparse_metadata),
        cmocka_unit_test(test_asynchronous_copies),
        cmocka_unit_test(test_instruction_limit_and_trap),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
