// What every call of the runtime shares: the lock, the error state, and the line that explains an error.
//
// Between `kernel<<<grid, block>>>(a, b)` and the GPU lie these files, in the order in which a program meets them:
//
//   registration.c  before main(): the program hands over its fat binary, its kernels and its device variables
//   module.c        at the first use of one of them: PTX is read, variables are placed in device memory
//   device_memory.c, pool.c, host_memory.c  cudaMalloc and its relatives
//   copy.c          cudaMemcpy, cudaMemset; symbol.c: the same by the name of a device variable
//   launch.c        <<< >>> itself: the checks, the parameter block, the run
//   stream.c, event.c  order and time; here all work is done when the call returns
//   device.c        which GPU this is; properties.c: what the program may ask about it
//   function.c, occupancy.c  what a kernel needs, and how many of its blocks fit on one SM
//   graph.c, graph_node.c, graph_memory.c, graph_exec.c, capture.c  work that is described now and done later
//   array.c, texture.c  arrays, and the objects by which kernels read them
//   status.c        what a finding does to the exit status
//   error.c         the last error, and errors that stay; error_names.c: their names
//
// Calls that none of them defines are stubs made by scripts/cudart-stubs: each fails with cudaErrorNotSupported and
// says its name.
#ifndef SIMULATOR_RUNTIME_API_H
#define SIMULATOR_RUNTIME_API_H

// What NVIDIA's header declares is seen from outside, with -fvisibility=hidden too.
#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop
#define EXPORTED __attribute__((visibility("default"))) // what nvcc's code calls and no C header declares

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A call to the device. Takes the lock, returns the sticky error where there is one, else what body gives, which it
// also records as the thread's last error.
#define DEVICE_CALL(body) api_leave(api_enter(__func__) == cudaSuccess ? (body) : api_entry_error())

// The same for a call that waits for earlier work: it also returns what that work did wrong, if nobody asked yet.
#define WAITING_CALL(body) api_leave(api_enter(__func__) == cudaSuccess ? api_wait(body) : api_entry_error())

// A call that only asks something and works even after a sticky error.
#define HOST_CALL(body) api_leave((api_enter(__func__), (body)))

void api_lock(void);
void api_unlock(void);
cudaError_t api_enter(const char *call);
cudaError_t api_entry_error(void); // what the last api_enter of this thread returned
cudaError_t api_wait(cudaError_t error);
cudaError_t api_leave(cudaError_t error);

// Prints "simulator: <call>: <text>" on stderr, once a distinct text, and returns error.
cudaError_t api_error(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// What a launch did wrong. sticky: the device is unusable until cudaDeviceReset, as after a fault on a GPU; otherwise
// the error is given once, to cudaGetLastError or to the next call that waits.
void api_launch_failed(cudaError_t error, bool sticky);

// Notes that a launch failed, which counts until the program asks for the last error; or that it called what is not
// there, which counts for good.
void api_note_failed(void);
void api_note_lacked(void);
bool api_unasked(void);
bool api_lacked(void);

// cudaDeviceReset: forgets every error.
void api_forget_errors(void);

#endif
