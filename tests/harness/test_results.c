// The CSV files of measurements: one header, one line a row, and nothing lost when two runs write at once.
#include "cmocka_all.h"
#include "host/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/attention-results-XXXXXX";
static const struct attention_shape shape = {1, 16, 16, 4096, 4096, 128, false, LAYOUT_BHND};
static const struct softmax_shape matrix = {4096, 1024};
static const struct results_timing timing = {1000, 990, 1010, 50, 1980, 1965, true, true};

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static struct results_run run_of(const char *device) {
    struct results_run run = {
        .folder = folder, .commit = "0123abc", .device = device, .driver = "580.1", .cuda = "13.0", .sm_count = 132};
    results_start(&run);
    return run;
}

static char *slurp(const char *name) {
    char path[200];
    static char text[200000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static int count(const char *text, char c) {
    int n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

static void rows_are_added_below_one_header(void **state) {
    (void)state;
    struct results_run run = run_of("NVIDIA H200");
    struct message error;
    assert_true(
        results_add_attention(&run, "solution-01_basic_attention", &shape, &timing, 1e-7, 66.9, 4916.7, &error));
    assert_true(results_add_attention(&run, "kernel-my,\"file\".cu", &shape, &timing, 1e-7, 66.9, 4916.7, &error));
    char *text = slurp("nvidia-h200/attention.csv");
    assert_memory_equal(text, "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,",
                        80);
    assert_int_equal(count(text, '\n'), 3);
    assert_int_equal(count(text, ','), 3 * 29); // 30 columns in header and rows
    char expected[400];
    // 4 * 16 * 4096^2 * 128 FLOPs and 4 * 16 * 4096 * 128 * 4 bytes in 1 ms
    snprintf(expected, sizeof expected,
             "\n%s,solution-01_basic_attention,NVIDIA "
             "H200,132,580.1,13.0,fp32,1,16,16,4096,4096,128,0,1000.000,990.000,1010.000,"
             "50,1980,1965,137.4390,134217728,134.22,1.000e-07,66.90,4916.7,%s,0123abc,warm,noisy\n",
             run.run, run.date);
    if (!strstr(text, expected))
        fail_msg("%s", text);
    assert_non_null(strstr(text, ",kernel-my--file-.cu,"));
}

static void softmax_has_a_file_of_its_own(void **state) {
    (void)state;
    struct results_run run = run_of("Tesla T4");
    struct message error;
    assert_true(results_add_softmax(&run, "solution-03_fused_softmax", &matrix, &timing, 2e-7, 4280, &error));
    char *text = slurp("tesla-t4/softmax.csv");
    assert_int_equal(count(text, '\n'), 2);
    assert_int_equal(count(text, ','), 2 * 21);
    assert_non_null(
        strstr(text, ",fp32,4096,1024,1000.000,990.000,1010.000,50,1980,1965,33.55,33554432,2.000e-07,4280.0,"));
}

static void another_header_is_left_alone(void **state) {
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
    assert_false(results_add_attention(&run, "x", &shape, &timing, 0, 1, 1, &error));
    assert_non_null(strstr(error.text, "other columns"));
    assert_string_equal(slurp("old/attention.csv"), "a,b,c\n1,2,3\n");
}

static void without_a_folder_nothing_is_written(void **state) {
    (void)state;
    struct results_run run = run_of("none");
    struct message error;
    char path[200];
    run.folder = NULL;
    assert_true(results_add_attention(&run, "x", &shape, &timing, 0, 1, 1, &error));
    snprintf(path, sizeof path, "%s/none", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    run.folder = "/proc/nowhere";
    assert_false(results_add_attention(&run, "x", &shape, &timing, 0, 1, 1, &error));
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
                good = good && results_add_attention(&run, "x", &shape, &timing, 0, 1, 1, &error);
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
    assert_int_equal(count(text, ','), 29 * (1 + WRITERS * ROWS));
    assert_null(strstr(text + 1, "\nrun,"));
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
        cmocka_unit_test(rows_are_added_below_one_header), cmocka_unit_test(softmax_has_a_file_of_its_own),
        cmocka_unit_test(another_header_is_left_alone),    cmocka_unit_test(without_a_folder_nothing_is_written),
        cmocka_unit_test(four_writers_lose_nothing),       cmocka_unit_test(slugs_are_file_names),
    };
    return cmocka_run_group_tests_name("results", tests, make_folder, remove_folder);
}
