// Registers share a slot only if no lane needs both.
//
// The test executes random paths: it parses random functions, allocates slots, and lets one lane take random paths
// through the function. Each write of a register claims the bytes of its slot; a later read of the register must find
// that it still owns all of them. The test uses no liveness analysis.
#include "ptx/linker.h"
#include "ptx_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t random_below(uint32_t *seed, uint32_t bound) {
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(*seed >> 4) * bound >> 28);
}

enum { REGISTERS = 12, LABELS = 10, STATEMENTS = 60, STATEMENT_BYTES = 200 };

// One statement of a random function; %r, %rd, %p are its 32-bit, 64-bit and predicate registers.
static void random_statement(char *out, uint32_t *seed) {
    unsigned a = random_below(seed, REGISTERS), b = random_below(seed, REGISTERS), c = random_below(seed, REGISTERS),
             d = random_below(seed, REGISTERS), label = random_below(seed, LABELS);
    char guard[16] = "";
    if (random_below(seed, 3) == 0)
        snprintf(guard, sizeof guard, "@%s%%p%u ", random_below(seed, 2) ? "!" : "", d);
    switch (random_below(seed, 12)) {
    case 0:
        snprintf(out, STATEMENT_BYTES, "%sbra L%u;\n", guard, label);
        break;
    case 1:
        snprintf(out, STATEMENT_BYTES, "%sbrx.idx %%r%u, targets;\n", guard, a);
        break;
    case 2:
        snprintf(out, STATEMENT_BYTES, "setp.lt.and.s32 %%p%u|%%p%u, %%r%u, 5, !%%p%u;\n", a, b, c, d);
        break;
    case 3:
        snprintf(out, STATEMENT_BYTES, "%smul.wide.s32 %%rd%u, %%r%u, %%r%u;\n", guard, a, b, c);
        break;
    case 4:
        snprintf(out, STATEMENT_BYTES, "%scvt.u32.u64 %%r%u, %%rd%u;\n", guard, a, b);
        break;
    case 5:
        snprintf(out, STATEMENT_BYTES, "%sld.global.v2.u32 {%%r%u, %%r%u}, [%%rd%u+8];\n", guard, a, b, c);
        break;
    case 6:
        snprintf(out, STATEMENT_BYTES, "%sst.global.v2.u64 [%%rd%u], {%%rd%u, %%rd%u};\n", guard, a, b, c);
        break;
    case 7:
        snprintf(out, STATEMENT_BYTES, "mov.b64 {%%r%u, _}, %%rd%u;\n", a, b);
        break;
    case 8:
        snprintf(out, STATEMENT_BYTES, "%sshfl.sync.idx.b32 %%r%u|%%p%u, %%r%u, %%r%u, 31, -1;\n", guard, a, b, c, d);
        break;
    case 9:
        snprintf(out, STATEMENT_BYTES, "%sexit;\n", guard[0] ? guard : "@%p0 ");
        break;
    default:
        snprintf(out, STATEMENT_BYTES, "%sadd.s32 %%r%u, %%r%u, %%r%u;\n", guard, a, b, c);
        break;
    }
}

static char *random_function(uint32_t seed) {
    size_t size = (STATEMENTS + LABELS + 10) * STATEMENT_BYTES, length;
    char *body = malloc(size);
    assert_non_null(body);
    length = (size_t)snprintf(body, size,
                              ".reg .b32 %%r<%d>; .reg .b64 %%rd<%d>; .reg .pred %%p<%d>;\n"
                              "targets: .branchtargets L0, L3, L5;\n",
                              REGISTERS, REGISTERS, REGISTERS);
    for (int i = 0; i < STATEMENTS; i++) {
        if (i % (STATEMENTS / LABELS) == 0)
            length += (size_t)snprintf(body + length, size - length, "L%d:\n", i / (STATEMENTS / LABELS));
        random_statement(body + length, &seed);
        length += strlen(body + length);
    }
    char *text = kernel_text("", "", body);
    free(body);
    return text;
}

