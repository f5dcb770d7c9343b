// The simulated GPU: an entry of a table, selected by the environment variable SIMULATOR_DEVICE, the H200 by default.
#ifndef SIMULATOR_RUNTIME_DEVICE_H
#define SIMULATOR_RUNTIME_DEVICE_H

#include "../machine/launch.h"
#include "api.h"

struct device {
    const char *key; // the value of SIMULATOR_DEVICE
    struct sim_device simulated;
    size_t persisting_l2_bytes;
    int single_to_double_ratio; // fp32 throughput relative to fp64
    int copy_engines;
    bool ecc;
};

// Selects the device at the first call of the process. cudaErrorNoDevice if SIMULATOR_DEVICE is unknown.
cudaError_t device_initialise(void);

// The properties of the devices, which are all alike; valid once device_initialise has succeeded.
const struct device *device_current(void);

// The number of devices, SIM_DEVICES= of the environment, 1 by default; and the calling thread's one (cudaSetDevice).
int device_count(void);
int device_ordinal(void);

// cudaErrorInvalidDevice if there is no such device.
cudaError_t device_check_ordinal(int ordinal);

#endif
