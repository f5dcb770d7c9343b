// Layout of a linked kernel's shared, local and call-param variables, and the functions that it can reach.
#include "ptx_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEADER ".version 8.0\n.target sm_90a\n.address_size 64\n"

static struct ptx_module *module;
static struct ptx_kernel *kernel;

static int teardown(void **state) {
    (void)state;
    ptx_free_kernel(kernel);
    ptx_free_module(module);
    kernel = NULL;
    module = NULL;
    return 0;
}

static const struct ptx_instruction *linked(const char *text, const char *name) {
    teardown(NULL);
    module = parse_text(text);
    kernel = link_text(module, name);
    return kernel->instruction;
}

static void test_shared_memory_of_each_kernel(void **state) {
    (void)state;
    static const char text[] =
        HEADER ".shared .align 4 .b8 everyone[6];\n"
               ".shared .align 16 .b8 other[32];\n"
               ".extern .shared .align 32 .b8 dynamic[];\n"
               ".extern .shared .align 4 .f32 also[];\n"
               ".func f { .reg .b32 %r; .shared .align 8 .f64 mine[2]; mov.u32 %r, mine; ret; }\n"
               ".entry a { .reg .b32 %r; mov.u32 %r, everyone; mov.u32 %r, dynamic; mov.u32 %r, also;"
               " call f; ret; }\n"
               ".entry b { .reg .b32 %r; .shared .u32 one; mov.u32 %r, one; mov.u32 %r, other+4; ret; }\n";
    const struct ptx_instruction *i = linked(text, "a");
    assert_string_equal(ptx_entry_name(module, 0), "a");
    assert_string_equal(ptx_entry_name(module, 1), "b");
    assert_null(ptx_entry_name(module, 2));
    assert_int_equal(i[0].src[0].offset, 0);           // everyone
    assert_int_equal(i[5].src[0].offset, 8);           // mine, in f
    assert_int_equal(kernel->static_shared_bytes, 32); // 6, padding, 16, padding to the start of the dynamic memory
    assert_int_equal(kernel->shared_align, 32);
    assert_int_equal(i[1].src[0].offset, 32); // all extern arrays are the same memory
    assert_int_equal(i[2].src[0].offset, 32);
    i = linked(text, "b");
    assert_int_equal(kernel->functions, 1);
    assert_int_equal(kernel->static_shared_bytes, 36); // without variables that only a uses
    assert_int_equal(i[1].src[0].offset, 4);
    assert_int_equal(i[0].src[0].offset, 32);
}

static void test_local_variables(void **state) {
    (void)state;
    const struct ptx_instruction *i =
        linked(HEADER ".func f { .local .align 4 .b8 depot[12]; .reg .b64 %rd; mov.u64 %rd, depot+4; ret; }\n"
                      ".entry k { .local .align 16 .b8 depot[20]; .local .f64 x; .reg .b64 %rd; .reg .f64 %fd;"
                      " mov.u64 %rd, x; ld.local.f64 %fd, [x]; call f; ret; }\n",
               "k");
    assert_int_equal(i[0].src[0].offset, 24);
    assert_int_equal(i[0].src[0].space, PTX_LOCAL);
    assert_int_equal(i[1].src[0].offset, 24);
    assert_int_equal(kernel->function[0].local_bytes, 32);
    assert_int_equal(kernel->function[1].local_base, 32);
    assert_int_equal(i[4].src[0].offset, 36);
    assert_int_equal(kernel->local_bytes, 48);
}

static void test_call_parameters(void **state) {
    (void)state;
    const struct ptx_instruction *i = linked(
        HEADER ".func (.param .b32 result) f(.param .b32 a, .param .align 8 .b8 b[16])\n"
               "{ .reg .b32 %r; .reg .b64 %rd; ld.param.u32 %r, [a]; ld.param.u64 %rd, [b+8]; st.param.b32 [result], "
               "%r; ret; }\n"
               ".func g(.param .b32 a) { .reg .b32 %r; { .param .b32 p; .param .align 8 .b8 q[16]; .param .b32 out;"
               " ld.param.u32 %r, [a]; st.param.b32 [p], %r; st.param.b64 [q+8], 0; call (out), f, (p, q); "
               "ld.param.b32 %r, [out]; } ret; }\n"
               ".entry k { .reg .b32 %r; { .param .b32 p; st.param.b32 [p], 7; call.uni g, (p); } ret; }\n",
        "k");
    const struct ptx_frame *k = &kernel->function[0], *g = &kernel->function[1], *f = &kernel->function[2];
    assert_string_equal(g->name, "g");
    assert_int_equal(k->call_base, 0);
    assert_int_equal(i[0].space, PTX_CALL_PARAM);
    assert_int_equal(i[0].src[0].offset, 0); // the offset of a in g's parameters, at k's call base
    assert_int_equal(g->param_bytes, 4);
    assert_int_equal(g->call_base, 16);
    const struct ptx_instruction *in_g = i + g->entry;
    assert_int_equal(in_g[0].src[0].offset, 0);
    assert_int_equal(in_g[1].src[0].offset, 16 + 0);
    assert_int_equal(in_g[2].src[0].offset, 16 + 8 + 8);
    assert_int_equal(in_g[4].src[0].offset, 16 + 24);
    assert_int_equal(in_g[3].src[0].target, 2);
    const struct ptx_instruction *in_f = i + f->entry;
    assert_int_equal(in_f[0].src[0].offset, 0);
    assert_int_equal(in_f[1].src[0].offset, 16);
    assert_int_equal(in_f[2].src[0].offset, 24);
    assert_int_equal(f->param_bytes, 28);
    assert_int_equal(f->params, 3);
    assert_int_equal(f->param[2].offset, 24);
    assert_true(kernel->call_param_bytes >= 16 + 32);
    assert_false(kernel->recursive);
}

