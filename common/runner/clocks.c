#include "runner/clocks.h"

#include "runner/cuda.h"

#include <dlfcn.h>
#include <string.h>

// From nvml.h, which not every toolkit installs.
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1 };

static void *nvml, *gpu;

void clocks_open(void) {
    char bus_id[32];
    nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!nvml)
        return;
    int (*init)(void) = (int (*)(void))dlsym(nvml, "nvmlInit_v2");
    int (*find)(const char *, void **) =
        (int (*)(const char *, void **))dlsym(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
    CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0));
    if (!init || !find || init() != NVML_SUCCESS || find(bus_id, &gpu) != NVML_SUCCESS)
        gpu = NULL;
}

unsigned clocks_sm_mhz(void) {
    unsigned mhz = 0;
    if (!gpu)
        return 0;
    int (*clock)(void *, int, unsigned *) = (int (*)(void *, int, unsigned *))dlsym(nvml, "nvmlDeviceGetClockInfo");
    return clock && clock(gpu, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS ? mhz : 0;
}

void clocks_driver(char *version, size_t size) {
    *version = 0;
    if (!gpu)
        return;
    int (*driver)(char *, unsigned) = (int (*)(char *, unsigned))dlsym(nvml, "nvmlSystemGetDriverVersion");
    if (!driver || driver(version, (unsigned)size) != NVML_SUCCESS)
        *version = 0;
}
