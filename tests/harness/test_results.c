// The CSV files of measurements: one header, one line a row, and nothing lost when two runs write at once.
#include "cmocka_all.h"
#include "operations/attention_operation.h"
#include "operations/softmax_operation.h"
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct problem_case matrix = {.matrix = {4096, 1024}};

static void add_softmax(struct results_rows *rows, const struct results_run *run, const char *lesson,
                        const struct problem_case *which_matrix) {
    results_add(rows, run,
                &(struct results_row){.operation = &softmax_operation,
                                      .which = which_matrix,
                                      .lesson = lesson,
                                      .timing = &timing,
                                      .error = 2e-7,
                                      .copy_gb_per_s = 4280});
}

static void rows_are_added_below_one_header(void **state) {
    (void)state;
    struct results_run run = run_of("NVIDIA H200");
    struct results_rows rows = {0};
    struct message error;
    add_attention(&rows, &run, "solution-01_basic_attention");
    add_attention(&rows, &run, "kernel-my,\"file\".cu");
    assert_true(results_ready(&run, results_file_of(&attention_operation), &error));
    assert_true(results_write(&run, results_file_of(&attention_operation), &rows, &error));
    assert_null(rows.text);
    assert_true(results_ready(&run, results_file_of(&attention_operation), &error));
    char *text = slurp("nvidia-h200/attention.csv");
    assert_memory_equal(text, "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,",
                        80);
    assert_int_equal(count(text, '\n'), 3);
    assert_int_equal(count(text, ','), 3 * 31); // 32 columns in header and rows
    char expected[400];
    // 4 * 16 * 4096^2 * 128 FLOPs and 4 * 16 * 4096 * 128 * 4 bytes in 1 ms
    snprintf(expected, sizeof expected,
             "\n%s,solution-01_basic_attention,NVIDIA "
             "H200,132,580.1,13.0,fp32,1,16,16,4096,4096,128,0,1000.000,990.000,1010.000,"
             "50,1980,1965,137.4390,134217728,134.22,1.000e-07,66.90,4916.7,%s,0123abc,warm,noisy,bhnd,0\n",
             run.run, run.date);
    if (!strstr(text, expected))
        fail_msg("%s", text);
    assert_non_null(strstr(text, ",kernel-my--file-.cu,"));
}

static void softmax_and_ceilings_have_files_of_their_own(void **state) {
    (void)state;
    struct results_run run = run_of("Tesla T4");
    struct results_rows rows = {0};
    struct message error;
    add_softmax(&rows, &run, "solution-03_fused_softmax", &matrix);
    assert_true(results_write(&run, results_file_of(&softmax_operation), &rows, &error));
    char *text = slurp("tesla-t4/softmax.csv");
    assert_int_equal(count(text, '\n'), 2);
    assert_int_equal(count(text, ','), 2 * 21);
    assert_non_null(
        strstr(text, ",fp32,4096,1024,1000.000,990.000,1010.000,50,1980,1965,33.55,33554432,2.000e-07,4280.0,"));
    // 4,280,000 KB in 1 ms, 0.99 ms and 1.25 ms
    results_add_ceiling(&rows, &run, "copy", "GB/s", 4280e3, &timing);
    assert_true(results_write(&run, results_ceilings, &rows, &error));
    text = slurp("tesla-t4/ceilings.csv");
    assert_int_equal(count(text, ','), 2 * 14);
    assert_non_null(strstr(text, ",Tesla T4,132,580.1,13.0,copy,GB/s,4280.000,3424.000,4323.232,50,1980,1965,"));
}

