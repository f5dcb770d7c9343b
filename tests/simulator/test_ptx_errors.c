// What the front end says about PTX that is wrong, or that it does not know. Lines are those of the PTX text, which
// here begins with four lines that all cases share.
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

static void test_text_that_is_not_ptx(void **state) {
    (void)state;
    check("", "ptx line 1: this is not PTX: it does not begin with .version");
    check("hello", "ptx line 1: this is not PTX: it does not begin with .version");
    check(".version x", "ptx line 1: expected a version such as 8.0, found 'x'");
    check(".version 8.0 .target native", "ptx line 1: expected a target such as sm_90, found 'native'");
    check(".version 8.0\n.address_size 32", "ptx line 2: the address size is 32; it must lie between 64 and 64");
    check(".version 8.0\n.nonsense", "ptx line 2: unexpected '.nonsense'");
    check(".version 8.0\n.target sm_90", "the PTX has no kernel 'k'");
    check(".version 8.0\n.entry k(", "ptx line 2: expected .param, found ''");
    check(".version 8.0\n.entry k() {\n", "ptx line 3: the body of 'k' has no end");
    check(".version 8.0\n.section .debug {\n.b8 1", "ptx line 3: this .section has no end");
}

static void test_names(void **state) {
    (void)state;
    check_body("add.s32 %r1, %r2, %r9;", "ptx line 8: '%r9' is not declared");
    check_body("mov.u32 %x, 1;", "ptx line 8: there is no register '%x'");
    check_body("mov.u32 %r1, nothing;", "ptx line 8: 'nothing' is not declared");
    check_body("ld.global.u32 %r1, [nothing];", "ptx line 8: 'nothing' is not declared");
    check_body("bra NOWHERE;", "ptx line 8: there is no label 'NOWHERE'");
    check_body("{ L: } bra L;", "ptx line 8: there is no label 'L'");
    check_body("L: ret;\nL: ret;", "ptx line 9: 'L' is declared twice");
    check_body(".reg .b32 %a;\n.reg .f32 %a;", "ptx line 9: '%a' is declared twice");
    check_body("call nothing;", "ptx line 8: 'nothing' is not a function");
    check_body("@%r1 bra L; L:", "ptx line 8: a guard must be a predicate register");
    check_body("add.s32 %r1, %r2, !%r3;", "ptx line 8: only a predicate can be negated by '!'");
}

static void test_syntax(void **state) {
    (void)state;
    check_body("add.s32 %r1 %r2, 1;", "ptx line 8: expected ',', found '%r2'");
    check_body("ld.global.u32 %r1, [%rd1;", "ptx line 8: expected ']', found ';'");
    check_body("mov.u32 %r1, (1;", "ptx line 8: expected ')', found ';'");
    check_body("mov.u32 %r1, 1/0;", "ptx line 8: division by zero in a constant expression");
    check_body("mov.u32 %r1, 0x;", "ptx line 8: expected an integer, found '0x'");
    check_body("mov.u16 %h1, 1.5;", "ptx line 8: a floating-point constant for an operand of 2 bytes");
    check_body("mov.u32 %r1, 18446744073709551616;", "ptx line 8: expected an integer, found '18446744073709551616'");
    check_body(".local .align 3 .b8 x[4];", "ptx line 8: an alignment is 3; it must be a power of two");
    check_body(".param .pred p;", "ptx line 8: a predicate can only be a register");
    check_body(".loc 1 2", "ptx line 9: expected an integer, found '}'");
    check_body(".loc 1 2 3, unknown_attribute",
               "ptx line 8: expected function_name or inlined_at, found 'unknown_attribute'");
}

static void test_variables(void **state) {
    (void)state;
#define MODULE(declaration) ".version 8.0\n" declaration "\n.entry k { ret; }"
    check(MODULE(".global .u8 x[2] = {1, 2, 3};"), "ptx line 2: 'x' has more initial values than elements");
    check(MODULE(".global .u8 x = 256;"), "ptx line 2: 256 does not fit in an element of 1 bytes");
    check(MODULE(".global .u32 x = y;"), "ptx line 2: 'y' is not a variable or function");
    check(MODULE(".global .u32 y; .global .u32 x = y;"), "ptx line 2: an address needs an element of 8 bytes");
    check(MODULE(".global .u8 y[2] = {1, 0xF0F(y)};"),
          "ptx line 2: only a mask of one byte, for an element of one byte, is known");
    check(MODULE(".shared .u32 y; .global .u64 x = y;"),
          "ptx line 2: 'y' is in shared memory and has no address before a launch");
    check(MODULE(".shared .u32 x = 1;"), "ptx line 2: only .global and .const variables may have an initial value");
    check(MODULE(".global .b8 x[4294967296][2];"), "ptx line 2: 'x' is larger than 4 GiB");
    check(MODULE(".global .b8 x[-1];"), "ptx line 2: an array's length is -1; it must lie between 0 and 4294967296");
    check(MODULE(".global .b8 x[3000000000] = {1};"), "the PTX is too large: it needs more than 1024 MiB");
    check(MODULE(".global .u32 x;\n.global .u32 x;"), "ptx line 3: 'x' is declared twice");
    check(MODULE(".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }"),
          "ptx line 3: 'f' was declared with other parameters before");
    check(".version 8.0\n.entry k(.param .b8 a[32765]) { ret; }", "ptx line 2: more than 32764 bytes of parameters");
}

