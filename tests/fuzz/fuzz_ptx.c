// Fuzz target: the PTX parser must return a module or an error for any bytes, and never crash. Each kernel of a parsed
// module is linked.
#include "ptx/program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[512] = "";
    // A copy of exactly this size, so that ASan detects an out-of-bounds read.
    char *text = malloc(size ? size : 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    struct ptx_module *module = ptx_parse(text, size, error, sizeof error);
    if (!module && !error[0])
        abort(); // a failure needs an error message
    const char *name;
    for (int i = 0; module && (name = ptx_entry_name(module, i)); i++) {
        error[0] = 0;
        struct ptx_kernel *kernel = ptx_link_kernel(module, name, error, sizeof error);
        if (!kernel && !error[0])
            abort();
        if (kernel)
            ptx_free_kernel(kernel);
    }
    if (module)
        ptx_free_module(module);
    free(text);
    return 0;
}
