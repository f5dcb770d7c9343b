#include "host/inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEPT_VALUES = 1 << 24 };

static const char *const names[INPUT_FAMILIES] = {
    [INPUTS_NORMAL] = "normal",
    [INPUTS_LARGE] = "large",
    [INPUTS_DOMINANT_FIRST] = "dominant-first",
    [INPUTS_DOMINANT_LAST] = "dominant-last",
    [INPUTS_DOMINANT_EDGE] = "dominant-edge",
    [INPUTS_RISING] = "rising",
    [INPUTS_CONSTANT_VALUE] = "constant-value",
    [INPUTS_NAN_KEY] = "nan-key",
    [INPUTS_NAN_VALUE] = "nan-value",
    [INPUTS_INF_KEY] = "inf-key",
    [INPUTS_INF_VALUE] = "inf-value",
    [INPUTS_OFFSET] = "offset",
    [INPUTS_TINY] = "tiny",
    [INPUTS_CROWD] = "crowd",
    [INPUTS_LOW] = "low",
    [INPUTS_STEEP] = "steep",
    [INPUTS_FALLING] = "falling",
    [INPUTS_EQUAL] = "equal",
    [INPUTS_EQUAL_BUT_ONE] = "equal-but-one",
    [INPUTS_LATE] = "late",
    [INPUTS_TWINS] = "twins",
    [INPUTS_MASKED] = "masked",
    [INPUTS_RAGGED] = "ragged",
    [INPUTS_HALVING] = "halving",
    [INPUTS_ONE_LONG] = "one-long",
    [INPUTS_BAD_LENGTH] = "bad-length",
    [INPUTS_BAD_PAGE] = "bad-page",
};

const char *inputs_name(enum input_family family) {
    return names[family];
}

bool inputs_from_name(const char *name, enum input_family *family, struct message *error) {
    char list[500] = "";
    for (int i = 0; i < INPUT_FAMILIES; i++) {
        if (!strcmp(name, names[i])) {
            *family = (enum input_family)i;
            return true;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    }
    return message_set(error, "INPUTS=%.60s is unknown: use one of %s", name, list);
}

// The finaliser of splitmix64: every bit of the input reaches every bit of the output.
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t inputs_random(uint64_t seed, uint64_t stream, uint64_t counter) {
    return mix(counter * 0x9E3779B97F4A7C15u + mix(seed + mix(stream + 1)));
}

// Two values a draw (Box and Muller).
void inputs_normal_row(float *row, int64_t row_index, int length, uint64_t seed, uint64_t tensor) {
    int64_t pairs = (length + 1) / 2;
    for (int c = 0; c < length; c += 2) {
        uint64_t bits = inputs_random(seed, tensor, (uint64_t)(row_index * pairs + c / 2));
        float radius = sqrtf(-2.0f * logf((float)((bits >> 40) + 1) * 0x1p-24f));
        float angle = (float)(bits & 0xFFFFFF) * (float)(2 * M_PI * 0x1p-24);
        row[c] = radius * cosf(angle);
        if (c + 1 < length)
            row[c + 1] = radius * sinf(angle);
    }
}

int64_t inputs_kept(int64_t rows, int columns) {
    int64_t fitting = KEPT_VALUES / columns;
    if (rows <= fitting)
        return rows;
    return fitting < 1 ? 1 : (fitting - 1) | 1;
}

int inputs_edge(int64_t index, int size) {
    static const int edge[] = {15, 16, 31, 32, 63, 64, 127, 128};
    int fitting = 0;
    while (fitting < (int)(sizeof edge / sizeof *edge) && edge[fitting] < size)
        fitting++;
    return fitting ? edge[index % fitting] : size - 1;
}
