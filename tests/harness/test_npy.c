// .npy files: what is read back, and that every damaged file gets one line.
#include "cmocka_all.h"
#include "host/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/attention-npy-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "%s/a.npy", folder);
    unlink(path);
    return rmdir(folder);
}

static const char *path_of(const char *name) {
    static char path[100];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    return path;
}

// Writes a file of version with header as it stands and bytes bytes of data.
static void write_file(int version, const char *header, size_t bytes) {
    FILE *file = fopen(path_of("a"), "wb");
    size_t length = strlen(header);
    assert_non_null(file);
    fwrite("\x93NUMPY", 1, 6, file);
    fputc(version, file);
    fputc(0, file);
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        fputc((int)(length >> (8 * i) & 0xFF), file);
    fwrite(header, 1, length, file);
    for (size_t i = 0; i < bytes; i++)
        fputc((int)(i & 0x3F), file);
    fclose(file);
}

static void write_raw(const char *bytes, size_t size) {
    FILE *file = fopen(path_of("a"), "wb");
    assert_non_null(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    float data[24];
    struct npy array;
    struct message error;
    for (int i = 0; i < 24; i++)
        data[i] = (float)i / 7;
    data[5] = -INFINITY;
    static const int64_t shapes[][4] = {{24}, {4, 6}, {2, 3, 4}, {1, 2, 3, 4}};
    for (int n = 1; n <= 4; n++) {
        assert_true(npy_write(path_of("a"), n, shapes[n - 1], ATTENTION_FP32, data, &error));
        assert_true(npy_read(path_of("a"), &array, &error));
        assert_int_equal(array.dimensions, n);
        assert_int_equal(array.elements, 24);
        assert_memory_equal(array.size, shapes[n - 1], (size_t)n * sizeof(int64_t));
        assert_memory_equal(array.data, data, sizeof data);
        npy_free(&array);
    }
    assert_false(npy_write("/nonexistent/a.npy", 1, shapes[0], ATTENTION_FP32, data, &error));
}

// Little-endian halves behind a header that names them so.
static void write_halves(const char *descr, const uint16_t *bits, size_t count) {
    char header[120];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }\n", descr, count);
    write_file(1, header, 0);
    FILE *file = fopen(path_of("a"), "ab");
    fwrite(bits, sizeof *bits, count, file);
    fclose(file);
}

static void halves_are_read_under_each_name(void **state) {
    (void)state;
    static const struct {
        const char *descr;
        enum attention_dtype dtype;
        uint16_t bits[4];
    } files[] = {
        {"<f2", ATTENTION_FP16, {0x3C00, 0xC100, 0x0001, 0x7C00}},
        {"<V2", ATTENTION_BF16, {0x3F80, 0xC020, 0x3380, 0x7F80}},
        {"|V2", ATTENTION_BF16, {0x3F80, 0xC020, 0x3380, 0x7F80}},
        {"<u2", ATTENTION_BF16, {0x3F80, 0xC020, 0x3380, 0x7F80}},
    };
    static const float expected[] = {1, -2.5f, 0x1p-24f, INFINITY};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct npy array;
        struct message error;
        write_halves(files[i].descr, files[i].bits, 4);
        if (!npy_read(path_of("a"), &array, &error))
            fail_msg("%s", error.text);
        assert_int_equal(array.dtype, files[i].dtype);
        assert_int_equal(array.elements, 4);
        assert_memory_equal(array.data, expected, sizeof expected);
        npy_free(&array);
    }
}

// The bytes that NumPy and ml_dtypes write.
static void halves_are_written_and_read_back(void **state) {
    (void)state;
    static const float data[6] = {1, -2.5f, 1 + 0x1p-12f, 0.1f, -INFINITY, 65519};
    static const int64_t size[2] = {2, 3};
    static const struct {
        enum attention_dtype dtype;
        const char *descr;
        uint16_t bits[6];
    } files[] = {
        {ATTENTION_FP16,
         "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }",
         {0x3C00, 0xC100, 0x3C00, 0x2E66, 0xFC00, 0x7BFF}},
        {ATTENTION_BF16,
         "{'descr': '<V2', 'fortran_order': False, 'shape': (2, 3), }",
         {0x3F80, 0xC020, 0x3F80, 0x3DCD, 0xFF80, 0x4780}},
    };
    for (int i = 0; i < 2; i++) {
        char bytes[400];
        struct npy array;
        struct message error;
        assert_true(npy_write(path_of("a"), 2, size, files[i].dtype, data, &error));
        FILE *file = fopen(path_of("a"), "rb");
        assert_int_equal(fread(bytes, 1, sizeof bytes, file), 128 + 12);
        fclose(file);
        assert_memory_equal(bytes + 10, files[i].descr, strlen(files[i].descr));
        assert_memory_equal(bytes + 128, files[i].bits, 12);
        assert_true(npy_read(path_of("a"), &array, &error));
        assert_int_equal(array.dtype, files[i].dtype);
        assert_int_equal(array.size[1], 3);
        for (int e = 0; e < 6; e++)
            assert_true(array.data[e] == dtype_round(files[i].dtype, data[e]));
        npy_free(&array);
    }
}

