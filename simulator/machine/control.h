// Access to the functions that configure the simulator (simulator_lock): a kernel's file is in the same process as the
// program that checks it.
#ifndef SIMULATOR_MACHINE_CONTROL_H
#define SIMULATOR_MACHINE_CONTROL_H

#include <stdbool.h>

// False: the configuring functions do nothing now.
bool control_is_open(void);

#endif
