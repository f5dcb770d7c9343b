// A warp as the interpreter executes it: 32 lanes that share one register file, and one or more splits. A split is a
// set of lanes at the same instruction; lanes that take different ways at a branch become different splits, and splits
// that reconverge are merged.
#ifndef SIMULATOR_MACHINE_WARP_H
#define SIMULATOR_MACHINE_WARP_H

#include "allocation.h"
#include "bound.h"
#include "launch.h"
#include "report.h"

#include <string.h>

struct block;
struct cluster_warp;
struct run;
struct traffic_table;
struct validity;
struct warp_record;
struct work_clock;

#define MAX_CALL_DEPTH 512 // the largest nesting of calls

enum split_state {
    SPLIT_READY,
    SPLIT_AT_SYNC,    // waits at a .sync instruction until the lanes of its mask have arrived
    SPLIT_AT_BARRIER, // waits at bar.sync or bar.red until the barrier completes
    SPLIT_AT_EVENT,   // waits until an event in the block that it may depend on, then tries again
};

struct split {
    uint32_t mask;
    int32_t pc;
    int32_t depth; // of calls; lanes at different depths do not merge
    enum split_state state;
    bool yielded; // has had its turn while other splits waited
    bool arrived; // AT_BARRIER: counted; otherwise it waits for the other lanes of its warp
    unsigned barrier, barrier_threads;
    uint64_t event; // AT_EVENT: block->events at its last attempt
};

// A vector clock of a warp, a barrier or a flag: for each agent the latest clock that happens before; from
// CLOCK_VISIBLE on the latest clock whose writes a proxy fence has made visible to the async proxy; and from CLOCK_LANE
// on a later clock of a single lane, clock << 5 | lane, 0: none. The agents are the block's warps, followed by its
// asynchronous units: see analyses/race_shared.c. The entries after them concern other blocks, by the launch's
// signal_clock: see analyses/race_global.c.
enum {
    CLOCK_VISIBLE = LANES,
    CLOCK_LANE = 2 * LANES,
    CLOCK_ACQUIRED = 3 * LANES, // acquired, with a fence,
    CLOCK_OBSERVED,             // observed by a load,
    CLOCK_COUNTED,              // at an atomic on a counter, followed by a barrier
    CLOCK_DEPENDENCY,           // not 0: griddepcontrol.wait happens before
    CLOCK_HAS_LANES,            // not 0: some CLOCK_LANE entry is set
    CLOCKS
};

struct call_frame {
    int32_t back[LANES];       // the return address
    uint32_t parameter[LANES]; // the caller's stack base of call parameters
};

#define MAX_RECENT_ALLOCATIONS 4
#define MAX_RECENT_POLLS 4
#define TURN_BRANCHES 4096 // backward branches of a warp until other warps get a turn
#define POLLS_A_TURN 256   // repeated accesses to the same address until other blocks get a turn
#define REPORTED 8

enum { MOST_UNORDERED_STORES = 4 };

struct warp {
    uint8_t *base[2]; // the register file, and the kernel's constants
    const struct bound *code;
    const struct lanes *lanes;
    struct block *block;
    struct run *run;
    unsigned index; // in the block
    uint32_t live;  // lanes that exist and have not exited
    int splits;
    struct split split[LANES];
    struct split *now; // the split that runs
    int turn_budget;   // backward branches until other splits get a turn
    bool ran;          // since the end of its block's last turn
    uint64_t state;    // hash of its registers then
    uint32_t carry;    // the carry flag of add.cc and so on, one bit per lane
    uint64_t warp_instructions, lane_instructions;
    struct {
        enum sim_finding_kind kind;
        int32_t line, other;
        _Atomic uint64_t *count;
    } reported[REPORTED]; // recent findings of this warp
    unsigned reported_next;
    struct warp_record *record; // NULL: the launch is not recorded
    struct work_clock *work;    // see traffic/work.h; NULL: its work is not counted
    uint64_t ticks;             // of %clock, see move.c
    uint32_t registers;         // that a thread may use, see setmaxnreg
    bool has_specials;          // special registers are filled in

    struct call_frame *frame; // [depth]
    int32_t frames;
    uint32_t parameter_base[LANES];
    uint8_t **saved_registers; // [depth]: registers of recursive functions that callers still need

    struct validity *validity; // see analyses/validity.c; NULL until it is needed
    unsigned invalid;          // registers that hold uninitialized values in some lane
    bool read_uninitialized;   // by the current load

    struct sim_allocation *recent[MAX_RECENT_ALLOCATIONS]; // of the latest global accesses, most recent first
    struct {
        int32_t pc;
        uint64_t address, value;
    } poll[MAX_RECENT_POLLS]; // recent atomic and volatile accesses to global memory, cyclically
    unsigned next_poll;
    struct {
        uint64_t address; // in its space
        uint32_t bytes;   // 0: no access in this turn
        bool shared;
    } last_observed; // the last atomic or volatile read: see execution/spin.h

