// LAYOUT= and where rows lie in memory: what is understood, what is refused in one line, and that no two rows meet.
#include "cmocka_all.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"

#include <stdlib.h>
#include <string.h>

static void layouts_are_understood(void **state) {
    (void)state;
    static const struct {
        const char *text, *written;
        enum layout layout;
        int64_t stride[3];
    } good[] = {
        {"bhnd", "", LAYOUT_BHND, {0}},
        {"bnhd", "bnhd", LAYOUT_BNHD, {0}},
        {"mixed", "mixed", LAYOUT_MIXED, {0}},
        {"262144,64,1024", "262144,64,1024", LAYOUT_STRIDES, {262144, 64, 1024}},
        {"1,1,1", "1,1,1", LAYOUT_STRIDES, {1, 1, 1}},
        {"1099511627776,1,2", "1099511627776,1,2", LAYOUT_STRIDES, {INT64_C(1) << 40, 1, 2}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct attention_shape shape = {.batch = 5, .nq = 7};
        struct message error;
        char text[LAYOUT_TEXT];
        assert_true(layout_parse(good[i].text, &shape, &error));
        assert_int_equal(shape.layout, good[i].layout);
        assert_memory_equal(shape.stride, good[i].stride, sizeof shape.stride);
        assert_true(shape.batch == 5 && shape.nq == 7);
        layout_text(&shape, text);
        assert_string_equal(text, good[i].written);
    }
}

static void bad_layouts_get_one_line(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "nhbd",
                                      "BHND",
                                      "bhnd ",
                                      "1",
                                      "1,2",
                                      "1,2,3,4",
                                      "1,2,3,",
                                      "0,1,2",
                                      "1,-2,3",
                                      "1, 2,3",
                                      "1,2,3x",
                                      "a,b,c",
                                      ",1,2,3",
                                      "1.5,2,3",
                                      "1:2,3,4",
                                      "1,,3",
                                      "99999999999999999999,1,1",
                                      "1099511627777,1,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct attention_shape shape = {0};
        struct message error = {""};
        if (layout_parse(bad[i], &shape, &error))
            fail_msg("LAYOUT=%s was understood", bad[i]);
        assert_memory_equal(error.text, "LAYOUT=", 7);
        assert_null(strchr(error.text, '\n'));
    }
}

// Whether no element of the tensor lies where another one does: each row marks its elements.
static bool is_disjoint(const struct attention_shape *s, int heads, int n) {
    struct row_layout layout = {.heads = heads, .n = n};
    shape_strides(s, heads, n, layout.stride);
    struct host_tensor tensor = {.rows = (int64_t)s->batch * heads * n, .columns = s->head_dim, .layout = layout};
    int64_t span = tensor_span(&tensor), last = 0;
    char *taken = calloc((size_t)span, 1);
    bool apart = true;
    for (int64_t r = 0; r < tensor.rows; r++)
        for (int64_t at = layout_row(&layout, r), c = 0; c < s->head_dim; c++) {
            assert_in_range(at + c, 0, span - 1);
            last = at + c > last ? at + c : last;
            apart = apart && !taken[at + c]++;
        }
    assert_int_equal(last + 1, span);
    free(taken);
    return apart;
}

// Of all small strides: what is let through has no two elements in one place, and what is usual is let through.
static void strides_that_overlap_are_refused(void **state) {
    (void)state;
    struct attention_shape s = {
        .batch = 2, .heads = 4, .kv_heads = 2, .nq = 3, .nk = 2, .head_dim = 2, .layout = LAYOUT_STRIDES};
    int let_through = 0;
    for (s.stride[0] = 1; s.stride[0] < 30; s.stride[0]++)
        for (s.stride[1] = 1; s.stride[1] < 30; s.stride[1]++)
            for (s.stride[2] = 1; s.stride[2] < 30; s.stride[2]++) {
                struct message error = {""};
                bool good = shape_strides_disjoint(&s, &error), apart = is_disjoint(&s, 4, 3) && is_disjoint(&s, 2, 2);
                if (good && !apart)
                    fail_msg("%d,%d,%d overlap", (int)s.stride[0], (int)s.stride[1], (int)s.stride[2]);
                if (!good) {
                    assert_non_null(strstr(error.text, "overlap"));
                    assert_null(strchr(error.text, '\n'));
                }
                let_through += good;
            }
    assert_true(let_through > 100);
    static const int64_t good[][3] = {{24, 6, 2}, {24, 2, 8}, {48, 2, 16}, {2, 4, 16}, {1000, 100, 10}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct message error;
        memcpy(s.stride, good[i], sizeof s.stride);
        assert_true(shape_strides_disjoint(&s, &error));
    }
    // A dimension of one makes no step.
    s = (struct attention_shape){1, 1, 1, 5, 5, 8, .layout = LAYOUT_STRIDES, .stride = {1, 1, 8}};
    struct message error;
    assert_true(shape_strides_disjoint(&s, &error));
    s.stride[2] = 7;
    assert_false(shape_strides_disjoint(&s, &error));
    assert_non_null(strstr(error.text, "q and o overlap: from one row to the next are 7 elements, and 8 are needed"));
    // Keys may overlap where queries do not.
    s = (struct attention_shape){1, 2, 2, 2, 9, 8, .layout = LAYOUT_STRIDES, .stride = {1, 16, 8}};
    assert_false(shape_strides_disjoint(&s, &error));
    assert_non_null(strstr(error.text, "k and v overlap"));
    s.layout = LAYOUT_BNHD; // strides of its own
    assert_true(shape_strides_disjoint(&s, &error));
}

