// Messages of the front end for wrong or unsupported PTX: this file holds the golden texts. Line numbers are those of
// the PTX text; a body of these tests begins on line 8.
#include "ptx_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define UNSUPPORTED_MOV "unsupported vector shape of mov"
#define REGISTERS ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>; .reg .b16 %h<9>;"

static void check(const char *text, const char *expected) {
    const char *error = error_of(text);
    if (strcmp(error, expected) != 0)
        fail_msg("\n  text:     %s\n  error:    %s\n  expected: %s", text, error, expected);
}

static void check_body(const char *body, const char *expected) {
    char whole[2048];
    snprintf(whole, sizeof whole, "%s\n%s", REGISTERS, body);
    char *text = kernel_text(".file 1 \"a.cu\"", "", whole); // the body begins on line 8
    check(text, expected);
    free(text);
}

// A mistake in the body's first line.
static void check_syntax(const char *body, const char *message) {
    char expected[512];
    snprintf(expected, sizeof expected, "PTX line 8: %s [ptx-syntax]", message);
    check_body(body, expected);
}

// An instruction that the front end does not support; the body may declare a register before it.
static void check_unsupported(const char *body, const char *reason) {
    const char *instruction = strncmp(body, ".reg ", 5) == 0 ? strchr(body, ';') + 2 : body;
    char expected[512];
    snprintf(expected, sizeof expected, "%s: \"%s\" (PTX line 8) [ptx-unsupported]", reason, instruction);
    check_body(body, expected);
}

static void test_text_that_is_not_ptx(void **state) {
    (void)state;
    check("", "PTX line 1: not PTX: a module must begin with .version [ptx-syntax]");
    check("hello", "PTX line 1: not PTX: a module must begin with .version [ptx-syntax]");
    check(".version x", "PTX line 1: expected a version such as 8.0, found 'x' [ptx-syntax]");
    check(".version 8.0 .target native", "PTX line 1: expected a target such as sm_90, found 'native' [ptx-syntax]");
    check(".version 8.0\n.address_size 32",
          "PTX line 2: the address size is 32; it must be between 64 and 64 [ptx-syntax]");
    check(".version 8.0\n.nonsense", "PTX line 2: unexpected '.nonsense' [ptx-syntax]");
    check(".version 8.0\n.target sm_90", "the PTX has no kernel 'k'");
    check(".version 8.0\n.entry k(", "PTX line 2: expected .param, found 'end of input' [ptx-syntax]");
    check(".version 8.0\n.entry k() {\n", "PTX line 3: unterminated body of 'k' [ptx-syntax]");
    check(".version 8.0\n.section .debug {\n.b8 1", "PTX line 3: unterminated .section [ptx-syntax]");
}

static void test_names(void **state) {
    (void)state;
    check_syntax("add.s32 %r1, %r2, %r9;", "undeclared identifier '%r9'");
    check_syntax("mov.u32 %x, 1;", "undeclared register '%x'");
    check_syntax("mov.u32 %r1, nothing;", "undeclared identifier 'nothing'");
    check_syntax("ld.global.u32 %r1, [nothing];", "undeclared identifier 'nothing'");
    check_syntax("bra NOWHERE;", "undefined label 'NOWHERE'");
    check_syntax("{ L: } bra L;", "undefined label 'L'");
    check_body("L: ret;\nL: ret;", "PTX line 9: duplicate declaration of 'L' [ptx-syntax]");
    check_body(".reg .b32 %a;\n.reg .f32 %a;", "PTX line 9: duplicate declaration of '%a' [ptx-syntax]");
    check_syntax("call nothing;", "'nothing' is not a function");
    check_syntax("@%r1 bra L; L:", "a guard must be a predicate register");
    check_syntax("add.s32 %r1, %r2, !%r3;", "'!' applies to predicate registers only");
}

