#include "runner/kernel.h"

#include "message.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct kernel kernel_load(const struct kernel_argument *argument) {
    struct kernel kernel = {.argument = argument};
    char path[PATH_MAX];
    const char *file = argument->library;
    // Without a slash dlopen() would search the system's folders.
    snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        message_exit(EXIT_BAD_INPUT, "%s cannot be loaded: %s", file, dlerror());
    kernel.lesson = dlsym(library, "attention_lesson");
    *(void **)&kernel.attention_forward = dlsym(library, "attention_forward");
    *(void **)&kernel.softmax_forward = dlsym(library, "softmax_forward");
    *(void **)&kernel.softmax_workspace_bytes = dlsym(library, "softmax_workspace_bytes");
    if (!kernel.attention_forward && !kernel.softmax_forward)
        message_exit(EXIT_BAD_INPUT,
                     "%s defines neither attention_forward() nor softmax_forward(): see common/attention.h",
                     argument->source ? argument->source : file);
    if (kernel.attention_forward && !kernel.lesson)
        message_exit(EXIT_BAD_INPUT, "%s defines attention_forward() but no attention_lesson: see common/attention.h",
                     argument->source ? argument->source : file);
    if (kernel.softmax_forward && !kernel.softmax_workspace_bytes)
        message_exit(EXIT_BAD_INPUT,
                     "%s defines softmax_forward() but no softmax_workspace_bytes(): see common/softmax.h",
                     argument->source ? argument->source : file);
    return kernel;
}
