// Memory that calls use in turn: a launcher that gives each call another counter of an array uses the first one again
// only after as many calls as the array has elements, and a counter that is not left as it was found shows only then.
// After each call the memory that outlives calls is compared with a copy: calls that change places at equal distances
// rotate.
#include "../machine/allocation.h"
#include "../simulator.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 18, MOST_KEPT = 64, LEAST_STEPS = 2 }; // larger memory is not looked at

struct kept {
    unsigned id; // of the allocation
    size_t size;
    uint8_t *copy;      // [size], after the last call
    size_t place;       // that the last call changed,
    size_t stride;      // the distance to the place before it, 0: none
    unsigned steps;     // calls that went on by the same stride
    bool seen, rotates; // seen: in this round; rotates: was reported
};

struct round {
    unsigned long calls;
};

static struct kept kept[MOST_KEPT];

static struct kept *find(unsigned id) {
    struct kept *free_one = NULL;
    for (int i = 0; i < MOST_KEPT; i++) {
        if (kept[i].id == id)
            return &kept[i];
        free_one = kept[i].id ? free_one : &kept[i];
    }
    return free_one;
}

static void look(struct sim_allocation *allocation, void *context) {
    struct round *round = context;
    bool device = allocation->kind == SIM_ALLOCATION_HEAP || allocation->kind == SIM_ALLOCATION_GLOBAL_VARIABLE;
    struct kept *k = device && allocation->size <= MOST_BYTES ? find(allocation->id) : NULL;
    if (!k)
        return;
    if (!k->id) { // a new allocation
        *k = (struct kept){.id = allocation->id, .size = allocation->size, .copy = malloc(allocation->size)};
    } else if (memcmp(k->copy, allocation->bytes, k->size) != 0) {
        size_t place = 0;
        while (k->copy[place] == allocation->bytes[place])
            place++;
        place = place / 4 * 4;
        size_t stride = k->steps && place > k->place ? place - k->place : 0;
        k->steps = !k->steps || stride != k->stride ? 1 : k->steps + 1;
        k->stride = stride;
        k->place = place;
        if (stride && k->steps > LEAST_STEPS && !k->rotates) {
            unsigned long period = (unsigned long)(k->size / stride);
            k->rotates = true;
            round->calls = period > round->calls ? period : round->calls;
        }
    }
    k->seen = true;
    if (!k->copy)
        *k = (struct kept){0};
    else
        memcpy(k->copy, allocation->bytes, k->size);
}

unsigned long simulator_calls_until_reuse(void) {
    struct round round = {0};
    sim_memory_each(look, &round);
    for (int i = 0; i < MOST_KEPT; i++) {
        if (!kept[i].seen) {
            free(kept[i].copy);
            kept[i] = (struct kept){0};
        }
        kept[i].seen = false;
    }
    return round.calls;
}