static void test_syntax(void **state) {
    (void)state;
    check_syntax("add.s32 %r1 %r2, 1;", "expected ',', found '%r2'");
    check_syntax("ld.global.u32 %r1, [%rd1;", "expected ']', found ';'");
    check_syntax("mov.u32 %r1, (1;", "expected ')', found ';'");
    check_syntax("mov.u32 %r1, 1/0;", "division by zero in a constant expression");
    check_syntax("mov.u32 %r1, 0x;", "expected an integer, found '0x'");
    check_syntax("mov.u16 %h1, 1.5;", "floating-point constant for an operand of 2 bytes");
    check_syntax("mov.u32 %r1, 18446744073709551616;", "expected an integer, found '18446744073709551616'");
    check_syntax(".local .align 3 .b8 x[4];", "alignment 3 is not a power of two");
    check_syntax(".param .pred p;", "a variable cannot have type .pred");
    check_body(".loc 1 2", "PTX line 9: expected an integer, found '}' [ptx-syntax]");
    check_syntax(".loc 1 2 3, unknown_attribute", "expected function_name or inlined_at, found 'unknown_attribute'");
}

static void test_variables(void **state) {
    (void)state;
#define MODULE(declaration) ".version 8.0\n" declaration "\n.entry k { ret; }"
    check(MODULE(".global .u8 x[2] = {1, 2, 3};"), "PTX line 2: too many initializers for 'x' [ptx-syntax]");
    check(MODULE(".global .u8 x = 256;"), "PTX line 2: 256 does not fit in an element of 1 bytes [ptx-syntax]");
    check(MODULE(".global .u32 x = y;"), "PTX line 2: 'y' is not a variable or function [ptx-syntax]");
    check(MODULE(".global .u32 y; .global .u32 x = y;"),
          "PTX line 2: an address initializer needs an element of 8 bytes [ptx-syntax]");
    check(MODULE(".global .u8 y[2] = {1, 0xF0F(y)};"),
          "PTX line 2: unsupported address mask: only a one-byte mask of a one-byte element is supported [ptx-syntax]");
    check(MODULE(".shared .u32 y; .global .u64 x = y;"),
          "PTX line 2: 'y' is in shared memory and has no address before a launch [ptx-syntax]");
    check(MODULE(".shared .u32 x = 1;"),
          "PTX line 2: only .global and .const variables can have an initializer [ptx-syntax]");
    check(MODULE(".global .b8 x[4294967296][2];"), "PTX line 2: 'x' is larger than 4 GiB [ptx-syntax]");
    check(MODULE(".global .b8 x[-1];"),
          "PTX line 2: an array's length is -1; it must be between 0 and 4294967296 [ptx-syntax]");
    check(MODULE(".global .b8 x[3000000000] = {1};"), "the PTX is too large: it needs more than 1024 MiB");
    check(MODULE(".global .u32 x;\n.global .u32 x;"), "PTX line 3: duplicate declaration of 'x' [ptx-syntax]");
    check(MODULE(".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }"),
          "PTX line 3: 'f' was declared earlier with different parameters [ptx-syntax]");
    check(".version 8.0\n.entry k(.param .b8 a[32765]) { ret; }",
          "PTX line 2: parameters exceed 32764 bytes [ptx-syntax]");
}

