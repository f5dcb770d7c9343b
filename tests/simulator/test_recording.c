// Recordings: the parts of a launch that are kept, and the format. tests/explore tests the pages made of them.
#include "ptx_text.h"

#include "execution/launch.h"
#include "instructions/bind.h"
#include "recording/assignment.h"
#include "recording/json.h"
#include "recording/recording.h"
#include "simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// Two warps. Each stores with a 4-way bank conflict, waits, and iterates 200 times over a loop that reads global memory
// and alternates between two lines.
static const char declarations[] = ".file 1 \"no such file\"\n.shared .align 16 .b8 tile[1024];\n";
static const char looks[] = ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
                            "ld.param.u64 %rd1, [p];\n"
                            ".loc 1 3 0\n"
                            "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;\n"
                            "st.shared.u32 [%r4], %r1;\n"
                            ".loc 1 4 0\n"
                            "bar.sync 0;\n"
                            "mov.u32 %r5, 0;\n"
                            "L: .loc 1 5 0\n"
                            "ld.global.u32 %r6, [%rd1+4];\n"
                            ".loc 1 6 0\n"
                            "add.u32 %r5, %r5, 1;\n"
                            "setp.lt.u32 %p1, %r5, 200;\n"
                            "@%p1 bra L;\n"
                            "ret;";
// The same store, read by the other warp without a barrier.
static const char races[] = ".reg .b32 %r<9>;\n"
                            ".loc 1 13 0\n"
                            "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;\n"
                            "st.shared.u32 [%r4], %r1;\n"
                            ".loc 1 14 0\n"
                            "xor.b32 %r5, %r2, 128; add.u32 %r6, %r3, %r5; ld.shared.u32 %r7, [%r6];\n"
                            "ret;";

struct loaded {
    struct ptx_module *module;
    struct ptx_kernel *ptx;
    struct sim_kernel *kernel;
};

static struct loaded load(const char *body) {
    static uint64_t no_address[8];
    char error[512] = "";
    char *text = kernel_text(declarations, ".param .u64 p", body);
    struct loaded loaded = {.module = parse_text(text)};
    loaded.ptx = link_text(loaded.module, "k");
    loaded.kernel = sim_kernel_bind(loaded.ptx, no_address, error, sizeof error);
    if (!loaded.kernel)
        fail_msg("%s", error);
    free(text);
    return loaded;
}

static void unload(struct loaded *loaded) {
    sim_kernel_free(loaded->kernel);
    ptx_free_kernel(loaded->ptx);
    ptx_free_module(loaded->module);
}

static enum sim_status run(const struct loaded *loaded, unsigned grid, uint64_t parameter) {
    static const struct sim_device device = {.name = "test", .compute_capability = 90, .sms = 1};
    struct sim_launch launch = {.kernel = loaded->kernel,
                                .grid = {grid, 1, 1},
                                .block = {64, 1, 1},
                                .parameters = &parameter,
                                .device = &device};
    return sim_launch_run(&launch, NULL);
}

static char path[64];

