// The units of an SM's four quarters, which the warps of a block share. The simulator runs one warp far ahead and
// another one later, so used cycles are kept by their time, and a later warp gets the unused ones.
#include "work.h"

#include <stdlib.h>
#include <string.h>

// Warps are never further apart than their synchronization permits, which is a few tiles.
enum { STRETCH = 64, STRETCHES = 2048 }; // cycles, and the number of stretches that are kept

struct stretch {
    uint32_t number, taken; // cycles
};

struct work_units {
    struct stretch of[WORK_QUARTERS][WORK_UNITS][STRETCHES];
};

struct work_units *work_units_make(void) {
    return calloc(1, sizeof(struct work_units));
}

void work_units_free(struct work_units *units) {
    free(units);
}

void work_units_start(struct work_units *units) {
    if (units)
        memset(units, 0, sizeof *units);
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

uint32_t work_take(struct work_units *units, unsigned quarter, enum work_unit unit, uint32_t from, uint32_t cycles) {
    struct stretch *stretches = units->of[quarter % WORK_QUARTERS][unit];
    uint32_t end = from + cycles;
    for (uint32_t number = from / STRETCH; cycles; number++) {
        struct stretch *stretch = &stretches[number % STRETCHES];
        if (stretch->number > number) // the use of a stretch that old is no longer known
            break;
        if (stretch->number < number)
            *stretch = (struct stretch){.number = number};
        uint32_t begin = number * STRETCH, gone = from > begin ? from - begin : 0;
        uint32_t taken = least(cycles, least(STRETCH - stretch->taken, STRETCH - gone));
        stretch->taken += taken;
        cycles -= taken;
        if (taken && begin + stretch->taken > end)
            end = begin + stretch->taken;
    }
    return end;
}
