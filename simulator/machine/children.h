// Launches, and copies, that a kernel asks for. They run when its grid has ended, in the order in which they were asked
// for, and those of the tail stream after them: a kernel cannot wait for what it launches, so none can tell.
#ifndef SIMULATOR_MACHINE_CHILDREN_H
#define SIMULATOR_MACHINE_CHILDREN_H

#include "launch.h"

#include <pthread.h>

struct sim_child {
    uint64_t kernel; // as a pointer to it holds
    struct sim_dim grid, block;
    uint32_t dynamic_shared_bytes;
    uint64_t buffer;          // device address of its parameters
    uint64_t to, from, bytes; // a copy instead, where bytes is not 0
    bool launched, tail;
    struct sim_child *next;
};

struct sim_children {
    pthread_mutex_t lock;
    struct sim_child *first, *last;
};

// Keeps a copy, in the order of the calls. false: the host has no memory left.
bool sim_children_add(struct sim_children *children, const struct sim_child *child);
// The launch whose parameters lie at buffer is to take place. false: there is none.
bool sim_children_launch(struct sim_children *children, uint64_t buffer, bool tail);
void sim_children_free(struct sim_children *children); // and their buffers

#endif
