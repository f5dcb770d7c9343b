// The error state. CUDA has two kinds of errors. An ordinary error belongs to one call: the call returns it,
// cudaGetLastError returns it once more and clears it. A sticky error means that the device is in an undefined state
// (after an illegal memory access): every later call that needs the device returns it. On a GPU only the end of the
// process clears it; in the simulator cudaDeviceReset does, too. cudaGetLastError does not need the device: it returns
// the last error of this thread's calls once, sticky or not (measured with CUDA 13.0).
//
// A GPU runs a kernel after the launch call has returned, so a later call returns the kernel's error. The simulator
// runs the kernel inside the launch call and returns its error at once, as a GPU does with CUDA_LAUNCH_BLOCKING=1.
// Because <<< >>> discards the result of the launch, the error also stays pending for the next call that synchronizes.
#include "api.h"
#include "device.h"

#include "../analyses/host_access.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_MESSAGES 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaError_t sticky_error;
static cudaError_t pending_launch_error;
static bool launch_error_unchecked, unsupported_call_made;

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
    host_access_enter();
    current_call = call;
    entry_error = device_initialise();
    if (entry_error == cudaSuccess)
        entry_error = sticky_error;
    return entry_error;
}

cudaError_t api_entry_error(void) {
    return entry_error;
}

cudaError_t api_synchronize(cudaError_t error) {
    if (pending_launch_error != cudaSuccess && error == cudaSuccess) {
        error = pending_launch_error;
        pending_launch_error = cudaSuccess;
    }
    return error;
}

cudaError_t api_leave(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    host_access_leave();
    api_unlock();
    return error;
}

void api_set_launch_error(cudaError_t error, bool sticky) {
    if (sticky)
        sticky_error = error;
    else
        pending_launch_error = error;
}

void api_record_failed_launch(void) {
    launch_error_unchecked = true;
}

void api_record_unsupported_call(void) {
    unsupported_call_made = true;
}

bool api_has_unchecked_launch_error(void) {
    return launch_error_unchecked;
}

bool api_has_unsupported_call(void) {
    return unsupported_call_made;
}

void api_clear_errors(void) {
    sticky_error = pending_launch_error = last_error = cudaSuccess;
}

static bool is_new_message(const char *text) {
    static uint64_t printed[MAX_MESSAGES];
    static int count;
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (int i = 0; i < count; i++)
        if (printed[i] == hash)
            return false;
    if (count == MAX_MESSAGES)
        return false;
    printed[count++] = hash;
    return true;
}

cudaError_t api_error(cudaError_t error, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(text, sizeof text, "simulator: %s: ", current_call);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    bool has_code = text[strlen(text) - 1] == ']'; // the PTX front end's own, which is more precise
    if (is_new_message(text))
        fprintf(stderr, has_code ? "%s\n" : "%s [%s]\n", text, cudaGetErrorName(error));
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    api_lock();
    cudaError_t error = last_error;
    launch_error_unchecked = false;
    api_unlock();
    return error;
}

cudaError_t cudaGetLastError(void) {
    api_lock();
    cudaError_t error = last_error;
    if (error == pending_launch_error)
        pending_launch_error = cudaSuccess;
    last_error = cudaSuccess;
    launch_error_unchecked = false;
    api_unlock();
    return error;
}
