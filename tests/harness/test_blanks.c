// Blanks of a lesson: which are open, and where the first one is.
#include "cmocka_all.h"
#include "host/blanks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct blank find(const char *source) {
    char path[] = "/tmp/attention-blanks-XXXXXX";
    struct blank blank;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, source, strlen(source)), (ssize_t)strlen(source));
    close(file);
    assert_true(blanks_find(path, &blank));
    unlink(path);
    return blank;
}

static void an_empty_blank_is_open(void **state) {
    (void)state;
    struct blank b = find("int a;\n"
                          "    // TODO 1 (about 4 lines): what is the sum?\n"
                          "    // It has as many terms as there are keys.\n"
                          "\n"
                          "    // END TODO 1\n"
                          "    // TODO 2 (about 1 line): and now?\n"
                          "    // END TODO 2\n");
    assert_int_equal(b.blanks, 2);
    assert_int_equal(b.open, 2);
    assert_int_equal(b.line, 2);
    assert_string_equal(b.text, "TODO 1 (about 4 lines): what is the sum?");
}

static void a_filled_blank_is_closed(void **state) {
    (void)state;
    struct blank b = find("// TODO 1 (about 1 line): what is the sum?\n"
                          "sum += x;\n"
                          "// END TODO 1\n"
                          "// TODO 2 (about 1 line): and now?\n"
                          "   \t\n"
                          "// I do not know yet\n"
                          "\r\n"
                          "// END TODO 2\r\n"
                          "// TODO 3 (about 1 line): last\n"
                          "}\n"
                          "// END TODO 3\n");
    assert_int_equal(b.blanks, 3);
    assert_int_equal(b.open, 1);
    assert_int_equal(b.line, 4);
    assert_string_equal(b.text, "TODO 2 (about 1 line): and now?");
}

static void other_comments_are_no_blanks(void **state) {
    (void)state;
    struct blank b = find("// TODO list\n// what TODO 1 says\nx(); // TODO 1\n// END TODO 1\n");
    assert_int_equal(b.blanks, 0);
    assert_int_equal(b.line, 0);
    b = find("");
    assert_int_equal(b.blanks, 0);
}

static void a_missing_file_is_no_crash(void **state) {
    (void)state;
    struct blank b;
    assert_false(blanks_find("/nonexistent.cu", &b));
}

static void long_lines_are_cut(void **state) {
    (void)state;
    char source[3000] = "// TODO 1 ";
    memset(source + 10, 'x', 2000);
    strcpy(source + 2010, "\n// END TODO 1\n");
    struct blank b = find(source);
    assert_int_equal(b.open, 1);
    assert_int_equal(strlen(b.text), sizeof b.text - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_blank_is_open),       cmocka_unit_test(a_filled_blank_is_closed),
        cmocka_unit_test(other_comments_are_no_blanks), cmocka_unit_test(a_missing_file_is_no_crash),
        cmocka_unit_test(long_lines_are_cut),
    };
    return cmocka_run_group_tests_name("blanks", tests, NULL, NULL);
}
