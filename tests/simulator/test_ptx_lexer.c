// Tokens of PTX text, and the formats of its numbers.
#include "ptx/lexer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// The tokens of text, each followed by a space; strings are in quotes, suffixes in angle brackets.
static const char *tokens(const char *text) {
    static char out[1024], error[256];
    struct arena *arena = arena_create(1 << 20, error, sizeof error);
    struct lexer lexer;
    size_t length = 0;
    out[0] = 0;
    if (setjmp(arena->on_error)) {
        arena_destroy(arena);
        return error;
    }
    lexer_init(&lexer, arena, text, strlen(text));
    for (;;) {
        struct token token = lexer_next(&lexer);
        if (token.kind == TOKEN_END)
            break;
        const char *format = token.kind == TOKEN_STRING   ? "\"%.*s\" "
                             : token.kind == TOKEN_SUFFIX ? "<%.*s> "
                                                          : "%.*s ";
        length += (size_t)snprintf(out + length, sizeof out - length, format, (int)token.length, token.start);
    }
    arena_destroy(arena);
    return out;
}

static void test_identifiers_and_suffixes(void **state) {
    (void)state;
    assert_string_equal(tokens("ld.global.v4.f32\t{%f1,_}, [%rd1+-8];"),
                        "ld <.global> <.v4> <.f32> { %f1 , _ } , [ %rd1 + - 8 ] ; ");
    assert_string_equal(tokens("$L__BB0_2:"), "$L__BB0_2 : ");
    assert_string_equal(tokens("ld.global.L2::128B.u32"), "ld <.global> <.L2::128B> <.u32> ");
    assert_string_equal(tokens("%tid.x%ntid.y"), "%tid <.x> %ntid <.y> ");
    assert_string_equal(tokens("@!%p1 bra A;"), "@ ! %p1 bra A ; ");
    assert_string_equal(tokens("shfl.sync.bfly.b32 %r1|%p1"), "shfl <.sync> <.bfly> <.b32> %r1 | %p1 ");
    assert_string_equal(tokens("5%3"), "5 % 3 ");
}

static void test_whitespace_and_comments(void **state) {
    (void)state;
    assert_string_equal(tokens("a // b ; c\nd/* e\n f */g"), "a d g ");
    assert_string_equal(tokens("  \r\n\t\f\v"), "");
    assert_string_equal(tokens("a /* b\n"), "PTX line 1: unterminated comment [ptx-syntax]");
    assert_string_equal(tokens("a\n\n/"), "a / ");
}

static void test_strings(void **state) {
    (void)state;
    assert_string_equal(tokens(".file 1 \"a b;.cu\""), "<.file> 1 \"a b;.cu\" ");
    assert_string_equal(tokens("\"a\\\"b\" c"), "\"a\\\"b\" c ");
    assert_string_equal(tokens("\n\"abc\n\""), "PTX line 2: unterminated string [ptx-syntax]");
}

static void test_unexpected_bytes(void **state) {
    (void)state;
    assert_string_equal(tokens("a\n\x01"), "PTX line 2: unexpected character 0x01 [ptx-syntax]");
    assert_string_equal(tokens("\xff"), "PTX line 1: unexpected character 0xff [ptx-syntax]");
    assert_string_equal(tokens("#"), "PTX line 1: unexpected character 0x23 [ptx-syntax]");
}

static void test_lines(void **state) {
    (void)state;
    char error[256];
    struct arena *arena = arena_create(1 << 20, error, sizeof error);
    struct lexer lexer;
    const char *text = "a\n/* \n */ b\n\n\"s\" c";
    static const int lines[] = {1, 3, 5, 5, 5};
    lexer_init(&lexer, arena, text, strlen(text));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(lexer_next(&lexer).line, lines[i]);
    arena_destroy(arena);
}

static struct number number(const char *text, bool *valid) {
    struct number number;
    struct token token = {.kind = TOKEN_NUMBER, .start = text, .length = strlen(text)};
    *valid = parse_number(&token, &number);
    return number;
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        bool is_unsigned;
    } cases[] = {{"0", 0, false},
                 {"16", 16, false},
                 {"0x1F", 31, false},
                 {"0XFF", 255, false},
                 {"017", 15, false},
                 {"0b101", 5, false},
                 {"42U", 42, true},
                 {"0x80000000U", 0x80000000, true},
                 {"9223372036854775807", INT64_MAX, false},
                 {"18446744073709551615", UINT64_MAX, true},
                 {"0xFFFFFFFFFFFFFFFF", UINT64_MAX, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool valid;
        struct number n = number(cases[i].text, &valid);
        assert_true(valid);
        assert_false(n.floating);
        assert_int_equal(n.bits, cases[i].value);
        assert_int_equal(n.is_unsigned, cases[i].is_unsigned);
    }
    static const char *const invalid[] = {"18446744073709551616", "0x",  "09",  "12abc",
                                          "0xFFFFFFFFFFFFFFFFF",  "0b2", "1.5U"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        bool valid;
        number(invalid[i], &valid);
        assert_false(valid);
    }
}

static void test_floats(void **state) {
    (void)state;
    bool valid;
    struct number n = number("0f3F800000", &valid);
    assert_true(valid && n.floating && n.single);
    assert_int_equal(n.bits, 0x3F800000);
    n = number("0dBFF0000000000000", &valid);
    assert_true(valid && n.floating && !n.single);
    assert_int_equal(n.bits, 0xBFF0000000000000u);
    n = number("1.5e-1", &valid);
    double value;
    memcpy(&value, &n.bits, sizeof value);
    assert_true(valid && n.floating && !n.single && value == 0.15);
    number("0f3F80000", &valid);
    assert_false(valid);
    number("0d3F800000", &valid);
    assert_false(valid);
    number("0f3F80000G", &valid);
    assert_false(valid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identifiers_and_suffixes),
        cmocka_unit_test(test_whitespace_and_comments),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_unexpected_bytes),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
