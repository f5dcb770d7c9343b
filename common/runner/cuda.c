#include "runner/cuda.h"

#include "message.h"
#include "step.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void cuda_require(cudaError_t status, const char *call, const char *file, int line) {
    if (status != cudaSuccess)
        message_exit(EXIT_CHECK_FAILED, "%s:%d: %s: %s (%s)", file, line, call, cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

void step_begin(const char *format, ...) {
    const char *descriptor = getenv(STEP_VARIABLE);
    char text[160];
    va_list arguments;
    if (!descriptor)
        return;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof text - 2)
        length = (int)sizeof text - 2;
    text[length++] = '\n';
    // Without a launcher at the other end there is nobody to tell.
    if (write(atoi(descriptor), text, (size_t)length) < 0)
        return;
}