// 2^31 rows that are 2^40 elements apart: no number of 64 bits counts them.
static void strides_past_any_memory_are_refused(void **state) {
    (void)state;
    struct attention_shape s = {
        1, 1, 1, 2147483647, 1, 1, .layout = LAYOUT_STRIDES, .stride = {1, 1, INT64_C(1) << 40}};
    struct message error = {""};
    assert_false(shape_strides_disjoint(&s, &error));
    assert_non_null(strstr(error.text, "no device has the memory"));
    s.nq = 1, s.nk = 2147483647;
    assert_false(shape_strides_disjoint(&s, &error));
    s.nk = 1 << 16;
    assert_false(shape_strides_disjoint(&s, &error)); // 2^56 elements
    s.stride[2] = 1 << 12;
    assert_true(shape_strides_disjoint(&s, &error));
}

static void rows_are_stored_as_the_layout_says(void **state) {
    (void)state;
    struct problem_case which = {.attention = {2, 6, 3, 5, 7, 8}};
    struct host_problem p;
    attention_make(&which, 1, false, &p);
    for (int i = Q; i <= LSE; i++)
        assert_true(layout_is_plain(&p.tensor[i]));
    assert_int_equal(layout_row(&p.tensor[K].layout, 7 * 4 + 3), (7 * 4 + 3) * 8);
    assert_int_equal(tensor_span(&p.tensor[Q]), 2 * 6 * 5 * 8);
    assert_int_equal(tensor_span(&p.tensor[LSE]), 2 * 6 * 5);
    host_problem_free(&p);

    which.attention.layout = LAYOUT_BNHD;
    attention_make(&which, 1, false, &p);
    // batch 1, head 2, row 4 of q; batch 1, head 1, row 6 of k
    assert_int_equal(layout_row(&p.tensor[Q].layout, (1 * 6 + 2) * 5 + 4), ((1 * 5 + 4) * 6 + 2) * 8);
    assert_int_equal(layout_row(&p.tensor[K].layout, (1 * 3 + 1) * 7 + 6), ((1 * 7 + 6) * 3 + 1) * 8);
    assert_false(layout_is_plain(&p.tensor[Q]) || layout_is_plain(&p.tensor[O]));
    assert_true(layout_is_plain(&p.tensor[LSE]));
    assert_int_equal(tensor_span(&p.tensor[V]), 2 * 3 * 7 * 8);
    host_problem_free(&p);

    // One head: both orders are the same one.
    which.attention.heads = which.attention.kv_heads = 1;
    attention_make(&which, 1, false, &p);
    assert_true(layout_is_plain(&p.tensor[Q]) && layout_is_plain(&p.tensor[K]));
    host_problem_free(&p);

    which = (struct problem_case){.attention = {2, 2, 2, 5, 5, 8, .layout = LAYOUT_STRIDES, .stride = {1000, 8, 48}}};
    attention_make(&which, 1, false, &p);
    assert_int_equal(layout_row(&p.tensor[V].layout, (1 * 2 + 1) * 5 + 3), 1000 + 8 + 3 * 48);
    assert_int_equal(tensor_span(&p.tensor[Q]), 1000 + 8 + 4 * 48 + 8);
    assert_false(layout_is_plain(&p.tensor[Q]));
    assert_int_equal(p.tensor[Q].rows, 20);
    host_problem_free(&p);
    struct row_layout rows = layout_of_rows(77);
    assert_int_equal(layout_row(&rows, 3), 231);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_are_understood),
        cmocka_unit_test(bad_layouts_get_one_line),
        cmocka_unit_test(strides_that_overlap_are_refused),
        cmocka_unit_test(strides_past_any_memory_are_refused),
        cmocka_unit_test(rows_are_stored_as_the_layout_says),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
