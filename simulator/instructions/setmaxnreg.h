// How many registers a thread begins with, where setmaxnreg changes that. setmaxnreg.c explains it.
#ifndef SIMULATOR_INSTRUCTIONS_SETMAXNREG_H
#define SIMULATOR_INSTRUCTIONS_SETMAXNREG_H

#include "../machine/bound.h"

// Of a kernel that is bound; registers: by ptxas, 0: not known.
void setmaxnreg_begin(struct sim_kernel *kernel, int registers);

#endif