static void rows_of_a_run_are_found_by_their_shape(void **state) {
    (void)state;
    struct results_run run = run_of("Counted"), other = run;
    struct problem_case causal = which;
    struct problem_case wide = {.matrix = {4096, 10240}};
    struct results_rows rows = {0};
    struct message error;
    assert_int_equal(results_count(&run, &attention_operation, &which), 0);
    assert_true(write_attention(&run, "a", &error) && write_attention(&run, "b", &error));
    add_softmax(&rows, &run, "c", &wide);
    assert_true(results_write(&run, results_file_of(&softmax_operation), &rows, &error));
    results_add_ceiling(&rows, &run, "copy", "GB/s", 1, &timing);
    assert_true(results_write(&run, results_ceilings, &rows, &error));
    causal.attention.causal = true;
    strcat(other.run, "0");
    assert_int_equal(results_count(&run, &attention_operation, &which), 2);
    assert_int_equal(results_count(&run, &attention_operation, &causal), 0);
    assert_int_equal(results_count(&other, &attention_operation, &which), 0);
    assert_int_equal(results_count(&run, &softmax_operation, &wide), 1);
    assert_int_equal(results_count(&run, &softmax_operation, &matrix), 0);
    assert_int_equal(results_count_ceilings(&run, "copy"), 1);
    assert_int_equal(results_count_ceilings(&run, "fma_fp32"), 0);
}

static void refused(const struct results_run *run, const char *words) {
    struct message error;
    char path[64], before[20000];
    snprintf(path, sizeof path, "one-name/attention.csv");
    strcpy(before, slurp(path));
    assert_false(results_ready(run, results_file_of(&attention_operation), &error));
    assert_non_null(strstr(error.text, words));
    assert_false(write_attention(run, "x", &error));
    assert_non_null(strstr(error.text, words));
    assert_string_equal(slurp(path), before);
}

static void rows_of_another_gpu_and_half_rows_are_refused(void **state) {
    (void)state;
    struct results_run run = run_of("One Name"), fewer = run, other = run;
    struct message error;
    char path[200];
    assert_true(write_attention(&run, "x", &error) && write_attention(&run, "y", &error));
    fewer.sm_count = 66;
    refused(&fewer, "rows of another GPU than One Name with 66 SMs");
    fewer.sm_count = 13; // the first digits alone
    refused(&fewer, "rows of another GPU");
    other.device = "One.Name";
    refused(&other, "rows of another GPU than One.Name");
    assert_true(write_attention(&run, "z", &error));
    snprintf(path, sizeof path, "%s/one-name/attention.csv", folder);
    FILE *file = fopen(path, "a");
    fputs("half,a", file);
    fclose(file);
    refused(&run, "ends in half a row");
}

static void a_file_with_another_header_is_unchanged(void **state) {
    (void)state;
    struct results_run run = run_of("old");
    struct message error;
    char path[200];
    snprintf(path, sizeof path, "%s/old", folder);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/old/attention.csv", folder);
    FILE *file = fopen(path, "w");
    fputs("a,b,c\n1,2,3\n", file);
    fclose(file);
    assert_false(write_attention(&run, "x", &error));
    assert_non_null(strstr(error.text, "other columns"));
    assert_string_equal(slurp("old/attention.csv"), "a,b,c\n1,2,3\n");
}

static void without_a_folder_nothing_is_written(void **state) {
    (void)state;
    struct results_run run = run_of("none");
    struct message error;
    char path[200];
    run.folder = NULL;
    assert_true(write_attention(&run, "x", &error));
    snprintf(path, sizeof path, "%s/none", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    run.folder = "/proc/nowhere";
    assert_false(write_attention(&run, "x", &error));
    assert_null(strchr(error.text, '\n'));
}

static void four_writers_lose_nothing(void **state) {
    (void)state;
    enum { WRITERS = 4, ROWS = 50 };
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    struct results_run run = run_of("shared");
    struct message error;
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            char none;
            close(gate[1]);
            bool good = read(gate[0], &none, 1) == 0; // until all are there
            for (int i = 0; i < ROWS; i++)
                good = good && write_attention(&run, "x", &error);
            _exit(good ? 0 : 1);
        }
    close(gate[0]);
    close(gate[1]);
    for (int w = 0; w < WRITERS; w++) {
        int status;
        wait(&status);
        assert_int_equal(status, 0);
    }
    char *text = slurp("shared/attention.csv");
    assert_int_equal(count(text, '\n'), 1 + WRITERS * ROWS);
    assert_int_equal(count(text, ','), 31 * (1 + WRITERS * ROWS));
    assert_null(strstr(text + 1, "\nrun,"));
}