    // Vector clocks, see analyses/race_shared.c: the clocks that this warp has acquired, and its own.
    uint32_t clock[CLOCKS];
    uint32_t fenced[CLOCKS];          // the clocks at its last fence, which a relaxed store releases
    uint32_t pending_acquire[CLOCKS]; // clocks observed by relaxed loads, which a fence acquires
    bool has_pending_acquire;         // any entry is set
    uint64_t signal_read_from;        // global address of the last atomic or volatile read
    uint32_t counter_clock;           // signal_clock at its last atomic on a counter
    uint32_t last_signal_read;        // own clock at its last read of a flag, counter or lock
    uint32_t releases_acquired;       // block->releases at its last read of a flag in global memory
    uint32_t lane_clock[LANES];       // own clock when the lane last synchronized with other lanes
    uint32_t unfenced_store_clock;    // own clock at the last plain store to global memory after a fence, 0: none
    uint32_t unordered_lanes,
        unordered_clock; // lanes that stored there since all lanes synchronized, and the clock of that store: release.c
    struct {
        int32_t pc;
        uint32_t lanes;
    } recent_store[MOST_UNORDERED_STORES]; // the instructions of those stores
    unsigned recent_stores;                // their number; if larger than the array, not all are known
    uint32_t fenced_lanes;                 // lanes that have executed a fence since their last store
    uint32_t floor_epoch;                  // smaller epochs of any agent happen before this warp's accesses
    uint32_t own_floor_epoch;              // smaller epochs of this warp happen before all its lanes' accesses
    struct {
        unsigned id, threads;     // threads 0: none, or __syncthreads()
        uint32_t warps;           // that it let through, one bit each
    } passed;                     // the last barrier that the warp has passed
    struct cluster_warp *cluster; // NULL: the kernel has none
};

static inline void *operand_data(const struct warp *warp, operand_ref where) {
    return warp->base[where & 1] + (where >> 1);
}

static inline uint32_t *cells32(const struct warp *warp, operand_ref where) {
    return operand_data(warp, where);
}

static inline uint64_t *cells64(const struct warp *warp, operand_ref where) {
    return operand_data(warp, where);
}

static inline uint32_t *predicate(const struct warp *warp, operand_ref where) {
    return operand_data(warp, where);
}

static inline int32_t pc_of(const struct warp *warp, const struct bound *bound) {
    return (int32_t)(bound - warp->code);
}

static inline int first_lane(uint32_t mask) {
    return __builtin_ctz(mask);
}

// Runs a lane operation that writes some lanes only, or saturates: computes all lanes in a buffer and copies the lanes
// of mask.
void warp_run_lanes(struct warp *warp, const struct bound *bound, uint32_t mask);

// Writes 32 results to a register, in the lanes of mask only. Inline, because every load and store calls it.
static inline void warp_write32(struct warp *warp, operand_ref where, const uint32_t *values, uint32_t mask) {
    if (where == NO_OPERAND)
        return;
    if (mask == ALL_LANES)
        memcpy(operand_data(warp, where), values, 4 * LANES);
    else
        warp->lanes->blend32(cells32(warp, where), values, mask);
}

static inline void warp_write64(struct warp *warp, operand_ref where, const uint64_t *values, uint32_t mask) {
    if (where == NO_OPERAND)
        return;
    if (mask == ALL_LANES)
        memcpy(operand_data(warp, where), values, 8 * LANES);
    else
        warp->lanes->blend64(cells64(warp, where), values, mask);
}

static inline void warp_write_predicate(struct warp *warp, operand_ref where, uint32_t bits, uint32_t mask) {
    if (where != NO_OPERAND) {
        uint32_t *p = predicate(warp, where);
        *p = (*p & ~mask) | (bits & mask);
    }
}

// Whether a split is ready to run.
bool warp_can_run(const struct warp *warp);

// The running split waits for another warp: mask is the lanes that execute the instruction, which is executed again
// after the next event (block_event). Lanes that the guard excludes continue.
enum step warp_wait(struct warp *warp, uint32_t mask);

// Moves the lanes of mask out of the running split into a new split at pc.
struct split *warp_add_split(struct warp *warp, uint32_t mask, int32_t pc);
void warp_remove_split(struct warp *warp, struct split *split);

// Returns whether the finding was reported before, and counts it. A bug in a loop occurs millions of times: call this
// before composing a message.
bool warp_reported(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound, const struct bound *other);

// "lanes 0 to 15", "lane 3", "lanes 0 to 3 and 8 to 11": the lanes of a mask, for a message.
enum { LANE_LIST_TEXT = 160 };
void lane_list(uint32_t mask, char text[LANE_LIST_TEXT]);

// Reports a finding at an instruction that this warp executes. A fatal one ends the launch with status. In addition to
// sim_report's {here} and {there}, {op} and {other} in the detail are replaced by the operation of bound or other and
// its location: "mbarrier.try_wait at file.cu:12".
void warp_report(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound, const struct bound *other,
                 int lane, const char *detail, ...) __attribute__((format(printf, 6, 7)));
enum step warp_fatal(struct warp *warp, enum sim_status status);

struct sim_dim warp_thread(const struct warp *warp, unsigned warp_index, int lane);

#endif
