// What a program that runs on the simulator may ask it beyond CUDA's own API. These symbols are exported by the
// simulator's libcudart; look them up with dlsym(RTLD_DEFAULT, ...), which finds nothing under NVIDIA's.
//
// How the simulator's errors reach a program. A launch returns its error itself, as with CUDA_LAUNCH_BLOCKING=1 on a
// GPU; because <<< >>> drops that value, cudaGetLastError and the next call that waits for work give it too.
//   - What faults on a GPU as well (stray or misaligned access, assert, trap, no end) is sticky: every later call
//     returns the same error. cudaDeviceReset clears it and frees all device memory; kernels stay registered and
//     device variables have their initial values again, so that a program can go on to its next case.
//   - What only the simulator sees (races, uninitialised reads, divergent barriers, ...) is cudaErrorLaunchFailure
//   once,
//     not sticky: the next launch runs.
#ifndef SIMULATOR_H
#define SIMULATOR_H

#pragma GCC visibility push(default)

// How many distinct findings (races, stray accesses, uninitialised reads, ...) there were since the process began. Each
// was printed on stderr when its launch ended.
unsigned simulator_findings(void);

// The kind of the first of them (findings.h); -1 where there was none.
int simulator_first_finding(void);

// Writes the memory traffic of all launches since the process began. Environment: SIMULATOR_TRACE=1 turns counting on.
// Returns 0, or -1 with errno set.
int simulator_write_trace(const char *csv_path, const char *json_path);

#pragma GCC visibility pop

#endif
