// Fat binaries that these tests assemble byte by byte in the layout of nvcc 13.0, and then corrupt.
#include "fatbin/fatbin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

enum { PTX = 1, ELF = 2, PLAIN = 0x11, LZ4 = 0x2011, ZSTD = 0x8011, ONLY_THIS = 0x100011, FAMILY = 0x200011 };
enum { HEADER = 16, ENTRY = 80, CAPACITY = 4096 };

static unsigned char bytes[CAPACITY];
static size_t length;

static void put(size_t at, uint64_t value, int size) {
    for (int i = 0; i < size; i++)
        bytes[at + (size_t)i] = (unsigned char)(value >> 8 * i);
}

static void start(void) {
    memset(bytes, 0, sizeof bytes);
    put(0, 0xBA55ED50, 4);
    put(4, 1, 2);
    put(6, HEADER, 2);
    length = HEADER;
}

// Appends an image, which holds text, compressed if the flags say zstd. Returns the offset of its entry.
static size_t add(int kind, int architecture, uint64_t flags, const char *text) {
    size_t entry = length, size = strlen(text) + 1, compressed = 0;
    if (flags & 0x8000)
        compressed = ZSTD_compress(bytes + entry + ENTRY, CAPACITY - entry - ENTRY, text, size, 3);
    else
        memcpy(bytes + entry + ENTRY, text, size);
    size_t payload = ((compressed ? compressed : size) + 7) / 8 * 8;
    put(entry, (uint64_t)kind, 2);
    put(entry + 2, 0x101, 2);
    put(entry + 4, ENTRY, 4);
    put(entry + 8, payload, 8);
    put(entry + 16, compressed, 4);
    put(entry + 28, (uint64_t)architecture, 4);
    put(entry + 40, flags, 8);
    put(entry + 56, compressed ? size : 0, 8);
    length += ENTRY + payload;
    put(8, length - HEADER, 8);
    return entry;
}

// Reads from an allocation of exactly that size, so that ASan reports an out-of-bounds read.
static void check(int capability, const char *expected_text, const char *expected_error) {
    char error[512] = "";
    struct fatbin_ptx ptx;
    unsigned char *copy = malloc(length ? length : 1);
    memcpy(copy, bytes, length);
    bool read = fatbin_read(copy, length, capability, &ptx, error, sizeof error);
    if (expected_text) {
        if (!read)
            fail_msg("%s", error);
        assert_string_equal(ptx.text, expected_text);
        assert_int_equal(ptx.length, strlen(expected_text));
    } else {
        assert_false(read);
        assert_null(ptx.text);
        assert_string_equal(error, expected_error);
    }
    fatbin_free(&ptx);
    free(copy);
}

static void test_best_image(void **state) {
    (void)state;
    start();
    add(ELF, 90, PLAIN, "machine code");
    add(PTX, 80, PLAIN, "for 80");
    add(PTX, 75, PLAIN, "for 75");
    add(PTX, 90, PLAIN, "for 90");
    add(PTX, 90, ONLY_THIS, "for 90a");
    add(PTX, 100, FAMILY, "for 100f");
    check(75, "for 75", NULL);
    check(79, "for 75", NULL);
    check(89, "for 80", NULL);
    check(90, "for 90a", NULL);
    check(103, "for 100f", NULL);
    check(120, "for 90", NULL);
    check(70, NULL,
          "the program's PTX targets compute_75, which a device of compute capability 7.0 cannot run; compile it with "
          "-gencode arch=compute_70,code=compute_70");
}

static void test_compressed_images(void **state) {
    (void)state;
    start();
    add(PTX, 90, ZSTD, "text text text text text text text text text");
    check(90, "text text text text text text text text text", NULL);
    put(HEADER + 56, 20, 8);
    check(90, NULL, "cannot decompress the PTX: Destination buffer is too small");
    put(HEADER + 56, 50, 8);
    check(90, NULL, "cannot decompress the PTX: it is shorter than its header says");
    put(HEADER + 56, UINT64_MAX, 8);
    check(90, NULL, "implausible size of the PTX: 17592186044415 MiB");
    put(HEADER + 56, 45, 8);
    put(HEADER + 16, 4000, 4);
    check(90, NULL, "corrupt fat binary: a compressed image is larger than its entry");
    put(HEADER + 16, 5, 4);
    check(90, NULL, "cannot decompress the PTX: Src size is incorrect");
    start();
    add(PTX, 90, LZ4, "compressed");
    check(90, NULL, "unsupported compression of the PTX (flags 0x2011); compile the program with nvcc --no-compress");
}