static void every_version_and_spelling_is_read(void **state) {
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
        "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
        "{\"shape\": (2, 3,), \"fortran_order\": False, \"descr\": \"<f4\"}\n",
    };
    struct npy array;
    struct message error;
    for (int version = 1; version <= 3; version++)
        for (int h = 0; h < 3; h++) {
            write_file(version, headers[h], 24);
            if (!npy_read(path_of("a"), &array, &error))
                fail_msg("%s", error.text);
            assert_int_equal(array.dimensions, 2);
            assert_int_equal(array.size[1], 3);
            npy_free(&array);
        }
}

static void refuse(const char *expected) {
    struct npy array;
    struct message error = {""};
    assert_false(npy_read(path_of("a"), &array, &error));
    assert_null(array.data);
    assert_null(strchr(error.text, '\n'));
    assert_non_null(strstr(error.text, "/a.npy"));
    if (!strstr(error.text, expected))
        fail_msg("'%s' does not say '%s'", error.text, expected);
}

static void damaged_files_get_one_line(void **state) {
    (void)state;
    unlink(path_of("a"));
    refuse("cannot be opened");
    write_raw("", 0);
    refuse("magic");
    write_raw("\x93NUMPX\x01\x00", 8);
    refuse("magic");
    write_raw("hello, world", 12);
    refuse("magic");
    write_file(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    refuse("version");
    write_raw("\x93NUMPY\x01\x00\x40", 9);
    refuse("cut off");
    write_raw("\x93NUMPY\x01\x00\x40\x00{'descr'", 18);
    refuse("cut off");
    write_raw("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{", 13);
    refuse("damaged");
    static const char *const unreadable[] = {
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'shape': (2, 3)}",
        "{'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': Falsey, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4444444444444444444444', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x",
        "{'descr': '<f4",
    };
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        write_file(1, unreadable[i], 24);
        refuse("header");
    }
    write_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", 48);
    refuse("dtype '<f8'");
    static const char *const types[] = {"<i2", "|u1", "<f1", "<V4", "|V1", "<u4", "<c8", "|b1", "<V2x", "f4"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        write_halves(types[i], (const uint16_t[]){0, 0}, 2);
        refuse("save it as float32 ('<f4'), float16 ('<f2') or bfloat16");
    }
    write_halves(">f2", (const uint16_t[]){0, 0}, 2);
    refuse("big-endian '>f2'");
    write_file(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }\n", 11);
    refuse("has 11 bytes of data, but the shape needs 12 bytes: the file is truncated");
    write_file(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    refuse("too long");
    write_file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    refuse("big-endian");
    write_file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", 24);
    refuse("Fortran order");
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }\n", 0);
    refuse("empty dimension");
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }\n",
               24);
    refuse("too large for any memory");
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 23);
    refuse("truncated");
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 25);
    refuse("too long");
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 3), }\n", 24);
    refuse("truncated");
    unlink(path_of("a"));
    mkdir(path_of("a"), 0700);
    refuse("regular file");
    rmdir(path_of("a"));
}

// Every prefix of a good file is refused, and none crashes.
static void every_truncation_is_refused(void **state) {
    (void)state;
    char bytes[400];
    static const int64_t size[] = {2, 3};
    static const float data[6];
    struct message error;
    struct npy array;
    assert_true(npy_write(path_of("a"), 2, size, ATTENTION_FP32, data, &error));
    FILE *file = fopen(path_of("a"), "rb");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(length, 128 + 24);
    for (size_t cut = 0; cut < length; cut++) {
        write_raw(bytes, cut);
        assert_false(npy_read(path_of("a"), &array, &error));
        assert_null(strchr(error.text, '\n'));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),    cmocka_unit_test(every_version_and_spelling_is_read),
        cmocka_unit_test(damaged_files_get_one_line),      cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(halves_are_read_under_each_name), cmocka_unit_test(halves_are_written_and_read_back),
    };
    return cmocka_run_group_tests_name("npy", tests, make_folder, remove_folder);
}
