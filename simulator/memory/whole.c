// A vector that is loaded or stored by a volatile or relaxed access is one access for blocks on other host threads, as
// it is on a GPU: CUB keeps a flag and the value that it is about side by side. So is an element of 128 bits. The host
// has no such access of 16 bytes, so a lock stands in for it.
#include "whole.h"

#include <pthread.h>
#include <string.h>

#define LOCKS 64
static pthread_mutex_t locks[LOCKS] = {[0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of(const uint8_t *shared, unsigned bytes) {
    pthread_mutex_t *lock = &locks[(uintptr_t)shared / bytes % LOCKS];
    pthread_mutex_lock(lock);
    return lock;
}

void whole_move(uint8_t *to, const uint8_t *from, uint8_t *shared, unsigned bytes) {
    if (bytes == 8) {
        uint64_t value;
        if (from == shared) {
            value = __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);
            memcpy(to, &value, 8);
        } else {
            memcpy(&value, from, 8);
            __atomic_store_n((uint64_t *)(void *)to, value, __ATOMIC_RELAXED);
        }
        return;
    }
    pthread_mutex_t *lock = lock_of(shared, bytes);
    memcpy(to, from, bytes);
    pthread_mutex_unlock(lock);
}

bool whole_exchange(uint8_t *where, const uint64_t value[2], const uint64_t *expected, uint64_t old[2]) {
    pthread_mutex_t *lock = lock_of(where, 16);
    memcpy(old, where, 16);
    bool puts = !expected || memcmp(old, expected, 16) == 0;
    if (puts)
        memcpy(where, value, 16);
    pthread_mutex_unlock(lock);
    return puts && memcmp(old, value, 16) != 0;
}
