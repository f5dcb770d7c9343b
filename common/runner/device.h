// The device that runs the kernels, a GPU or the simulator, and its peak rates.
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include "arguments.h"
#include "operation.h"

#include <stdbool.h>
#include <stddef.h>

struct device {
    char name[128]; // "NVIDIA H200"
    char uuid[33];  // 32 hexadecimal digits, unique to the GPU
    struct device_limits limits;
    int sm_count;
    size_t l2_bytes;
    double
        peak_tflops[ATTENTION_DTYPES]; // SMs x operations a clock x highest clock; of 16 bits on tensor cores, 0: none
    double peak_gb_per_s;              // memory: bus width x data rate
};

// Ends the process with one line if there is no device, or another kind of device than choice.
struct device device_open(enum device_choice choice);

// False and one line, "needs ...", if that much memory of the device or the host is not free.
bool device_holds(const struct device *device, double device_bytes, double host_bytes, struct message *reason);

// Counters of the simulator since the process started: distinct findings, launches that ran, launches that failed
// before running, and launches not ordered after the inputs (simulator/simulator.h). All 0 on a GPU.
struct device_counts {
    bool known;
    unsigned findings;
    unsigned long launches, failed, early;
};
struct device_counts device_counts(void);

// A control function of the simulator, NULL on a GPU; call it at once, then device_control_end(). device_lock(), called
// before the kernel's file is loaded, prevents the file from calling such functions.
void *device_control_function(const char *name);
void device_control_end(void);
void device_lock(void);

// Tells the simulator that later work in the stream may read the inputs. No effect on a GPU.
void device_inputs_on(cudaStream_t stream);

// How the simulator runs the next launches: see simulator_set_order(), simulator_set_budget() and
// simulator_set_concurrency() there. No effect on a GPU.
enum device_concurrency { DEVICE_ALONE, DEVICE_CONCURRENT, DEVICE_CONCURRENT_ENDED };
void device_order(uint64_t seed);
void device_budget(uint64_t warp_instructions);
void device_concurrent(enum device_concurrency state);

// The state of the launches since device_budget(): simulator_coverage(), simulator_total_instructions(),
// simulator_overwrite_unwritten() and simulator_overlap_distance() there. On a GPU all of them ran.
enum device_part { PART_WHOLE, PART_SOME, PART_ENTANGLED, PART_SKIPPED };
enum device_part device_part(void);
uint64_t device_whole(void);
void device_withdraw(void *device, size_t bytes, int value);
uint64_t device_overlaps(const void *device, size_t bytes);

// Whether an element there was last written by a copy from the host, since device_inputs_on(). Always false on a GPU.
bool device_from_host(const void *device, size_t bytes);

// Whether an element there was copied to the host since then. Always false on a GPU.
bool device_to_host(const void *device, size_t bytes);

// simulator_calls_until_reuse(); 0 on a GPU.
unsigned long device_calls_until_reuse(void);

// The kind of the first finding (simulator/findings.h); -1: none, or on a GPU.
int device_first_finding(void);

#endif