static void test_what_the_simulator_does_not_know(void **state) {
    (void)state;
    check_body("tcgen05.commit.sync.aligned;",
               "the simulator does not know the instruction 'tcgen05': \"tcgen05.commit.sync.aligned;\" (ptx line 8)");
    check_body(
        ".loc 1 42 7\ncp.async.wait_some;",
        "a.cu:42: the simulator does not know '.wait_some' after 'cp.async': \"cp.async.wait_some;\" (ptx line 9)");
    check_body(".loc 1 42 7\n.loc 1 5 1, function_name f, inlined_at 1 42 7\n@%p1  txq.width.b32\n{%f1}, [x, {%f2}] ;",
               "a.cu:5 (inlined at a.cu:42): the simulator does not know the instruction 'txq': \"@%p1 txq.width.b32 "
               "{%f1}, [x, {%f2}] ;\" (ptx line 10)");
    check(".version 9.0\n.entry k\n.blocksareclusters .reqnctapercluster 2, 1, 1\n{ ret; }",
          "the simulator does not know a grid given in clusters: \".blocksareclusters\" (ptx line 3)");
    check_body("mov.u32 %r1, %clusterid.w;",
               "the simulator does not know the special register '%clusterid.w': \"mov.u32 "
               "%r1, %clusterid.w;\" (ptx line 8)");
    check_body("mov.u32 %r1, %is_explicit_cluster;", "a predicate where a number is meant: \"mov.u32 %r1, "
                                                     "%is_explicit_cluster;\" (ptx line 8)");
    check_body("cp.async.bulk.shared::cluster.shared::cta.bulk_group [%r1], [%r2], 16;",
               "a bulk copy of this kind is not known: \"cp.async.bulk.shared::cluster.shared::cta.bulk_group [%r1], "
               "[%r2], 16;\" (ptx line 8)");
    check_body(
        "cp.reduce.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.add.u32 [%r1], [%rd1], 16, [%r2];",
        "a bulk copy of this kind is not known: \"cp.reduce.async.bulk.shared::cluster.global.mbarrier::"
        "complete_tx::bytes.add.u32 [%r1], [%rd1], 16, [%r2];\" (ptx line 8)");
    check_body(
        "cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r3];",
        "a bulk copy of this kind is not known: \"cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes "
        "[%r1], [%r2], 16, [%r3];\" (ptx line 8)");
    check_body("st.async.weak.shared::cluster.b32 [%r1], %r2, [%r3];",
               "'st.async' lacks a suffix: \"st.async.weak.shared::cluster.b32 [%r1], %r2, [%r3];\" (ptx line 8)");
    check_body("add.trans.s32 %r1, %r2, %r3;",
               "the simulator does not know '.trans' after 'add': \"add.trans.s32 %r1, %r2, %r3;\" (ptx line 8)");
    check_body("setp.s32 %p1, %r2, %r3;", "'setp' lacks a suffix: \"setp.s32 %p1, %r2, %r3;\" (ptx line 8)");
    check_body("add %r1, %r2, %r3;", "'add' with 0 types; it takes 1: \"add %r1, %r2, %r3;\" (ptx line 8)");
    check_body(".reg .b128 %q; and.b128 %q, %q, %q;",
               "'and' of elements of 128 bits: \"and.b128 %q, %q, %q;\" (ptx line 8)");
    check_body(".reg .b128 %q; ld.global.v2.b128 {%q, %q}, [%rd1];",
               "'ld' of elements of 128 bits: \"ld.global.v2.b128 {%q, %q}, [%rd1];\" (ptx line 8)");
    check_body(".reg .b128 %q; atom.global.add.b128 %q, [%rd1], %q;",
               "'atom' of elements of 128 bits: \"atom.global.add.b128 %q, [%rd1], %q;\" (ptx line 8)");
    check_body(".reg .b128 %q; mov.b128 %q, {%q, %q};",
               "a register of 128 bits within a vector: \"mov.b128 %q, {%q, %q};\" (ptx line 8)");
    check_body(".reg .b128 %q; mov.b128 %q, {%r1, %r2};",
               "a register of 32 bits where 64 are meant: \"mov.b128 %q, {%r1, %r2};\" (ptx line 8)");
    check_body("mov.b128 {%rd1, %rd2}, {%rd3, %rd4};",
               "a mov of 128 bits without a register of 128 bits: \"mov.b128 {%rd1, "
               "%rd2}, {%rd3, %rd4};\" (ptx line 8)");
    check_body(".reg .b128 %q; ld.global.u32 %r1, [%q];",
               "a register of 128 bits as an address: \"ld.global.u32 %r1, [%q];\" (ptx line 8)");
    check_body(".reg .b128 %q; st.global.b64 [%rd1], %q;",
               "2 values where 1 are meant: \"st.global.b64 [%rd1], %q;\" (ptx line 8)");
    check_body(
        "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 13;",
        "the value has to be a constant from 0 to 12: \"tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], "
        "13;\" (ptx line 8)");
    check_body(
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], %r1;",
        "the value has to be a constant from 0 to 3: \"tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], "
        "%r1;\" (ptx line 8)");
    check_body(
        "tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 4, %rd2;",
        "the dimension has to be a constant from 0 to 3: \"tensormap.replace.tile.global_stride.global.b1024.b64 "
        "[%rd1], 4, %rd2;\" (ptx line 8)");
    check_body("tensormap.replace.tile.rank.shared::cluster.b1024.b32 [%r1], 1;",
               "a tensormap.replace of this kind is not known: \"tensormap.replace.tile.rank.shared::cluster.b1024.b32 "
               "[%r1], 1;\" (ptx line 8)");
    check_body(
        "tensormap.replace.tile.global_address.global.b1024.b32 [%rd1], %r1;",
        "a tensormap.replace of this kind is not known: \"tensormap.replace.tile.global_address.global.b1024.b32 "
        "[%rd1], %r1;\" (ptx line 8)");
    check_body("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;",
               "a tensor map has 128 bytes: \"fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;\" (ptx line 8)");
    check_body(
        "tensormap.cp_fenceproxy.global.global.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd2], 128;",
        "tensormap.cp_fenceproxy copies from .shared::cta to .global, and releases: "
        "\"tensormap.cp_fenceproxy.global.global.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd2], 128;\" "
        "(ptx line 8)");
    check_body("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 2, %p1, 1, "
               "1, 0, 0;",
               "a wgmma without a register of metadata and a selector that is 0 or 1: "
               "\"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 2, %p1, "
               "1, 1, 0, "
               "0;\" (ptx line 8)");
    check_body("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, "
               "1, 0, 0;",
               "the simulator does not know a wgmma of this shape and these types: "
               "\"wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, "
               "1, 1, 0, "
               "0;\" (ptx line 8)");
    check_body("and.b1 %r1, %r2, %r3;",
               "the simulator does not know '.b1' after 'and': \"and.b1 %r1, %r2, %r3;\" (ptx line 8)");
    check_body(
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1;",
        "the simulator does not know a wgmma of this shape and these types: "
        "\"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1;\" (ptx line 8)");
    check_body("add.s32 %r1, %r2, %r3, %r4;",
               "'add' with operands that the simulator does not know: \"add.s32 %r1, %r2, %r3, %r4;\" (ptx line 8)");
    check_body("add.rn.rz.f32 %f1, %f2, %f3;",
               "'.rz' contradicts another suffix: \"add.rn.rz.f32 %f1, %f2, %f3;\" (ptx line 8)");
    check_body(
        "mma.sync.aligned.m8n8k8.row.col.f64.f64.f64.f64 {%rd1,%rd2}, {%rd1}, {%rd2}, {%rd1,%rd2};",
        "the simulator does not know an mma of this shape and these types: \"mma.sync.aligned.m8n8k8.row.col.f64."
        "f64.f64.f64 {%rd1,%rd2}, {%rd1}, {%rd2}, {%rd1,%rd2};\" (ptx line 8)");
    check_body("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1,%r2}, {%r1}, {%r2}, {%r1,%r2};",
               "the simulator does not know an mma of this shape and these types: \"mma.sync.aligned.m8n8k128.row.col."
               "s32.b1.b1.s32 {%r1,%r2}, {%r1}, {%r2}, {%r1,%r2};\" (ptx line 8)");
    check_body("mma.sync.aligned.m8n8k32.row.col.s32.s4.s8.s32 {%r1,%r2}, {%r1}, {%r2}, {%r1,%r2};",
               "the simulator does not know an mma of this shape and these types: \"mma.sync.aligned.m8n8k32.row.col."
               "s32.s4.s8.s32 {%r1,%r2}, {%r1}, {%r2}, {%r1,%r2};\" (ptx line 8)");
    check_body("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1], %r2;",
               "the simulator does not know a wmma of this shape and these types: \"wmma.load.a.sync.aligned.col."
               "m8n8k32.s4 {%r1}, [%rd1], %r2;\" (ptx line 8)");
    check_body("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r1,%r2}, "
               "{%f1,%f2,%f3,%f4}, %r3, 4;",
               "which lanes have the metadata is said by a constant from 0 to 3: \"mma.sp.sync.aligned.m16n8k8.row.col."
               "f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r1,%r2}, {%f1,%f2,%f3,%f4}, %r3, 4;\" (ptx line 8)");
    check_body(
        "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, %r3, 1;",
        "which lanes have the metadata is said by a constant from 0 to 0: \"mma.sp.sync.aligned.m16n8k64.row.col."
        "s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, %r3, 1;\" (ptx "
        "line 8)");
    check_body("ld.global.s4 %r1, [%rd1];",
               "the simulator does not know '.s4' after 'ld': \"ld.global.s4 %r1, [%rd1];\" "
               "(ptx line 8)");
}

