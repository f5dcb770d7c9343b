// The clock of a warp. Between two branches ptxas may reorder instructions, so each one is issued as soon as its
// operands are ready and its unit is free; after a branch nothing is issued before all instructions in front of the
// branch. Barriers join the clocks of a block's warps.
#include "work.h"

#include "../ptx/linker.h"

#include <stdlib.h>
#include <string.h>

#define WARP_FMAS 512        // 16-bit multiply-adds per cycle in a quarter of an SM
#define MMA_FMAS 335         // of mma.sync: 0.655 of them, which an H200 reaches (results/nvidia-h200/ceilings.csv)
#define ALU_CYCLES 2         // of a quarter's unit for each warp instruction: it has 16 lanes,
#define XU_CYCLES 8          // and this one 4
#define LATENCY_MMA_ASYNC 60 // cycles after the last multiply-add
#define BULK_BYTES 64        // that an SM receives from L2 per cycle
#define LATENCY_HIT 35       // cycles of a load from global memory that hits L1

struct step {
    struct work_cost cost;
    uint32_t first, reads, writes; // in plan->id: registers that are read, followed by those that are written
};

struct work_plan {
    int instructions;
    struct step *step; // [instructions]
    uint32_t *id;      // of registers
    uint32_t ids, room, registers;
    uint32_t *of_slot; // [slots], 0: none yet; while the plan is made
    int32_t base;      // of the function's frame
    bool writes, failed;
    uint32_t begin;
};

enum { UNIT = 4 }; // a predicate takes 4 bytes of the register file, and nothing takes less

static void visit(void *context, int32_t slot, bool written, bool always) {
    struct work_plan *plan = context;
    (void)always;
    if (written != plan->writes)
        return;
    if (plan->ids == plan->room) {
        uint32_t *grown = realloc(plan->id, 2 * (plan->room + 64) * sizeof *grown);
        plan->failed |= !grown;
        if (!grown)
            return;
        plan->id = grown;
        plan->room = 2 * (plan->room + 64);
    }
    uint32_t *number = &plan->of_slot[(slot + plan->base) / UNIT];
    if (!*number)
        *number = ++plan->registers;
    plan->id[plan->ids++] = *number - 1;
}

static void add_function(struct work_plan *plan, const struct ptx_kernel *kernel, const struct ptx_frame *frame,
                         const int8_t *merged_bytes) {
    bool *fused = calloc((size_t)kernel->instructions + 1, sizeof *fused);
    plan->failed |= !fused || !work_find_fused(kernel, frame, fused);
    plan->base = frame->register_base;
    for (int32_t i = frame->entry; i < frame->entry + frame->instructions && !plan->failed; i++) {
        struct step *step = &plan->step[i];
        if (!fused[i])
            step->cost = work_cost_of(kernel, i);
        if (merged_bytes[i] < 0) // part of a neighbour's access
            step->cost.count[WORK_ISSUE] = 0;
        step->first = plan->ids;
        plan->writes = false;
        visit_registers(&kernel->instruction[i], visit, plan);
        step->reads = plan->ids - step->first;
        plan->writes = true;
        visit_registers(&kernel->instruction[i], visit, plan);
        step->writes = plan->ids - step->first - step->reads;
    }
    free(fused);
}

struct work_plan *work_plan_make(const struct ptx_kernel *kernel, const int8_t *merged_bytes) {
    struct work_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->instructions = kernel->instructions;
    plan->step = calloc((size_t)kernel->instructions + 1, sizeof *plan->step);
    plan->of_slot = calloc(kernel->register_bytes / UNIT + 1, sizeof *plan->of_slot);
    plan->failed = !plan->step || !plan->of_slot;
    for (int f = 0; f < kernel->functions && !plan->failed; f++)
        add_function(plan, kernel, &kernel->function[f], merged_bytes);
    free(plan->of_slot);
    plan->of_slot = NULL;
    if (!plan->failed)
        return plan;
    work_plan_free(plan);
    return NULL;
}

void work_plan_free(struct work_plan *plan) {
    if (!plan)
        return;
    free(plan->step);
    free(plan->id);
    free(plan);
}

const struct work_cost *work_plan_cost(const struct work_plan *plan, int32_t instruction) {
    return &plan->step[instruction].cost;
}

bool work_clock_make(struct work_clock *clock, const struct work_plan *plan, uint64_t *executed,
                     struct work_units *units, unsigned warp) {
    *clock = (struct work_clock){.plan = plan,
                                 .executed = executed,
                                 .loading = -1,
                                 .skipping = -1,
                                 .units = units,
                                 .quarter = warp % WORK_QUARTERS};
    clock->ready = calloc((size_t)plan->registers + 1, sizeof *clock->ready);
    return clock->ready;
}

