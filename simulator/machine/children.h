// Launches and copies that a kernel requests. They run after its grid has ended, in the order of the requests, and
// those of the tail stream last: a kernel cannot wait for its launches, so it cannot observe the difference.
#ifndef SIMULATOR_MACHINE_CHILDREN_H
#define SIMULATOR_MACHINE_CHILDREN_H

#include "launch.h"

#include <pthread.h>

struct sim_child {
    uint64_t kernel; // as a function pointer holds it
    struct sim_dim grid, block;
    uint32_t dynamic_shared_bytes;
    uint64_t buffer;          // device address of its parameters
    uint64_t to, from, bytes; // of a copy, if bytes is not 0
    bool launched, tail;
    struct sim_child *next;
};

struct sim_children {
    pthread_mutex_t lock;
    struct sim_child *first, *last;
};

// Adds a request in the order of the calls. false: the host has no memory left.
bool sim_children_add(struct sim_children *children, const struct sim_child *child);
// Confirms the launch whose parameters are at buffer. false: there is none.
bool sim_children_launch(struct sim_children *children, uint64_t buffer, bool tail);
void sim_children_free(struct sim_children *children); // frees their buffers, too

#endif
