// The error of an unsupported call; scripts/cudart-stubs generates a stub that calls this for each.
#ifndef SIMULATOR_RUNTIME_UNSUPPORTED_H
#define SIMULATOR_RUNTIME_UNSUPPORTED_H

#include <driver_types.h>

cudaError_t api_unsupported_call(const char *call);

#endif
