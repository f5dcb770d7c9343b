// The markers of blanks, line by line: common/host/blanks.h. What a file's blanks come to is in
// tests/harness/test_blanks.c.
#include "../harness/cmocka_all.h"
#include "host/blanks.h"

#include <string.h>

static struct blank_reader reader;

static enum blank_line read_line(const char *line) {
    char copy[400];
    strcpy(copy, line);
    return blank_read(&reader, copy);
}

static int start(void **state) {
    (void)state;
    reader = (struct blank_reader){0};
    return 0;
}

static void a_blank_from_its_task_to_its_end(void **state) {
    (void)state;
    assert_int_equal(read_line("int a;"), BLANK_OUTSIDE);
    assert_int_equal(reader.begun, 0);
    assert_int_equal(read_line("    // TODO 3 (about 4 lines): what"), BLANK_BEGIN);
    assert_int_equal(reader.number, 3);
    assert_int_equal(reader.about, 4);
    assert_int_equal(read_line("    // is it?\r\n"), BLANK_TASK);
    assert_int_equal(read_line(""), BLANK_INSIDE);
    assert_int_equal(read_line("    // a comment of the solution"), BLANK_INSIDE);
    assert_false(reader.filled);
    assert_int_equal(reader.lines, 1);
    assert_int_equal(read_line("\tx++; // TODO 4"), BLANK_INSIDE);
    assert_true(reader.filled);
    assert_int_equal(reader.lines, 2);
    assert_int_equal(read_line("    // END TODO 3"), BLANK_END);
    assert_int_equal(reader.number, 3);
    assert_int_equal(reader.begun, 2);
    assert_int_equal(read_line("// after it"), BLANK_OUTSIDE);
    assert_int_equal(reader.begun, 0);
    assert_int_equal(reader.line, 8);
}

static void how_many_lines_it_says(void **state) {
    (void)state;
    const struct {
        const char *line;
        int about;
    } cases[] = {
        {"// TODO 1 (about 1 line): x", 1},
        {"// TODO 12 (about 30 lines): x", 30},
        {"// TODO 1: x", -1},
        {"// TODO 1 (about four lines): x", -1},
        {"// TODO 1 (about 4 lines) x", -1},
        {"// TODO 1 (about 4 lines):", -1},
        {"// TODO 1 (about 4 linen): x", -1},
        {"// TODO 1", -1},
        {"//TODO 1 (about 2 lines): x", 2},
        {"//   TODO 1 (about 2 lines): x", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(NULL);
        assert_int_equal(read_line(cases[i].line), BLANK_BEGIN);
        assert_int_equal(reader.about, cases[i].about);
    }
}

static void what_is_no_marker(void **state) {
    (void)state;
    assert_int_equal(read_line("x(); // TODO 1 (about 1 line): x"), BLANK_OUTSIDE);
    assert_int_equal(read_line("// what TODO 1 says"), BLANK_OUTSIDE);
    assert_int_equal(read_line("// TODOs 1"), BLANK_OUTSIDE);
    assert_int_equal(read_line("/* TODO 1 (about 1 line): x */"), BLANK_OUTSIDE);
    assert_int_equal(read_line("TODO 1 (about 1 line): x"), BLANK_OUTSIDE);
    assert_int_equal(read_line("// TODO list"), BLANK_STRAY);
    assert_int_equal(read_line("// TODO (about 2 lines): no number"), BLANK_STRAY);
    assert_int_equal(read_line("// END TODO"), BLANK_OUTSIDE);
    assert_int_equal(reader.begun, 0);
}

static void markers_out_of_order(void **state) {
    (void)state;
    // An end without a beginning: there is no blank that it ends.
    assert_int_equal(read_line("// END TODO 1"), BLANK_END);
    assert_int_equal(reader.begun, 0);
    // A second beginning takes the place of the first.
    assert_int_equal(read_line("// TODO 1 (about 1 line): x"), BLANK_BEGIN);
    assert_int_equal(read_line("x;"), BLANK_INSIDE);
    assert_int_equal(read_line("// TODO 2 (about 1 line): y"), BLANK_BEGIN);
    assert_int_equal(reader.begun, 4);
    assert_false(reader.filled);
    assert_int_equal(read_line("// END TODO 1"), BLANK_END);
    assert_int_equal(reader.number, 1);
    // And two ends: the second ends nothing.
    assert_int_equal(read_line("// END TODO 2"), BLANK_END);
    assert_int_equal(reader.begun, 0);
    assert_int_equal(read_line("// TODO 99999999999999999999 (about 1 line): far"), BLANK_BEGIN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_blank_from_its_task_to_its_end, start),
        cmocka_unit_test_setup(how_many_lines_it_says, start),
        cmocka_unit_test_setup(what_is_no_marker, start),
        cmocka_unit_test_setup(markers_out_of_order, start),
    };
    return cmocka_run_group_tests_name("blanks, line by line", tests, NULL, NULL);
}
