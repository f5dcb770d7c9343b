// The markers of blanks, line by line: common/host/blanks.h. Whole files are tested in tests/harness/test_blanks.c.
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

static void reads_a_blank(void **state) {
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

static void reads_the_number_of_lines(void **state) {
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

static void ignores_other_comments(void **state) {
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

static void accepts_markers_out_of_order(void **state) {
    (void)state;
    // An end without a beginning ends no blank.
    assert_int_equal(read_line("// END TODO 1"), BLANK_END);
    assert_int_equal(reader.begun, 0);
    // A second beginning replaces the first.
    assert_int_equal(read_line("// TODO 1 (about 1 line): x"), BLANK_BEGIN);
    assert_int_equal(read_line("x;"), BLANK_INSIDE);
    assert_int_equal(read_line("// TODO 2 (about 1 line): y"), BLANK_BEGIN);
    assert_int_equal(reader.begun, 4);
    assert_false(reader.filled);
    assert_int_equal(read_line("// END TODO 1"), BLANK_END);
    assert_int_equal(reader.number, 1);
    // A second end ends no blank.
    assert_int_equal(read_line("// END TODO 2"), BLANK_END);
    assert_int_equal(reader.begun, 0);
    assert_int_equal(read_line("// TODO 99999999999999999999 (about 1 line): far"), BLANK_BEGIN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_a_blank, start),
        cmocka_unit_test_setup(reads_the_number_of_lines, start),
        cmocka_unit_test_setup(ignores_other_comments, start),
        cmocka_unit_test_setup(accepts_markers_out_of_order, start),
    };
    return cmocka_run_group_tests_name("blanks, line by line", tests, NULL, NULL);
}
