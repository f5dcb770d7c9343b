// Memory traffic of a GPU's memory system: for each memory instruction of a kernel the number of requests by warps, of
// bytes requested by threads, of 32-byte sectors accessed, and of wavefronts in shared memory. Counting is enabled by
// the environment variable SIMULATOR_TRACE (trace.h describes the output).
//
//   traffic.c     launches, tables of host threads, sums by kernel
//   sectors.c     the rule of global and local memory
//   wavefronts.c  the rule of shared memory, fitted to measurements
//   merge.c       neighbouring PTX accesses that the assembler merges into one machine instruction
//   trace.c       the CSV and JSON files
#ifndef SIMULATOR_TRAFFIC_TRAFFIC_H
#define SIMULATOR_TRAFFIC_TRAFFIC_H

#include "../machine/access.h"
#include "../machine/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One execution of a memory instruction by a warp. Accesses to parameters and constants are not counted.
struct traffic_access {
    int32_t instruction;  // index in ptx_kernel.instruction
    enum ptx_space space; // PTX_GLOBAL, PTX_SHARED or PTX_LOCAL; a generic access is counted once per space it accesses
    enum access_kind kind;
    uint32_t bytes; // per lane: ld.v4.f32 16, cp.async its copy size, ldmatrix the 16 bytes of a row
    uint32_t mask;  // lanes that access memory: active, guard true. ldmatrix, stmatrix: lanes whose address is used
    const uint64_t
        *address;       // [32] byte addresses; shared and local: window base or plain offset, only low 32 bits are read
    const uint64_t *to; // [32] the global side of cp.async: its destination in shared memory; else NULL
};

struct traffic_launch; // the counts of one launch
struct traffic_table;  // the part of it that one host thread fills, without locks

bool traffic_enabled(void);

// Call before the first block runs. NULL if counting is off or the host has no memory left: then do not count.
struct traffic_launch *traffic_launch_begin(const struct ptx_kernel *kernel, struct sim_dim grid, struct sim_dim block,
                                            size_t dynamic_shared_bytes);

// Call once for each host thread that runs blocks of the launch. NULL as above. The launch owns the table.
struct traffic_table *traffic_table_begin(struct traffic_launch *launch);

// Sets the number of executed blocks of a launch, of resident blocks and of SMs: for the estimate of the time (work.h).
void traffic_launch_work(struct traffic_launch *launch, uint64_t blocks_run, uint64_t resident_blocks, unsigned sms);

// Returns the units of a block, and the clock of a warp whose accesses the table counts; NULL if no work is counted.
// The caller frees both.
struct work_units *traffic_units_make(struct traffic_table *table);
struct work_clock *traffic_clock_make(struct traffic_table *table, struct work_units *units, unsigned warp);

// A bulk copy loads this many bytes from global memory.
void traffic_bulk(struct traffic_table *table, uint32_t bytes);

// A warp executes a bulk copy, and the copy moves a row of global memory: to this byte of shared memory, or out of it.
// fill: the part of a row that is out of bounds of its tensor. A load is counted once for each block that receives it,
// as an H200 does. Counted if each launch is kept separately; other traces count the threads' requests.
void traffic_bulk_request(struct traffic_table *table, int32_t instruction, enum access_kind kind);
void traffic_bulk_load(struct traffic_table *table, int32_t instruction, unsigned blocks, uint64_t to, uint64_t address,
                       uint32_t bytes);
void traffic_bulk_fill(struct traffic_table *table, int32_t instruction, unsigned blocks, uint64_t to, uint32_t bytes);
void traffic_bulk_store(struct traffic_table *table, int32_t instruction, enum access_kind kind, uint64_t from,
                        uint64_t address, uint32_t bytes);

// A block starts: L1 is empty for it. It has ended, and its critical path had this many cycles.
void traffic_block_start(struct traffic_table *table);
void traffic_block_end(struct traffic_table *table, uint32_t cycles);

// False: all bytes of a load from global memory were in L1.
bool traffic_record(struct traffic_table *table, const struct traffic_access *access);

// Call after the last host thread has finished: adds the launch to the process's totals and frees launch and tables.
// The kernel may be freed afterwards. NULL is allowed.
void traffic_launch_end(struct traffic_launch *launch);

#endif
