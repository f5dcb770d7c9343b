// The traffic model: ideal sectors, local memory, the accesses that ptxas merges, and the output. Sectors and
// wavefronts of hundreds of patterns are compared with what ncu counts on a GPU (tests/truth).
#include "simulator.h"
#include "traffic/counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ALL 0xffffffffu

static struct traffic_counts sectors(enum ptx_space space, uint32_t bytes, uint32_t mask, uint64_t start,
                                     uint64_t stride) {
    struct traffic_counts counts = {0};
    uint64_t address[32];
    for (uint64_t lane = 0; lane < 32; lane++)
        address[lane] = start + lane * stride;
    traffic_count_sectors(&counts, space, ACCESS_LOAD, bytes, mask, address, NULL);
    return counts;
}

static void strides_shifts_and_broadcasts(void **state) {
    (void)state;
    const struct traffic_counts column = sectors(PTX_GLOBAL, 4, ALL, 0, 4096);
    assert_int_equal(column.sectors, 32);
    assert_int_equal(column.ideal_sectors, 4);
    const struct traffic_counts broadcast = sectors(PTX_GLOBAL, 4, ALL, 64, 0);
    assert_int_equal(broadcast.sectors, 1);
    assert_int_equal(broadcast.ideal_sectors, 1);
    assert_int_equal(sectors(PTX_GLOBAL, 4, ALL, 4, 4).sectors, 5);
    assert_int_equal(sectors(PTX_GLOBAL, 4, ALL, 0, 8).sectors, 8);
    // Descending addresses, as in a thread that counts down.
    assert_int_equal(sectors(PTX_GLOBAL, 4, ALL, 1024, (uint64_t)-4).sectors, 5);
}

static void local_memory_is_interleaved(void **state) {
    (void)state;
    assert_int_equal(sectors(PTX_LOCAL, 4, ALL, 16, 0).sectors, 4);
    assert_int_equal(sectors(PTX_LOCAL, 16, ALL, 16, 0).sectors, 16);
    // Each lane accesses its own word: 32 lines.
    assert_int_equal(sectors(PTX_LOCAL, 4, ALL, 0, 4).sectors, 32);
}

// A kernel with shared loads from one register: the register is thread * factor, with one load per offset.
struct sample {
    struct ptx_instruction instruction[16];
    struct ptx_kernel kernel;
    struct ptx_module module;
    struct ptx_frame frame;
};

enum { ADDRESS_SLOT = 64, VALUE_SLOT = 128 };

static struct ptx_operand reg(int32_t slot) {
    return (struct ptx_operand){.kind = PTX_OPERAND_REGISTER, .reg_type = PTX_B32, .slot = slot, .variable = -1};
}

static struct ptx_instruction *append(struct sample *s, enum ptx_opcode opcode) {
    struct ptx_instruction *i = &s->instruction[s->kernel.instructions++];
    *i = (struct ptx_instruction){
        .opcode = opcode, .type = PTX_B32, .vector = 1, .guard = -1, .location = -1, .text = "x"};
    return i;
}

static void append_address(struct sample *s, uint64_t factor) {
    struct ptx_instruction *i = append(s, PTX_OP_MUL);
    i->flags = PTX_LO;
    i->dst[0] = reg(ADDRESS_SLOT);
    i->src[0] = (struct ptx_operand){.kind = PTX_OPERAND_SPECIAL, .special = PTX_TID_X};
    i->src[1] = (struct ptx_operand){.kind = PTX_OPERAND_IMMEDIATE, .bits = factor};
    i->nsrc = 2;
}

static void append_load(struct sample *s, int64_t offset) {
    struct ptx_instruction *i = append(s, PTX_OP_LD);
    i->type = PTX_F32;
    i->space = PTX_SHARED;
    i->dst[0] = reg(VALUE_SLOT);
    i->src[0] = (struct ptx_operand){
        .kind = PTX_OPERAND_ADDRESS, .slot = ADDRESS_SLOT, .offset = offset, .space = PTX_SHARED, .variable = -1};
    i->nsrc = 1;
}