static void test_unsupported_instructions(void **state) {
    (void)state;
    check_unsupported("tcgen05.commit.sync.aligned;", "unsupported instruction 'tcgen05'");
    check_body(".loc 1 42 7\ncp.async.wait_some;", "a.cu:42: unsupported suffix '.wait_some' of 'cp.async': "
                                                   "\"cp.async.wait_some;\" (PTX line 9) [ptx-unsupported]");
    check_body(".loc 1 42 7\n.loc 1 5 1, function_name f, inlined_at 1 42 7\n@%p1  txq.width.b32\n{%f1}, [x, {%f2}] ;",
               "a.cu:5 (inlined at a.cu:42): unsupported instruction 'txq': \"@%p1 txq.width.b32 {%f1}, [x, {%f2}] ;\" "
               "(PTX line 10) [ptx-unsupported]");
    check(".version 9.0\n.entry k\n.blocksareclusters .reqnctapercluster 2, 1, 1\n{ ret; }",
          "unsupported directive: \".blocksareclusters\" (PTX line 3) [ptx-unsupported]");
    check_unsupported("mov.u32 %r1, %clusterid.w;", "unsupported special register '%clusterid.w'");
    check_unsupported("mov.u32 %r1, %is_explicit_cluster;", "predicate where a non-predicate operand is expected");
    check_unsupported("cp.async.bulk.shared::cluster.shared::cta.bulk_group [%r1], [%r2], 16;",
                      "unsupported variant of bulk copy");
    check_unsupported(
        "cp.reduce.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.add.u32 [%r1], [%rd1], 16, [%r2];",
        "unsupported variant of bulk copy");
    check_unsupported("cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r3];",
                      "unsupported variant of bulk copy");
    check_unsupported("st.async.weak.shared::cluster.b32 [%r1], %r2, [%r3];", "'st.async' lacks a required suffix");
    check_unsupported("add.trans.s32 %r1, %r2, %r3;", "unsupported suffix '.trans' of 'add'");
    check_unsupported("setp.s32 %p1, %r2, %r3;", "'setp' lacks a required suffix");
    check_unsupported("add %r1, %r2, %r3;", "'add' has 0 type suffixes; expected 1");
    check_unsupported(".reg .b128 %q; and.b128 %q, %q, %q;", "'and' does not support 128-bit elements");
    check_unsupported(".reg .b128 %q; ld.global.v2.b128 {%q, %q}, [%rd1];", "'ld' does not support 128-bit elements");
    check_unsupported(".reg .b128 %q; atom.global.add.b128 %q, [%rd1], %q;",
                      "'atom' does not support 128-bit elements");
    check_unsupported(".reg .b128 %q; mov.b128 %q, {%q, %q};", "128-bit register within a vector operand");
    check_unsupported(".reg .b128 %q; mov.b128 %q, {%r1, %r2};", "32-bit register where a 64-bit operand is expected");
    check_unsupported("mov.b128 {%rd1, %rd2}, {%rd3, %rd4};", "mov.b128 without a 128-bit register");
    check_unsupported(".reg .b128 %q; ld.global.u32 %r1, [%q];", "128-bit register as an address");
    check_unsupported(".reg .b128 %q; st.global.b64 [%rd1], %q;", "vector of 2 elements where 1 are expected");
    check_unsupported("tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 13;",
                      "the value must be a constant from 0 to 12");
    check_unsupported("tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], %r1;",
                      "the value must be a constant from 0 to 3");
    check_unsupported("tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 4, %rd2;",
                      "the dimension must be a constant from 0 to 3");
    check_unsupported("tensormap.replace.tile.rank.shared::cluster.b1024.b32 [%r1], 1;",
                      "unsupported variant of tensormap.replace");
    check_unsupported("tensormap.replace.tile.global_address.global.b1024.b32 [%rd1], %r1;",
                      "unsupported variant of tensormap.replace");
    check_unsupported("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;",
                      "size operand must be 128, the size of a tensor map");
    check_unsupported(
        "tensormap.cp_fenceproxy.global.global.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd2], 128;",
        "tensormap.cp_fenceproxy must copy from .shared::cta to .global with .release");
    check_unsupported("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 2, "
                      "%p1, 1, 1, 0, 0;",
                      "sparse wgmma needs a metadata register and a sparsity selector of 0 or 1");
    check_unsupported("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, "
                      "%p1, 1, 1, 0, 0;",
                      "unsupported shape or types of wgmma");
    check_unsupported("and.b1 %r1, %r2, %r3;", "unsupported suffix '.b1' of 'and'");
    check_unsupported("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1;",
                      "unsupported shape or types of wgmma");
    check_unsupported("add.s32 %r1, %r2, %r3, %r4;", "unsupported operands of 'add'");
    check_unsupported("add.rn.rz.f32 %f1, %f2, %f3;", "suffix '.rz' conflicts with an earlier suffix");
    check_unsupported("mma.sync.aligned.m8n8k8.row.col.f64.f64.f64.f64 {%rd1,%rd2}, {%rd1}, {%rd2}, {%rd1,%rd2};",
                      "unsupported shape or types of mma");
    check_unsupported("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1,%r2}, {%r1}, {%r2}, {%r1,%r2};",
                      "unsupported shape or types of mma");
    check_unsupported("mma.sync.aligned.m8n8k32.row.col.s32.s4.s8.s32 {%r1,%r2}, {%r1}, {%r2}, {%r1,%r2};",
                      "unsupported shape or types of mma");
    check_unsupported("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1], %r2;",
                      "unsupported shape or types of wmma");
    check_unsupported("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r1,%r2}, "
                      "{%f1,%f2,%f3,%f4}, %r3, 4;",
                      "sparsity selector must be a constant from 0 to 3");
    check_unsupported("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, "
                      "{%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, %r3, 1;",
                      "sparsity selector must be a constant from 0 to 0");
    check_unsupported("ld.global.s4 %r1, [%rd1];", "unsupported suffix '.s4' of 'ld'");
}

