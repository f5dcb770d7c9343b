// One execution of a memory instruction by a warp: its addresses, their space, and the kind of access.
#ifndef SIMULATOR_MACHINE_ACCESS_H
#define SIMULATOR_MACHINE_ACCESS_H

#include "../lanes/lanes.h"
#include "../ptx/program.h"

#define PARAM_WINDOW 0x0000030000000000ull // generic addresses of kernel parameters
#define WINDOW_MASK 0xffffff0000000000ull

enum access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,       // atom: returns the old value
    ACCESS_REDUCTION,    // red: returns nothing
    ACCESS_ASYNC_COPY,   // cp.async: recorded twice, once for the global and once for the shared side
    ACCESS_MATRIX_LOAD,  // ldmatrix
    ACCESS_MATRIX_STORE, // stmatrix
    ACCESS_BULK_LOAD,    // bulk copies from global memory, and reductions to it, as the traffic counts them
    ACCESS_BULK_REDUCTION,
    ACCESS_BULK_STORE, // a row that a bulk copy writes
};

// "load", "async copy" and so on, for reports.
const char *access_kind_name(enum access_kind kind);

struct access {
    enum ptx_space space; // never PTX_GENERIC: each lane's generic address has been resolved
    enum access_kind kind;
    uint32_t mask;
    uint32_t bytes; // of one lane, all elements of a vector
    struct lane_span span;
    // Offsets in the space; device addresses for PTX_GLOBAL and PTX_CONST. Valid if the pattern is scattered;
    // access_fill makes them valid for other patterns. Lanes outside mask repeat the address of an active lane.
    uint64_t address[LANES];
    const uint64_t *to; // the global side of an asynchronous copy: each lane's destination in shared memory; else NULL
    struct sim_allocation *allocation; // PTX_GLOBAL, PTX_CONST: the allocation that contains all bytes
};

// Fills in address[] from the span if the pattern is not scattered.
void access_fill(struct access *access);

// Copies each lane's access->bytes between origin + address and lanes + lane * stride, to the lanes or from them.
void access_copy(const struct access *access, uint8_t *origin, uint8_t *lanes, size_t stride, bool to_lanes);

static inline bool access_writes(const struct access *access) {
    return access->kind == ACCESS_STORE || access->kind == ACCESS_MATRIX_STORE || access->kind == ACCESS_BULK_STORE;
}

static inline bool access_is_atomic(const struct access *access) {
    return access->kind == ACCESS_ATOMIC || access->kind == ACCESS_REDUCTION;
}

static inline const char *access_verb(const struct access *access) {
    return access_is_atomic(access) ? "updates" : access_writes(access) ? "writes" : "reads";
}

#endif
