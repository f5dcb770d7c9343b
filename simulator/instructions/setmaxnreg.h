// The number of registers that a thread starts with if the kernel has setmaxnreg. setmaxnreg.c explains it.
#ifndef SIMULATOR_INSTRUCTIONS_SETMAXNREG_H
#define SIMULATOR_INSTRUCTIONS_SETMAXNREG_H

#include "../machine/bound.h"

// Sets it for a bound kernel; registers: by ptxas, 0: not known.
void setmaxnreg_begin(struct sim_kernel *kernel, int registers);

#endif
