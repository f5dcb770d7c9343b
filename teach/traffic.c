#include "traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const quantity_name[QUANTITIES] = {
    [REQUESTS] = "requests",
    [LANES] = "lanes",
    [BYTES] = "bytes",
    [SECTORS] = "sectors",
    [WAVEFRONTS] = "wavefronts",
    [IDEAL_SECTORS] = "ideal_sectors",
    [IDEAL_WAVEFRONTS] = "ideal_wavefronts",
};

bool quantity_of_name(const char *name, enum quantity *quantity) {
    for (int q = 0; q < QUANTITIES; q++)
        if (!strcmp(name, quantity_name[q])) {
            *quantity = (enum quantity)q;
            return true;
        }
    return false;
}

static struct traffic_access read_access(const struct csv *csv, int row) {
    struct traffic_access access = {
        .group = (int)csv_number(csv, row, "group"),
        .kernel = csv_text(csv, row, "kernel"),
        .mangled = csv_text(csv, row, "mangled"),
        .grid = csv_text(csv, row, "grid"),
        .block = csv_text(csv, row, "block"),
        .launches = csv_number(csv, row, "launches"),
        .shared_bytes = csv_number(csv, row, "shared_bytes"),
        .file = csv_text(csv, row, "file"),
        .outer_file = csv_text(csv, row, "outer_file"),
        .line = (int)csv_number(csv, row, "line"),
        .outer_line = (int)csv_number(csv, row, "outer_line"),
        .own_line = (int)csv_number(csv, row, "own_line"),
        .space = csv_text(csv, row, "space"),
        .access = csv_text(csv, row, "access"),
        .bytes_a_lane = (int)csv_number(csv, row, "bytes_a_lane"),
        .note = csv_text(csv, row, "note"),
        .copies = 1,
    };
    for (int q = 0; q < QUANTITIES; q++)
        access.quantity[q] = csv_number(csv, row, quantity_name[q]);
    return access;
}

bool traffic_read(const char *path, struct traffic *traffic) {
    *traffic = (struct traffic){.count = 0};
    if (!csv_read(path, &traffic->csv))
        return false;
    traffic->access = calloc((size_t)traffic->csv.rows + 1, sizeof *traffic->access);
    if (!traffic->access)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    for (int row = 0; row < traffic->csv.rows; row++)
        traffic->access[traffic->count++] = read_access(&traffic->csv, row);
    if (!traffic->count)
        traffic_free(traffic);
    return traffic->count;
}

void traffic_free(struct traffic *traffic) {
    csv_free(&traffic->csv);
    free(traffic->access);
    *traffic = (struct traffic){.count = 0};
}

// Equal to the one decimal place that the report prints.
static bool same_cost(const struct traffic_access *a, const struct traffic_access *b, enum quantity quantity) {
    return round(10 * a->quantity[quantity] / a->quantity[REQUESTS]) ==
           round(10 * b->quantity[quantity] / b->quantity[REQUESTS]);
}

static bool are_copies(const struct traffic_access *a, const struct traffic_access *b) {
    return a->group == b->group && a->line == b->line && a->outer_line == b->outer_line &&
           a->bytes_a_lane == b->bytes_a_lane && !strcmp(a->file, b->file) && !strcmp(a->outer_file, b->outer_file) &&
           !strcmp(a->space, b->space) && !strcmp(a->access, b->access) && !strcmp(a->note, b->note) &&
           same_cost(a, b, SECTORS) && same_cost(a, b, WAVEFRONTS);
}

void merge_copies(struct traffic *traffic) {
    int kept = 0;
    for (int i = 0; i < traffic->count; i++) {
        const struct traffic_access *access = &traffic->access[i];
        int j = 0;
        while (j < kept && !are_copies(&traffic->access[j], access))
            j++;
        if (j == kept) {
            traffic->access[kept++] = *access;
            continue;
        }
        for (int q = 0; q < QUANTITIES; q++)
            traffic->access[j].quantity[q] += access->quantity[q];
        traffic->access[j].copies++;
    }
    traffic->count = kept;
}
