// The counts, and the rules that turn one access of a warp into counts: for simulator/traffic itself, and for
// recordings.
#ifndef SIMULATOR_TRAFFIC_COUNTS_H
#define SIMULATOR_TRAFFIC_COUNTS_H

#include "traffic.h"
#include "work.h"

// Of one instruction, or a sum.
struct traffic_counts {
    uint64_t requests;         // warp-level executions that accessed memory
    uint64_t lanes;            // participating threads, over all requests
    uint64_t bytes;            // requested by those threads
    uint64_t sectors;          // global, local: 32-byte sectors accessed, each counted once per request
    uint64_t ideal_sectors;    // the fewest sectors that could contain the distinct requested bytes
    uint64_t wavefronts;       // shared: passes through the banks
    uint64_t ideal_wavefronts; // shared: wavefronts without bank conflicts
};

// sectors.c. Adds sectors and ideal_sectors of one request. address is [32]; lanes outside mask are not read.
void traffic_count_sectors(struct traffic_counts *counts, enum ptx_space space, enum access_kind kind, uint32_t bytes,
                           uint32_t mask, const uint64_t *address, const uint64_t *to);

// sectors.c. Of a row of a bulk copy: the sectors that contain its bytes; the sectors of a load to this byte of shared
// memory, and those that it would take for a row that is out of bounds of its tensor and filled.
uint64_t traffic_row_sectors(uint64_t address, uint32_t bytes);
uint64_t traffic_bulk_sectors(uint64_t to, uint64_t address, uint32_t bytes);
uint64_t traffic_filled_sectors(uint64_t to, uint32_t bytes);

// wavefronts.c. Adds wavefronts and ideal_wavefronts of one request.
void traffic_count_wavefronts(struct traffic_counts *counts, enum access_kind kind, uint32_t bytes, uint32_t mask,
                              const uint64_t *address);

// wavefronts.c. The same, and which wavefront moves which word to which lane. found may be NULL.
enum { TRAFFIC_MOST_WAVEFRONTS = 128, TRAFFIC_MOST_WORDS = 4 };
struct traffic_wavefronts {
    unsigned count, parts;
    uint8_t part[TRAFFIC_MOST_WAVEFRONTS]; // of a wavefront: the part of the request to which it belongs
    uint8_t word[32][TRAFFIC_MOST_WORDS];  // the wavefront of each 4-byte word of a lane
};
void traffic_find_wavefronts(struct traffic_counts *counts, enum access_kind kind, uint32_t bytes, uint32_t mask,
                             const uint64_t *address, struct traffic_wavefronts *found);

// merge.c. The machine code of each instruction: 0: an instruction of its own; > 0: one wider access of this many bytes
// per lane, which starts at the instruction's own address; -1: part of a neighbour's wider access. The caller frees the
// array, [kernel->instructions]; NULL if the host has no memory left.
int8_t *traffic_merged_bytes(const struct ptx_kernel *kernel);

// Whether an atomic on shared memory is a loop in machine code, which reads, computes and tries to exchange until all
// lanes have succeeded: all except exchanges and 32-bit integers (ptxas 13.0 for sm_90).
bool traffic_is_loop(const struct ptx_instruction *instruction);

// The counts of one kernel, kept after the kernel is freed.
struct traffic_access_total {
    int32_t instruction;
    const char *file; // source location of the access, innermost line
    int line;
    const char *outer_file; // the line into which it was inlined; the same one if it was not inlined
    int outer_line;
    int own_line; // the innermost line of that file
    const char *ptx;
    enum ptx_space space;
    enum access_kind kind;
    uint32_t bytes;     // per lane, after merging
    bool merged_leader; // represents several PTX instructions
    bool merged_member; // counted with its leader: all counts are 0
    bool is_loop;       // a loop of several accesses, of which one is counted
    struct traffic_counts counts;
};

struct traffic_kernel_total {
    const char *name; // mangled
    struct sim_dim grid, block;
    size_t shared_bytes; // static and dynamic
    uint64_t launches;
    uint64_t blocks, blocks_run, resident_blocks; // of a launch; executed ones of all launches; resident at a time
    uint64_t work[WORK_KINDS];                    // of all executed blocks
    uint64_t missed_sectors;                      // loaded sectors that missed L1
    uint64_t cycles, longest;                     // critical paths of the executed blocks: their sum, the longest
    int accesses;
    struct traffic_access_total *access; // in the order of the instructions
    struct traffic_kernel_total *next;
};

// traffic.c. In the order of the first launch. Call between launches only.
const struct traffic_kernel_total *traffic_totals(void);

#endif