// Repeats text count times; its %d counts up.
static void repeat(char *to, size_t size, const char *text, int count) {
    for (size_t length = 0, i = 0; i < (size_t)count && length < size; i++)
        length += (size_t)snprintf(to + length, size - length, text, (int)i);
}

static void test_long_operands(void **state) {
    (void)state;
    char registers[800] = "", body[1000];
    repeat(registers, sizeof registers, ", %%v%d", 127);
    snprintf(body, sizeof body, ".reg .b64 %%v<200>; mov.b64 {%%v127%s}, %%v199;", registers);
    char *text = kernel_text("", "", body);
    assert_memory_equal(error_of(text), UNSUPPORTED_MOV, strlen(UNSUPPORTED_MOV));
    free(text);
    snprintf(body, sizeof body, ".reg .b64 %%v<200>; mov.b64 {%%v127, %%v128%s}, %%rd1;", registers);
    check_body(body, "PTX line 8: vector operand has more than 128 elements [ptx-syntax]");
    char suffixes[400] = "";
    repeat(suffixes, sizeof suffixes, ".L1", 100);
    snprintf(body, sizeof body, "ld.global%s.u32 %%r1, [%%rd1];", suffixes);
    check_body(body, "");
}

static void test_coordinates(void **state) {
    (void)state;
    check_unsupported("ld.global.u32 %r1, [%rd1, {%r1, %r2}];", "'ld' does not take tensor coordinates");
    check_unsupported("cp.async.ca.shared.global [%r1], [%rd1+8, {%r1}], 16;",
                      "'cp.async' does not take tensor coordinates");
    check_syntax("ld.global.u32 %r1, [%rd1, {%r1, %r9}];", "undeclared identifier '%r9'");
    check_syntax("ld.global.u32 %r1, [%rd1, {%r1];", "expected '}', found ']'");
    check_syntax("ld.global.u32 %r1, [%rd1, %r1];", "expected '{' before the tensor coordinates");
}

static void test_operand_types(void **state) {
    (void)state;
    check_unsupported("add.s64 %rd1, %r2, %rd3;", "32-bit register where a 64-bit operand is expected");
    check_unsupported("add.s32 %r1, %p2, %r3;", "predicate where a non-predicate operand is expected");
    check_unsupported("selp.s32 %r1, %r2, %r3, %r4;", "non-predicate register where a predicate is expected");
    check_unsupported("ld.global.v2.u32 {%r1}, [%rd1];", "vector of 1 elements where 2 are expected");
    check_unsupported("ld.global.u32 %r1, [%r2];", "32-bit register as an address");
    check_unsupported("mov.b64 {%r1, %h1}, %rd1;", "16-bit register where a 32-bit operand is expected");
    check_unsupported("st.const.u32 [%rd1], %r1;", "write to a read-only state space");
    check_unsupported("cp.async.ca.shared.global [%r1], [%rd1], 5;", "copy size of cp.async must be 4, 8 or 16 bytes");
}

