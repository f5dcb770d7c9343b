// A growing text buffer, and JSON in it.
#ifndef SIMULATOR_RECORDING_JSON_H
#define SIMULATOR_RECORDING_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; // NULL: empty
    size_t length, room;
    bool failed; // the host has no memory left; later additions are lost
};

void json_free(struct json *json);
void json_add(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A string with its quotes. Text that is not UTF-8 is taken for Latin-1; '<' is written \u003c, so that nothing in it
// ends the script of a page.
void json_string(struct json *json, const char *text);

// A number, or null if it is negative.
void json_number(struct json *json, int64_t number);

// A number, or "nan", "inf", "-inf".
void json_float(struct json *json, double value);

// [first, step, count, ...]: count numbers, each larger by step than the previous one.
void json_runs(struct json *json, const int64_t *number, size_t count);

#endif
