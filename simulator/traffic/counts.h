// What is counted, and the rules by which one access of a warp becomes counts: for simulator/traffic itself, and for
// recordings, which draw what it counts.
#ifndef SIMULATOR_TRAFFIC_COUNTS_H
#define SIMULATOR_TRAFFIC_COUNTS_H

#include "traffic.h"
#include "work.h"

// Of one instruction, or summed.
struct traffic_counts {
    uint64_t requests;         // warp-level executions that accessed memory
    uint64_t lanes;            // threads that took part, over all requests
    uint64_t bytes;            // that those threads asked for
    uint64_t sectors;          // global, local: 32-byte pieces of memory touched, each once a request
    uint64_t ideal_sectors;    // the fewest sectors that could hold the distinct bytes asked for
    uint64_t wavefronts;       // shared: passes through the banks
    uint64_t ideal_wavefronts; // shared: what it would have been without bank conflicts
};

// sectors.c. Adds sectors and ideal_sectors of one request. address is [32]; lanes outside mask are not read.
void traffic_count_sectors(struct traffic_counts *counts, enum ptx_space space, enum access_kind kind, uint32_t bytes,
                           uint32_t mask, const uint64_t *address, const uint64_t *to);

// sectors.c. Of a row of a bulk copy: those that its bytes lie in; those that a load of it to that byte of shared
// memory takes, or would take where the row lies outside of its tensor and is filled in.
uint64_t traffic_row_sectors(uint64_t address, uint32_t bytes);
uint64_t traffic_bulk_sectors(uint64_t to, uint64_t address, uint32_t bytes);
uint64_t traffic_filled_sectors(uint64_t to, uint32_t bytes);

// wavefronts.c. Adds wavefronts and ideal_wavefronts of one request.
void traffic_count_wavefronts(struct traffic_counts *counts, enum access_kind kind, uint32_t bytes, uint32_t mask,
                              const uint64_t *address);

// wavefronts.c. The same, and which pass brings which word to which lane. found may be NULL.
enum { TRAFFIC_MOST_PASSES = 128, TRAFFIC_MOST_WORDS = 4 };
struct traffic_passes {
    unsigned count, parts;
    uint8_t part[TRAFFIC_MOST_PASSES];    // of a pass: the part of the request that it belongs to
    uint8_t word[32][TRAFFIC_MOST_WORDS]; // the pass, of a lane's words of 4 bytes
};
void traffic_find_passes(struct traffic_counts *counts, enum access_kind kind, uint32_t bytes, uint32_t mask,
                         const uint64_t *address, struct traffic_passes *found);

// merge.c. What the assembler makes of each instruction: 0: itself; > 0: it becomes one wider access of that many
// bytes a lane, which starts at its own address; -1: it is part of a neighbour's wider access.
// The caller frees the array, [kernel->instructions]; NULL where the host has no memory left.
int8_t *traffic_merged_bytes(const struct ptx_kernel *kernel);

// Whether an atomic on shared memory is a loop in machine code, which reads, computes and tries to exchange until no
// lane is left: all but exchanges and integers of 32 bits (ptxas 13.0 for sm_90).
bool traffic_is_loop(const struct ptx_instruction *instruction);

// The counts of one kernel, kept after the kernel itself is gone.
struct traffic_access_total {
    int32_t instruction;
    const char *file; // where the access stands in the source, innermost line
    int line;
    const char *outer_file; // where that was inlined into; the same file and line where it was not
    int outer_line;
    int own_line; // the innermost line of that file
    const char *ptx;
    enum ptx_space space;
    enum access_kind kind;
    uint32_t bytes;     // a lane, after merging
    bool merged_leader; // stands for several PTX instructions
    bool merged_member; // counted with its leader: all counts are 0
    bool is_loop;       // of several accesses, of which one is counted
    struct traffic_counts counts;
};

struct traffic_kernel_total {
    const char *name; // mangled
    struct sim_dim grid, block;
    size_t shared_bytes; // static and dynamic
    uint64_t launches;
    uint64_t blocks, blocks_run, resident_blocks; // of a launch; that were run, of all; on the device at a time
    uint64_t work[WORK_KINDS];                    // of all blocks that were run
    uint64_t missed_sectors;                      // that loads did not find in L1
    uint64_t cycles, longest;                     // the longest way through a block: of all that were run, of one
    int accesses;
    struct traffic_access_total *access; // in the order of the instructions
    struct traffic_kernel_total *next;
};

// traffic.c. In the order of the first launch. Call between launches only.
const struct traffic_kernel_total *traffic_totals(void);

#endif
