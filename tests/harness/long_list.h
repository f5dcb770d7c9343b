// Long lists: make test takes part of them, make test-all, which sets TEST_ALL, all; under the sanitizers, which look
// at the code and not at what it finds, less suffices.
#ifndef TESTS_LONG_LIST_H
#define TESTS_LONG_LIST_H

#include <stdlib.h>

// Every how many items of a list are tried: 1, or `usual`, or `sanitized`.
static inline int long_list_step(int usual, int sanitized) {
#ifdef __SANITIZE_ADDRESS__
    (void)usual;
    return sanitized;
#else
    (void)sanitized;
    const char *all = getenv("TEST_ALL");
    return all && *all ? 1 : usual;
#endif
}

#endif