// text COUNT times, with its %d counting up.
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
    assert_memory_equal(error_of(text), "a mov of this shape", strlen("a mov of this shape"));
    free(text);
    snprintf(body, sizeof body, ".reg .b64 %%v<200>; mov.b64 {%%v127, %%v128%s}, %%rd1;", registers);
    check_body(body, "ptx line 8: a vector of more than 128 elements");
    char suffixes[400] = "";
    repeat(suffixes, sizeof suffixes, ".L1", 100);
    snprintf(body, sizeof body, "ld.global%s.u32 %%r1, [%%rd1];", suffixes);
    check_body(body, "");
}

static void test_coordinates(void **state) {
    (void)state;
    check_body("ld.global.u32 %r1, [%rd1, {%r1, %r2}];",
               "'ld' takes an address without coordinates: \"ld.global.u32 %r1, [%rd1, {%r1, %r2}];\" (ptx line 8)");
    check_body(
        "cp.async.ca.shared.global [%r1], [%rd1+8, {%r1}], 16;",
        "'cp.async' takes an address without coordinates: \"cp.async.ca.shared.global [%r1], [%rd1+8, {%r1}], 16;\" "
        "(ptx line 8)");
    check_body("ld.global.u32 %r1, [%rd1, {%r1, %r9}];", "ptx line 8: '%r9' is not declared");
    check_body("ld.global.u32 %r1, [%rd1, {%r1];", "ptx line 8: expected '}', found ']'");
    check_body("ld.global.u32 %r1, [%rd1, %r1];", "ptx line 8: coordinates in braces are missing");
}

