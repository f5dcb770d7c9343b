// The error of a call that the simulator does not have; scripts/cudart-stubs makes a stub that calls this for each.
#ifndef SIMULATOR_RUNTIME_UNSUPPORTED_H
#define SIMULATOR_RUNTIME_UNSUPPORTED_H

#include <driver_types.h>

cudaError_t runtime_unsupported(const char *call);

#endif
