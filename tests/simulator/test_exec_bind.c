// An instruction that the front end accepts and no binder supports is rejected with its name; supported ones run.
#include "instructions/bind.h"
#include "ptx_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// The error of binding a kernel with these statements; "" if there is none.
static const char *bind_error(const char *body) {
    static char error[512];
    char whole[1024];
    snprintf(whole, sizeof whole,
             ".reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .f32 %%f<9>; .reg .pred %%p<9>; .reg .b16 %%h<9>;\n%s", body);
    char *text = kernel_text("", "", whole);
    struct ptx_module *module = parse_text(text);
    struct ptx_kernel *ptx = link_text(module, "k");
    error[0] = 0;
    sim_kernel_free(sim_kernel_bind(ptx, NULL, error, sizeof error));
    ptx_free_kernel(ptx);
    ptx_free_module(module);
    free(text);
    return error;
}

static void test_unsupported_forms(void **state) {
    (void)state;
    static const char *const refused[] = {
        "min.s32 %r1, %r2, %r3, %r4;",
        "max.u64 %rd1, %rd2, %rd3, %rd4;",
        "add.sat.u32 %r1, %r2, %r3;",
        "rem.f32 %f1, %f2, %f3;",
        "ex2.approx.s32 %r1, %r2;",
        "vadd.u32.u32.u32.add %r1, %r2, %r3;",
        "vadd.u32.u32.u32 %r1, %r2, %r3, %r4;",
        "vadd.u32.u32.u32 %r1.b0, %r2, %r3;",
        "vadd.u32.u32.u32.min %r1.b0, %r2, %r3, %r4;",
        "vadd.u32.u32.u32.xor %r1, %r2, %r3, %r4;",
        "vadd.u32.u32.f32 %r1, %r2, %r3;",
        "vshl.u32.u32.s32.clamp %r1, %r2, %r3;",
        "vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4;",
        "vmad.s32.s32.s32.po %r1, %r2, -%r3, %r4;",
        "vset4.u32.u32.ltu %r1, %r2, %r3, %r4;",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *error = bind_error(refused[i]);
        if (!strstr(error, "does not know the PTX instruction") || !strstr(error, refused[i]))
            fail_msg("%s: %s", refused[i], error);
    }
}

static void test_one_opcode_of_several_families(void **state) {
    (void)state;
    static const char *const taken[] = {
        "min.s32 %r1, %r2, %r3;",         "min.f32 %f1, %f2, %f3;",         "min.f16x2 %r1, %r2, %r3;",
        "mad.lo.s32 %r1, %r2, %r3, %r4;", "mad.rn.f32 %f1, %f2, %f3, %f4;", "add.cc.u32 %r1, %r2, %r3;",
    };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        assert_string_equal(bind_error(taken[i]), "");
}

// Hints, which have no effect, wherever ptxas accepts them.
static void test_hints(void **state) {
    (void)state;
    static const char *const taken[] = {
        "cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;",
        "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r1], [%rd1], 16, %r2, %rd2;",
        "cp.async.ca.shared::cta.global.L2::cache_hint [%r1], [%rd1], 4, %p1, %rd2;",
        "atom.global.add.L2::cache_hint.u32 %r1, [%rd1], %r2, %rd2;",
        "atom.global.cas.L2::cache_hint.b32 %r1, [%rd1], %r2, %r3, %rd2;",
        "atom.global.add.L2::cache_hint.v2.f32 {%f1, %f2}, [%rd1], {%f3, %f4}, %rd2;",
        "red.global.add.noftz.L2::cache_hint.v4.f16 [%rd1], {%h1, %h2, %h3, %h4}, %rd2;",
        "prefetch.param.tensormap [%rd1];",
        "prefetch.const.tensormap [%rd1];",
        "membar.proxy.alias;",
        "suld.b.2d.cg.v2.b32.trap {%r1, %r2}, [%rd1, {%r3, %r4}];",
        "sust.b.1d.cs.b32.clamp [%rd1, {%r1}], %r2;",
    };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        assert_string_equal(bind_error(taken[i]), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsupported_forms),
        cmocka_unit_test(test_one_opcode_of_several_families),
        cmocka_unit_test(test_hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
