// Which GPU is simulated: one of a table, chosen by the environment variable SIMULATOR_DEVICE, the H200 by default.
#ifndef SIMULATOR_RUNTIME_DEVICE_H
#define SIMULATOR_RUNTIME_DEVICE_H

#include "../machine/launch.h"
#include "api.h"

struct device {
    const char *key; // what SIMULATOR_DEVICE calls it
    struct sim_device simulated;
    size_t persisting_l2_bytes;
    int single_to_double_ratio; // fp32 operations for each fp64 one
    int copy_engines;
    bool ecc;
};

// Chooses the device at the first call of the process. cudaErrorNoDevice where SIMULATOR_DEVICE names none.
cudaError_t device_initialise(void);

// The device; valid once device_initialise has succeeded.
const struct device *device_current(void);

// cudaSuccess where ordinal is a device of this machine: there is one, number 0.
cudaError_t device_check_ordinal(int ordinal);

#endif
