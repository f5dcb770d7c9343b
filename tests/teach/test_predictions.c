// predictions.csv: values at a shape, and one-line errors.
#include "../harness/cmocka_all.h"
#include "predictions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static bool read_text(const char *text, const char *shape_text, struct predictions *predictions,
                      struct message *error) {
    struct shape_argument shape;
    strcpy(path, "/tmp/attention-predictions-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    assert_true(shape_parse(shape_text, &shape, error));
    bool read = predictions_read(path, &shape, predictions, error);
    unlink(path);
    return read;
}

static void values_at_a_shape(void **state) {
    (void)state;
    struct predictions p;
    struct message error;
    assert_true(read_text("# a comment, with a comma\n\nname,unit,formula\r\n"
                          "global_load_bytes,bytes,\"B*H*NQ * (4 * NK + ceil(D/32))\"\r\n"
                          "global_store_bytes,of a warp,\"KV_HEADS + max(ROWS, COLUMNS)\"\n"
                          "\"shared_load_wavefronts@f(a, b)\",wavefronts,\"D <= 64 ? 1 : 2\"\n",
                          "2,8:4,10:20,64", &p, &error));
    assert_int_equal(p.count, 3);
    assert_string_equal(p.prediction[0].name, "global_load_bytes");
    assert_string_equal(p.prediction[0].unit, "bytes");
    assert_true(p.prediction[0].value == 2 * 8 * 10 * (4 * 20 + 2));
    assert_true(p.prediction[1].value == 4);
    assert_string_equal(p.prediction[2].name, "shared_load_wavefronts@f(a, b)");
    assert_true(p.prediction[2].value == 1);
    predictions_free(&p);
    assert_true(read_text("name,unit,formula\nx,bytes,4 * ROWS * COLUMNS + NQ\n", "3,5", &p, &error));
    assert_true(p.prediction[0].value == 60);
    predictions_free(&p);
}

static void accepts_a_file_without_predictions(void **state) {
    (void)state;
    struct predictions p;
    struct message error;
    assert_true(read_text("", "3,5", &p, &error));
    assert_int_equal(p.count, 0);
    predictions_free(&p);
    assert_true(read_text("# nothing\nname,unit,formula\n", "3,5", &p, &error));
    assert_int_equal(p.count, 0);
    predictions_free(&p);
}

static void assert_error(const char *formula, const char *words) {
    struct predictions p;
    struct message error = {""};
    char text[400], line[100];
    snprintf(text, sizeof text, "# first\nname,unit,formula\nx,bytes,\"%s\"\n", formula);
    assert_false(read_text(text, "1,1,16,16", &p, &error));
    snprintf(line, sizeof line, "%s:3: the formula ", path);
    if (!strstr(error.text, line) || !strstr(error.text, words))
        fail_msg("%s", error.text);
}

static void reports_errors_with_their_line(void **state) {
    (void)state;
    struct predictions p;
    struct message error;
    struct shape_argument shape = {.is_matrix = true};
    assert_error("system(1)", "system(1) uses more than numbers, + - * / % ? : and B H");
    assert_error("B * N", "uses more than");
    assert_error("B / CAUSAL", "divides by 0");
    assert_error("(B", "has no )");
    assert_error("", "ends where a number should follow");
    assert_false(predictions_read("/nowhere.csv", &shape, &p, &error));
    assert_string_equal(error.text, "/nowhere.csv cannot be read [cannot-read]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_at_a_shape),
        cmocka_unit_test(accepts_a_file_without_predictions),
        cmocka_unit_test(reports_errors_with_their_line),
    };
    return cmocka_run_group_tests_name("predictions", tests, NULL, NULL);
}