static void test_no_ptx(void **state) {
    (void)state;
    start();
    check(90, NULL,
          "the program contains machine code but no PTX; compile it with -gencode arch=compute_90,code=compute_90");
    add(ELF, 90, PLAIN, "machine code");
    check(90, NULL,
          "the program contains machine code but no PTX; compile it with -gencode arch=compute_90,code=compute_90");
}

static void test_corrupt_fat_binaries(void **state) {
    (void)state;
    start();
    size_t entry = add(PTX, 90, PLAIN, "text");
    size_t whole = length;
    for (length = 0; length < HEADER; length++)
        check(90, NULL, "not a fat binary: its magic number is not 0xBA55ED50");
    for (; length < whole; length++) {
        char error[128];
        snprintf(error, sizeof error, "truncated fat binary: %zu of %zu bytes", length - HEADER, whole - HEADER);
        check(90, NULL, error);
    }
    for (int size = 1; size < 64; size++) { // the header declares fewer bytes than an entry has
        put(8, (uint64_t)size, 8);
        check(90, NULL, "truncated fat binary: an entry's header is incomplete");
    }
    put(8, whole - HEADER, 8);
    check(90, "text", NULL);
    static const uint64_t sizes[] = {0, 63, 1 << 20, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        put(entry + 4, sizes[i], 4);
        check(90, NULL, "corrupt fat binary: an entry extends past its end");
    }
    put(entry + 4, ENTRY, 4);
    put(entry + 8, UINT64_MAX - ENTRY + 1, 8); // header and payload together wrap round to 0
    check(90, NULL, "corrupt fat binary: an entry extends past its end");
    put(8, UINT64_MAX, 8);
    check(90, NULL, "truncated fat binary: 88 of 18446744073709551615 bytes");
    put(6, 24, 2);
    check(90, NULL, "unsupported fat binary: its header has 24 bytes");
}

static void test_wrapper(void **state) {
    (void)state;
    struct {
        uint32_t magic, version;
        const void *data, *members;
    } wrapper = {0x466243B1, 1, bytes, NULL};
    const void *members[] = {bytes, NULL};
    struct fatbin_ptx ptx;
    char error[256] = "";
    start();
    add(PTX, 90, PLAIN, "text");
    assert_true(fatbin_read_wrapper(&wrapper, 90, &ptx, error, sizeof error));
    assert_string_equal(ptx.text, "text");
    assert_int_equal(ptx.target, 90);
    fatbin_free(&ptx);
    assert_null(fatbin_members(&wrapper));
    wrapper.version = 2;
    wrapper.members = members;
    assert_ptr_equal(fatbin_members(&wrapper), members);
    assert_true(fatbin_read_member(members[0], 90, &ptx, error, sizeof error));
    assert_string_equal(ptx.text, "text");
    fatbin_free(&ptx);
    wrapper.version = 3;
    assert_null(fatbin_members(&wrapper));
    assert_false(fatbin_read_wrapper(&wrapper, 90, &ptx, error, sizeof error));
    assert_string_equal(error, "unsupported fat binary version 3");
    wrapper.version = 1;
    wrapper.magic = 0;
    assert_false(fatbin_read_wrapper(&wrapper, 90, &ptx, error, sizeof error));
    assert_string_equal(error, "the program registers data that is not a fat binary");
    wrapper.magic = 0x466243B1;
    put(0, 0, 4);
    assert_false(fatbin_read_wrapper(&wrapper, 90, &ptx, error, sizeof error));
    assert_string_equal(error, "the program's fat binary has a wrong magic number");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_image), cmocka_unit_test(test_compressed_images),
        cmocka_unit_test(test_no_ptx),     cmocka_unit_test(test_corrupt_fat_binaries),
        cmocka_unit_test(test_wrapper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
