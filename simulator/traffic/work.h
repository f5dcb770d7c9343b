// What executing a kernel asks of the parts of an SM, and how long the longest way through a block is: counted on PTX
// where traffic is counted, with the costs of work_costs.c, for an estimate of the time. Environment:
//   SIMULATOR_WORK_CSV=path   written when the process ends, one row a kernel and grid
#ifndef SIMULATOR_TRAFFIC_WORK_H
#define SIMULATOR_TRAFFIC_WORK_H

#include "../machine/launch.h"

#include <stdbool.h>
#include <stdint.h>

enum work {
    WORK_ISSUE,  // slots of the schedulers
    WORK_FMA,    // warp instructions of the units that multiply and add, 32 lanes a cycle each
    WORK_ALU,    // of those for integers, comparisons and bits, 16 lanes a cycle
    WORK_XU,     // of those for exponentials, reciprocals and conversions, 4 lanes a cycle
    WORK_PASSES, // shuffles, barriers and what wgmma reads, through the data path of shared memory as accesses are
    WORK_MMA,    // multiply-adds of mma.sync
    WORK_WGMMA,  // of wgmma
    WORK_KINDS
};

// What the end of an instruction depends on that no register tells.
enum work_queue { WORK_NO_QUEUE, WORK_PRODUCT, WORK_COPY, WORK_COMMIT, WORK_WAIT };

// Of one instruction each time that a warp executes it.
struct work_cost {
    uint32_t count[WORK_KINDS];
    uint16_t latency; // cycles from its issue to that of what needs the result
    enum work_queue does;
    bool copies;    // COMMIT, WAIT: of copies, else of products
    uint32_t keeps; // WAIT: groups that may be on their way
    bool global;    // loads from global memory
    bool ends;      // no instruction behind it is issued before it
    bool stalls;    // nor before its latency is over
    uint8_t skips;  // a branch over so many instructions that becomes a predicate of theirs
};

// work_costs.c. What ptxas usually makes of a PTX instruction on compute capability 9.0.

// Cycles until a bulk copy begins to arrive.
uint32_t work_bulk_latency(void);
struct work_cost work_cost_of(const struct ptx_kernel *kernel, int32_t instruction);

// work_fused.c. Sets fused[i], of [instructions], where instruction i of that function is a multiplication that an
// addition takes in; false where the host has no memory left.
struct ptx_frame;
bool work_find_fused(const struct ptx_kernel *kernel, const struct ptx_frame *frame, bool *fused);

// The costs of a kernel's instructions and the registers that they wait for; NULL where the host has no memory left.
struct work_plan;
struct work_plan *work_plan_make(const struct ptx_kernel *kernel, const int8_t *merged_bytes);
void work_plan_free(struct work_plan *plan);
const struct work_cost *work_plan_cost(const struct work_plan *plan, int32_t instruction);

// work_units.c. What the warps of a block take turns at, in each quarter of an SM.
enum work_unit { UNIT_ISSUE, UNIT_ALU, UNIT_XU, UNIT_TENSOR, WORK_UNITS };
enum { WORK_QUARTERS = 4 };
struct work_units;
struct work_units *work_units_make(void); // NULL where the host has no memory left
void work_units_free(struct work_units *units);
void work_units_start(struct work_units *units); // a block begins; NULL is allowed

// A warp that needs a unit for so many cycles from then on: when it has had them.
uint32_t work_take(struct work_units *units, unsigned quarter, enum work_unit unit, uint32_t from, uint32_t cycles);

// A warp's: when each register is ready, in cycles since its block began, had the block its SM for itself.
enum { WORK_GROUPS = 8 };
struct work_groups {
    uint32_t busy, groups, end[WORK_GROUPS]; // when what was issued is done; groups that were committed, and their ends
};
struct work_clock {
    const struct work_plan *plan;
    uint64_t *executed;       // [instructions], of the host thread's table; behind them slots of what was skipped
    uint32_t *ready;          // [registers of the plan]
    struct work_units *units; // of the block
    unsigned quarter;         // of the SM, where the warp is
    uint32_t time, latest;    // of the instructions between two branches: its begin, the last issue
    uint32_t at;              // when the last instruction was issued
    int32_t loading;          // the global load that runs, -1: none
    int32_t skipping;         // the branch that was executed last, where it is a predicate; -1: none
    struct work_groups products, copies;
};

// Of the warp with this index in its block.
bool work_clock_make(struct work_clock *clock, const struct work_plan *plan, uint64_t *executed,
                     struct work_units *units, unsigned warp);
void work_clock_free(struct work_clock *clock);
void work_clock_start(struct work_clock *clock);

// The warp executes instruction pc.
void work_step(struct work_clock *clock, int32_t pc);

// What it loads is found in the SM's own cache, so that it comes sooner than work_step took it to.
void work_hit(struct work_clock *clock);

// When a bulk copy of so many bytes that is issued now has landed.
uint32_t work_copy(struct work_clock *clock, uint32_t bytes);

// Now, with all that was issued; and nothing is issued before `time`.
uint32_t work_time(struct work_clock *clock);
void work_wait_until(struct work_clock *clock, uint32_t time);

#endif