static void test_operands_that_do_not_fit(void **state) {
    (void)state;
    check_body("add.s64 %rd1, %r2, %rd3;",
               "a register of 32 bits where 64 are meant: \"add.s64 %rd1, %r2, %rd3;\" (ptx line 8)");
    check_body("add.s32 %r1, %p2, %r3;",
               "a predicate where a number is meant: \"add.s32 %r1, %p2, %r3;\" (ptx line 8)");
    check_body("selp.s32 %r1, %r2, %r3, %r4;",
               "a register where a predicate is meant: \"selp.s32 %r1, %r2, %r3, %r4;\" (ptx line 8)");
    check_body("ld.global.v2.u32 {%r1}, [%rd1];",
               "1 values where 2 are meant: \"ld.global.v2.u32 {%r1}, [%rd1];\" (ptx line 8)");
    check_body("ld.global.u32 %r1, [%r2];",
               "a register of 32 bits as an address: \"ld.global.u32 %r1, [%r2];\" (ptx line 8)");
    check_body("mov.b64 {%r1, %h1}, %rd1;",
               "a register of 16 bits where 32 are meant: \"mov.b64 {%r1, %h1}, %rd1;\" (ptx line 8)");
    check_body("st.const.u32 [%rd1], %r1;", "a write to read-only memory: \"st.const.u32 [%rd1], %r1;\" (ptx line 8)");
    check_body("cp.async.ca.shared.global [%r1], [%rd1], 5;",
               "cp.async copies 4, 8 or 16 bytes: \"cp.async.ca.shared.global [%r1], [%rd1], 5;\" (ptx line 8)");
}