static char *written(void) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 4 << 20);
    assert_true(fread(text, 1, (4 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static int count(const char *text, const char *end, const char *what) {
    int found = 0;
    for (text = strstr(text, what); text && text < end; text = strstr(text + 1, what))
        found++;
    return found;
}

// Finds the text that begins with `start`; *end is the end of its line.
static const char *part(const char *text, const char *start, const char **end) {
    const char *found = strstr(text, start);
    if (!found)
        fail_msg("no %s in the recording", start);
    *end = strchr(found, '\n');
    return found;
}

static void must_hold(const char *text, const char *what) {
    if (!strstr(text, what))
        fail_msg("no %s in the recording", what);
}

static void recorded(void **state) {
    (void)state;
    const uint64_t memory = sim_memory_allocate(64, SIM_ALLOCATION_HEAP, NULL)->address;
    const int64_t size[] = {16}, stride[] = {1};
    const char *const axis[] = {"column"};
    sim_memory_mark_written(sim_memory_find(memory, 64), 0, 64);
    struct loaded looking = load(looks), racing = load(races);
    snprintf(path, sizeof path, "/tmp/test_recording.%d", (int)getpid());

    // Off: no file is written.
    unsetenv("SIMULATOR_RECORDING");
    assert_int_equal(run(&looking, 1, memory), SIM_OK);
    assert_int_equal(simulator_write_recording(), 0);
    assert_int_not_equal(access(path, F_OK), 0);

    setenv("SIMULATOR_RECORDING", path, 1);
    simulator_describe_memory((const void *)(uintptr_t)memory, 64, "x", "s32", 4, 1, size, stride, axis);
    assert_int_equal(run(&looking, 5, memory), SIM_OK);
    assert_int_equal(run(&looking, 5, memory), SIM_OK);
    assert_int_equal(run(&racing, 1, memory), SIM_LAUNCH_FAILURE);
    assert_int_equal(simulator_write_recording(), 0);
    char *text = written();
    const char *end, *at;

    // The first launch of the two, and its first and last block.
    must_hold(text, "\"grid\":[5,1,1],\"block\":[64,1,1],\"launch\":1,\"launches\":2,");
    must_hold(text, "\"blocks\":5,\"warps\":2,\"complete\":true,\"sampled\":{\"blocks\":[0,4],\"warps\":2,");
    must_hold(text, "\"shared\":[{\"name\":\"tile\",\"offset\":0,\"bytes\":1024,");
    must_hold(text, "{\"name\":\"x\",\"element_bytes\":4,\"bytes\":64,\"dtype\":\"s32\",\"shape\":[16],\"strides\":[1],"
                    "\"axes\":[\"column\"]}");

    // Four wavefronts, each with eight lanes, for a store that needs one without bank conflicts.
    at = part(text,
              "\"ptx\":\"st.shared.u32 [%r4], %r1;\",\"kind\":\"store\",\"space\":\"shared\",\"bytes\":4,\"merged\":0,"
              "\"counts\":{\"requests\":10,\"lanes\":320,\"bytes\":1280,\"sectors\":0,\"ideal_sectors\":0,"
              "\"wavefronts\":40,\"ideal_wavefronts\":10}",
              &end);
    assert_int_equal(count(at, end, ",4294967295,null,[0,16,32],[0,0,8,1,0,8,2,0,8,3,0,8],[0,0,4]]"), 2);

    // At most 64 of the 200 executions by each of four warps are kept, and all are counted.
    at = part(text, "\"ptx\":\"ld.global.u32 %r6, [%rd1+4];\"", &end);
    assert_int_equal(count(at, end, ",4294967295,0,[4,0,32]]"), 4 * 64);
    assert_int_equal(count(at, end, "\"requests\":2000,"), 1);
    assert_int_equal(count(at, end, "\"executed\":800"), 1);

    // Warp 0 arrives first and has to wait for warp 1, which passes at once.
    must_hold(text, "{\"block\":0,\"warp\":0,\"list\":[[7,\"arrive\",1,0,0],[14,\"pass\",1,0,0]],\"complete\":true}");
    must_hold(text, "{\"block\":0,\"warp\":1,\"list\":[[14,\"arrive\",1,0,0],[14,\"pass\",1,0,0]],\"complete\":true}");

    // Two lines of the loop 200 times, after the two before it.
    at = part(text, "\"steps\":[{\"block\":0,\"warp\":0,", &end);
    assert_int_equal(count(at, end, "\"mask\":[4294967295,402],\"complete\":true"), 1);

    // The race with both of its accesses: the second warp stores what the first one has read.
    at = part(text, "\"findings\":[{\"kind\":\"race\",\"text\":\"race: no such file:13 writes byte 128", &end);
    assert_int_equal(count(at, end,
                           "\"count\":32,\"kernel\":1,\"here\":{\"place\":5,\"site\":0,\"block\":0,\"warp\":1,"
                           "\"thread\":[32,0,0],\"sample\":1},\"there\":{\"place\":6,\"site\":1,\"block\":0,"
                           "\"warp\":0,\"thread\":null,\"sample\":0}}"),
                     1);
    must_hold(text, "[0,1,0,14,4294967295,null,[128,4,32],[0,0,32],[0,0,1]]");
    must_hold(text, "[0,0,0,8,4294967295,null,[128,4,32],[0,0,32],[0,0,1]]");
    free(text);
    unlink(path);
    unload(&looking);
    unload(&racing);
}

static void text_of(const char *string, const char *expected) {
    struct json json = {0};
    json_string(&json, string);
    assert_string_equal(json.text, expected);
    json_free(&json);
}

static void strings(void **state) {
    (void)state;
    text_of("a \"b\" \\ \t", "\"a \\\"b\\\" \\\\ \\u0009\"");
    text_of("</script><!--", "\"\\u003c/script>\\u003c!--\"");
    text_of("caf\xc3\xa9 \xe2\x82\xac", "\"caf\xc3\xa9 \xe2\x82\xac\"");
    text_of("caf\xe9", "\"caf\\u00e9\"");                                         // Latin-1
    text_of("\xc0\xaf \xed\xa0\x80", "\"\\u00c0\\u00af \\u00ed\\u00a0\\u0080\""); // not UTF-8, although it resembles it
}

static void runs_of(const int64_t *number, size_t numbers, const char *expected) {
    struct json json = {0};
    json_runs(&json, number, numbers);
    assert_string_equal(json.text, expected);
    json_free(&json);
}
#define RUNS(expected, ...)                                                                                            \
    runs_of((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), expected)

static void runs(void **state) {
    (void)state;
    RUNS("[5,0,1]", 5);
    RUNS("[0,16,4]", 0, 16, 32, 48);
    RUNS("[7,0,3,0,0,1]", 7, 7, 7, 0);
    RUNS("[0,0,1,9,1,3]", 0, 9, 10, 11);
    RUNS("[8,-4,3]", 8, 4, 0);
    runs_of(NULL, 0, "[]");
}

static void floats(void **state) {
    (void)state;
    struct json json = {0};
    json_float(&json, 0.1);
    json_add(&json, " ");
    json_float(&json, -1.0 / 0.0);
    json_add(&json, " ");
    json_float(&json, 0.0 / 0.0);
    assert_string_equal(json.text, "0.1 \"-inf\" \"nan\"");
    json_free(&json);
}

static void assignments(void **state) {
    (void)state;
    static const struct {
        const char *line, *name; // NULL: none
        enum assigned_type type;
        const char *from;
    } expected[] = {
        {"    row_max[i] = new_max;", "row_max[i]", ASSIGNED_UNKNOWN, "new_max"},
        {"    row_sum += sum;", "row_sum", ASSIGNED_UNKNOWN, ""},
        {"    x = 3;", "x", ASSIGNED_UNKNOWN, ""},
        {"    x = y + 1;", "x", ASSIGNED_UNKNOWN, ""},
        {"    const float new_max = fmaxf(row_max[i], x == y ? 1 : 2);", "new_max", ASSIGNED_FLOAT, NULL},
        {"    row_sum[i] *= rescale; // a = b", "row_sum[i]", ASSIGNED_UNKNOWN, NULL},
        {"    S_rmem[i][j + 1] += dot(a, b);", "S_rmem[i][j + 1]", ASSIGNED_UNKNOWN, NULL},
        {"    if (a <= b) O[i] = 1;", "O[i]", ASSIGNED_UNKNOWN, NULL},
        {"    const int key = key0 + threadIdx.x / 8;", "key", ASSIGNED_INTEGER, NULL},
        {"    float4 acc = make_float4(0, 0, 0, 0);", "acc", ASSIGNED_OTHER, NULL},
        {"    shift >>= 1;", "shift", ASSIGNED_UNKNOWN, NULL},
        {"    float max = -INFINITY, sum = 0.0f;", NULL, 0, NULL},
        {"    for (int i = 0; i < n; i++)", NULL, 0, NULL},
        {"    *o = sum;", NULL, 0, NULL},
        {"    p->x = sum;", NULL, 0, NULL},
        {"    f(a = b);", NULL, 0, NULL},
        {"    return a == b;", NULL, 0, NULL},
        {"    char *text = \"a = b\";", NULL, 0, NULL},
        {"", NULL, 0, NULL},
        {"=", NULL, 0, NULL},
        {"if (", NULL, 0, NULL},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct assignment found;
        const bool has = assignment_of(expected[i].line, &found);
        if (has != (expected[i].name != NULL))
            fail_msg("%s: %s", expected[i].line, has ? found.name : "nothing");
        if (has) {
            assert_string_equal(found.name, expected[i].name);
            assert_int_equal(found.type, expected[i].type);
            if (expected[i].from)
                assert_string_equal(found.from, expected[i].from);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded), cmocka_unit_test(strings),     cmocka_unit_test(runs),
        cmocka_unit_test(floats),   cmocka_unit_test(assignments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
