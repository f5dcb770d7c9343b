// The arithmetic of formulas, questions and answers: values and one-line errors.
#include "../harness/cmocka_all.h"
#include "expression.h"

#include <stdio.h>
#include <string.h>

static bool shape_name(void *context, const char *name, double *value) {
    (void)context;
    if (strcmp(name, "NQ") && strcmp(name, "D"))
        return false;
    *value = *name == 'N' ? 1000 : 64;
    return true;
}

// twice(x) counts its calls in the context; fail() sets an error.
static bool call(void *context, const char *name, const struct value *argument, int count, struct value *value,
                 struct message *error) {
    if (!strcmp(name, "fail"))
        return message_set(error, "fails");
    if (strcmp(name, "twice") || count != 1)
        return false;
    ++*(int *)context;
    *value = argument[0].is_text ? value_text(argument[0].text) : value_number(2 * argument[0].number);
    return true;
}

static int calls;
static const struct scope scope = {shape_name, call, &calls, "what there is"};

static double number(const char *text) {
    struct message error;
    double value = 0;
    if (!expression_number(text, &scope, &value, &error))
        fail_msg("%s %s", text, error.text);
    return value;
}

static void assert_error(const char *text, const char *words) {
    struct message error = {""};
    double value;
    if (expression_number(text, &scope, &value, &error))
        fail_msg("%s was taken", text);
    if (!strstr(error.text, words))
        fail_msg("%s: '%s' lacks '%s'", text, error.text, words);
}

static void operators_have_the_precedence_of_c(void **state) {
    (void)state;
    assert_true(number("1 + 2 * 3") == 7);
    assert_true(number("(1 + 2) * 3") == 9);
    assert_true(number("10 - 4 - 3") == 3);
    assert_true(number("64 / 4 / 2 * 3") == 24);
    assert_true(number("7 % 4 + 1") == 4);
    assert_true(number("-2 * -3") == 6);
    assert_true(number("- 2 - - 3") == 1);
    assert_true(number("+5") == 5);
    assert_true(number("1 + 2 < 4 && 3 >= 3") == 1);
    assert_true(number("1 == 2 || 2 != 2") == 0);
    assert_true(number("!0 + !3") == 1);
    assert_true(number("1 < 2 ? 3 : 4 + 5") == 3);
    assert_true(number("0 ? 1 : 0 ? 2 : 3") == 3);
    assert_true(number("1 ? 0 ? 1 : 2 : 3") == 2);
    assert_true(number(" 1.5e3*.5 ") == 750);
    assert_true(number("\t3 * 1024 / 4\n") == 768);
}

static void functions_and_names(void **state) {
    (void)state;
    assert_true(number("ceil(NQ/3)") == 334);
    assert_true(number("floor(-NQ/3)") == -334);
    assert_true(number("ceil(D / 32) * floor(2.9)") == 4);
    assert_true(number("min(NQ, D) + max(1, 2)") == 66);
    assert_true(number("twice(twice(D))") == 256);
}

static void skips_the_branch_that_is_not_selected(void **state) {
    (void)state;
    calls = 0;
    assert_true(number("D > 0 ? D : 1 / 0") == 64);
    assert_true(number("D > 0 || 1 / 0") == 1);
    assert_true(number("D < 0 && fail()") == 0);
    assert_true(number("0 ? twice(1) : 2") == 2);
    assert_true(number("0 ? fail() : 1 ? 5 : fail()") == 5);
    assert_int_equal(calls, 0);
    // Its syntax must still be valid.
    assert_error("1 ? 2 : (3", "has no )");
    assert_error("1 ? 2 : nothing", "uses more than");
}

static void texts(void **state) {
    (void)state;
    struct value value;
    struct message error;
    assert_true(expression_evaluate("twice(\"a \\\"b\\\" (c)\")", &scope, &value, &error));
    assert_true(value.is_text);
    assert_string_equal(value.text, "a \"b\" (c)");
    // A text that is a number is a number.
    assert_true(number("twice(\"-12.5\") + 1") == -11.5);
    assert_true(value_text("12 GB").is_text);
    assert_true(value_text("").is_text);
    assert_true(value_text("nan").is_text);
}

static void reports_bad_input(void **state) {
    (void)state;
    assert_error("", "ends where a number should follow");
    assert_error("  ", "ends where a number should follow");
    assert_error("2 *", "ends where a number should follow");
    assert_error("2 * * 3", "has * where a number should be");
    assert_error("(2", "has no )");
    assert_error("2)", "has a ) without its (");
    assert_error("2 3", "has no operator before 3");
    assert_error("2 (3)", "has no operator before (3)");
    assert_error("1 ? 2", "has no :");
    assert_error("1 / 0", "divides by 0");
    assert_error("5 % (D - 64)", "divides by 0");
    assert_error("1e300 * 1e300", "too large");
    assert_error("1e999", "uses more than what there is");
    assert_error("system(1)", "uses more than what there is: system");
    assert_error("x", "uses more than what there is: x");
    assert_error("0x10", "uses more than what there is");
    assert_error("1.2.3", "uses more than what there is");
    assert_error("16k", "uses more than what there is: 16k");
    assert_error("2 = 2", "uses more than what there is: = 2");
    assert_error("2 ; 3", "uses more than what there is: ; 3");
    assert_error("$(id)", "uses more than what there is");
    assert_error("ceil(1, 2)", "gives ceil() 2 arguments");
    assert_error("min(1)", "gives min() 1 argument");
    assert_error("max()", "gives max() 0 arguments");
    assert_error("min(1, 2, 3, 4, 5)", "more than 4 arguments");
    assert_error("ceil(", "ends where");
    assert_error("ceil(1", "has no ) for the ( of ceil");
    assert_error("ceil(\"a\")", "has the text 'a' where a number is needed");
    assert_error("\"a\" * 2", "has the text 'a' where a number is needed");
    assert_error("\"a\"", "has the text 'a' where a number is needed");
    assert_error("\"a", "has a text without its end");
    assert_error("fail()", "fails");
    assert_error("a_name_that_is_much_longer_than_any_that_there_is", "uses more than");
}

static void reports_deep_nesting_and_long_texts(void **state) {
    (void)state;
    char text[4000];
    memset(text, '(', 3000);
    strcpy(text + 3000, "1");
    assert_error(text, "is nested too deep");
    memset(text, '-', 3000);
    assert_error(text, "is nested too deep");
    strcpy(text, "\"");
    memset(text + 1, 'x', 3000);
    strcpy(text + 3001, "\"");
    assert_error(text, "has a text of more than");
    memset(text, ' ', 3000);
    strcpy(text + 3000, "7");
    assert_true(number(text) == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_the_precedence_of_c),
        cmocka_unit_test(functions_and_names),
        cmocka_unit_test(skips_the_branch_that_is_not_selected),
        cmocka_unit_test(texts),
        cmocka_unit_test(reports_bad_input),
        cmocka_unit_test(reports_deep_nesting_and_long_texts),
    };
    return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}
