// What a bench decides without a GPU: how often it launches, what is noise, how long it still takes, what its line of
// progress says, and whether a run that was stopped goes on.
#include "cmocka_all.h"
#include "host/budget.h"
#include "host/estimate.h"
#include "host/noise.h"
#include "host/progress.h"
#include "host/resume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Groups: the ceilings are the first one, operations come behind them.
enum { ATTENTION = GROUP_CEILINGS + 1, SOFTMAX };

static void repeats_follow_the_budget(void **state) {
    (void)state;
    assert_int_equal(budget_repeats(1, 0.01), 100);
    assert_int_equal(budget_repeats(1, 1e-6), MOST_REPEATS);
    assert_int_equal(budget_repeats(0.3, 0.15), 5); // lesson 01's 150 ms
    assert_int_equal(budget_repeats(0.3, 0.6), 3);
    assert_int_equal(budget_batch(50e-6), 1);
    assert_int_equal(budget_batch(49e-6), 3);
    assert_int_equal(budget_batch(5e-6), 20);
    assert_int_equal(budget_batch(0), MOST_BATCH);
    assert_int_equal(budget_launches(0.3, 0.15, 1), 1 + 1 + 5);
    assert_int_equal(budget_launches(1, 0.01, 1), 1 + 3 + 100);
    assert_int_equal(budget_launches(1, 5e-6, 20), 1 + 3 + 20 * MOST_REPEATS);
}

static struct results_timing timing_of(double low, double high, int slow, int count) {
    struct results_timing timing = {0};
    double us[MOST_REPEATS];
    for (int i = 0; i < count; i++)
        us[i] = i < slow ? high : low;
    noise_summarise(us, count, &timing);
    return timing;
}

static void a_series_is_summed_up(void **state) {
    (void)state;
    double us[] = {5, 1, 4, 2, 3, 20}, mismatched[] = {3, 1, 2};
    struct results_timing timing = {0};
    noise_summarise(us, 6, &timing);
    assert_float_equal(timing.median_us, 3.5, 1e-9);
    assert_float_equal(timing.min_us, 1, 1e-9);
    assert_float_equal(timing.max_us, 20, 1e-9);
    assert_float_equal(timing.p95_us, 20, 1e-9);
    assert_int_equal(timing.repeats, 6);
    noise_summarise(mismatched, 3, &timing);
    assert_float_equal(timing.median_us, 2, 1e-9);
    // Of a hundred launches five may be anything.
    timing = timing_of(100, 500, 5, 100);
    assert_float_equal(timing.p95_us, 100, 1e-9);
    timing = timing_of(100, 500, 6, 100);
    assert_float_equal(timing.p95_us, 500, 1e-9);
}

static void more_than_five_per_cent_is_noise(void **state) {
    (void)state;
    struct results_timing quiet = timing_of(1000, 1049, 20, 100), loud = timing_of(1000, 1051, 20, 100);
    assert_false(noise_is_spread(&quiet, 1));
    assert_true(noise_is_spread(&loud, 1));
    // Two events are exact to about 1 us: 0.9 us on 5 us is none of the kernel's, unless it is so of 20 launches each.
    struct results_timing tiny = timing_of(5, 5.9, 20, 100);
    assert_false(noise_is_spread(&tiny, 1));
    assert_true(noise_is_spread(&tiny, 20));
}

static void a_clock_that_falls_is_noise(void **state) {
    (void)state;
    struct noise_clock clock;
    noise_clock_start(&clock, 1980);
    noise_clock_record(&clock, 1965);
    assert_false(noise_clock_dropped(&clock));
    noise_clock_record(&clock, 1905);
    noise_clock_record(&clock, 1980); // up again: before and after alone would not show it
    assert_int_equal(clock.lowest, 1905);
    assert_int_equal(clock.after, 1980);
    assert_true(noise_clock_dropped(&clock));
    noise_clock_start(&clock, 0); // not known
    noise_clock_record(&clock, 0);
    assert_false(noise_clock_dropped(&clock));
    noise_clock_record(&clock, 1500);
    noise_clock_record(&clock, 1600);
    assert_true(noise_clock_dropped(&clock));
}

