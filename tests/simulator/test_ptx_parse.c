// Parsing of operands, scopes, labels and source locations.
#include "ptx_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

// Links the kernel `k` with that body; the next call and teardown release it.
static const struct ptx_instruction *linked(const char *declarations, const char *body) {
    teardown(NULL);
    char *text = kernel_text(declarations, ".param .u64 pointer, .param .align 8 .b8 structure[24]", body);
    module = parse_text(text);
    free(text); // the module must not point into the text
    kernel = link_text(module, "k");
    return kernel->instruction;
}

#define REGISTERS                                                                                                      \
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>; .reg .b16 %h<9>;"

static void test_immediates(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bits;
    } cases[] = {
        {"mov.f32 %f1, 0f3F800000;", 0x3F800000},
        {"mov.f32 %f1, -0f3F800000;", 0xBF800000},
        {"mov.f32 %f1, 1.5;", 0x3FC00000},
        {"mov.f32 %f1, 0d3FF8000000000000;", 0x3FC00000},
        {"mov.f64 %fd1, 0d3FF8000000000000;", 0x3FF8000000000000},
        {"mov.f64 %fd1, 0f3FC00000;", 0x3FF8000000000000},
        {"mov.f64 %fd1, -1.5;", 0xBFF8000000000000},
        {"mov.b32 %r1, 0f3F800000;", 0x3F800000},
        {"mov.u32 %r1, 0xFFFFFFFF;", 0xFFFFFFFF},
        {"mov.u32 %r1, 4294967295U;", 0xFFFFFFFF},
        {"mov.s32 %r1, -4;", (uint64_t)-4},
        {"mov.u32 %r1, 017;", 15},
        {"mov.u32 %r1, (4+5)*2;", 18},
        {"mov.u32 %r1, 1 << 4 | 3;", 19},
        {"mov.u32 %r1, 7 - 2 - 1;", 4},
        {"mov.u32 %r1, 2 + 3 * 4 == 14 ? 8 >> 1 : 9 % 5;", 4},
        {"mov.u32 %r1, !0 + ~0;", 0},
        {"mov.u32 %r1, 0 - 9223372036854775807 - 1 / -1;", (uint64_t)-9223372036854775806},
        {"mov.u32 %r1, WARP_SZ;", 32},
        {"mov.pred %p1, 0;", 0},
        {"mov.pred %p1, 1;", 1},
        {"mov.u64 %rd1, 0x8000000000000000;", 0x8000000000000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        snprintf(body, sizeof body, "%s%s", REGISTERS, cases[i].text);
        const struct ptx_operand *source = &linked("", body)->src[0];
        assert_int_equal(source->kind, PTX_OPERAND_IMMEDIATE);
        if (source->bits != cases[i].bits)
            fail_msg("%s: 0x%llx", cases[i].text, (unsigned long long)source->bits);
    }
}

