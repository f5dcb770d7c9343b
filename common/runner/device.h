// The device that runs the kernels, a GPU or the simulator, and what it can reach at most.
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include "arguments.h"
#include "operation.h"

#include <stdbool.h>
#include <stddef.h>

struct device {
    char name[128]; // "NVIDIA H200"
    char uuid[33];  // 32 digits that no other GPU has
    struct device_limits limits;
    int sm_count;
    size_t l2_bytes;
    double
        peak_tflops[ATTENTION_DTYPES]; // SMs x operations a clock x highest clock; of 16 bits on tensor cores, 0: none
    double peak_gb_per_s;              // memory: bus width x data rate
};

// Ends the process with one line where no device answers, or another one than choice says.
struct device device_open(enum device_choice choice);

// False and one line, "needs ...", where so many bytes of the device's and of the host's memory are not free.
bool device_holds(const struct device *device, double device_bytes, double host_bytes, struct message *reason);

// What the simulator has counted since the process began: distinct findings, launches that ran, that failed before they
// could run, and that do not come after the inputs (simulator/simulator.h). All 0 on a GPU.
struct device_counts {
    bool known;
    unsigned findings;
    unsigned long launches, failed, early;
};
struct device_counts device_counts(void);

// A function of the simulator's by which it is steered, NULL on a GPU; to be called at once, and followed by
// device_steered(). Before the kernel's file is loaded device_lock() makes sure that nobody else steers it.
void *device_steer(const char *name);
void device_steered(void);
void device_lock(void);

// The inputs are there for what comes after them in the stream. On a GPU this says nothing.
void device_inputs_on(cudaStream_t stream);

// How the simulator runs what comes: see simulator_order(), simulator_budget() and simulator_concurrent() there.
// On a GPU this does nothing.
enum device_beside { DEVICE_ALONE, DEVICE_BESIDE, DEVICE_BESIDE_OVER };
void device_order(uint64_t seed);
void device_budget(uint64_t warp_instructions);
void device_concurrent(enum device_beside state);

// What is known of the launches since device_budget(): simulator_part(), simulator_whole(), simulator_withdraw() and
// simulator_overlaps() there. On a GPU all were run.
enum device_part { PART_WHOLE, PART_SOME, PART_ENTANGLED, PART_SKIPPED };
enum device_part device_part(void);
uint64_t device_whole(void);
void device_withdraw(void *device, size_t bytes, int value);
uint64_t device_overlaps(const void *device, size_t bytes);

// Whether an element there was last written by a copy from the host, since device_inputs_on(). On a GPU nobody knows.
bool device_from_host(const void *device, size_t bytes);

// Whether an element there was copied to the host since then. On a GPU nobody knows.
bool device_to_host(const void *device, size_t bytes);

// The kind of the first finding (simulator/findings.h); -1 where there was none, and on a GPU.
int device_first_finding(void);

#endif
