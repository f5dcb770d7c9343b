// The order of the device's work. Work in one stream is ordered; work in different streams is ordered by events, by the
// default stream and by the host, which waits for work before it requests more. The simulator completes all work in the
// order of the calls, and keeps what a GPU guarantees of that order as vector clocks: for each timeline, a stream or
// the host, the latest work of each stream that happens before whatever comes next in it. The race analyses treat work
// that nothing orders as they treat blocks of one launch. Callers hold the runtime's lock.
#ifndef SIMULATOR_MACHINE_TIMELINE_H
#define SIMULATOR_MACHINE_TIMELINE_H

#include "allocation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Each device has two default streams: device d's are TIMELINE_LEGACY and TIMELINE_PER_THREAD + d * TIMELINE_DEFAULTS.
enum {
    TIMELINE_LEGACY,
    TIMELINE_PER_THREAD,
    TIMELINE_DEFAULTS,
    TIMELINE_FIRST = TIMELINE_DEFAULTS * SIM_DEVICES,
    TIMELINES = 96
};

// A point in the order, such as a recorded event: the serial number of the latest work of each timeline before it.
struct timeline_clock {
    uint32_t latest[TIMELINES];
};

// The timeline of a new stream. If there are too many, streams share one, which can only hide a race. blocking: it
// waits for the legacy default stream of its device, and that stream for it.
unsigned timeline_open(bool blocking, int device);
unsigned timeline_open_branch(int device); // of a graph
void timeline_close(unsigned timeline);

// The point at which all earlier work of the timeline is complete; all later work of the timeline waits for the point.
void timeline_record(unsigned timeline, struct timeline_clock *point);
void timeline_wait(unsigned timeline, const struct timeline_clock *point);

// The host has waited for the point, for a timeline, or for a device.
void timeline_host_wait(const struct timeline_clock *point);
void timeline_host_wait_for(unsigned timeline);
void timeline_host_wait_for_device(int device);

// Rows of bytes that a copy or a memset accesses.
struct work_rows {
    uint64_t address;
    size_t pitch, width, height;
    bool written;
};

struct sim_kernel;

// A launch, a copy or a memset.
struct work {
    const char *what; // of a copy or memset: "a copy"
    uint32_t serial;  // 1, 2, ... in the order of the calls
    unsigned timeline;
    const struct sim_kernel *kernel; // NULL: a copy or memset,
    struct work_rows rows[2];        // which accesses these; height 0: none
    uint32_t low, high;              // a launch: the keys of its blocks are low .. high - 1, see analyses/race_global.c
};

// Adds the work to its timeline and sets its serial number. programmatic: a launch that may start before the launch
// preceding it in its stream has ended.
void timeline_add(struct work *work, bool programmatic);

// Earlier work that is not ordered before the work that was added last.
struct concurrent_work {
    struct work work;
    bool until_wait; // ordered before a thread that has executed griddepcontrol.wait
    bool skipped;    // precedes it in its stream, but a launch between them has not executed griddepcontrol.wait
    bool in_graph;   // one of the two belongs to a branch of a graph
    bool declared;   // by simulator_set_concurrency()
};

// Returns a new array of *count elements, NULL if there are none.
struct concurrent_work *timeline_concurrent(size_t *count);

// The launch that was added last to the timeline has executed griddepcontrol.wait.
void timeline_note_dependency_wait(unsigned timeline);

// The work that the host has not waited for: of a launch, by a key of its blocks; of copies, those that access the
// byte. NULL: there is none.
const struct work *timeline_pending_launch(uint32_t key);
const struct work *timeline_pending_copy(uint64_t address, bool written);
bool timeline_host_knows(const struct timeline_clock *work);

bool work_rows_overlap(const struct work_rows *rows, uint64_t begin, uint64_t end);

// What work that was added now would be ordered after.
void timeline_latest(unsigned timeline, struct timeline_clock *latest);

// The host knows of this work because it has read a signal. Callable in a signal handler: only raises the host's clock.
void timeline_host_observe(const struct timeline_clock *work);

// Forgets all work, for example because the keys start again.
void timeline_forget(void);

#endif