static void add_case(const struct results_run *run, const struct problem_case *which_case, bool lse) {
    struct results_rows rows = {0};
    struct message error;
    results_add(
        &rows, run,
        &(struct results_row){
            .operation = &attention_operation, .which = which_case, .lesson = "x", .timing = &timing, .lse = lse});
    assert_true(results_write(run, results_file_of(&attention_operation), &rows, &error));
}

static void types_and_layouts_are_recorded(void **state) {
    (void)state;
    struct results_run run = run_of("Typed");
    struct problem_case cases[] = {
        {.attention = {1, 16, 16, 4096, 4096, 128}, .dtype = ATTENTION_FP32},
        {.attention = {1, 16, 16, 4096, 4096, 128}, .dtype = ATTENTION_FP16},
        {.attention = {1, 16, 16, 4096, 4096, 128}, .dtype = ATTENTION_BF16},
        {.attention = {1, 16, 16, 4096, 4096, 128, .layout = LAYOUT_BNHD}, .dtype = ATTENTION_BF16},
        {.attention = {1, 16, 16, 4096, 4096, 128, .layout = LAYOUT_STRIDES, .stride = {1 << 23, 128, 2048}},
         .dtype = ATTENTION_BF16},
        {.attention = {1, 16, 4, 4096, 4096, 128}, .dtype = ATTENTION_BF16},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    for (int i = 0; i < CASES; i++)
        for (int n = 0; n <= i; n++)
            add_case(&run, &cases[i], i % 2);
    for (int i = 0; i < CASES; i++)
        assert_int_equal(results_count(&run, &attention_operation, &cases[i]), i + 1);
    const char *text = slurp("typed/attention.csv");
    // Half the bytes of fp32.
    assert_non_null(strstr(text, ",fp16,1,16,16,4096,4096,128,0,1000.000,"));
    assert_non_null(strstr(text, ",bf16,1,16,16,4096,4096,128,0,1000.000,"));
    assert_non_null(strstr(text, ",137.4390,67108864,67.11,"));
    assert_non_null(strstr(text, ",bhnd,0\n"));
    assert_non_null(strstr(text, ",bhnd,1\n"));
    assert_non_null(strstr(text, ",bnhd,1\n"));
    assert_non_null(strstr(text, ",8388608:128:2048,0\n"));
    assert_non_null(strstr(text, ",bf16,1,16,4,4096,"));
    assert_int_equal(count(text, ','), 31 * count(text, '\n'));
}

static void slugs_are_file_names(void **state) {
    (void)state;
    char slug[64];
    results_slug("NVIDIA H200", slug, sizeof slug);
    assert_string_equal(slug, "nvidia-h200");
    results_slug("NVIDIA GeForce RTX 4090/x..", slug, sizeof slug);
    assert_string_equal(slug, "nvidia-geforce-rtx-4090-x--");
    results_slug("abcdef", slug, 4);
    assert_string_equal(slug, "abc");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_added_below_one_header),
        cmocka_unit_test(softmax_and_ceilings_have_files_of_their_own),
        cmocka_unit_test(rows_of_a_run_are_found_by_their_shape),
        cmocka_unit_test(rows_of_another_gpu_and_half_rows_are_refused),
        cmocka_unit_test(a_file_with_another_header_is_unchanged),
        cmocka_unit_test(without_a_folder_nothing_is_written),
        cmocka_unit_test(four_writers_lose_nothing),
        cmocka_unit_test(types_and_layouts_are_recorded),
        cmocka_unit_test(slugs_are_file_names),
    };
    return cmocka_run_group_tests_name("results", tests, make_folder, remove_folder);
}