static void test_suffixes(void **state) {
    (void)state;
    const struct ptx_instruction *i =
        linked("", REGISTERS "fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;"
                             "cvt.rzi.s32.f64 %r1, %fd1;"
                             "@!%p2 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, _}, [%rd1+-8];"
                             "setp.lo.or.b32 %p1|%p2, %r1, %r2, !%p3;"
                             "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;"
                             "mul.lo.s32 %r1, %r2, %r3;"
                             "shf.l.wrap.b32 %r1, %r2, %r3, %r4;"
                             "atom.global.gpu.relaxed.cas.b32 %r1, [%rd1], %r2, %r3;"
                             "bar.red.popc.u32 %r1, 2, !%p1;"
                             "barrier.sync 3, 64;"
                             "bra.uni END; END: ret;");
    assert_int_equal(i[0].opcode, PTX_OP_FMA);
    assert_int_equal(i[0].flags, PTX_FTZ | PTX_SAT);
    assert_int_equal(i[0].rounding, PTX_RN);
    assert_int_equal(i[0].nsrc, 3);
    assert_int_equal(i[1].type, PTX_S32);
    assert_int_equal(i[1].source_type, PTX_F64);
    assert_int_equal(i[1].rounding, PTX_RZI);
    assert_int_equal(i[2].flags, PTX_NC);
    assert_int_equal(i[2].vector, 2);
    assert_true(i[2].guard >= 0 && i[2].guard_negated);
    assert_int_equal(i[2].dst[0].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(i[2].dst[0].elements[1].kind, PTX_OPERAND_SINK);
    assert_int_equal(i[2].src[0].offset, -8);
    assert_int_equal(i[2].space, PTX_GLOBAL);
    assert_int_equal(i[3].type, PTX_U32);
    assert_int_equal(i[3].compare, PTX_LT);
    assert_int_equal(i[3].variant, PTX_V_OR);
    assert_int_equal(i[3].dst[1].kind, PTX_OPERAND_REGISTER);
    assert_true(i[3].src[2].negated);
    assert_int_equal(i[4].flags, PTX_SHUFFLE_PRED);
    assert_int_equal(i[4].variant, PTX_V_BFLY);
    assert_int_equal(i[4].src[3].bits, UINT64_MAX);
    assert_int_equal(i[5].flags, PTX_LO);
    assert_int_equal(i[6].variant, PTX_V_L);
    assert_int_equal(i[7].variant, PTX_V_CAS);
    assert_int_equal(i[7].nsrc, 3);
    assert_int_equal(i[8].variant, PTX_V_RED_POPC);
    assert_int_equal(i[8].flags, PTX_ALIGNED);
    assert_int_equal(i[8].src[1].kind, PTX_OPERAND_NONE);
    assert_true(i[8].src[2].negated);
    assert_int_equal(i[9].flags, 0);
    assert_int_equal(i[9].src[1].bits, 64);
    assert_int_equal(i[10].src[0].target, 11);
    assert_string_equal(i[2].text, "@!%p2 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, _}, [%rd1+-8];");
}

static void test_pack_and_unpack(void **state) {
    (void)state;
    const struct ptx_instruction *i =
        linked("", REGISTERS "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd2, {%r3, -1};"
                             "mov.b32 %r1, {%h1, %h2}; mov.b64 {%h1, %h2, %h3, _}, %rd1;");
    assert_int_equal(i[0].dst[0].count, 2);
    assert_int_equal(i[0].src[0].reg_type, PTX_B64);
    assert_int_equal(i[1].src[0].elements[1].bits, 0xFFFFFFFF);
    assert_int_equal(i[2].src[0].elements[0].reg_type, PTX_B16);
    assert_int_equal(i[3].dst[0].count, 4);
}

static void test_parameters_and_variables(void **state) {
    (void)state;
    const struct ptx_instruction *i =
        linked(".global .align 4 .b8 table[8] = {1, 2}; .const .f32 weights[4];",
               REGISTERS "ld.param.u64 %rd1, [pointer]; ld.param.f64 %fd1, [structure+16]; mov.b64 %rd2, structure;"
                         "ld.param.u32 %r1, [%rd2+4]; mov.u64 %rd3, table+4; ld.const.f32 %f1, [weights+8];"
                         "ld.u32 %r2, [table]; ld.shared.u32 %r1, [16]; mov.u32 %r4, %ctaid.y;");
    assert_int_equal(kernel->params, 2);
    assert_int_equal(kernel->param_bytes, 32);
    assert_int_equal(i[0].src[0].offset, 0);
    assert_int_equal(i[1].src[0].offset, 24);
    assert_int_equal(i[1].src[0].space, PTX_PARAM);
    assert_int_equal(i[2].src[0].kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(i[2].src[0].offset, 8);
    assert_int_equal(i[3].space, PTX_PARAM);
    assert_true(i[3].src[0].slot >= 0);
    assert_int_equal(i[3].src[0].offset, 4);
    assert_string_equal(module->variable[i[4].src[0].variable].name, "table");
    assert_int_equal(i[4].src[0].offset, 4);
    assert_int_equal(i[5].src[0].space, PTX_CONST);
    assert_int_equal(i[6].space, PTX_GLOBAL);
    assert_int_equal(i[7].src[0].slot, -1);
    assert_int_equal(i[7].src[0].offset, 16);
    assert_int_equal(i[8].src[0].special, PTX_CTAID_Y);
}

static void test_initial_values(void **state) {
    (void)state;
    linked(".global .align 1 .u8 c; .func f; .global .align 8 .u64 p[3] = {generic(c), generic(c)+12, 5};"
           ".global .align 1 .u8 q[4] = {-1, 0xFF(generic(c)), 0xFF0000(generic(c)), 9};"
           ".global .f32 x[2] = {0f3F800000, 2.0}; .global .u64 table = f; .global .s32 n = -2; .func f { ret; }",
           "ret;");
    const struct ptx_variable *p = &module->variable[1], *q = &module->variable[2], *x = &module->variable[3];
    assert_int_equal(p->size, 24);
    assert_int_equal(p->relocations, 2);
    assert_int_equal(p->relocation[1].offset, 8);
    assert_int_equal(p->relocation[1].variable, 0);
    assert_int_equal(p->relocation[1].addend, 12);
    assert_int_equal(p->relocation[1].bytes, 8);
    assert_int_equal(p->init[16], 5);
    assert_int_equal(q->relocation[1].offset, 2);
    assert_int_equal(q->relocation[1].bytes, 1);
    assert_int_equal(q->relocation[1].shift, 16);
    assert_int_equal(q->init[0], 255);
    float value;
    memcpy(&value, x->init + 4, sizeof value);
    assert_true(value == 2.0f);
    assert_int_equal(module->variable[4].relocations, 0); // a function's address needs no relocation
    assert_true(module->variable[4].init[6] != 0);
    assert_int_equal(module->variable[5].init[0], 0xFE);
}

static void test_scopes_shadow_registers_and_labels(void **state) {
    (void)state;
    const struct ptx_instruction *i =
        linked("", REGISTERS "mov.u32 %r1, 1;"
                             "{ .reg .b64 %r<3>; mov.u64 %r1, 2; bra L; L: mov.u64 %r2, 3; bra M; }"
                             "mov.u32 %r1, 4; bra L; { bra N; { L: ret; } L: bra L; N: } M: ret; L: ret;");
    assert_int_equal(i[0].dst[0].reg_type, PTX_B32);
    assert_int_equal(i[1].dst[0].reg_type, PTX_B64);
    assert_int_equal(i[2].src[0].target, 3);  // the inner L
    assert_int_equal(i[4].src[0].target, 10); // M of the function
    assert_int_equal(i[5].dst[0].reg_type, PTX_B32);
    assert_int_equal(i[6].src[0].target, 11); // L of the function
    assert_int_equal(i[7].src[0].target, 10); // N, at the end of the scope
    assert_int_equal(i[9].src[0].target, 9);
}

static void test_branch_lists(void **state) {
    (void)state;
    const struct ptx_instruction *i =
        linked("", REGISTERS "list: .branchtargets A, B, A; brx.idx %r1, list; A: ret; B: trap;");
    assert_int_equal(i[0].src[1].count, 3);
    assert_int_equal(i[0].src[1].elements[0].target, 1);
    assert_int_equal(i[0].src[1].elements[1].target, 2);
}

static void test_inlined_locations(void **state) {
    (void)state;
    const struct ptx_instruction *i =
        linked(".file 1 \"a.cu\"\n.file 2 \"b.h\"\n",
               ".reg .b32 %r<9>;\n"
               ".loc 1 10 3\nmov.u32 %r1, 1;\n"
               ".loc 2 5 1, function_name $L__info_string0, inlined_at 1 10 3\nmov.u32 %r2, 2;\n"
               ".loc 2 7 9, function_name $L__info_string1+4, inlined_at 2 5 1\nmov.u32 %r3, 3;\n"
               ".loc 1 10 3\nmov.u32 %r4, 4;\n");
    const struct ptx_location *location = module->location;
    assert_string_equal(module->file[location[i[0].location].file], "a.cu");
    assert_int_equal(location[i[0].location].line, 10);
    assert_int_equal(location[i[0].location].inlined_at, -1);
    assert_int_equal(location[i[2].location].line, 7);
    assert_int_equal(location[i[2].location].inlined_at, i[1].location);
    assert_int_equal(location[i[1].location].inlined_at, i[0].location);
    assert_int_equal(i[3].location, i[0].location); // equal locations share an index
}

static void test_recursive_inlining_chain_is_cut(void **state) {
    (void)state;
    char body[65536];
    size_t length = (size_t)snprintf(body, sizeof body, ".reg .b32 %%r;\n.loc 1 5 1\n");
    for (int i = 0; i < 1000; i++)
        length += (size_t)snprintf(body + length, sizeof body - length,
                                   ".loc 1 5 1, function_name f, inlined_at 1 5 1\nmov.u32 %%r, 1;\n");
    const struct ptx_instruction *instruction = linked("", body);
    for (int i = 0; i < 1000; i++) {
        int links = 0;
        for (int32_t at = instruction[i].location; at >= 0; at = module->location[at].inlined_at)
            links++;
        assert_true(links <= 70);
    }
}

// Each text has its own local symbols, a weak symbol is defined once, and source lines refer to the files of their
// text.
static void test_linked_texts(void **state) {
    (void)state;
#define HEADER ".version 9.0\n.target sm_90a\n.address_size 64\n"
    const char *texts[] = {HEADER
                           ".file 1 \"one.cu\"\n.global .b32 own = 1;\n.extern .global .b32 common;\n.extern .func f;\n"
                           ".weak .func g { ret; }\n.visible .entry k {\ncall f;\ncall g;\nret; }\n",
                           HEADER ".file 1 \"two.cu\"\n.global .b32 own = 2;\n.visible .global .b32 common = 3;\n"
                                  ".weak .func g { trap; }\n.visible .func f {\n.loc 1 7 1\nret; }\n"};
    const struct ptx_text linked[] = {{texts[0], strlen(texts[0])}, {texts[1], strlen(texts[1])}};
    char error[256] = "";
    module = ptx_parse_linked(linked, 2, error, sizeof error);
    assert_string_equal(error, "");
    assert_int_equal(module->variables, 3);
    assert_int_equal(module->variable[1].init[0], 3); // replaces the declaration of the first text
    assert_int_equal(module->variable[2].init[0], 2);
    struct ptx_kernel *kernel = ptx_link_kernel(module, "k", error, sizeof error);
    assert_non_null(kernel);
    int rets = 0;
    for (int i = 0; i < kernel->instructions; i++) {
        const struct ptx_instruction *one = &kernel->instruction[i];
        assert_int_not_equal(one->opcode, PTX_OP_TRAP);
        if (one->opcode == PTX_OP_RET && module->location[one->location].line == 7) {
            assert_string_equal(module->file[module->location[one->location].file], "two.cu");
            rets++;
        }
    }
    assert_int_equal(rets, 1);
    ptx_free_kernel(kernel);
    const struct ptx_text twice[] = {linked[1], linked[1]};
    assert_null(ptx_parse_linked(twice, 2, error, sizeof error));
    assert_non_null(strstr(error, "duplicate declaration of 'common'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_immediates, teardown),
        cmocka_unit_test_teardown(test_suffixes, teardown),
        cmocka_unit_test_teardown(test_pack_and_unpack, teardown),
        cmocka_unit_test_teardown(test_parameters_and_variables, teardown),
        cmocka_unit_test_teardown(test_initial_values, teardown),
        cmocka_unit_test_teardown(test_scopes_shadow_registers_and_labels, teardown),
        cmocka_unit_test_teardown(test_branch_lists, teardown),
        cmocka_unit_test_teardown(test_inlined_locations, teardown),
        cmocka_unit_test_teardown(test_recursive_inlining_chain_is_cut, teardown),
        cmocka_unit_test_teardown(test_linked_texts, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
