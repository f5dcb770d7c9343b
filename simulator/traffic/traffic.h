// Memory traffic as a GPU's memory system sees it: for each memory instruction of a kernel how many requests a warp
// made, how many bytes the threads asked for, how many 32-byte sectors that touched, how many cycles (wavefronts)
// shared memory needed. Counting is on where the environment variable SIMULATOR_TRACE is set (see trace.h for what is
// written, and when).
//
//   traffic.c     who counts where: launches, tables of host threads, sums by kernel
//   sectors.c     the rule of global and local memory
//   wavefronts.c  the rule of shared memory, fitted to measurements
//   merge.c       which neighbouring PTX loads the assembler makes one machine instruction of
//   trace.c       the CSV and JSON files
#ifndef SIMULATOR_TRAFFIC_TRAFFIC_H
#define SIMULATOR_TRAFFIC_TRAFFIC_H

#include "../machine/access.h"
#include "../machine/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What one warp did with one memory instruction, once. Accesses to parameters and constants are not recorded.
struct traffic_access {
    int32_t instruction; // index in ptx_kernel.instruction
    enum ptx_space
        space; // PTX_GLOBAL, PTX_SHARED or PTX_LOCAL; a generic access is recorded once for each space it hit
    enum access_kind kind;
    uint32_t bytes; // a lane moves: ld.v4.f32 16, cp.async its copy size, ldmatrix the 16 bytes of a row
    uint32_t mask;  // lanes that access memory: active, guard true. ldmatrix, stmatrix: lanes whose address is used
    const uint64_t
        *address;       // [32] byte addresses; shared and local: window base or plain offset, only low 32 bits are read
    const uint64_t *to; // [32] the global side of cp.async: where in shared memory; NULL for all else
};

struct traffic_launch; // the counts of one launch
struct traffic_table;  // the part of it that one host thread fills, without locks

bool traffic_enabled(void);

// Call before the first block runs. NULL where counting is off or the host has no memory left: then record nothing.
struct traffic_launch *traffic_launch_begin(const struct ptx_kernel *kernel, struct sim_dim grid, struct sim_dim block,
                                            size_t dynamic_shared_bytes);

// Call once for each host thread that runs blocks of the launch. NULL as above. The launch owns the table.
struct traffic_table *traffic_table_begin(struct traffic_launch *launch);

// A launch runs so many of its blocks, and the device with so many SMs holds so many at a time: for the estimate of the
// time (work.h).
void traffic_launch_work(struct traffic_launch *launch, uint64_t blocks_run, uint64_t resident_blocks, unsigned sms);

// The units of a block, and with them the clock of a warp whose accesses the table records; NULL where no work is
// counted. The caller frees both.
struct work_units *traffic_units_make(struct traffic_table *table);
struct work_clock *traffic_clock_make(struct traffic_table *table, struct work_units *units, unsigned warp);

// A bulk copy brings so many bytes from global memory.
void traffic_bulk(struct traffic_table *table, uint32_t bytes);

// A warp executes a bulk copy, and the copy moves a row of global memory: to that byte of shared memory, or out of it.
// Filled is what of a row lies outside of its tensor. A load is counted once for each of the blocks that it goes to, as
// an H200 counts it. Counted where each launch is kept for itself; other traces are of what threads ask for.
void traffic_bulk_request(struct traffic_table *table, int32_t instruction, enum access_kind kind);
void traffic_bulk_load(struct traffic_table *table, int32_t instruction, unsigned blocks, uint64_t to, uint64_t address,
                       uint32_t bytes);
void traffic_bulk_fill(struct traffic_table *table, int32_t instruction, unsigned blocks, uint64_t to, uint32_t bytes);
void traffic_bulk_store(struct traffic_table *table, int32_t instruction, enum access_kind kind, uint64_t from,
                        uint64_t address, uint32_t bytes);

// A block begins: what L1 holds is of others. It has ended, and the longest way through it took so many cycles.
void traffic_block_start(struct traffic_table *table);
void traffic_block_end(struct traffic_table *table, uint32_t cycles);

// False: all that a load from global memory asked for was in L1.
bool traffic_record(struct traffic_table *table, const struct traffic_access *access);

// Call after the last host thread has finished: adds the launch to the process's totals and frees launch and tables.
// The kernel may be freed afterwards. NULL is allowed.
void traffic_launch_end(struct traffic_launch *launch);

#endif
