// Simulated device memory: addresses of allocations, the nearest one to an address, and the shadow of written bytes.
#include "machine/allocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_addresses(void **state) {
    (void)state;
    struct sim_allocation *a = sim_memory_allocate(1000, SIM_ALLOCATION_HEAP, NULL);
    struct sim_allocation *b = sim_memory_allocate(300, SIM_ALLOCATION_HEAP, NULL);
    assert_true(a->address % 256 == 0 && b->address % 256 == 0);
    assert_true(b->address - a->address >= 1 << 30);
    assert_ptr_equal(sim_memory_find(a->address, 1000), a);
    assert_ptr_equal(sim_memory_find(a->address + 999, 1), a);
    assert_null(sim_memory_find(a->address + 999, 2));
    assert_null(sim_memory_find(a->address - 1, 1));
    assert_null(sim_memory_find(0, 1));
    int64_t distance;
    assert_ptr_equal(sim_memory_nearest(a->address + 1000, &distance), a);
    assert_int_equal(distance, 1);
    assert_ptr_equal(sim_memory_nearest(b->address - 4, &distance), b);
    assert_int_equal(distance, -4);
    assert_true(sim_memory_free(a->address));
    assert_true(sim_memory_free(b->address));
}

static void test_freed(void **state) {
    (void)state;
    struct sim_allocation *a = sim_memory_allocate(64, SIM_ALLOCATION_HEAP, NULL);
    uint64_t address = a->address;
    unsigned id = a->id;
    assert_null(sim_memory_find_freed(address));
    assert_false(sim_memory_free(address + 1));
    assert_true(sim_memory_free(address));
    assert_false(sim_memory_free(address));
    assert_null(sim_memory_find(address, 1));
    assert_int_equal(sim_memory_find_freed(address + 63)->id, id);
    assert_null(sim_memory_find_freed(address + 64));
    struct sim_allocation *b = sim_memory_allocate(64, SIM_ALLOCATION_HEAP, NULL);
    assert_true(b->address != address); // a stale pointer never reaches another buffer
    assert_true(sim_memory_retire(b->address));
    assert_null(sim_memory_find(b->address, 1));
    sim_memory_collect();
}

static void test_capacity(void **state) {
    (void)state;
    size_t used, capacity;
    sim_memory_set_capacity(1000);
    struct sim_allocation *a = sim_memory_allocate(600, SIM_ALLOCATION_HEAP, NULL);
    assert_non_null(a);
    assert_null(sim_memory_allocate(401, SIM_ALLOCATION_HEAP, NULL));
    assert_null(sim_memory_allocate(0, SIM_ALLOCATION_HEAP, NULL));
    assert_null(sim_memory_allocate(SIZE_MAX, SIM_ALLOCATION_HEAP, NULL));
    sim_memory_usage(&used, &capacity);
    assert_int_equal(used, 600);
    assert_int_equal(capacity, 1000);
    sim_memory_free(a->address);
    sim_memory_usage(&used, &capacity);
    assert_int_equal(used, 0);
    sim_memory_set_capacity(SIZE_MAX);
}

// Every range of a small allocation, compared with an array of bytes.
static void test_written(void **state) {
    (void)state;
    enum { SIZE = 200 };
    for (size_t first = 0; first < SIZE; first += 7) {
        for (size_t length = 1; first + length <= SIZE; length += 13) {
            bool written[SIZE] = {false};
            struct sim_allocation *a = sim_memory_allocate(SIZE, SIM_ALLOCATION_HEAP, NULL);
            struct sim_allocation *b = sim_memory_allocate(SIZE, SIM_ALLOCATION_HEAP, NULL);
            sim_memory_mark_written(a, first, length);
            memset(written + first, true, length);
            sim_memory_copy_written(b, 10, a, 5, SIZE - 10);
            for (size_t i = 0; i < SIZE; i++) {
                assert_int_equal(sim_memory_is_written(a, i, 1), written[i]);
                bool copied = i >= 10 && written[i - 5];
                assert_int_equal(sim_memory_is_written(b, i, 1), copied);
            }
            assert_true(sim_memory_is_written(a, first, length));
            assert_int_equal(sim_memory_is_written(a, 0, SIZE), first == 0 && length == SIZE);
            sim_memory_free(a->address);
            sim_memory_free(b->address);
        }
    }
}

// A copy within one allocation, in both directions, moves the shadow as memmove moves bytes.
static void test_overlapping_copy(void **state) {
    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        uint8_t bytes[100] = {0};
        struct sim_allocation *a = sim_memory_allocate(sizeof bytes, SIM_ALLOCATION_HEAP, NULL);
        for (size_t i = 0; i < sizeof bytes; i += 3) {
            bytes[i] = 1;
            sim_memory_mark_written(a, i, 1);
        }
        size_t to = backwards ? 20 : 10, from = backwards ? 10 : 20;
        memmove(bytes + to, bytes + from, 70);
        sim_memory_copy_written(a, to, a, from, 70);
        for (size_t i = 0; i < sizeof bytes; i++)
            assert_int_equal(sim_memory_is_written(a, i, 1), bytes[i]);
        sim_memory_free(a->address);
    }
}

static void test_all_written(void **state) {
    (void)state;
    struct sim_allocation *a = sim_memory_allocate(130, SIM_ALLOCATION_HEAP, NULL);
    sim_memory_mark_written(a, 0, 65);
    sim_memory_note_written();
    assert_false(a->all_written);
    sim_memory_mark_written(a, 65, 65);
    sim_memory_note_written();
    assert_true(a->all_written);
    sim_memory_free(a->address);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_capacity),         cmocka_unit_test(test_written),
        cmocka_unit_test(test_overlapping_copy), cmocka_unit_test(test_all_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
