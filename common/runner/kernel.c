#include "runner/kernel.h"

#include "message.h"
#include "runner/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// None of the functions is there.
_Noreturn static void refuse(const char *source) {
    char names[200] = "";
    for (int i = 0; operations[i]; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s()",
                 i == 0              ? ""
                 : operations[i + 1] ? ", "
                                     : " nor ",
                 operations[i]->forward);
    message_exit(EXIT_BAD_INPUT, "%s defines neither %s: see %s", source, names, operations[0]->header);
}

// The simulator's, where that is first in the loader's path; else the system's, or the one of ./setup --nccl. Kernels
// are not linked with it, so that they can be compiled without it.
static bool open_nccl(void) {
    return dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL) ||
           dlopen("toolchain/nccl/libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
}

struct kernel kernel_load(const struct kernel_argument *argument) {
    struct kernel kernel = {.argument = argument};
    char path[PATH_MAX + 2];
    const char *file = argument->library;
    // Without a slash dlopen() would search the system's folders.
    snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror();
    if (!library && strstr(why, "undefined symbol: nccl")) {
        if (!open_nccl())
            message_exit(EXIT_BAD_INPUT,
                         "%s needs NCCL, and there is no libnccl.so.2: ./setup --nccl fetches it; "
                         "DEVICE=sim needs none [no-nccl]",
                         argument->name);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library)
        message_exit(EXIT_BAD_INPUT, "%s cannot be loaded: %s", file, dlerror());
    for (int i = 0; operations[i] && !kernel.forward; i++) {
        kernel.operation = operations[i];
        kernel.forward = dlsym(library, operations[i]->forward);
    }
    const char *source = *argument->source ? argument->source : file;
    if (!kernel.forward)
        refuse(source);
    kernel.contract = dlsym(library, kernel.operation->contract);
    if (!kernel.contract)
        message_exit(EXIT_BAD_INPUT, "%s defines %s() but no %s: see %s", source, kernel.operation->forward,
                     kernel.operation->contract, kernel.operation->header);
    kernel.lacking = kernel.operation->lacking ? kernel.operation->lacking(kernel.contract) : NULL;
    return kernel;
}

bool kernel_repeats(const struct kernel *kernel) {
    return kernel->operation->repeats && kernel->operation->repeats(kernel->contract);
}

bool kernel_writes_optional(const struct kernel *kernel) {
    return kernel->operation->writes_optional && kernel->operation->writes_optional(kernel->contract);
}

size_t kernel_workspace_bytes(const struct kernel *kernel, const struct problem_case *which) {
    return kernel->operation->workspace_bytes ? kernel->operation->workspace_bytes(kernel->contract, which) : 0;
}

bool kernel_covers(const struct kernel *kernel, const struct problem_case *which, const struct device *device,
                   struct obstacle *obstacle) {
    if (!kernel->lacking)
        return kernel->operation->covers(kernel->contract, kernel->argument->name, which, &device->limits, obstacle);
    *obstacle->part = 0;
    return message_set(&obstacle->reason, "%s cannot run here: %s", kernel->argument->name, kernel->lacking);
}
