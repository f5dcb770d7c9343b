// The work of a kernel for the units of an SM, and the times at which its registers are ready: for a few instructions
// by hand.
#include "ptx_text.h"
#include "traffic/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARITHMETIC = 4, SHARED = 30, XU = 20 };

struct run {
    struct ptx_module *module;
    struct ptx_kernel *kernel;
    struct work_plan *plan;
    struct work_units *units;
    struct work_clock clock;
    uint64_t executed[64];
};

// Prepares a kernel of which no instruction has been executed.
static void begin(struct run *run, const char *body) {
    const char *registers = ".reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n";
    char text[2000];
    int8_t merged[64] = {0};
    memset(run, 0, sizeof *run);
    strcat(strcpy(text, registers), body);
    char *whole = kernel_text(".shared .align 16 .b8 tile[1024];", "", text);
    run->module = parse_text(whole);
    run->kernel = link_text(run->module, "k");
    free(whole);
    run->plan = work_plan_make(run->kernel, merged);
    run->units = work_units_make();
    assert_true(run->plan && run->units && work_clock_make(&run->clock, run->plan, run->executed, run->units, 0));
    work_clock_start(&run->clock);
}

// Executes each of its instructions once, in program order; the last one is ret.
static void run_text(struct run *run, const char *body) {
    begin(run, body);
    for (int32_t i = 0; i + 1 < run->kernel->instructions; i++)
        work_step(&run->clock, i);
}

static void end(struct run *run) {
    work_clock_free(&run->clock);
    work_units_free(run->units);
    work_plan_free(run->plan);
    ptx_free_kernel(run->kernel);
    ptx_free_module(run->module);
}

// Cycles until the last instruction is issued.
static uint32_t cycles(const char *body) {
    struct run run;
    run_text(&run, body);
    uint32_t time = work_time(&run.clock);
    end(&run);
    return time;
}

static uint64_t counted(const char *body, enum work kind) {
    struct run run;
    uint64_t sum = 0;
    run_text(&run, body);
    for (int32_t i = 0; i + 1 < run.kernel->instructions; i++)
        sum += run.executed[i] * work_plan_cost(run.plan, i)->count[kind];
    end(&run);
    return sum;
}

#define FMA(d, a) "fma.rn.f32 %f" #d ", %f" #a ", %f" #a ", %f" #a ";\n"

static void dependent_instructions_wait(void **state) {
    (void)state;
    assert_int_equal(cycles(FMA(1, 0) FMA(2, 1) FMA(3, 2)), 2 * ARITHMETIC);
    assert_int_equal(cycles(FMA(1, 0) FMA(2, 0) FMA(3, 0)), 2); // one after the other, by their issue slots
    assert_int_equal(cycles("ld.shared.f32 %f1, [tile];\n" FMA(2, 1)), SHARED);
    assert_int_equal(cycles("ex2.approx.ftz.f32 %f1, %f0;\n" FMA(2, 1)), XU);
    // The first load is in flight while the second one is issued, a cycle later.
    assert_int_equal(cycles("ld.shared.f32 %f1, [tile];\nld.shared.f32 %f2, [tile+4];\n"
                            "add.f32 %f3, %f1, %f2;\n"),
                     SHARED + 1);
}

static void a_branch_is_issued_after_earlier_instructions(void **state) {
    (void)state;
    uint32_t without = cycles("ld.shared.f32 %f1, [tile];\n" FMA(2, 1) "ld.shared.f32 %f3, [tile+4];\n" FMA(4, 3));
    uint32_t with = cycles("ld.shared.f32 %f1, [tile];\n" FMA(2, 1) "bra NEXT;\nNEXT:\n"
                                                                    "ld.shared.f32 %f3, [tile+4];\n" FMA(4, 3));
    assert_in_range(without, SHARED, SHARED + 2); // and one or two issue slots
    assert_int_equal(with, 2 * SHARED);
}

static void barriers_and_copies_delay_a_warp(void **state) {
    (void)state;
    struct run run;
    run_text(&run, FMA(1, 0));
    work_wait_until(&run.clock, 500);
    work_wait_until(&run.clock, 300); // is over
    assert_int_equal(work_time(&run.clock), 500);
    end(&run);
}

