#include "speed.h"

#include "csv.h"
#include "files.h"

#include <glob.h>
#include <string.h>

static bool is_reference_case(const struct csv *csv, int row) {
    return !strcmp(csv_text(csv, row, "dtype"), "fp32") && csv_number(csv, row, "B") == 1 &&
           csv_number(csv, row, "H") == 16 && csv_number(csv, row, "Nq") == 4096 &&
           csv_number(csv, row, "Nk") == 4096 && csv_number(csv, row, "causal") == 0 &&
           csv_number(csv, row, "median_us") > 0 && strcmp(csv_text(csv, row, "cache"), "warm") != 0;
}

// The last row of `lesson` with the run and the head dimension of another row; -1 if there is none.
static int row_in_same_run(const struct csv *csv, const char *lesson, int row) {
    int found = -1;
    for (int i = 0; i < csv->rows; i++)
        if (!strcmp(csv_text(csv, i, "lesson"), lesson) && is_reference_case(csv, i) &&
            !strcmp(csv_text(csv, i, "run"), csv_text(csv, row, "run")) &&
            csv_number(csv, i, "D") == csv_number(csv, row, "D"))
            found = i;
    return found;
}

static void update_from_newest_run(const struct csv *csv, const char *lesson, const char *baseline,
                                   struct speed *speed) {
    const char *best = NULL;
    for (int row = 0; row < csv->rows; row++) {
        if (strcmp(csv_text(csv, row, "lesson"), lesson) || !is_reference_case(csv, row))
            continue;
        int baseline_row = row_in_same_run(csv, baseline, row);
        const char *run = csv_text(csv, row, "run"), *date = csv_text(csv, row, "date");
        bool same = best && !strcmp(best, run);
        if (baseline_row < 0 || (!same && strcmp(date, speed->date) <= 0))
            continue;
        double ratio = csv_number(csv, baseline_row, "median_us") / csv_number(csv, row, "median_us");
        if (!same || ratio < speed->ratio)
            speed->ratio = ratio;
        best = run;
        if (strcmp(date, speed->date) > 0)
            snprintf(speed->date, sizeof speed->date, "%s", date);
    }
}

bool read_speedup(const char *results, const char *lesson, const char *baseline, struct speed *speed) {
    char pattern[PATH_TEXT];
    struct tm time = {0};
    glob_t found;
    *speed = (struct speed){.ratio = 0};
    snprintf(pattern, sizeof pattern, "%s/*/attention.csv", results);
    if (glob(pattern, 0, NULL, &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct csv csv;
        if (!csv_read(found.gl_pathv[i], &csv))
            continue;
        update_from_newest_run(&csv, lesson, baseline, speed);
        csv_free(&csv);
    }
    globfree(&found);
    if (!*speed->date)
        return false;
    speed->measured = strptime(speed->date, "%Y-%m-%dT%H:%M:%SZ", &time) ? timegm(&time) : 0;
    return true;
}
