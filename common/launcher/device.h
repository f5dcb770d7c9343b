// Whether a GPU is usable, determined without linking a CUDA library.
#ifndef LAUNCHER_DEVICE_H
#define LAUNCHER_DEVICE_H

#include <stdbool.h>

// Queries the driver in a child process, so that a driver that crashes or hangs does no harm.
bool device_gpu_answers(void);

#endif
