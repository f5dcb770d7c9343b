#include "registers.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int ptxas_registers(const void *host_function, const char *kernel, int compute_capability) {
    char path[PATH_MAX], line[4096], any[2048], device[16];
    Dl_info info;
    int found = 0, used;
    bool exact = false, of_kernel = false, of_device = false;
    snprintf(device, sizeof device, "'sm_%d", compute_capability);
    if (!dladdr(host_function, &info) ||
        (size_t)snprintf(path, sizeof path, "%s.ptxas", info.dli_fname) >= sizeof path ||
        (size_t)snprintf(any, sizeof any, "entry function '%s' for ", kernel) >= sizeof any)
        return 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, any);
        if (strstr(line, "entry function ")) {
            of_kernel = at;
            of_device = at && !strncmp(at + strlen(any), device, strlen(device));
        }
        at = strstr(line, ": Used ");
        if (!at || !of_kernel || (exact && !of_device) || sscanf(at, ": Used %d registers", &used) != 1)
            continue;
        found = used;
        exact |= of_device;
    }
    if (file)
        fclose(file);
    return found;
}
