// A vector access that is volatile or relaxed is a single access for blocks on other host threads, as on a GPU: CUB
// stores a flag and its value side by side. So is a 128-bit element. The host has no 16-byte access of that kind, so a
// lock replaces it.
#include "wide_atomic.h"

#include <pthread.h>
#include <string.h>

#define LOCKS 64
static pthread_mutex_t locks[LOCKS] = {[0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of(const uint8_t *shared, unsigned bytes) {
    pthread_mutex_t *lock = &locks[(uintptr_t)shared / bytes % LOCKS];
    pthread_mutex_lock(lock);
    return lock;
}

void wide_atomic_copy(uint8_t *to, const uint8_t *from, uint8_t *shared, unsigned bytes) {
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

bool wide_atomic_exchange(uint8_t *where, const uint64_t value[2], const uint64_t *expected, uint64_t old[2]) {
    pthread_mutex_t *lock = lock_of(where, 16);
    memcpy(old, where, 16);
    bool puts = !expected || memcmp(old, expected, 16) == 0;
    if (puts)
        memcpy(where, value, 16);
    pthread_mutex_unlock(lock);
    return puts && memcmp(old, value, 16) != 0;
}