static void a_load_from_l1_comes_sooner(void **state) {
    (void)state;
    struct run far, near;
    run_text(&far, "ld.global.f32 %f1, [%d1];\n");
    run_text(&near, "ld.global.f32 %f1, [%d1];\n");
    work_hit(&near.clock);
    // No clock of the warp includes the register until it is read.
    uint32_t last_far = 0, last_near = 0;
    for (int i = 0; i < 2; i++) { // the address and what is loaded
        last_far = far.clock.ready[i] > last_far ? far.clock.ready[i] : last_far;
        last_near = near.clock.ready[i] > last_near ? near.clock.ready[i] : last_near;
    }
    assert_true(last_near > 0 && 5 * last_near < last_far);
    end(&far);
    end(&near);
}

static void units_are_counted(void **state) {
    (void)state;
    const char *body = FMA(1, 0) "add.s32 %r1, %r2, %r3;\nadd.s64 %d1, %d2, %d3;\nex2.approx.ftz.f32 %f2, %f1;\n"
                                 "mov.u32 %r4, %r1;\n";
    assert_int_equal(counted(body, WORK_FMA), 1);
    assert_int_equal(counted(body, WORK_ALU), 3); // 64 bits are two additions
    assert_int_equal(counted(body, WORK_XU), 1);
    assert_int_equal(counted(body, WORK_ISSUE), 5); // ptxas removes the copy
    assert_int_equal(counted("mad.wide.s32 %d1, %r1, %r2, %d2;\n", WORK_FMA), 2);
    assert_int_equal(counted("ex2.approx.f32 %f2, %f1;\n", WORK_ISSUE), 4); // denormals
    assert_int_equal(counted("div.rn.f32 %f2, %f1, %f3;\n", WORK_XU), 1);
    assert_int_equal(counted("bar.sync 0;\n", WORK_PASSES), 2);
    assert_int_equal(counted("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, "
                             "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};\n",
                             WORK_MMA),
                     16 * 8 * 16);
    assert_int_equal(counted("mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, "
                             "{%r5,%r6}, {%f1,%f2,%f3,%f4}, %r7, 1;\n",
                             WORK_MMA),
                     16 * 8 * 16 / 2);
}

// The instruction that reads the product of a mul determines whether the mul is separate.
static void a_multiplication_is_fused_with_an_addition(void **state) {
    (void)state;
#define MUL "mul.f32 %f1, %f0, %f2;\n"
#define LAST "st.shared.f32 [tile], %f4;\n"
    assert_int_equal(counted(MUL "add.f32 %f4, %f3, %f1;\n" LAST, WORK_FMA), 1);
    assert_int_equal(counted(MUL "sub.f32 %f4, %f1, %f3;\n" LAST, WORK_ISSUE), 2);
    assert_int_equal(cycles(MUL "add.f32 %f4, %f3, %f1;\nadd.f32 %f5, %f4, %f3;\n"), ARITHMETIC);
    // Two additions are fused with it, or one with one of two products.
    assert_int_equal(counted(MUL "add.f32 %f4, %f3, %f1;\nsub.f32 %f4, %f4, %f1;\n" LAST, WORK_FMA), 2);
    assert_int_equal(counted(MUL "mul.f32 %f3, %f0, %f0;\nadd.f32 %f4, %f1, %f3;\n" LAST, WORK_FMA), 2);
    // Not fused if either specifies a rounding, if another instruction needs the product, or under a predicate.
    assert_int_equal(counted("mul.rn.f32 %f1, %f0, %f2;\nadd.f32 %f4, %f3, %f1;\n" LAST, WORK_FMA), 2);
    assert_int_equal(counted(MUL "add.rn.f32 %f4, %f3, %f1;\n" LAST, WORK_FMA), 2);
    assert_int_equal(counted(MUL "add.f32 %f4, %f3, %f1;\nst.shared.f32 [tile+4], %f1;\n" LAST, WORK_FMA), 2);
    assert_int_equal(counted("@%p1 " MUL "add.f32 %f4, %f3, %f1;\n" LAST, WORK_FMA), 2);
    assert_int_equal(counted(MUL "add.f32 %f4, %f1, %f1;\n" LAST, WORK_FMA), 2);
}

