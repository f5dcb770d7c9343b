// Arithmetic of formulas, questions and answers: what it gives, and that everything else gets one line.
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

// twice(x), which counts its calls in the context; fail(), which has an error of its own.
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

static void refused(const char *text, const char *words) {
    struct message error = {""};
    double value;
    if (expression_number(text, &scope, &value, &error))
        fail_msg("%s was taken", text);
    if (!strstr(error.text, words))
        fail_msg("%s: '%s' lacks '%s'", text, error.text, words);
}

static void operators_bind_as_in_c(void **state) {
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

static void the_branch_that_is_not_taken_needs_no_value(void **state) {
    (void)state;
    calls = 0;
    assert_true(number("D > 0 ? D : 1 / 0") == 64);
    assert_true(number("D > 0 || 1 / 0") == 1);
    assert_true(number("D < 0 && fail()") == 0);
    assert_true(number("0 ? twice(1) : 2") == 2);
    assert_true(number("0 ? fail() : 1 ? 5 : fail()") == 5);
    assert_int_equal(calls, 0);
    // Its form still has to be right.
    refused("1 ? 2 : (3", "has no )");
    refused("1 ? 2 : nothing", "uses more than");
}

static void texts(void **state) {
    (void)state;
    struct value value;
    struct message error;
    assert_true(expression_evaluate("twice(\"a \\\"b\\\" (c)\")", &scope, &value, &error));
    assert_true(value.is_text);
    assert_string_equal(value.text, "a \"b\" (c)");
    // What reads as a number is one.
    assert_true(number("twice(\"-12.5\") + 1") == -11.5);
    assert_true(value_text("12 GB").is_text);
    assert_true(value_text("").is_text);
    assert_true(value_text("nan").is_text);
}

static void bad_input_gets_a_line(void **state) {
    (void)state;
    refused("", "ends where a number should follow");
    refused("  ", "ends where a number should follow");
    refused("2 *", "ends where a number should follow");
    refused("2 * * 3", "has * where a number should be");
    refused("(2", "has no )");
    refused("2)", "has a ) without its (");
    refused("2 3", "has no operator before 3");
    refused("2 (3)", "has no operator before (3)");
    refused("1 ? 2", "has no :");
    refused("1 / 0", "divides by 0");
    refused("5 % (D - 64)", "divides by 0");
    refused("1e300 * 1e300", "too large");
    refused("1e999", "uses more than what there is");
    refused("system(1)", "uses more than what there is: system");
    refused("x", "uses more than what there is: x");
    refused("0x10", "uses more than what there is");
    refused("1.2.3", "uses more than what there is");
    refused("16k", "uses more than what there is: 16k");
    refused("2 = 2", "uses more than what there is: = 2");
    refused("2 ; 3", "uses more than what there is: ; 3");
    refused("$(id)", "uses more than what there is");
    refused("ceil(1, 2)", "gives ceil() 2 arguments");
    refused("min(1)", "gives min() 1 argument");
    refused("max()", "gives max() 0 arguments");
    refused("min(1, 2, 3, 4, 5)", "more than 4 arguments");
    refused("ceil(", "ends where");
    refused("ceil(1", "has no ) for the ( of ceil");
    refused("ceil(\"a\")", "has the text 'a' where a number is needed");
    refused("\"a\" * 2", "has the text 'a' where a number is needed");
    refused("\"a\"", "has the text 'a' where a number is needed");
    refused("\"a", "has a text without its end");
    refused("fail()", "fails");
    refused("a_name_that_is_much_longer_than_any_that_there_is", "uses more than");
}

static void nesting_and_length_end_in_a_line(void **state) {
    (void)state;
    char text[4000];
    memset(text, '(', 3000);
    strcpy(text + 3000, "1");
    refused(text, "is nested too deep");
    memset(text, '-', 3000);
    refused(text, "is nested too deep");
    strcpy(text, "\"");
    memset(text + 1, 'x', 3000);
    strcpy(text + 3001, "\"");
    refused(text, "has a text of more than");
    memset(text, ' ', 3000);
    strcpy(text + 3000, "7");
    assert_true(number(text) == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_in_c),
        cmocka_unit_test(functions_and_names),
        cmocka_unit_test(the_branch_that_is_not_taken_needs_no_value),
        cmocka_unit_test(texts),
        cmocka_unit_test(bad_input_gets_a_line),
        cmocka_unit_test(nesting_and_length_end_in_a_line),
    };
    return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}
