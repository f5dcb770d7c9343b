// The work of a kernel for the units of an SM, and the critical path of a block: counted on PTX when traffic is
// counted, with the costs of work_costs.c, for an estimate of the time. Environment:
//   SIMULATOR_WORK_CSV=path   written when the process ends, one row per kernel and grid
#ifndef SIMULATOR_TRAFFIC_WORK_H
#define SIMULATOR_TRAFFIC_WORK_H

#include "../machine/launch.h"

#include <stdbool.h>
#include <stdint.h>

enum work {
    WORK_ISSUE,  // issue slots of the schedulers
    WORK_FMA,    // warp instructions of the FMA units, 32 lanes per cycle each
    WORK_ALU,    // of the integer, comparison and bit units, 16 lanes per cycle
    WORK_XU,     // of the special function units: exponentials, reciprocals, conversions; 4 lanes per cycle
    WORK_PASSES, // shuffles, barriers and reads of wgmma, which use the data path of shared memory as accesses do
    WORK_MMA,    // multiply-adds of mma.sync
    WORK_WGMMA,  // of wgmma
    WORK_KINDS
};

// Dependencies of an instruction's completion that no register shows.
enum work_queue { WORK_NO_QUEUE, WORK_MMA_ASYNC, WORK_COPY, WORK_COMMIT, WORK_WAIT };

// Of one instruction, per execution by a warp.
struct work_cost {
    uint32_t count[WORK_KINDS];
    uint16_t latency; // cycles from its issue to the issue of an instruction that needs the result
    enum work_queue does;
    bool copies;    // COMMIT, WAIT: of copies, else of wgmma
    uint32_t keeps; // WAIT: groups that may remain in flight
    bool global;    // loads from global memory
    bool ends;      // no later instruction is issued before it
    bool stalls;    // nor before its latency has passed
    uint8_t skips;  // a branch over this many instructions, which ptxas replaces by predication
};

// work_costs.c. The usual machine code of a PTX instruction on compute capability 9.0.

// Cycles until the first bytes of a bulk copy arrive.
uint32_t work_bulk_latency(void);
struct work_cost work_cost_of(const struct ptx_kernel *kernel, int32_t instruction);

// work_fused.c. Sets fused[i], of [instructions], if instruction i of that function is a multiplication that is fused
// with an addition; false if the host has no memory left.
struct ptx_frame;
bool work_find_fused(const struct ptx_kernel *kernel, const struct ptx_frame *frame, bool *fused);

// The costs of a kernel's instructions and the registers that they depend on; NULL if the host has no memory left.
struct work_plan;
struct work_plan *work_plan_make(const struct ptx_kernel *kernel, const int8_t *merged_bytes);
void work_plan_free(struct work_plan *plan);
const struct work_cost *work_plan_cost(const struct work_plan *plan, int32_t instruction);

// work_units.c. The units that the warps of a block share in each quarter of an SM.
enum work_unit { UNIT_ISSUE, UNIT_ALU, UNIT_XU, UNIT_TENSOR, WORK_UNITS };
enum { WORK_QUARTERS = 4 };
struct work_units;
struct work_units *work_units_make(void); // NULL if the host has no memory left
void work_units_free(struct work_units *units);
void work_units_start(struct work_units *units); // a block starts; NULL is allowed

// A warp needs a unit for this many cycles from then on: returns when it has had them.
uint32_t work_take(struct work_units *units, unsigned quarter, enum work_unit unit, uint32_t from, uint32_t cycles);

// The clock of a warp: when each register is ready, in cycles since the start of its block, if the block had its SM for
// itself.
enum { WORK_GROUPS = 8 };
struct work_groups {
    uint32_t busy, groups, end[WORK_GROUPS]; // when the issued operations complete; committed groups, and their ends
};
struct work_clock {
    const struct work_plan *plan;
    uint64_t *executed;       // [instructions], of the host thread's table; followed by slots of skipped instructions
    uint32_t *ready;          // [registers of the plan]
    struct work_units *units; // of the block
    unsigned quarter;         // of the SM, to which the warp belongs
    uint32_t time, latest;    // of the instructions between two branches: the start, the last issue
    uint32_t at;              // the issue of the last instruction
    int32_t loading;          // the global load in progress, -1: none
    int32_t skipping;         // the last branch, if it is replaced by predication; -1: none
    struct work_groups products, copies;
};

// Of the warp with this index in its block.
bool work_clock_make(struct work_clock *clock, const struct work_plan *plan, uint64_t *executed,
                     struct work_units *units, unsigned warp);
void work_clock_free(struct work_clock *clock);
void work_clock_start(struct work_clock *clock);

// The warp executes instruction pc.
void work_step(struct work_clock *clock, int32_t pc);

// The load hits L1, so that it completes earlier than work_step assumed.
void work_hit(struct work_clock *clock);

// Returns when a bulk copy of this many bytes that is issued now has landed.
uint32_t work_copy(struct work_clock *clock, uint32_t bytes);

// The current time, with all issued instructions; and nothing is issued before `time`.
uint32_t work_time(struct work_clock *clock);
void work_wait_until(struct work_clock *clock, uint32_t time);

#endif
