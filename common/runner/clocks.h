// The GPU's clock and driver, from NVML where it is installed.
#ifndef RUNNER_CLOCKS_H
#define RUNNER_CLOCKS_H

#include <stddef.h>

// Opens NVML for CUDA's current device. Without NVML the functions below answer 0 and "".
void clocks_open(void);

unsigned clocks_sm_mhz(void);

// "580.159.03"
void clocks_driver(char *version, size_t size);

#endif
