// A warp as the interpreter sees it: 32 lanes that share one register file, and one or more splits. A split is a set of
// lanes at the same place in the program; lanes that take different ways at a branch become different splits, and
// splits that meet again become one.
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

#define MOST_CALLS 512 // how deep calls may be nested

enum split_state {
    SPLIT_READY,
    SPLIT_AT_SYNC,    // holds at a .sync instruction until the lanes that its mask names have come
    SPLIT_AT_BARRIER, // holds at bar.sync or bar.red until the barrier completes
    SPLIT_AT_EVENT,   // holds until something has happened in the block that it may wait for, then tries again
};

struct split {
    uint32_t mask;
    int32_t pc;
    int32_t depth; // of calls; lanes at different depths do not merge
    enum split_state state;
    bool yielded; // has had its turn while others waited
    bool arrived; // AT_BARRIER: counted; otherwise it waits for the rest of its warp
    unsigned barrier, barrier_threads;
    uint64_t event; // AT_EVENT: block->events when it looked last
};

// What a warp, a barrier or a flag knows of each agent: the latest clock that is ordered before it; from CLOCK_VISIBLE
// on the latest clock whose writes a proxy fence has made visible to the asynchronous proxy; and from CLOCK_PART on
// what one lane did beyond the first, clock << 5 | lane, 0: nothing. Agents are the block's warps and, behind them, its
// asynchronous units: see analyses/race_shared.c. Behind them is what it knows of other blocks, as the launch's
// signal_clock: see analyses/race_global.c.
enum {
    CLOCK_VISIBLE = LANES,
    CLOCK_PART = 2 * LANES,
    CLOCK_ACQUIRED = 3 * LANES, // of which a fence has made it certain,
    CLOCK_SAW,                  // at which it has looked,
    CLOCK_TICKET,               // at which it has counted, before a barrier
    CLOCK_PARTS,                // not 0: some part is
    CLOCKS
};

struct call_frame {
    int32_t back[LANES];       // where the caller goes on
    uint32_t parameter[LANES]; // the caller's stack base of call parameters
};

#define RECENT_ALLOCATIONS 4
#define RECENT_POLLS 4
#define REPORTED 8

enum { APART_STORES = 4 };

struct warp {
    uint8_t *base[2]; // its register file, and the kernel's constants
    const struct bound *code;
    const struct lanes *lanes;
    struct block *block;
    struct run *run;
    unsigned index; // in the block
    uint32_t live;  // lanes that exist and have not exited
    int splits;
    struct split split[LANES];
    struct split *now; // the one that runs
    int patience;      // taken backward branches left before others get a turn
    uint32_t carry;    // the carry flag of add.cc and so on, a bit a lane
    uint64_t warp_instructions, lane_instructions;
    struct {
        enum sim_finding_kind kind;
        int32_t line, other;
        _Atomic uint64_t *count;
    } reported[REPORTED]; // findings that were met here last
    unsigned reported_next;
    struct warp_record *record; // NULL: the launch is not recorded
    struct work_clock *work;    // see traffic/work.h; NULL: its work is not counted
    uint64_t ticks;             // for %clock, see move.c
    uint32_t registers;         // a thread may use, see setmaxnreg
    bool has_specials;          // special registers are filled in

    struct call_frame *frame; // [depth]
    int32_t frames;
    uint32_t parameter_base[LANES];
    uint8_t **saved_registers; // [depth]: frames of recursive functions that callers still need

    struct validity *validity; // see analyses/validity.c; NULL until it is needed
    unsigned invalid;          // registers that hold uninitialised values in some lane
    bool met_uninitialised;    // by the load that is under way

    struct sim_allocation *recent[RECENT_ALLOCATIONS]; // that global accesses hit, the last one first
    struct {
        int32_t pc;
        uint64_t address;
    } poll[RECENT_POLLS]; // atomic and volatile accesses to global memory, in turn
    unsigned next_poll;
    struct {
        uint64_t address; // in its space
        uint32_t bytes;   // 0: at nothing in this turn
        bool shared;
    } look; // the last atomic or volatile access that read something: see execution/look.h