struct walk {
    const struct ptx_function *function;
    const struct register_map *map;
    int32_t owner[1 << 14]; // [bytes of the frame] the last register written there
    bool written[3 * REGISTERS];
    bool check; // check reads; otherwise claim the bytes of writes
    bool skip;  // the guard is false: no write
};

static int width(const struct ptx_function *function, int32_t index) {
    enum ptx_type type = function->register_type[index];
    return type == PTX_PRED ? 4 : 32 * (ptx_type_size(type) == 8 ? 8 : 4);
}

static void step(void *context, int32_t index, bool written, bool always) {
    (void)always;
    struct walk *walk = context;
    int32_t slot = walk->map->slot[index];
    assert_true(slot >= 0 && slot + width(walk->function, index) <= walk->map->bytes);
    for (int i = 0; i < width(walk->function, index); i++) {
        if (!written && walk->check && walk->written[index] && walk->owner[slot + i] != index)
            fail_msg("register %d lost its bytes to register %d", index, walk->owner[slot + i]);
        if (written && !walk->check && !walk->skip)
            walk->owner[slot + i] = index;
    }
    if (written && !walk->check && !walk->skip)
        walk->written[index] = true;
}

// The next instruction of the lane after instruction i; random if the instruction has a guard.
static int next(const struct ptx_instruction *instruction, int i, bool skip, uint32_t *seed) {
    if (skip)
        return i + 1;
    switch (instruction->opcode) {
    case PTX_OP_BRA:
        return instruction->src[0].target;
    case PTX_OP_BRX:
        return instruction->src[1].elements[random_below(seed, (uint32_t)instruction->src[1].count)].target;
    case PTX_OP_EXIT:
        return INT32_MAX;
    default:
        return i + 1;
    }
}

static void execute_random_path(const struct ptx_function *function, const struct register_map *map, uint32_t *seed) {
    static struct walk walk;
    walk = (struct walk){.function = function, .map = map};
    for (int i = 0, steps = 0; i < function->instructions && steps < 400; steps++) {
        const struct ptx_instruction *instruction = &function->instruction[i];
        walk.skip = instruction->guard >= 0 && random_below(seed, 2);
        walk.check = true;
        visit_registers(instruction, step, &walk);
        walk.check = false;
        visit_registers(instruction, step, &walk);
        i = next(instruction, i, walk.skip, seed);
    }
}

// The slots of one width start at multiples of it from a common base, and no other width overlaps them.
static void check_widths(const struct ptx_function *function, const struct register_map *map) {
    static int owner_width[1 << 14], owner_start[1 << 14];
    memset(owner_width, 0, sizeof owner_width);
    for (int32_t i = 0; i < function->registers; i++) {
        for (int j = 0; map->slot[i] >= 0 && j < width(function, i); j++) {
            int byte = map->slot[i] + j;
            assert_true(owner_width[byte] == 0 ||
                        (owner_width[byte] == width(function, i) && owner_start[byte] == map->slot[i]));
            owner_width[byte] = width(function, i);
            owner_start[byte] = map->slot[i];
        }
    }
}

static void check_text(const char *text, uint32_t seed) {
    char error[256];
    struct ptx_module *module = parse_text(text);
    struct arena *arena = arena_create((size_t)1 << 30, error, sizeof error);
    struct register_map map = map_registers(arena, module->function[0]);
    check_widths(module->function[0], &map);
    for (int i = 0; i < 40; i++)
        execute_random_path(module->function[0], &map, &seed);
    arena_destroy(arena);
    ptx_free_module(module);
}

static void test_random_functions(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        char *text = random_function(seed);
        check_text(text, seed);
        free(text);
    }
}

// Whether registers a and b share a slot in a body whose n-th instruction gets flags or coordinates that PTX text
// cannot yet express.
static bool share_a_slot(const char *body, int n, uint32_t flags, int coordinate, int a, int b) {
    char error[256], *text = kernel_text("", "", body);
    struct ptx_module *module = parse_text(text);
    struct ptx_function *function = module->function[0];
    struct ptx_operand element = {.kind = PTX_OPERAND_REGISTER, .slot = coordinate};
    function->instruction[n].flags |= flags;
    if (coordinate >= 0) {
        function->instruction[n].src[0].elements = &element;
        function->instruction[n].src[0].count = 1;
    }
    struct arena *arena = arena_create((size_t)1 << 30, error, sizeof error);
    struct register_map map = map_registers(arena, function);
    bool share = map.slot[a] == map.slot[b];
    arena_destroy(arena);
    ptx_free_module(module);
    free(text);
    return share;
}

