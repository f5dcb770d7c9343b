// See condition.h. Conditions are never removed: a program has few.
#include "condition.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define TAG (UINT64_C(0x7d) << 40) // not an address, so that no pointer is taken for a condition

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t *values;
static size_t count, room;

uint64_t sim_condition_add(uint32_t value) {
    uint64_t handle = 0;
    pthread_mutex_lock(&lock);
    if (count == room) {
        size_t more = room ? 2 * room : 16;
        uint32_t *grown = realloc(values, more * sizeof *grown);
        if (grown) {
            values = grown;
            room = more;
        }
    }
    if (count < room) {
        values[count] = value;
        handle = TAG | ++count;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

// Returns the value of a condition; the caller holds the lock.
static uint32_t *find(uint64_t handle) {
    uint64_t number = handle ^ TAG;
    return number > 0 && number <= count ? &values[number - 1] : NULL;
}

bool sim_condition_set(uint64_t handle, uint32_t value) {
    pthread_mutex_lock(&lock);
    uint32_t *at = find(handle);
    if (at)
        *at = value;
    pthread_mutex_unlock(&lock);
    return at;
}

bool sim_condition_get(uint64_t handle, uint32_t *value) {
    pthread_mutex_lock(&lock);
    const uint32_t *at = find(handle);
    if (at)
        *value = *at;
    pthread_mutex_unlock(&lock);
    return at;
}
