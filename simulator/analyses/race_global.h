// Reads of uninitialised global memory, and races on it between blocks. race_global.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_GLOBAL_H
#define SIMULATOR_ANALYSES_RACE_GLOBAL_H

#include "../machine/bound.h"

struct access;
struct run;

// Gives the launch's blocks their keys. false: the host has no memory left.
bool race_global_begin(struct run *run);
void race_global_end(struct run *run);

// An access that lies in access->allocation is about to happen.
void race_global_access(struct warp *warp, const struct bound *bound, const struct access *access);

// An atomic or volatile one has happened.
void race_global_accessed(struct warp *warp, const struct bound *bound, const struct access *access);

#endif