static void start(struct sample *s) {
    memset(s, 0, sizeof *s);
    s->frame = (struct ptx_frame){.name = "_Z6samplei", .frame_bytes = 256};
    s->kernel = (struct ptx_kernel){.module = &s->module,
                                    .name = "_Z6samplei",
                                    .instruction = s->instruction,
                                    .functions = 1,
                                    .function = &s->frame};
}

static void assert_merged(const struct sample *s, const int8_t *expected) {
    int8_t *merged = traffic_merged_bytes(&s->kernel);
    assert_non_null(merged);
    assert_memory_equal(merged, expected, (size_t)s->kernel.instructions);
    free(merged);
}

static void aligned_neighbours_are_merged(void **state) {
    (void)state;
    struct sample s;
    start(&s);
    append_address(&s, 16);
    append_load(&s, 4);
    append_load(&s, 0);
    append_load(&s, 12);
    append_load(&s, 8);
    assert_merged(&s, (const int8_t[]){0, -1, 16, -1, -1});
    start(&s);
    append_address(&s, 8);
    append_load(&s, 0);
    append_load(&s, 4);
    append_load(&s, 8);
    assert_merged(&s, (const int8_t[]){0, 8, -1, 0});
}

static void accesses_without_proven_alignment_are_not_merged(void **state) {
    (void)state;
    struct sample s;
    start(&s);
    append_address(&s, 12);
    append_load(&s, 0);
    append_load(&s, 4);
    assert_merged(&s, (const int8_t[]){0, 0, 0});
    start(&s);
    append_address(&s, 16);
    append_load(&s, 4);
    append_load(&s, 8);
    assert_merged(&s, (const int8_t[]){0, 0, 0});
}

static void barriers_and_new_addresses_end_a_merge(void **state) {
    (void)state;
    struct sample s;
    start(&s);
    append_address(&s, 8);
    append_load(&s, 0);
    append(&s, PTX_OP_BAR);
    append_load(&s, 4);
    assert_merged(&s, (const int8_t[]){0, 0, 0, 0});
    start(&s);
    append_address(&s, 8);
    append_load(&s, 0);
    append_address(&s, 8);
    append_load(&s, 4);
    assert_merged(&s, (const int8_t[]){0, 0, 0, 0});
}

// A loop that adds 4 to an address that was a multiple of 16 before the loop.
static void a_loop_lowers_the_known_alignment(void **state) {
    (void)state;
    struct sample s;
    start(&s);
    append_address(&s, 16);
    append_load(&s, 0);
    append_load(&s, 4);
    struct ptx_instruction *add = append(&s, PTX_OP_ADD);
    add->dst[0] = add->src[0] = reg(ADDRESS_SLOT);
    add->src[1] = (struct ptx_operand){.kind = PTX_OPERAND_IMMEDIATE, .bits = 4};
    add->nsrc = 2;
    struct ptx_instruction *branch = append(&s, PTX_OP_BRA);
    branch->guard = 0;
    branch->src[0] = (struct ptx_operand){.kind = PTX_OPERAND_TARGET, .target = 1};
    branch->nsrc = 1;
    assert_merged(&s, (const int8_t[]){0, 0, 0, 0, 0});
}

static void record(struct traffic_table *table, int32_t instruction, uint64_t stride) {
    uint64_t address[32];
    for (uint64_t lane = 0; lane < 32; lane++)
        address[lane] = lane * stride;
    const struct traffic_access access = {.instruction = instruction,
                                          .space = PTX_SHARED,
                                          .kind = ACCESS_LOAD,
                                          .bytes = 4,
                                          .mask = ALL,
                                          .address = address};
    traffic_record(table, &access);
}