static void the_better_attempt_has_fewer_noisy_rows(void **state) {
    (void)state;
    struct results_timing quiet = timing_of(100, 101, 50, 100), loud = timing_of(100, 120, 50, 100);
    loud.noisy = true;
    struct results_timing a[] = {quiet, loud}, b[] = {loud, loud}, c[] = {quiet, quiet}, d[] = {quiet, quiet};
    d[0].p95_us = 102;
    assert_true(noise_better(a, b, 2));
    assert_false(noise_better(b, a, 2));
    assert_true(noise_better(c, a, 2));
    assert_true(noise_better(c, d, 2));
    assert_false(noise_better(d, c, 2));
}

// What a unit takes with kernels of these seconds a launch, and another second for inputs and reference.
static double take(struct estimate *e, int i, const double *seconds, int kernels) {
    double taken = 1, fastest = INFINITY;
    for (int k = 0; k < kernels; k++)
        fastest = fmin(fastest, seconds[k]);
    estimate_begin(e, i);
    for (int k = 0; k < kernels; k++) {
        estimate_kernel(e, seconds[k]);
        taken += seconds[k] * budget_launches(e->unit[i].budget / kernels, seconds[k], budget_batch(fastest));
    }
    estimate_done(e, taken);
    return taken;
}

static void the_remaining_time_follows_from_measurements(void **state) {
    (void)state;
    struct estimate e = {0};
    const double first[] = {40e-3, 3e-3}, second[] = {160e-3, 12e-3}, third[] = {640e-3, 48e-3};
    for (int i = 0; i < 3; i++)
        assert_true(estimate_add(&e, (struct estimate_unit){ATTENTION, pow(4, i), 2, 1, false}));
    assert_true(estimate_add(&e, (struct estimate_unit){SOFTMAX, 1, 1, 1, false}));
    estimate_begin(&e, 0);
    assert_true(estimate_remaining(&e, 5) < 0); // nothing is known, so nothing is said
    double taken = take(&e, 0, first, 2), left = estimate_remaining(&e, 0);
    assert_int_equal(estimate_finished(&e), 1);
    // The other group, of which nothing is known, at the rate of its budget.
    double softmax = taken / 2;
    double expected = take(&e, 1, second, 2) + take(&e, 2, third, 2);
    assert_float_equal(left, expected + softmax, 0.02 * left);
    // All but the softmax is done, and a part of that.
    double rest = estimate_remaining(&e, 0);
    estimate_begin(&e, 3);
    assert_float_equal(estimate_remaining(&e, 0.5), rest - 0.5, 1e-6);
    assert_float_equal(estimate_remaining(&e, 1e6), 0, 1e-9);
    take(&e, 3, first, 1);
    assert_float_equal(estimate_remaining(&e, 0), 0, 1e-9);
}

static void recorded_and_untimed_units_do_not_count(void **state) {
    (void)state;
    struct estimate e = {0};
    const double kernel[] = {10e-3};
    for (int i = 0; i < 3; i++)
        estimate_add(&e, (struct estimate_unit){ATTENTION, 1, 1, 1, i == 0});
    assert_int_equal(estimate_finished(&e), 1);
    assert_true(estimate_remaining(&e, 0) < 0);
    double taken = take(&e, 1, kernel, 1);
    assert_float_equal(estimate_remaining(&e, 0), taken, 0.02 * taken);
    estimate_begin(&e, 2);
    estimate_done(&e, 0.001); // it did not fit into the memory
    assert_float_equal(estimate_remaining(&e, 0), 0, 1e-9);
    for (int i = 3; i < MOST_UNITS; i++)
        assert_true(estimate_add(&e, (struct estimate_unit){ATTENTION, 1, 1, 1, false}));
    assert_false(estimate_add(&e, (struct estimate_unit){ATTENTION, 1, 1, 1, false}));
    assert_float_equal(estimate_remaining(&e, 0), (MOST_UNITS - 3) * taken, 0.02 * MOST_UNITS * taken);
}

