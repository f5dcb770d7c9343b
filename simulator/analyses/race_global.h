// Reads of uninitialized global memory, and races on it between blocks. race_global.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_GLOBAL_H
#define SIMULATOR_ANALYSES_RACE_GLOBAL_H

#include "../machine/bound.h"

struct access;
struct run;

// Assigns the launch's blocks their keys. false: the host has no memory left.
bool race_global_begin(struct run *run);
void race_global_end(struct run *run);

// Called before an access within access->allocation.
void race_global_access(struct warp *warp, const struct bound *bound, const struct access *access);

// Called after the access.
void race_global_accessed(struct warp *warp, const struct bound *bound, const struct access *access);

#endif
