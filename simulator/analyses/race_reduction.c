// Reductions commute, so two blocks that add to the same bytes do not race. But a block that waits for another one's
// signal before it adds wants an order, such as one that gives the same bits each time. The signal is no order where
// the signalling thread has only waited until its reduction has read shared memory (cp.async.bulk.wait_group.read): the
// sum may land after that of the block that got the signal. The same wait without .read orders the two.
//
// So a reduction in flight keeps the address by which its warp has signalled since such a wait. Another block's
// reduction of the same bytes is reported if the last signal that its warp has read came from that address.
#include "race_reduction.h"

#include "../machine/block.h"

#include <pthread.h>
#include <stdlib.h>

struct pending_reduction {
    struct pending_reduction *next;
    const struct block *block;
    unsigned warp;
    int32_t pc;
    uint64_t begin, end;
    bool read;
    uint64_t signal; // 0: none
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_unordered(const struct pending_reduction *r, const struct warp *warp, uint64_t begin, uint64_t end) {
    return r->block != warp->block && r->signal && r->signal == warp->signal_read_from && begin < r->end &&
           r->begin < end;
}

struct pending_reduction *race_reduction_issue(struct warp *warp, const struct bound *bound, int lane, uint64_t address,
                                               uint32_t bytes) {
    struct run *run = warp->run;
    struct pending_reduction *reduction = run->options.races && run->released ? malloc(sizeof *reduction) : NULL;
    struct sim_dim other = {0};
    int32_t other_pc = -1;
    if (!reduction)
        return NULL;
    pthread_mutex_lock(&lock);
    for (const struct pending_reduction *r = run->reductions; r && other_pc < 0; r = r->next)
        if (is_unordered(r, warp, address, address + bytes)) {
            other = r->block->index;
            other_pc = r->pc;
        }
    *reduction = (struct pending_reduction){.next = run->reductions,
                                            .block = warp->block,
                                            .warp = warp->index,
                                            .pc = pc_of(warp, bound),
                                            .begin = address,
                                            .end = address + bytes};
    run->reductions = reduction;
    pthread_mutex_unlock(&lock);
    if (other_pc >= 0)
        warp_report(warp, SIM_FINDING_REDUCTION_ORDER, bound, &warp->code[other_pc], lane,
                    "{here} adds to bytes to which block (%u,%u,%u) still adds, by {there}: that block has signalled "
                    "after cp.async.bulk.wait_group.read, which waits until shared memory has been read, not until the "
                    "sum has landed [reduction-order]",
                    other.x, other.y, other.z);
    return reduction;
}

void race_reduction_is_read(struct pending_reduction *reduction) {
    pthread_mutex_lock(&lock);
    if (reduction)
        reduction->read = true;
    pthread_mutex_unlock(&lock);
}

void race_reduction_end(struct run *run, struct pending_reduction *reduction) {
    if (!reduction)
        return;
    pthread_mutex_lock(&lock);
    struct pending_reduction **link = &run->reductions;
    while (*link != reduction)
        link = &(*link)->next;
    *link = reduction->next;
    pthread_mutex_unlock(&lock);
    free(reduction);
}

void race_reduction_signal(struct warp *warp, uint64_t address) {
    if (!__atomic_load_n(&warp->run->reductions, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    for (struct pending_reduction *r = warp->run->reductions; r; r = r->next)
        if (r->block == warp->block && r->warp == warp->index && r->read)
            r->signal = address;
    pthread_mutex_unlock(&lock);
}

void race_reduction_acquire(struct warp *warp, uint64_t address) {
    warp->signal_read_from = address;
}