static void test_calls(void **state) {
    (void)state;
#define WITH(declarations, body) ".version 8.0\n" declarations "\n.entry k { .reg .b64 %rd;\n" body "\n}"
    check(WITH(".func f(.param .b32 a);", "{ .param .b32 p; call f, (p); }"),
          "'k' calls the undefined function 'f' (PTX line 4) [ptx-undefined-function]");
    check(WITH(".file 1 \"a.cu\" .extern .func vprintf(.param .b32 a);",
               ".loc 1 7 1\n{ .param .b32 p; call vprintf, (p); }"),
          "a.cu:7: 'k' calls the undefined function 'vprintf' (PTX line 5) [ptx-undefined-function]");
    check(WITH(".func f(.param .b32 a) { ret; }", "call f;"),
          "PTX line 4: call has 0 arguments and 0 results; the function has 1 parameters and 0 results [ptx-syntax]");
    check(WITH(".func f(.param .b32 a) { ret; }", "{ .param .b64 p; call f, (p); }"),
          "argument 'p' has 8 bytes; its parameter has 4: \"call f, (p);\" (PTX line 4) [ptx-unsupported]");
    check(WITH(".func f(.param .b32 a) { ret; }", "{ .param .b32 p; st.param.b64 [p], %rd; call f, (p); }"),
          "access of 8 bytes at offset 0 is outside the parameter of 4 bytes: \"st.param.b64 [p], %rd;\" (PTX line 4) "
          "[ptx-unsupported]");
    check(WITH("", "{ .param .b32 p; st.param.b32 [p], 1; }"),
          "'p' is not passed to any call: \"st.param.b32 [p], 1;\" (PTX line 4) [ptx-unsupported]");
    check(WITH("", "call %rd;"),
          "indirect call without a .callprototype: \"call %rd;\" (PTX line 4) [ptx-unsupported]");
    check(WITH(".func f(.reg .b32 a);", ""),
          "PTX line 2: parameters in .reg space are not supported; declare them in .param space [ptx-syntax]");
}

static void test_unsupported_instruction_fails_only_its_kernel(void **state) {
    (void)state;
    struct ptx_module *module =
        parse_text(".version 8.0\n.func f { tcgen05.fence; ret; }\n.entry a { call f; }\n.entry b { ret; }");
    char error[256] = "";
    assert_null(ptx_link_kernel(module, "a", error, sizeof error));
    assert_string_equal(error, "unsupported instruction 'tcgen05': \"tcgen05.fence;\" (PTX line 2) [ptx-unsupported]");
    struct ptx_kernel *kernel = link_text(module, "b");
    ptx_free_kernel(kernel);
    ptx_free_module(module);
}

static char *repeated(const char *start, const char *middle, int times, const char *end) {
    size_t size = strlen(start) + strlen(middle) * (size_t)times + strlen(end) + 1;
    char *text = malloc(size), *to = text;
    assert_non_null(text);
    to = stpcpy(to, start);
    for (int i = 0; i < times; i++)
        to = stpcpy(to, middle);
    stpcpy(to, end);
    return text;
}

