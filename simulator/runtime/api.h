// The common parts of all runtime calls: the lock, the error state, and the line that explains an error.
//
// The files of the runtime, in the order in which a program uses them:
//
//   registration.c  before main(): registers the fat binary, its kernels and its device variables
//   module.c        at the first use of one of them: parses the PTX, allocates the variables in device memory
//   device_memory.c, pool.c, host_memory.c  cudaMalloc and related calls
//   copy.c          cudaMemcpy, cudaMemset; symbol.c: the same by device symbol
//   launch.c        <<< >>>: checks, parameter block, execution; launch_deferred.c: launches by graphs and kernels
//   stream.c, event.c  order and time; all work is complete when a call returns
//   device.c        the simulated GPU; properties.c: its properties
//   peer.c, transfer.c  several devices: peer access, copies; messages of a communication library
//   function.c, occupancy.c  kernel attributes; resident blocks per SM
//   graph.c, graph_node.c, graph_memory.c, graph_exec.c, graph_run.c, capture.c  CUDA graphs and stream capture
//   array.c, texture.c  CUDA arrays, texture and surface objects
//   status.c        the exit status after a finding
//   error.c         the last error and the sticky error; error_names.c: error names
//
// scripts/cudart-stubs generates a stub for each call that none of these files defines; the stub fails with
// cudaErrorNotSupported and prints the name of the call.
#ifndef SIMULATOR_RUNTIME_API_H
#define SIMULATOR_RUNTIME_API_H

// The declarations of NVIDIA's header stay visible with -fvisibility=hidden.
#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop
#define EXPORTED __attribute__((visibility("default"))) // for functions that nvcc's code calls but no C header declares

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A call to the device. Takes the lock and returns the sticky error if there is one, else the result of body, which it
// also records as the thread's last error.
#define DEVICE_CALL(body) api_leave(api_enter(__func__) == cudaSuccess ? (body) : api_entry_error())

// The same for a call that synchronizes: it also returns the pending error of earlier work.
#define SYNCHRONIZING_CALL(body)                                                                                       \
    api_leave(api_enter(__func__) == cudaSuccess ? api_synchronize(body) : api_entry_error())

// A query that does not need the device and works even after a sticky error.
#define HOST_CALL(body) api_leave((api_enter(__func__), (body)))

void api_lock(void);
void api_unlock(void);
cudaError_t api_enter(const char *call);
cudaError_t api_entry_error(void); // the result of this thread's last api_enter
cudaError_t api_synchronize(cudaError_t error);
cudaError_t api_leave(cudaError_t error);

// Prints "simulator: <call>: <text> [<name of error>]" on stderr, once per distinct text, and returns error.
cudaError_t api_error(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Records the error of a launch. sticky: the device is unusable until cudaDeviceReset, as after a fault on a GPU;
// otherwise the error is returned once, by cudaGetLastError or by the next call that synchronizes.
void api_set_launch_error(cudaError_t error, bool sticky);

// Record, for the exit status, that a launch failed (until the program checks the last error), and that the program
// made an unsupported call (until the process ends).
void api_record_failed_launch(void);
void api_record_unsupported_call(void);
bool api_has_unchecked_launch_error(void);
bool api_has_unsupported_call(void);

// cudaDeviceReset: clears all errors.
void api_clear_errors(void);

#endif
