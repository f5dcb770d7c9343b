// The error state. CUDA has two kinds of errors. An ordinary one belongs to the call that made it: the call returns it
// and cudaGetLastError gives it once more, then it is forgotten. A sticky one means that the device itself is in an
// unknown state (a kernel touched memory that is not there): every call that needs the device returns it from then on,
// and on a GPU only the end of the process clears it; here cudaDeviceReset does too. cudaGetLastError does not need the
// device: it gives what a call of this thread returned, and that once, sticky or not (measured with CUDA 13.0).
//
// A GPU runs kernels after the launch call has returned, so errors of a kernel arrive at a later call. The simulator
// runs the kernel inside the launch call and returns its error at once, as a GPU does with CUDA_LAUNCH_BLOCKING=1. But
// <<< >>> drops what the launch returns, so such an error is also kept for the next call that waits for work.
#include "api.h"
#include "device.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_MESSAGES 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaError_t sticky_error;
static cudaError_t unreported_error;
static bool unasked, lacked;

static _Thread_local cudaError_t last_error;
static _Thread_local cudaError_t entry_error;
static _Thread_local const char *current_call = "";

void api_lock(void) {
    pthread_mutex_lock(&lock);
}

void api_unlock(void) {
    pthread_mutex_unlock(&lock);
}

cudaError_t api_enter(const char *call) {
    api_lock();
    current_call = call;
    entry_error = device_initialise();
    if (entry_error == cudaSuccess)
        entry_error = sticky_error;
    return entry_error;
}

cudaError_t api_entry_error(void) {
    return entry_error;
}

cudaError_t api_wait(cudaError_t error) {
    if (unreported_error != cudaSuccess && error == cudaSuccess) {
        error = unreported_error;
        unreported_error = cudaSuccess;
    }
    return error;
}

cudaError_t api_leave(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    api_unlock();
    return error;
}

void api_launch_failed(cudaError_t error, bool sticky) {
    if (sticky)
        sticky_error = error;
    else
        unreported_error = error;
}

void api_note_failed(void) {
    unasked = true;
}

void api_note_lacked(void) {
    lacked = true;
}

bool api_unasked(void) {
    return unasked;
}

bool api_lacked(void) {
    return lacked;
}

void api_forget_errors(void) {
    sticky_error = unreported_error = last_error = cudaSuccess;
}

static bool is_new_message(const char *text) {
    static uint64_t seen[MAX_MESSAGES];
    static int count;
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (int i = 0; i < count; i++)
        if (seen[i] == hash)
            return false;
    if (count == MAX_MESSAGES)
        return false;
    seen[count++] = hash;
    return true;
}

cudaError_t api_error(cudaError_t error, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(text, sizeof text, "simulator: %s: ", current_call);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    if (is_new_message(text))
        fprintf(stderr, "%s\n", text);
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    api_lock();
    cudaError_t error = last_error;
    unasked = false;
    api_unlock();
    return error;
}

cudaError_t cudaGetLastError(void) {
    api_lock();
    cudaError_t error = last_error;
    if (error == unreported_error)
        unreported_error = cudaSuccess;
    last_error = cudaSuccess;
    unasked = false;
    api_unlock();
    return error;
}