static void test_deep_nesting_is_rejected(void **state) {
    (void)state;
    static const struct {
        const char *start, *middle, *end, *error;
    } cases[] = {
        {".version 8.0 .entry k { .reg .b32 %r; mov.u32 %r, ", "(", ";}",
         "PTX line 1: expression is nested too deeply [ptx-syntax]"},
        {".version 8.0 .entry k { .reg .b32 %r; mov.u32 %r, ", "- ", "1;}",
         "PTX line 1: expression is nested too deeply [ptx-syntax]"},
        {".version 8.0 .entry k { .reg .b32 %r; mov.u32 %r, ", "1?1:", "1;}",
         "PTX line 1: expression is nested too deeply [ptx-syntax]"},
        {".version 8.0 .entry k ", "{", "", "PTX line 1: scopes are nested deeper than 64 [ptx-syntax]"},
        {".version 8.0 .entry k { .reg .b32 %r; mov.b32 ", "{", "", "PTX line 1: nested vector operand [ptx-syntax]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = repeated(cases[i].start, cases[i].middle, 100000, cases[i].end);
        const char *error = error_of(text);
        if (strcmp(error, cases[i].error) != 0)
            fail_msg("%s: %s", cases[i].error, error);
        free(text);
    }
}

// Texts whose statements refer to each other: parsing eight times the text may take about eight times the time. The
// test takes the least of several timings, because another process may disturb a single one.
static double seconds(const char *start, const char *middle, int times, const char *end, double least) {
    struct timespec before, after;
    char *text = repeated(start, middle, times, end);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    error_of(text);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    free(text);
    return fmin(least, (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9);
}

static void test_parse_time_is_linear(void **state) {
    (void)state;
    static const struct {
        const char *start, *middle, *end;
    } cases[] = {
        {".version 8.0 .entry k { .reg .b32 %r<9>; .reg .pred %p; L:", "add.s32 %r1, %r2, 1; @%p bra L;", "}"},
        {".version 8.0 .entry k { .reg .b32 %r<9>; .reg .pred %p; L: t: .branchtargets L, M;", "@%p brx.idx %r1, t;",
         "M: }"},
        {".version 8.0 .entry k { ", "{ bra M; }", "M: }"},
        {".version 8.0 .entry k { .reg .b32 %r<9>; ", ".loc 1 1 1, function_name f, inlined_at 1 1 1\nmov.u32 %r1, 1;",
         "}"},
        {".version 8.0 .func f { ret; } .entry k { ", "call f;", "}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double few = HUGE_VAL, many = HUGE_VAL;
        for (int times = 0; times < 10 && (!times || (many > 0.2 && many > 32 * few)); times++) {
            few = seconds(cases[i].start, cases[i].middle, 4000, cases[i].end, few);
            many = seconds(cases[i].start, cases[i].middle, 32000, cases[i].end, many);
        }
        if (many > 0.2 && many > 32 * few)
            fail_msg("%s: %.3f s, and %.3f s for 8 times the text", cases[i].middle, few, many);
    }
}

static void test_video_selectors(void **state) {
    (void)state;
    static const struct {
        const char *body, *selector, *opcode;
    } cases[] = {
        {"vadd.u32.u32.u32 %r1, %r2.b4, %r3;", ".b4", "vadd"},
        {"vadd.u32.u32.u32 %r1, %r2.h10, %r3;", ".h10", "vadd"},
        {"vadd.u32.u32.u32.add %r1, %r2, %r3, %r4.b0;", ".b0", "vadd"},
        {"vmad.u32.u32.u32 %r1.h0, %r2, %r3, %r4;", ".h0", "vmad"},
        {"vadd4.u32.u32.u32 %r1, %r2.b321, %r3, %r4;", ".b321", "vadd4"},
        {"vadd4.u32.u32.u32 %r1, %r2.b8765, %r3, %r4;", ".b8765", "vadd4"},
        {"vadd4.u32.u32.u32 %r1.b12, %r2, %r3, %r4;", ".b12", "vadd4"},
        {"vadd4.u32.u32.u32 %r1.b4, %r2, %r3, %r4;", ".b4", "vadd4"},
        {"vadd4.u32.u32.u32 %r1, %r2.h10, %r3, %r4;", ".h10", "vadd4"},
        {"vadd2.u32.u32.u32 %r1, %r2.h4, %r3, %r4;", ".h4", "vadd2"},
        {"vset2.u32.u32.eq %r1, 5.h10, %r3, %r4;", ".h10", "vset2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char reason[256];
        snprintf(reason, sizeof reason, "unsupported selector '%s' on an operand of '%s'", cases[i].selector,
                 cases[i].opcode);
        check_unsupported(cases[i].body, reason);
    }
    check_syntax("add.s32 %r1, %r2.b0, %r3;", "expected ',', found '.b0'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_that_is_not_ptx),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_syntax),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_unsupported_instructions),
        cmocka_unit_test(test_long_operands),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_operand_types),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_unsupported_instruction_fails_only_its_kernel),
        cmocka_unit_test(test_deep_nesting_is_rejected),
        cmocka_unit_test(test_parse_time_is_linear),
        cmocka_unit_test(test_video_selectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
