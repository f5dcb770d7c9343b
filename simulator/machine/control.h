// Who may steer the simulator (simulator_lock): a kernel's file is in the same process as the program that judges it.
#ifndef SIMULATOR_MACHINE_CONTROL_H
#define SIMULATOR_MACHINE_CONTROL_H

#include <stdbool.h>

// False: what steers does nothing now.
bool control_is_open(void);

#endif
