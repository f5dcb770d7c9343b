// Results files from before their last columns were there: rows of today are added, and nothing of theirs is lost.
#include "cmocka_all.h"
#include "operations/attention_operation.h"
#include "recorded.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The header of files from before there were layouts and log-sum-exps, with rows as they stand there.
static const char older_header[] =
    "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,"
    "sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s,date,commit,"
    "cache,noise\n";

static char *write_older(const char *device_folder, int rows) {
    static char text[20000];
    char path[200];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", older_header);
    for (int i = 0; i < rows; i++)
        length += (size_t)snprintf(
            text + length, sizeof text - length,
            "20261120T225728-64096-16433,older-%d,NVIDIA H200,132,580.159.04,13.0,fp32,1,16,16,256,256,64,0,654.192,"
            "643.904,668.480,200,1980,1980,0.4103,4194304,6.41,2.755e-07,66.91,4814.3,2026-11-20T22:57:28Z,b713d61,"
            "cold,steady\n",
            i);
    snprintf(path, sizeof path, "%s/%s", folder, device_folder);
    mkdir(path, 0777);
    strcat(path, "/attention.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return text;
}

// Each row of the older file is there, with what was not said then.
static void assert_widened(const char *text, const char *older, int rows) {
    char line[1000];
    assert_memory_equal(text, older_header, strlen(older_header) - 1);
    assert_memory_equal(text + strlen(older_header) - 1, ",layout,lse\n", 12);
    for (const char *at = strchr(older, '\n') + 1; *at; at = strchr(at, '\n') + 1, rows--) {
        snprintf(line, sizeof line, "\n%.*s,bhnd,0\n", (int)strcspn(at, "\n"), at);
        assert_non_null(strstr(text, line));
    }
    assert_int_equal(rows, 0);
}

static void an_older_file_gets_the_new_columns(void **state) {
    (void)state;
    struct results_run run = run_of("NVIDIA H200");
    struct message error;
    run.folder = strcat(strcpy((char[200]){0}, folder), "/older");
    mkdir(run.folder, 0777);
    const char *older = write_older("older/nvidia-h200", 7);
    assert_true(results_ready(&run, results_file_of(&attention_operation), &error));
    assert_string_equal(slurp("older/nvidia-h200/attention.csv"), older); // nothing is written before there are rows
    for (int i = 1; i <= 2; i++) {
        assert_true(write_attention(&run, "new", &error));
        const char *text = slurp("older/nvidia-h200/attention.csv");
        assert_widened(text, older, 7);
        assert_int_equal(count(text, '\n'), 8 + i);
        assert_int_equal(count(text, ','), 31 * (8 + i));
    }
    // Another GPU's rows, half a row, and a header that lacks what was always there: as they were.
    struct results_run other = run;
    other.sm_count = 13;
    older = write_older("older/nvidia-h200", 2);
    assert_false(write_attention(&other, "new", &error));
    assert_string_equal(slurp("older/nvidia-h200/attention.csv"), older);
    char path[200], cut[3000];
    snprintf(path, sizeof path, "%s/older/nvidia-h200/attention.csv", folder);
    for (int i = 0; i < 2; i++) {
        strcpy(cut, older);
        cut[i ? strlen(cut) - 5 : strlen(older_header) - 7] = 0; // half a row; no column noise
        if (!i)
            strcat(cut, "\n");
        FILE *file = fopen(path, "w");
        fputs(cut, file);
        fclose(file);
        assert_false(write_attention(&run, "new", &error));
        assert_non_null(strstr(error.text, i ? "half a row" : "other columns"));
        assert_string_equal(slurp("older/nvidia-h200/attention.csv"), cut);
    }
}

// Several runs at once start with an older file.
static void writers_of_an_older_file_lose_nothing(void **state) {
    (void)state;
    enum { WRITERS = 6, ROUNDS = 10, ROWS = 3, OLDER = 20 };
    struct results_run run = run_of("NVIDIA H200");
    struct message error;
    run.folder = strcat(strcpy((char[200]){0}, folder), "/widened");
    mkdir(run.folder, 0777);
    for (int round = 0; round < ROUNDS; round++) {
        int gate[2];
        const char *older = write_older("widened/nvidia-h200", OLDER);
        assert_int_equal(pipe(gate), 0);
        for (int w = 0; w < WRITERS; w++)
            if (fork() == 0) {
                char none;
                close(gate[1]);
                bool good = read(gate[0], &none, 1) == 0;
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
        const char *text = slurp("widened/nvidia-h200/attention.csv");
        assert_widened(text, older, OLDER);
        assert_int_equal(count(text, '\n'), 1 + OLDER + WRITERS * ROWS);
        assert_int_equal(count(text, ','), 31 * (1 + OLDER + WRITERS * ROWS));
        assert_null(strstr(text + 1, "\nrun,"));
    }
}

// Rows of an older file are those of the order that all had then.
static void rows_of_an_older_file_are_counted(void **state) {
    (void)state;
    struct results_run run = run_of("NVIDIA H200");
    struct problem_case older = {.attention = {1, 16, 16, 256, 256, 64}}, strided = older, half = older;
    run.folder = strcat(strcpy((char[200]){0}, folder), "/counted");
    mkdir(run.folder, 0777);
    write_older("counted/nvidia-h200", 3);
    strcpy(run.run, "20261120T225728-64096-16433");
    strided.attention.layout = LAYOUT_BNHD;
    half.dtype = ATTENTION_FP16;
    assert_int_equal(results_count(&run, &attention_operation, &older), 3);
    assert_int_equal(results_count(&run, &attention_operation, &half), 0);
    assert_int_equal(results_count(&run, &attention_operation, &strided), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_file_gets_the_new_columns),
        cmocka_unit_test(writers_of_an_older_file_lose_nothing),
        cmocka_unit_test(rows_of_an_older_file_are_counted),
    };
    return cmocka_run_group_tests_name("older results", tests, make_folder, remove_folder);
}