static void test_accumulator_is_live(void **state) {
    (void)state;
    // Register indices are in order of declaration. %t is dead when the instruction writes %sum.
    const char *body = ".reg .b32 %t, %sum; .reg .b64 %rd1; .reg .pred %p1;\n"
                       "L: mov.u32 %t, 7; st.global.u32 [%rd1], %t; add.s32 %sum, 0, 0; @%p1 bra L; ret;";
    assert_true(share_a_slot(body, 2, 0, -1, 0, 1));
    assert_false(share_a_slot(body, 2, PTX_READS_DESTINATION, -1, 0, 1));
}

static void test_coordinates_are_live(void **state) {
    (void)state;
    const char *body =
        ".reg .b32 %c, %t, %x; .reg .b64 %rd1; .reg .pred %p1;\n"
        "mov.u32 %c, 1; L: mov.u32 %t, 7; st.global.u32 [%rd1], %t; ld.global.u32 %x, [%rd1]; @%p1 bra L; "
        "ret;";
    assert_true(share_a_slot(body, 3, 0, -1, 0, 1));
    assert_false(share_a_slot(body, 3, 0, 0, 0, 1));
}

static int32_t frame_bytes(const char *body) {
    char *text = kernel_text("", "", body);
    struct ptx_module *module = parse_text(text);
    struct ptx_kernel *kernel = link_text(module, "k");
    int32_t bytes = kernel->function[0].frame_bytes;
    ptx_free_kernel(kernel);
    ptx_free_module(module);
    free(text);
    return bytes;
}

static void test_slots_are_reused(void **state) {
    (void)state;
    // A chain of 100 values, of which two are live at a time.
    char body[8192];
    size_t length = (size_t)snprintf(body, sizeof body, ".reg .b32 %%r<101>; mov.u32 %%r0, 1;");
    for (int i = 1; i <= 100; i++)
        length += (size_t)snprintf(body + length, sizeof body - length, "add.s32 %%r%d, %%r%d, 1;", i, i - 1);
    assert_int_equal(frame_bytes(body), 2 * 128);
}

static void test_live_range_covers_the_loop(void **state) {
    (void)state;
    // The loop reads %r1, which is written before it, before the write of %r2: the two must not share a slot, although
    // no instruction after the write of %r2 uses %r1.
    assert_int_equal(frame_bytes(".reg .b32 %r<4>; .reg .pred %p;"
                                 "mov.u32 %r1, 1;"
                                 "L: add.s32 %r3, %r1, 1; mov.u32 %r2, 5; st.shared.u32 [%r2], %r3;"
                                 "setp.lt.s32 %p, %r2, 7; @%p bra L;"),
                     64 + 3 * 128);
}

static void test_guarded_write_does_not_kill(void **state) {
    (void)state;
    // Lanes with a false guard read the value of %r1 from an earlier iteration, so %r2 must not share its slot.
    assert_int_equal(
        frame_bytes(".reg .b32 %r<3>; .reg .pred %p;"
                    "L: @%p mov.u32 %r1, 3; setp.eq.u32 %p, %r1, 1; mov.u32 %r2, 2; st.shared.u32 [%r2], 4;"
                    "@%p bra L;"),
        64 + 2 * 128);
}

static void test_unused_registers_cost_nothing(void **state) {
    (void)state;
    assert_int_equal(frame_bytes(".reg .b32 %r<1000000>; .reg .b64 %rd<9>; mov.u32 %r999999, 1;"), 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_functions),
        cmocka_unit_test(test_slots_are_reused),
        cmocka_unit_test(test_live_range_covers_the_loop),
        cmocka_unit_test(test_guarded_write_does_not_kill),
        cmocka_unit_test(test_accumulator_is_live),
        cmocka_unit_test(test_coordinates_are_live),
        cmocka_unit_test(test_unused_registers_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
