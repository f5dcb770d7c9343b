// Typed answers: correct, wrong, or unclear with one line.
#include "../harness/cmocka_all.h"
#include "grade.h"

#include <string.h>

static void number(const char *given, double answer, enum grade grade) {
    struct message unclear;
    if (grade_number(given, answer, 0.005, &unclear) != grade)
        fail_msg("%s for %g", given, answer);
}

static void unclear(const char *given, const char *words) {
    struct message line = {""};
    assert_int_equal(grade_number(given, 768, 0.005, &line), GRADE_UNCLEAR);
    if (!strstr(line.text, words) || strchr(line.text, '\n'))
        fail_msg("%s: %s", given, line.text);
}

static void accepts_formatted_numbers(void **state) {
    (void)state;
    number("768", 768, GRADE_CORRECT);
    number("3 * 1024 / 4", 768, GRADE_CORRECT);
    number("3x256", 768, GRADE_CORRECT);
    number("(1 + 2) * 2 * 128", 768, GRADE_CORRECT);
    number("768 bytes", 768, GRADE_CORRECT);
    number("33,554,432", 33554432, GRADE_CORRECT);
    number("33 554 432", 33554432, GRADE_CORRECT);
    number("1_024", 1024, GRADE_CORRECT);
    number("3/4", 0.75, GRADE_CORRECT);
    number(".75", 0.75, GRADE_CORRECT);
    number("771", 768, GRADE_CORRECT);
    number("773", 768, GRADE_WRONG);
    number("-768", 768, GRADE_WRONG);
    number("0", 768, GRADE_WRONG);
    number("0", 0, GRADE_CORRECT);
    number("97 %", 97, GRADE_CORRECT);
}

static void reports_unclear_answers(void **state) {
    (void)state;
    unclear("many", "answer with a number");
    unclear("1/0", "1/0 divides by 0");
    unclear("2 * (3", "2*(3 has no ) for its (");
    unclear("2 * * 3", "has * where a number should be");
    unclear("2 *", "ends where a number should follow");
    unclear("NQ * 4", "NQ*4 uses more than numbers: NQ");
    unclear("a", "answer with a number");
    unclear("16k", "write the number in full");
    unclear("2 MiB", "write the number in full");
    unclear("3gb", "write the number in full");
    unclear("\033[2J", "answer with a number");
    char text[400];
    memset(text, '1', 399);
    text[399] = 0;
    unclear(text, "in under 200 characters");
}

static void letters(void **state) {
    (void)state;
    struct message line;
    assert_int_equal(grade_letter("b", 4, 1, &line), GRADE_CORRECT);
    assert_int_equal(grade_letter("(B).", 4, 1, &line), GRADE_CORRECT);
    assert_int_equal(grade_letter("a", 4, 1, &line), GRADE_WRONG);
    const char *const none[] = {"e", "ab", "2", "", "()", "A B"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(grade_letter(none[i], 4, 1, &line), GRADE_UNCLEAR);
        assert_string_equal(line.text, "answer with one letter, a to d");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_formatted_numbers),
        cmocka_unit_test(reports_unclear_answers),
        cmocka_unit_test(letters),
    };
    return cmocka_run_group_tests_name("grade", tests, NULL, NULL);
}
