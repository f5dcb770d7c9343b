// Accesses by the host to pinned and managed memory that work of the device may still access. The simulator completes
// all work within the call, so it sees what each launch and copy accesses; then it protects these pages until the host
// has waited. An access by the host to a protected page raises SIGSEGV, whose handler looks up the bytes, and lets the
// host go on; if the access is a race, the host sees what was there before the work (host_before.h).
#ifndef SIMULATOR_ANALYSES_HOST_ACCESS_H
#define SIMULATOR_ANALYSES_HOST_ACCESS_H

#include "../machine/allocation.h"
#include "../machine/timeline.h"

// Work of the device accesses bytes of an allocation of kind HOST. Any host thread.
void host_access_note(struct sim_allocation *allocation, size_t offset, size_t bytes, bool writes);

// The work that was noted since the last call is the latest one of the timeline.
void host_access_end_work(unsigned timeline);

// The runtime is entered, so that it can access all memory; or left.
void host_access_enter(void);
void host_access_leave(void);

// Reports what the handler has found. Called by host_access_enter(), and at the end of the process.
void host_access_report(void);

// The allocation is freed.
void host_access_forget(struct sim_allocation *allocation);

#endif
