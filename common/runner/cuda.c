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

// Sends one line to the launcher, if there is one.
static void send_line(const char *start, const char *format, va_list arguments) {
    const char *descriptor = getenv(STEP_VARIABLE);
    char text[512];
    if (!descriptor)
        return;
    int length = snprintf(text, sizeof text, "%s", start);
    length += vsnprintf(text + length, sizeof text - 1 - (size_t)length, format, arguments);
    if (length > (int)sizeof text - 2)
        length = (int)sizeof text - 2;
    text[length++] = '\n';
    if (write(atoi(descriptor), text, (size_t)length) < 0)
        return;
}

static char last[200] = "start-up";

const char *step_last(void) {
    return last;
}

void step_detach(void) {
    const char *descriptor = getenv(STEP_VARIABLE);
    if (descriptor)
        close(atoi(descriptor));
    unsetenv(STEP_VARIABLE);
}

void step_begin(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last, sizeof last, format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    send_line("", format, arguments);
    va_end(arguments);
}

void step_kept(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send_line(STEP_KEPT, format, arguments);
    va_end(arguments);
}
