// Whether a GPU answers, found out without linking a CUDA library.
#ifndef LAUNCHER_DEVICE_H
#define LAUNCHER_DEVICE_H

#include <stdbool.h>

// Asks the driver in a child process, so that one which crashes or hangs does no harm.
bool device_gpu_answers(void);

#endif