void work_clock_free(struct work_clock *clock) {
    free(clock->ready);
    clock->ready = NULL;
}

void work_clock_start(struct work_clock *clock) {
    memset(clock->ready, 0, (size_t)clock->plan->registers * sizeof *clock->ready);
    clock->time = clock->latest = 0;
    clock->skipping = -1;
    memset(&clock->products, 0, sizeof clock->products);
    memset(&clock->copies, 0, sizeof clock->copies);
}

static void set_results(struct work_clock *clock, const struct step *step, uint32_t time) {
    const uint32_t *id = &clock->plan->id[step->first + step->reads];
    for (uint32_t i = 0; i < step->writes; i++)
        clock->ready[id[i]] = time;
}

// Occupies a unit from `from` on; returns the start.
static uint32_t take(struct work_clock *clock, enum work_unit unit, uint32_t from, uint32_t cycles) {
    return cycles ? work_take(clock->units, clock->quarter, unit, from, cycles) - cycles : from;
}

static void run_queue(struct work_clock *clock, const struct work_cost *cost, uint32_t at) {
    struct work_groups *groups = cost->does == WORK_COPY || cost->copies ? &clock->copies : &clock->products;
    uint32_t begin = groups->busy > at ? groups->busy : at;
    switch (cost->does) {
    case WORK_MMA_ASYNC:
        groups->busy = work_take(clock->units, clock->quarter, UNIT_TENSOR, begin, cost->count[WORK_WGMMA] / WARP_FMAS);
        break;
    case WORK_COPY:
        groups->busy = at + cost->latency > groups->busy ? at + cost->latency : groups->busy;
        break;
    case WORK_COMMIT:
        groups->end[groups->groups++ % WORK_GROUPS] = groups->busy;
        break;
    default:
        if (groups->groups > cost->keeps)
            work_wait_until(clock, groups->end[(groups->groups - 1 - cost->keeps) % WORK_GROUPS] +
                                       (cost->copies ? 0 : LATENCY_MMA_ASYNC));
    }
}

// A warp issues a predicated instruction even if the predicate is false in all its lanes.
static void skip(struct work_clock *clock, int32_t pc) {
    const struct work_plan *plan = clock->plan;
    for (int32_t i = clock->skipping + 1; i < pc && i <= clock->skipping + plan->step[clock->skipping].cost.skips;
         i++) {
        uint32_t slots = plan->step[i].cost.count[WORK_ISSUE];
        clock->executed[plan->instructions] += slots;
        take(clock, UNIT_ISSUE, clock->time, slots);
    }
}

void work_step(struct work_clock *clock, int32_t pc) {
    const struct step *step = &clock->plan->step[pc];
    const uint32_t *id = &clock->plan->id[step->first];
    uint32_t at = clock->time;
    if (clock->skipping >= 0)
        skip(clock, pc);
    clock->skipping = step->cost.skips ? pc : -1;
    clock->executed[pc]++;
    for (uint32_t i = 0; i < step->reads; i++)
        at = clock->ready[id[i]] > at ? clock->ready[id[i]] : at;
    at = take(clock, UNIT_ISSUE, at, step->cost.count[WORK_ISSUE]);
    at = take(clock, UNIT_ALU, at, ALU_CYCLES * step->cost.count[WORK_ALU]);
    at = take(clock, UNIT_XU, at, XU_CYCLES * step->cost.count[WORK_XU]);
    at = take(clock, UNIT_TENSOR, at, step->cost.count[WORK_MMA] / MMA_FMAS);
    clock->latest = at > clock->latest ? at : clock->latest;
    clock->at = at;
    set_results(clock, step, at + step->cost.latency);
    clock->loading = step->cost.global ? pc : -1;
    if (step->cost.stalls) {
        uint32_t done = at + step->cost.latency;
        clock->latest = done > clock->latest ? done : clock->latest;
    }
    if (step->cost.does)
        run_queue(clock, &step->cost, at);
    if (step->cost.ends)
        work_time(clock);
}

void work_hit(struct work_clock *clock) {
    if (clock->loading < 0)
        return;
    set_results(clock, &clock->plan->step[clock->loading], clock->at + LATENCY_HIT);
}

uint32_t work_copy(struct work_clock *clock, uint32_t bytes) {
    return work_time(clock) + work_bulk_latency() + bytes / BULK_BYTES;
}

uint32_t work_time(struct work_clock *clock) {
    clock->time = clock->latest > clock->time ? clock->latest : clock->time;
    clock->latest = clock->time;
    return clock->time;
}

void work_wait_until(struct work_clock *clock, uint32_t time) {
    work_time(clock);
    clock->time = time > clock->time ? time : clock->time;
    clock->latest = clock->time;
}
