// What a program that runs on the simulator may ask it beyond CUDA's own API. These symbols are exported by the
// simulator's libcudart; look them up with dlsym(RTLD_DEFAULT, ...), which finds nothing under NVIDIA's.
//
// How the simulator's errors reach a program. A launch returns its error itself, as with CUDA_LAUNCH_BLOCKING=1 on a
// GPU; because <<< >>> drops that value, cudaGetLastError and the next call that waits for work give it too.
//   - What faults on a GPU as well (stray or misaligned access, assert, trap, no end) is sticky: every later call
//     returns the same error. cudaDeviceReset clears it and frees all device memory; kernels stay registered and
//     device variables have their initial values again, so that a program can go on to its next case.
//   - What only the simulator sees (races, uninitialised reads, divergent barriers, ...) is cudaErrorLaunchFailure,
//     once and not sticky: the next launch runs.
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

// How many distinct findings (races, stray accesses, uninitialised reads, ...) there were since the process began. Each
// was printed on stderr when its launch ended.
unsigned simulator_findings(void);

// The kind of the first of them (findings.h); -1 where there was none.
int simulator_first_finding(void);

// How many launches there were: that ran, and that failed before they could (a grid too large, too much shared memory).
unsigned long simulator_launches(void);
unsigned long simulator_failed_launches(void);

// From the first lock on what steers the simulator (all below that is told something) does nothing but between an
// unlock with the secret of that lock, which is not 0, and the next lock.
void simulator_lock(uint64_t secret);
void simulator_unlock(uint64_t secret);

// From now on what kernels read is there only for work that comes after stream: in stream itself, in a stream that
// waits for an event which was recorded in such a one, or after the host has waited. How many launches since then did
// not come after it. A GPU might have run those too early; here all work is done in the order of the calls.
struct CUstream_st;
void simulator_inputs_on(struct CUstream_st *stream);
unsigned long simulator_early_launches(void);

// Work that is concurrent with what comes later, in another stream that nothing orders: SIMULATOR_BESIDE (1) while it
// is launched, SIMULATOR_BESIDE_OVER while that which it must not disturb is, and SIMULATOR_ALONE after both. Memory
// that both touch, and one writes, is a finding.
enum simulator_beside { SIMULATOR_ALONE, SIMULATOR_BESIDE, SIMULATOR_BESIDE_OVER };
void simulator_concurrent(uint64_t state);

// From now on the order in which blocks, and the warps of a block, begin and go on follows from the seed, and so does
// when bulk copies land; 0: blocks and warps in their own order, copies as late as they may.
void simulator_order(uint64_t seed);

// From now on each launch executes so many warp instructions, and all of them together eight times as many. One that
// has more to do ends well all the same, with the rest of its blocks not run; where blocks read what those would have
// written, they are given up. 0: all is executed. How many launches were not run whole since the process began.
void simulator_budget(uint64_t warp_instructions);
unsigned long simulator_cut_launches(void);

// What is known of the launches since the budget was set: all were run whole; a part was; a part was, and some of what
// it has written may hang on what was not run; there were more launches than the budget has room for.
enum simulator_part { SIMULATOR_WHOLE, SIMULATOR_PART, SIMULATOR_ENTANGLED, SIMULATOR_SKIPPED };
enum simulator_part simulator_part(void);

// About how many warp instructions all of them would have taken, 0: that is not known.
uint64_t simulator_whole(void);

// Sets to value all bytes there that none of them has written for good, where not all were run whole.
void simulator_withdraw(void *device, size_t bytes, int value);

// Where two blocks as far apart as a power of two from 256 on have written the same element there: how far that is.
// 0: none are known.
uint64_t simulator_overlaps(const void *device, size_t bytes);

// Writes the memory traffic of all launches since the process began. Environment: SIMULATOR_TRACE=1 turns counting on.
// Returns 0, or -1 with errno set.
int simulator_write_trace(const char *csv_path, const char *json_path);

// What the memory at device is, for messages and recordings (recording/README.md): a tensor of so many dimensions, the
// slowest first, with sizes and strides in elements and a name for each axis. Environment: SIMULATOR_RECORDING=path
// turns recording on.
void simulator_describe_memory(const void *device, size_t bytes, const char *name, const char *dtype,
                               unsigned element_bytes, int dimensions, const int64_t *size, const int64_t *stride,
                               const char *const *axis);

// What messages call an element of shared memory: of the variable of that name in a kernel, by its mangled name, which
// has bytes and is dynamic shared memory or not, the one at offset. False: it is called by its byte.
typedef bool simulator_shared_namer(const char *kernel, const char *variable, bool dynamic, size_t bytes, size_t offset,
                                    char *text, size_t size);
void simulator_name_shared(simulator_shared_namer *namer);

// From now on a finding that has been printed is counted and not printed again.
void simulator_print_once(void);

// Writes what was recorded to the path of SIMULATOR_RECORDING, and records no further launch. Returns 0, or -1 with
// errno set. Nothing where recording is off.
int simulator_write_recording(void);

// Whether an element there was last written by a copy from the host, since simulator_inputs_on().
bool simulator_from_host(const void *device, size_t bytes);

// Whether an element there was copied to the host since then.
bool simulator_to_host(const void *device, size_t bytes);

#pragma GCC visibility pop

#endif
