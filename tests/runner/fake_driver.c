// libcuda and libnvidia-ml of a machine with one GPU. Its SM clock is 1980 MHz; DROP=n: 1500 MHz each n-th time.
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned flags);
int cuInit(unsigned flags) {
    return flags ? 1 : 0;
}

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count) {
    *count = 1;
    return 0;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void) {
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **gpu);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **gpu) {
    *gpu = (void *)id;
    return 0;
}

int nvmlDeviceGetClockInfo(void *gpu, int clock, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *gpu, int clock, unsigned *mhz) {
    static int asked;
    const char *drop = getenv("DROP");
    (void)gpu, (void)clock;
    *mhz = drop && ++asked % atoi(drop) == 0 ? 1500 : 1980;
    return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size);
int nvmlSystemGetDriverVersion(char *version, unsigned size) {
    snprintf(version, size, "%s", getenv("DRIVER") ? getenv("DRIVER") : "500.1");
    return 0;
}