static void a_short_branch_is_predicated(void **state) {
    (void)state;
    const char *few = "@%p1 bra END;\n" FMA(1, 0) "END:\n";
    const char *many = "@%p1 bra END;\n" FMA(1, 0) FMA(1, 0) FMA(1, 0) FMA(1, 0) FMA(1, 0) FMA(1, 0) FMA(1, 0) FMA(1, 0)
        FMA(1, 0) "END:\n";
    assert_int_equal(counted(few, WORK_ISSUE), 1);
    assert_int_equal(counted(many, WORK_ISSUE), 9 + 3); // with the two that reconverge the lanes
}

static void a_predicated_instruction_is_issued_without_active_lanes(void **state) {
    (void)state;
    struct run run;
    begin(&run, "@%p1 bra END;\n" FMA(1, 0) FMA(2, 0) "END:\n" FMA(3, 0) FMA(4, 0));
    work_step(&run.clock, 0);
    work_step(&run.clock, 3); // as a warp does if no lane is active
    work_step(&run.clock, 4); // and nothing after it
    assert_int_equal(run.executed[run.kernel->instructions], 2);
    assert_int_equal(run.executed[1], 0);
    end(&run);
}

enum { EXPONENTIALS = 100, XU_CYCLES = 8 };

// The issue time of a warp's last exponential.
static uint32_t exponentials(struct run *run, struct work_clock *clock, unsigned warp, uint32_t from) {
    assert_true(work_clock_make(clock, run->plan, run->executed, run->units, warp));
    work_clock_start(clock);
    work_wait_until(clock, from);
    for (int i = 0; i < EXPONENTIALS; i++)
        work_step(clock, 0);
    uint32_t time = work_time(clock);
    work_clock_free(clock);
    return time - from;
}

static void warps_of_a_quarter_share_its_units(void **state) {
    (void)state;
    const uint32_t alone = (EXPONENTIALS - 1) * XU_CYCLES, both = (2 * EXPONENTIALS - 1) * XU_CYCLES;
    struct run run;
    struct work_clock clock;
    begin(&run, "ex2.approx.ftz.f32 %f1, %f0;\n");
    assert_int_equal(exponentials(&run, &clock, 0, 6400), alone);
    assert_int_equal(exponentials(&run, &clock, 1, 6400), alone); // has its own unit,
    assert_int_equal(exponentials(&run, &clock, 4, 6400), both);  // and this one shares the first warp's unit
    assert_int_equal(exponentials(&run, &clock, 8, 0), alone);    // before the unit is busy, although it runs later
    work_units_start(run.units);
    assert_int_equal(exponentials(&run, &clock, 4, 6400), alone); // another block
    end(&run);
}

static void wgmma_of_two_warpgroups_share_the_tensor_cores(void **state) {
    (void)state;
    struct run run;
    struct work_clock other;
    const char *four = "{%f0,%f1,%f2,%f3}";
    char body[400];
    snprintf(body, sizeof body,
             "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 %s, %%d1, %%d2, 1, 1, 1, 0, 0;\n"
             "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
             four);
    begin(&run, body);
    assert_int_equal(work_plan_cost(run.plan, 0)->count[WORK_WGMMA], 64 * 8 * 16 / 4);
    assert_int_equal(work_plan_cost(run.plan, 0)->count[WORK_PASSES], (8 + 64) * 32 / 128 / 4);
    for (int i = 0; i < 1000; i++)
        work_step(&run.clock, 0);
    work_step(&run.clock, 1);
    work_step(&run.clock, 2);
    assert_in_range(work_time(&run.clock), 4000, 4100); // 2048 multiply-adds of a warp are 4 cycles
    assert_true(work_clock_make(&other, run.plan, run.executed, run.units, 4));
    work_clock_start(&other);
    for (int i = 0; i < 3; i++)
        work_step(&other, i);
    assert_in_range(work_time(&other), 4000, 4100);
    work_clock_free(&other);
    end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependent_instructions_wait),
        cmocka_unit_test(a_branch_is_issued_after_earlier_instructions),
        cmocka_unit_test(barriers_and_copies_delay_a_warp),
        cmocka_unit_test(a_load_from_l1_comes_sooner),
        cmocka_unit_test(units_are_counted),
        cmocka_unit_test(a_multiplication_is_fused_with_an_addition),
        cmocka_unit_test(a_short_branch_is_predicated),
        cmocka_unit_test(a_predicated_instruction_is_issued_without_active_lanes),
        cmocka_unit_test(warps_of_a_quarter_share_its_units),
        cmocka_unit_test(wgmma_of_two_warpgroups_share_the_tensor_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