static void the_progress_line_never_wraps(void **state) {
    (void)state;
    char text[PROGRESS_TEXT], duration[48];
    struct progress p = {4, 16, "B,H,N,D = 1,16,4096,64", "timing, round 12 of 40", 30, 90};
    progress_text(&p, 200, text);
    assert_string_equal(text, " 25 % (5 of 16) B,H,N,D = 1,16,4096,64: timing, round 12 of 40; about 2 min left");
    for (int columns = 2; columns < 100; columns++) {
        progress_text(&p, columns, text);
        assert_true(strlen(text) < (size_t)columns);
    }
    p.left = -1;
    progress_text(&p, 0, text); // a terminal that does not say how wide it is
    assert_string_equal(text, " 25 % (5 of 16) B,H,N,D = 1,16,4096,64: timing, round 12 of 40");
    p.left = 0;
    p.elapsed = 0;
    progress_text(&p, 200, text);
    assert_non_null(strstr(text, "  0 % (5 of 16)"));
    const struct {
        double seconds;
        const char *text;
    } durations[] = {{0, "about 1 s"},   {3.2, "about 4 s"},  {21, "about 25 s"},
                     {85, "about 85 s"}, {95, "about 2 min"}, {600, "about 10 min"}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        progress_duration(durations[i].seconds, duration, sizeof duration);
        assert_string_equal(duration, durations[i].text);
    }
}

static void a_run_is_remembered_with_what_it_was_measured_with(void **state) {
    (void)state;
    char folder[] = "/tmp/attention-resume-XXXXXX", deeper[60], path[100], run[40], hash[17], same[17];
    struct resume_facts facts = {0}, loaded = {0}, other;
    struct message message;
    assert_non_null(mkdtemp(folder));
    snprintf(deeper, sizeof deeper, "%s/deeper", folder);
    resume_path(deeper, "a b", path, sizeof path);
    assert_false(resume_load(path, run, sizeof run, &loaded));
    resume_add(&facts, "the driver", "%s", "570.1");
    resume_add(&facts, "the library of a\tname", "%d\n", 7);
    assert_true(resume_save(path, "run-1", &facts, &message));
    assert_true(resume_load(path, run, sizeof run, &loaded));
    assert_string_equal(run, "run-1");
    assert_int_equal(loaded.count, 2);
    assert_true(resume_same(&loaded, &facts, &message));
    other = facts;
    snprintf(other.fact[0].value, RESUME_VALUE, "580.2");
    assert_false(resume_same(&loaded, &other, &message));
    assert_string_equal(message.text, "the driver was 570.1 and is 580.2");
    other = facts;
    other.count = 1;
    assert_false(resume_same(&loaded, &other, &message));
    assert_false(resume_same(&other, &loaded, &message));
    // A file's hash is that of its bytes.
    resume_hash_file(path, hash);
    resume_hash_file(path, same);
    assert_string_equal(hash, same);
    assert_true(resume_save(path, "run-2", &facts, &message));
    resume_hash_file(path, same);
    assert_string_not_equal(hash, same);
    resume_hash_file("/nowhere", hash);
    assert_string_equal(hash, "unreadable");
    FILE *file = fopen(path, "w");
    fputs("garbage\n", file);
    fclose(file);
    assert_false(resume_load(path, run, sizeof run, &loaded));
    resume_forget(path);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_false(resume_save("/proc/nowhere/x", "run", &facts, &message));
    assert_int_equal(rmdir(deeper), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_follow_the_budget),
        cmocka_unit_test(a_series_is_summed_up),
        cmocka_unit_test(more_than_five_per_cent_is_noise),
        cmocka_unit_test(a_clock_that_falls_is_noise),
        cmocka_unit_test(the_better_attempt_has_fewer_noisy_rows),
        cmocka_unit_test(the_remaining_time_follows_from_measurements),
        cmocka_unit_test(recorded_and_untimed_units_do_not_count),
        cmocka_unit_test(the_progress_line_never_wraps),
        cmocka_unit_test(a_run_is_remembered_with_what_it_was_measured_with),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