static void test_calls(void **state) {
    (void)state;
#define WITH(declarations, body) ".version 8.0\n" declarations "\n.entry k { .reg .b64 %rd;\n" body "\n}"
    check(WITH(".func f(.param .b32 a);", "{ .param .b32 p; call f, (p); }"),
          "'k' calls 'f', which has no body here and which the simulator does not provide (ptx line 4)");
    check(WITH(".file 1 \"a.cu\" .extern .func vprintf(.param .b32 a);",
               ".loc 1 7 1\n{ .param .b32 p; call vprintf, (p); }"),
          "a.cu:7: 'k' calls 'vprintf', which has no body here and which the simulator does not provide (ptx line 5)");
    check(WITH(".func f(.param .b32 a) { ret; }", "call f;"),
          "ptx line 4: a call with 0 arguments and 0 results; the function has 1 and 0");
    check(WITH(".func f(.param .b32 a) { ret; }", "{ .param .b64 p; call f, (p); }"),
          "'p' has 8 bytes, the parameter that it is passed for 4: \"call f, (p);\" (ptx line 4)");
    check(WITH(".func f(.param .b32 a) { ret; }", "{ .param .b32 p; st.param.b64 [p], %rd; call f, (p); }"),
          "an access to 8 bytes at offset 0 of a parameter of 4 bytes: \"st.param.b64 [p], %rd;\" (ptx line 4)");
    check(WITH("", "{ .param .b32 p; st.param.b32 [p], 1; }"),
          "'p' is not passed to any call: \"st.param.b32 [p], 1;\" (ptx line 4)");
    check(WITH("", "call %rd;"), "a call through a register needs a prototype: \"call %rd;\" (ptx line 4)");
    check(WITH(".func f(.reg .b32 a);", ""), "ptx line 2: parameters in registers are not known; declare them .param");
}

static void test_an_unknown_instruction_stops_only_its_kernel(void **state) {
    (void)state;
    struct ptx_module *module =
        parse_text(".version 8.0\n.func f { tcgen05.fence; ret; }\n.entry a { call f; }\n.entry b { ret; }");
    char error[256] = "";
    assert_null(ptx_link_kernel(module, "a", error, sizeof error));
    assert_string_equal(error,
                        "the simulator does not know the instruction 'tcgen05': \"tcgen05.fence;\" (ptx line 2)");
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

static void test_deep_nesting_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *start, *middle, *end, *error;
    } cases[] = {
        {".version 8.0 .entry k { .reg .b32 %r; mov.u32 %r, ", "(", ";}",
         "ptx line 1: this expression is nested too deep"},
        {".version 8.0 .entry k { .reg .b32 %r; mov.u32 %r, ", "- ", "1;}",
         "ptx line 1: this expression is nested too deep"},
        {".version 8.0 .entry k { .reg .b32 %r; mov.u32 %r, ", "1?1:", "1;}",
         "ptx line 1: this expression is nested too deep"},
        {".version 8.0 .entry k ", "{", "", "ptx line 1: scopes are nested deeper than 64"},
        {".version 8.0 .entry k { .reg .b32 %r; mov.b32 ", "{", "", "ptx line 1: a vector within a vector"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = repeated(cases[i].start, cases[i].middle, 100000, cases[i].end);
        const char *error = error_of(text);
        if (strcmp(error, cases[i].error) != 0)
            fail_msg("%s: %s", cases[i].error, error);
        free(text);
    }
}

// Texts of growing length whose parts refer to each other: eight times the text may take about eight times the time.
// The least of several timings is taken, since a single one may be of a machine that is busy with something else.
static double seconds(const char *start, const char *middle, int times, const char *end, double least) {
    struct timespec before, after;
    char *text = repeated(start, middle, times, end);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    error_of(text);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    free(text);
    return fmin(least, (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9);
}

static void test_time_grows_with_the_text(void **state) {
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

static void test_parts_of_words(void **state) {
    (void)state;
    static const struct {
        const char *body, *part, *opcode;
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
        char expected[256];
        snprintf(expected, sizeof expected,
                 "the simulator does not know '%s' behind this operand of '%s': \"%s\" (ptx line 8)", cases[i].part,
                 cases[i].opcode, cases[i].body);
        check_body(cases[i].body, expected);
    }
    check_body("add.s32 %r1, %r2.b0, %r3;", "ptx line 8: expected ',', found '.b0'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_that_is_not_ptx),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_syntax),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_what_the_simulator_does_not_know),
        cmocka_unit_test(test_long_operands),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_operands_that_do_not_fit),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_an_unknown_instruction_stops_only_its_kernel),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_time_grows_with_the_text),
        cmocka_unit_test(test_parts_of_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
