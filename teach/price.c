#include "commands.h"

#include "estimated.h"
#include "files.h"
#include "report.h"
#include "sources.h"
#include "traced.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// What is compared: the sum of a quantity over accesses of a kind. From `waste` times the solution's on it is said.
static const double waste = 1.5;
static const struct counted {
    const char *name, *space, *access; // access NULL: all of them
    enum quantity quantity;
} kinds[] = {
    {"shared loads", "shared", "load", LANES},
    {"shared stores", "shared", "store", LANES},
    {"wavefronts of shared memory", "shared", NULL, WAVEFRONTS},
    {"global sectors", "global", NULL, SECTORS},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_of(const struct traffic_access *access, const struct counted *kind) {
    return !strcmp(access->space, kind->space) && (!kind->access || !strcmp(access->access, kind->access));
}

static double sum_of(const struct traffic *traffic, const struct counted *kind) {
    double sum = 0;
    for (int i = 0; i < traffic->count; i++)
        sum += is_of(&traffic->access[i], kind) ? traffic->access[i].quantity[kind->quantity] : 0;
    return sum;
}

// The line of the kernel's own file: of its functions the one that has the access, or calls what has it elsewhere.
static int line_of(const struct traffic_access *access) {
    return access->own_line > 0 ? access->own_line : access->line;
}

// The line with the largest share, and that share.
static int most_at(const struct traffic *traffic, const struct counted *kind, double *share) {
    int line = 0;
    double most = 0;
    for (int i = 0; i < traffic->count; i++) {
        double sum = 0;
        for (int j = 0; j < traffic->count && is_of(&traffic->access[i], kind); j++)
            if (is_of(&traffic->access[j], kind) && line_of(&traffic->access[j]) == line_of(&traffic->access[i]))
                sum += traffic->access[j].quantity[kind->quantity];
        line = sum > most ? line_of(&traffic->access[i]) : line;
        most = sum > most ? sum : most;
    }
    *share = most;
    return line;
}

// The solution's count, of rows  shape,what,count,  at the shape, below 0 where none is recorded.
static double recorded(const struct lines *rows, const char *shape, const char *what) {
    char start[128];
    snprintf(start, sizeof start, "\"%s\",%s,", shape, what);
    for (int i = 0; i < rows->count; i++) {
        const char *count = text_after(rows->line[i], start);
        if (count)
            return strtod(count, NULL);
    }
    return -1;
}

int teach_price(int count, char **word) {
    struct traced traced;
    struct lines rows;
    char path[PATH_TEXT];
    int said = 0;
    if (!source_table_of_lesson(traced_source(count, word), "counts", path) || !files_exist(path) ||
        !lines_read(path, &rows))
        return 0;
    if (traced_run(count, word, &traced) == 0) {
        for (int k = 0; k < KINDS; k++) {
            double own = sum_of(&traced.traffic, &kinds[k]), share;
            double solution = recorded(&rows, traced.shape, kinds[k].name);
            if (solution <= 0 || own < waste * solution)
                continue;
            int line = most_at(&traced.traffic, &kinds[k], &share);
            printf("%s%.1f times the %s of the solution", said++ ? "; " : "right; but ", own / solution, kinds[k].name);
            if (share > 0.5 * own)
                printf(", most at line %d", line);
        }
        if (said)
            printf(" (SHAPE=%s, counted by the simulator)\n", traced.shape);
        traffic_free(&traced.traffic);
    }
    lines_free(&rows);
    estimated_print(count, word, 1);
    return 0;
}

int teach_counted(int count, char **word) {
    struct traced traced;
    int status = traced_run(count, word, &traced);
    if (status)
        return status;
    for (int k = 0; k < KINDS; k++)
        printf("\"%s\",%s,%.0f\n", traced.shape, kinds[k].name, sum_of(&traced.traffic, &kinds[k]));
    traffic_free(&traced.traffic);
    return 0;
}