static void launches_add_up_and_are_written(void **state) {
    (void)state;
    struct sample s;
    start(&s);
    append_address(&s, 8);
    append_load(&s, 0);
    append_load(&s, 4);
    append_load(&s, 1024);
    const struct sim_dim one = {1, 1, 1}, block = {32, 1, 1};
    for (int i = 0; i < 2; i++) {
        struct traffic_launch *launch = traffic_launch_begin(&s.kernel, one, block, 64);
        assert_non_null(launch);
        for (int thread = 0; thread < 2; thread++) {
            struct traffic_table *table = traffic_table_begin(launch);
            record(table, 1, 8);
            record(table, 2, 8);
            record(table, 3, 128);
        }
        traffic_launch_end(launch);
    }
    const struct traffic_kernel_total *total = traffic_totals();
    assert_non_null(total);
    assert_null(total->next);
    assert_int_equal(total->launches, 2);
    assert_int_equal(total->accesses, 2);
    // The two merged loads count as one of 8 bytes.
    assert_int_equal(total->access[0].counts.requests, 4);
    assert_int_equal(total->access[0].counts.bytes, 4 * 32 * 8);
    assert_int_equal(total->access[0].counts.wavefronts, 4 * 2);
    assert_int_equal(total->access[1].counts.wavefronts, 4 * 32);
    assert_int_equal(total->access[1].counts.ideal_wavefronts, 4);

    const char *path = "build/test_traffic.csv";
    assert_int_equal(simulator_write_trace(path, NULL), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[1024];
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(
        line, "0,sample,_Z6samplei,2,1x1x1,32x1x1,64,\"\",0,\"\",0,0,1,shared,load,8,4,128,1024,0,0,8,8,\"x\","
              "\"neighbours merged into one access by ptxas\"\n");
    fclose(file);
    remove(path);
}

// By cuobjdump: ATOMS.CAST.SPIN, or ATOMS.CAS in a loop, instead of ATOMS.ADD and the like.
static void shared_atomics_that_are_loops(void **state) {
    (void)state;
    static const struct {
        enum ptx_type type;
        enum ptx_variant variant;
        bool loops;
    } atomics[] = {
        {PTX_U32, PTX_V_ADD, false}, {PTX_S32, PTX_V_MAX, false},   {PTX_B32, PTX_V_CAS, false},
        {PTX_F32, PTX_V_ADD, true},  {PTX_F64, PTX_V_ADD, true},    {PTX_U64, PTX_V_ADD, true},
        {PTX_S64, PTX_V_MIN, true},  {PTX_B64, PTX_V_EXCH, false},  {PTX_B64, PTX_V_CAS, false},
        {PTX_F16, PTX_V_ADD, true},  {PTX_BF16X2, PTX_V_ADD, true}, {PTX_B16, PTX_V_CAS, true},
    };
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++) {
        struct ptx_instruction instruction = {
            .opcode = i % 2 ? PTX_OP_RED : PTX_OP_ATOM, .type = atomics[i].type, .variant = atomics[i].variant};
        assert_int_equal(traffic_is_loop(&instruction), atomics[i].loops);
    }
    assert_false(traffic_is_loop(&(struct ptx_instruction){.opcode = PTX_OP_LD, .type = PTX_F32}));
}

static void a_trace_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    assert_int_equal(simulator_write_trace("no/such/folder/trace.csv", NULL), -1);
}

int main(void) {
    setenv("SIMULATOR_TRACE", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_shifts_and_broadcasts),
        cmocka_unit_test(local_memory_is_interleaved),
        cmocka_unit_test(aligned_neighbours_are_merged),
        cmocka_unit_test(accesses_without_proven_alignment_are_not_merged),
        cmocka_unit_test(barriers_and_new_addresses_end_a_merge),
        cmocka_unit_test(a_loop_lowers_the_known_alignment),
        cmocka_unit_test(launches_add_up_and_are_written),
        cmocka_unit_test(shared_atomics_that_are_loops),
        cmocka_unit_test(a_trace_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
