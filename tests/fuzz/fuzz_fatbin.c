// Fuzz target: the fat binary reader must return PTX or an error for any bytes, and never crash.
#include "fatbin/fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[512] = "";
    struct fatbin_ptx ptx = {0};
    // A copy of exactly this size, so that ASan detects an out-of-bounds read; aligned, as the linker aligns it.
    void *bytes = NULL;
    if (posix_memalign(&bytes, 16, size ? size : 1) != 0)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    if (fatbin_read(bytes, size, 90, &ptx, error, sizeof error)) {
        if (strlen(ptx.text) > ptx.length)
            abort();
        fatbin_free(&ptx);
    } else if (!error[0]) {
        abort(); // a failure needs an error message
    }
    free(bytes);
    return 0;
}
