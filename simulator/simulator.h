// The simulator's API beyond CUDA's. The simulator's libcudart exports these symbols; look them up with
// dlsym(RTLD_DEFAULT, ...), which returns NULL with NVIDIA's library.
//
// How a program receives the simulator's errors. A launch returns its error itself, as with CUDA_LAUNCH_BLOCKING=1 on a
// GPU; because <<< >>> discards that value, cudaGetLastError and the next call that synchronizes return it as well.
//   - Errors that a GPU reports as well (out-of-bounds or misaligned access, assert, trap, timeout) are sticky: every
//   later call
//     returns the same error. cudaDeviceReset clears it and frees all device memory; kernels stay registered and device
//     variables get their initial values again, so that a program can go on with its next case.
//   - Errors that only the simulator detects (races, uninitialized reads, divergent barriers, ...) are
//   cudaErrorLaunchFailure,
//     once and not sticky: the next launch runs.
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

// The number of distinct findings (races, out-of-bounds accesses, uninitialized reads, ...) since the process began.
// The simulator prints each one on stderr when its launch ends.
unsigned simulator_findings(void);

// The kind of the first finding (findings.h); -1: no finding.
int simulator_first_finding(void);

// The number of launches that ran, and of launches that failed before they could run (grid too large, too much shared
// memory).
unsigned long simulator_launches(void);
unsigned long simulator_failed_launches(void);

// After the first lock, the functions below that control the simulator have no effect, except between an unlock with
// the lock's secret, which is not 0, and the next lock.
void simulator_lock(uint64_t secret);
void simulator_unlock(uint64_t secret);

// Declares that the inputs of kernels are written in stream: from now on they are available only to work ordered after
// it: in stream itself, in a stream that waits for an event recorded in such a stream, or after the host has
// synchronized. simulator_unordered_launches: how many launches since then were not ordered after the inputs. A GPU
// might have run those too early; the simulator completes all work in the order of the calls.
struct CUstream_st;
void simulator_set_input_stream(struct CUstream_st *stream);
unsigned long simulator_unordered_launches(void);

// Declares work in different, unordered streams: SIMULATOR_CONCURRENT while the first work is launched,
// SIMULATOR_CONCURRENT_PEER while the work concurrent with it is, and SIMULATOR_EXCLUSIVE after both. Memory
// that both access, and one of them writes, is a finding.
enum simulator_concurrency { SIMULATOR_EXCLUSIVE, SIMULATOR_CONCURRENT, SIMULATOR_CONCURRENT_PEER };
void simulator_set_concurrency(uint64_t state);

// Messages between devices, for a library that stands in for a communication library (nccl/). All messages of one call
// are under way at the same time: each is read from the sender's memory after the earlier work of the sender's stream,
// and written to the receiver's after that and after the earlier work of the receiver's stream. What follows in either
// stream follows its own side of the message. The names of the two sides appear in findings, also later ones.
struct simulator_message {
    const void *from;
    void *to;
    size_t bytes;
    struct CUstream_st *sender, *receiver; // streams
    int from_device, to_device;
    const char *sent, *received;
};
bool simulator_exchange(const struct simulator_message *message, size_t count);

// A finding of such a library: a line that ends with a code in brackets.
void simulator_report_communication(const char *line);

// Sets the seed of the order in which blocks, and the warps of a block, start and continue, and in which bulk copies
// complete; 0: blocks and warps in their natural order, copies as late as possible.
void simulator_set_order(uint64_t seed);

// Limits each later launch to that many warp instructions, and all of them together to eight times as many. A launch
// that exceeds the limit succeeds, but the rest of its blocks do not run; blocks that read the results of such blocks
// are abandoned. 0: no limit. simulator_truncated_launches: how many launches since the process began did not run
// completely.
void simulator_set_budget(uint64_t warp_instructions);
unsigned long simulator_truncated_launches(void);

// The coverage of the launches since the budget was set: all ran completely; some ran partially; some ran partially and
// part of their output may depend on blocks that did not run; there were more launches than the budget allows.
enum simulator_coverage { SIMULATOR_COMPLETE, SIMULATOR_PARTIAL, SIMULATOR_DEPENDENT, SIMULATOR_SKIPPED };
enum simulator_coverage simulator_coverage(void);

// An estimate of the warp instructions of the complete launches; 0: unknown.
uint64_t simulator_total_instructions(void);

// Sets to value all bytes that no complete block has written, if some launches ran partially.
void simulator_overwrite_unwritten(void *device, size_t bytes, int value);

// If two blocks whose indices differ by a power of two from 256 on have written the same element: that difference. 0:
// no such blocks are known.
uint64_t simulator_overlap_distance(const void *device, size_t bytes);

// Writes the memory traffic of all launches since the process began. Environment: SIMULATOR_TRACE=1 enables counting.
// Returns 0, or -1 with errno set.
int simulator_write_trace(const char *csv_path, const char *json_path);

// Describes the memory at device for messages and recordings (recording/README.md): a tensor with its dimensions,
// slowest first, sizes and strides in elements, and a name per axis. Environment: SIMULATOR_RECORDING=path enables
// recording.
void simulator_describe_memory(const void *device, size_t bytes, const char *name, const char *dtype,
                               unsigned element_bytes, int dimensions, const int64_t *size, const int64_t *stride,
                               const char *const *axis);

// Sets a function that names elements of shared memory in messages. Its arguments: the mangled name of a kernel, a
// variable of that many bytes, which may be dynamic shared memory, and the element's offset in it. False: messages give
// the byte offset.
typedef bool simulator_shared_namer(const char *kernel, const char *variable, bool dynamic, size_t bytes, size_t offset,
                                    char *text, size_t size);
void simulator_set_shared_namer(simulator_shared_namer *namer);

// From now on, counts a finding that was already printed, but does not print it again.
void simulator_print_findings_once(void);

// Writes the recording to the path of SIMULATOR_RECORDING and stops recording. Returns 0, or -1 with errno set. No
// effect if recording is off.
int simulator_write_recording(void);

// Whether the last write to an element of this memory was a copy from the host since simulator_set_input_stream().
bool simulator_copied_from_host(const void *device, size_t bytes);

// Whether an element of this memory was copied to the host since then.
bool simulator_copied_to_host(const void *device, size_t bytes);

// Called after each call of a user's function: if the calls so far have changed memory that outlives them in turn, one
// element after the other, the number of calls after which the first element is used again; once for each memory. 0:
// no such memory is known.
unsigned long simulator_calls_until_reuse(void);

#pragma GCC visibility pop

#endif