static void test_builtins(void **state) {
    (void)state;
    const struct ptx_instruction *i = linked(
        HEADER ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
               ".entry k { { .param .b64 p; .param .b64 q; .param .b32 out; st.param.b64 [p], 1; st.param.b64 [q], 2;"
               " call (out), vprintf, (p, q); } ret; }\n",
        "k");
    assert_int_equal(i[0].src[0].offset, 0);
    assert_int_equal(i[1].src[0].offset, 8);
    assert_int_equal(i[2].src[0].kind, PTX_OPERAND_FUNCTION);
    assert_int_equal(i[2].src[0].builtin, PTX_BUILTIN_VPRINTF);
    assert_int_equal(i[2].src[0].target, -1);
    assert_true(kernel->call_param_bytes >= 20);
}

static void test_recursion_and_indirect_calls(void **state) {
    (void)state;
    linked(HEADER ".func a(.param .b32 x); .func b(.param .b32 x) { { .param .b32 p; call a, (p); } ret; }\n"
                  ".func a(.param .b32 x) { { .param .b32 p; call b, (p); } ret; }\n"
                  ".func leaf { ret; } .func taken { call leaf; ret; }\n"
                  ".global .u64 table = taken;\n"
                  ".entry k { .reg .b64 %rd; p: .callprototype () _ (); { .param .b32 p; call a, (p); }"
                  " ld.global.u64 %rd, [table]; call %rd, p; ret; }\n"
                  ".func never { trap; }\n",
           "k");
    assert_int_equal(kernel->functions, 5); // all but never
    assert_true(kernel->recursive);
    for (int i = 0; i < kernel->functions; i++) {
        const struct ptx_frame *frame = &kernel->function[i];
        assert_int_equal(frame->recursive, strlen(frame->name) == 1 && *frame->name != 'k');
        if (strcmp(frame->name, "taken") == 0)
            assert_memory_equal(&frame->address, module->variable[0].init, 8);
    }
}

static void test_frames_do_not_overlap(void **state) {
    (void)state;
    linked(HEADER ".func f { .reg .b32 %r<4>; add.s32 %r1, %r2, %r3; ret; }\n"
                  ".entry k { .reg .b64 %rd<4>; add.s64 %rd1, %rd2, %rd3; call f; ret; }\n",
           "k");
    assert_int_equal(kernel->function[0].register_base, 0);
    assert_int_equal(kernel->function[0].frame_bytes, 3 * 256);
    assert_int_equal(kernel->function[1].register_base, 3 * 256);
    assert_int_equal(kernel->register_bytes, 3 * 256 + 3 * 128);
}

static void test_launch_bounds_and_target(void **state) {
    (void)state;
    linked(HEADER ".visible .entry k() .maxntid 128, 2 .minnctapersm 3 .reqntid 64 { ret; }", "k");
    assert_int_equal(kernel->max_threads[0], 128);
    assert_int_equal(kernel->max_threads[1], 2);
    assert_int_equal(kernel->max_threads[2], 1);
    assert_int_equal(kernel->required_threads[0], 64);
    assert_int_equal(kernel->min_blocks, 3);
    assert_int_equal(module->target, 90);
    assert_string_equal(module->target_name, "sm_90a");
    assert_int_equal(kernel->cluster.blocks[0], 0);
    assert_int_equal(kernel->cluster.max_rank, 0);
    assert_false(kernel->cluster.must_be_given);
    linked(HEADER ".visible .entry k() .explicitcluster .reqnctapercluster 2, 4 .maxclusterrank 8 { ret; }", "k");
    assert_int_equal(kernel->cluster.blocks[0], 2);
    assert_int_equal(kernel->cluster.blocks[1], 4);
    assert_int_equal(kernel->cluster.blocks[2], 1);
    assert_int_equal(kernel->cluster.max_rank, 8);
    assert_true(kernel->cluster.must_be_given);
}

static void test_body_without_ret_returns(void **state) {
    (void)state;
    const struct ptx_instruction *i = linked(HEADER ".entry k { .reg .pred %p; @%p bra END; trap; END: }", "k");
    assert_int_equal(kernel->instructions, 3);
    assert_int_equal(i[0].src[0].target, 2);
    assert_int_equal(i[2].opcode, PTX_OP_RET);
    linked(HEADER ".entry k { }", "k");
    assert_int_equal(kernel->instructions, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_shared_memory_of_each_kernel, teardown),
        cmocka_unit_test_teardown(test_local_variables, teardown),
        cmocka_unit_test_teardown(test_call_parameters, teardown),
        cmocka_unit_test_teardown(test_builtins, teardown),
        cmocka_unit_test_teardown(test_recursion_and_indirect_calls, teardown),
        cmocka_unit_test_teardown(test_frames_do_not_overlap, teardown),
        cmocka_unit_test_teardown(test_launch_bounds_and_target, teardown),
        cmocka_unit_test_teardown(test_body_without_ret_returns, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
