#include "launcher/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DRIVER_TIMEOUT_SECONDS = 20 };

static bool query_driver(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return false;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*count_devices)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
    int devices = 0;
    return init && count_devices && init(0) == 0 && count_devices(&devices) == 0 && devices > 0;
}

bool device_gpu_answers(void) {
    pid_t child = fork();
    if (child < 0)
        return false;
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        alarm(DRIVER_TIMEOUT_SECONDS);
        _exit(query_driver() ? 0 : 1);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