    // Vector clocks, see analyses/race_shared.c: what this warp knows of each agent, itself included.
    uint32_t clock[CLOCKS];
    uint32_t fenced[CLOCKS];     // what it knew at its last fence: a relaxed store tells others no more
    uint32_t seen[CLOCKS];       // what relaxed loads have told it: it knows that after a fence
    bool has_seen;               // anything
    uint32_t ticket;             // signal_clock at its last atomic that gave it a number
    uint32_t looked;             // own clock when it last looked at a flag, a counter or a lock
    uint32_t heard;              // block->told at its last look in global memory
    uint32_t lane_clock[LANES];  // own clock when the lane last synchronised with other lanes
    uint32_t unfenced;           // own clock at the last plain store to global memory after a fence, 0: none
    uint32_t wrote, wrote_clock; // lanes that stored there since all of them met, and the clock then: release.c
    struct {
        int32_t pc;
        uint32_t lanes;
    } stored[APART_STORES];       // by which instructions
    unsigned stores;              // of these; more than there is room for: not known
    uint32_t covered;             // lanes that have executed a fence since they stored
    uint32_t floor_key;           // keys below it are ordered before this warp, whoever they are of
    uint32_t own_floor_key;       // this warp's own keys below it are ordered before all its lanes
    struct cluster_warp *cluster; // NULL: the kernel has none
};

static inline void *at(const struct warp *warp, place where) {
    return warp->base[where & 1] + (where >> 1);
}

static inline uint32_t *cells32(const struct warp *warp, place where) {
    return at(warp, where);
}

static inline uint64_t *cells64(const struct warp *warp, place where) {
    return at(warp, where);
}

static inline uint32_t *predicate(const struct warp *warp, place where) {
    return at(warp, where);
}

static inline int32_t pc_of(const struct warp *warp, const struct bound *bound) {
    return (int32_t)(bound - warp->code);
}

static inline int first_lane(uint32_t mask) {
    return __builtin_ctz(mask);
}

// A lane operation that writes some lanes only, or saturates: computes all lanes aside and keeps what is wanted.
void warp_run_lanes(struct warp *warp, const struct bound *bound, uint32_t mask);

// Writes 32 results to a register, in the lanes of mask only. Inline: every load and store passes here.
static inline void warp_write32(struct warp *warp, place where, const uint32_t *values, uint32_t mask) {
    if (where == NO_PLACE)
        return;
    if (mask == ALL_LANES)
        memcpy(at(warp, where), values, 4 * LANES);
    else
        warp->lanes->blend32(cells32(warp, where), values, mask);
}

static inline void warp_write64(struct warp *warp, place where, const uint64_t *values, uint32_t mask) {
    if (where == NO_PLACE)
        return;
    if (mask == ALL_LANES)
        memcpy(at(warp, where), values, 8 * LANES);
    else
        warp->lanes->blend64(cells64(warp, where), values, mask);
}

static inline void warp_write_predicate(struct warp *warp, place where, uint32_t bits, uint32_t mask) {
    if (where != NO_PLACE) {
        uint32_t *p = predicate(warp, where);
        *p = (*p & ~mask) | (bits & mask);
    }
}

// Whether a split is ready to run.
bool warp_can_run(const struct warp *warp);

// The running split waits for something that another warp does; *mask is the lanes that execute the instruction, which
// is executed again when anything of that kind (block_event) has happened. Lanes that the guard keeps out go on.
enum step warp_wait(struct warp *warp, uint32_t mask);

// Moves the lanes of mask out of the running split into a split of their own at pc.
struct split *warp_split_off(struct warp *warp, uint32_t mask, int32_t pc);
void warp_remove_split(struct warp *warp, struct split *split);

// Whether this was reported before; then it only counts. A bug in a loop is met millions of times: ask before finding
// words.
bool warp_reported(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound, const struct bound *other);

// A finding at an instruction that this warp executes. A fatal one ends the launch with status.
void warp_report(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound, const struct bound *other,
                 int lane, const char *detail, ...) __attribute__((format(printf, 6, 7)));
enum step warp_fatal(struct warp *warp, enum sim_status status);

struct sim_dim warp_thread(const struct warp *warp, unsigned warp_index, int lane);

#endif
