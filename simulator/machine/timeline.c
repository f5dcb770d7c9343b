#include "timeline.h"

#include "../simulator.h"
#include "control.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PENDING = 1024 }; // the oldest work beyond that counts as complete

static struct timeline {
    bool open, blocking, branch;
    int device; // of a created stream
    struct timeline_clock clock;
    // Of the last launch, if nothing follows it: the clock before it, the clock at which its first threads may have
    // started, and whether it waits for the launch before it.
    bool ends_in_launch, waited;
    struct timeline_clock before, start;
    // Work of this timeline between these serial numbers may still run when the launch before the last one has ended,
    // because that launch has not waited for it: the last launch's wait does not cover it.
    uint32_t skipped_low, skipped_high;
} timelines[TIMELINES] = {[0 ... TIMELINE_FIRST - 1] = {.open = true, .blocking = true}};

static struct timeline_clock host;
static uint32_t serial;
static struct work pending[MOST_PENDING]; // [pending_count], by serial number: work that the host has not waited for
static size_t pending_count;
static enum simulator_concurrency concurrency;
static uint32_t declared_low, declared_high; // serial numbers of the work that counts as concurrent

static void join(struct timeline_clock *to, const struct timeline_clock *from) {
    for (unsigned i = 0; i < TIMELINES; i++)
        to->latest[i] = from->latest[i] > to->latest[i] ? from->latest[i] : to->latest[i];
}

static bool is_before(const struct work *work, const struct timeline_clock *clock) {
    return work->serial <= clock->latest[work->timeline];
}

static int device_of(unsigned number) {
    return number < TIMELINE_FIRST ? (int)(number / TIMELINE_DEFAULTS) : timelines[number].device;
}

// What follows in a blocking stream waits for the legacy default stream of its device, and what follows there for all
// of that device.
static struct timeline *synchronized_timeline(unsigned number) {
    struct timeline *timeline = &timelines[number];
    int device = device_of(number);
    unsigned legacy = TIMELINE_LEGACY + (unsigned)device * TIMELINE_DEFAULTS;
    join(&timeline->clock, &host);
    for (unsigned i = 0; i < TIMELINES && number == legacy; i++)
        if (timelines[i].blocking && device_of(i) == device)
            join(&timeline->clock, &timelines[i].clock);
    if (timeline->blocking)
        join(&timeline->clock, &timelines[legacy].clock);
    return timeline;
}

unsigned timeline_open(bool blocking, int device) {
    unsigned number = TIMELINE_FIRST;
    while (number < TIMELINES - 1 && timelines[number].open)
        number++;
    // The clock stays: the work of a stream that had the number before is ordered before the new one's.
    timelines[number].open = true;
    timelines[number].blocking |= blocking || number == TIMELINES - 1;
    timelines[number].blocking &= blocking || number == TIMELINES - 1;
    timelines[number].ends_in_launch = timelines[number].branch = false;
    timelines[number].device = device;
    return number;
}

unsigned timeline_open_branch(int device) {
    unsigned number = timeline_open(false, device);
    timelines[number].branch = number < TIMELINES - 1;
    return number;
}

void timeline_close(unsigned number) {
    timelines[number].open = false;
}

void timeline_record(unsigned number, struct timeline_clock *point) {
    struct timeline *timeline = synchronized_timeline(number);
    *point = timeline->clock;
    timeline->ends_in_launch = false;
}

void timeline_wait(unsigned number, const struct timeline_clock *point) {
    struct timeline *timeline = synchronized_timeline(number);
    join(&timeline->clock, point);
    timeline->ends_in_launch = false;
}

void timeline_host_wait(const struct timeline_clock *point) {
    join(&host, point);
    if (concurrency != SIMULATOR_EXCLUSIVE)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < pending_count; i++)
        if (!is_before(&pending[i], &host))
            pending[kept++] = pending[i];
    pending_count = kept;
}

void timeline_host_wait_for(unsigned number) {
    timeline_host_wait(&synchronized_timeline(number)->clock);
}

void timeline_host_wait_for_device(int device) {
    struct timeline_clock all = {{0}};
    for (unsigned i = 0; i < TIMELINES; i++)
        if (device_of(i) == device)
            join(&all, &timelines[i].clock);
    timeline_host_wait(&all);
}

void timeline_add(struct work *work, bool programmatic) {
    struct timeline *timeline = synchronized_timeline(work->timeline);
    bool overlaps = work->kernel && programmatic && timeline->ends_in_launch;
    if (!overlaps) {
        timeline->start = timeline->clock;
        timeline->skipped_low = timeline->skipped_high = 0;
    } else if (timeline->waited) {
        timeline->start = timeline->before;
    } else {
        timeline->skipped_low = timeline->start.latest[work->timeline];
        timeline->skipped_high = timeline->clock.latest[work->timeline];
    }
    join(&timeline->start, &host);
    timeline->before = timeline->clock;
    timeline->ends_in_launch = work->kernel;
    timeline->waited = !overlaps;
    work->serial = ++serial;
    timeline->clock.latest[work->timeline] = serial;
    if (pending_count == MOST_PENDING)
        memmove(pending, pending + 1, --pending_count * sizeof *pending);
    pending[pending_count++] = *work;
}

struct concurrent_work *timeline_concurrent(size_t *count) {
    const struct work *work = &pending[pending_count - 1];
    const struct timeline *timeline = &timelines[work->timeline];
    struct concurrent_work *list = NULL;
    *count = 0;
    for (size_t i = 0; i + 1 < pending_count; i++) {
        bool declared = concurrency == SIMULATOR_CONCURRENT_PEER && pending[i].serial > declared_low &&
                        pending[i].serial <= declared_high;
        if (!declared && is_before(&pending[i], &timeline->start))
            continue;
        if (!list)
            list = malloc(pending_count * sizeof *list);
        if (!list)
            break;
        bool skipped = pending[i].timeline == work->timeline && pending[i].serial > timeline->skipped_low &&
                       pending[i].serial < timeline->skipped_high;
        list[(*count)++] = (struct concurrent_work){
            .work = pending[i],
            .until_wait = !declared && !skipped && is_before(&pending[i], &timeline->before),
            .skipped = skipped,
            .in_graph = timelines[pending[i].timeline].branch || timeline->branch,
            .declared = declared,
        };
    }
    return list;
}

void timeline_latest(unsigned number, struct timeline_clock *latest) {
    *latest = synchronized_timeline(number)->clock;
}

void timeline_host_observe(const struct timeline_clock *work) {
    join(&host, work);
}

void timeline_note_dependency_wait(unsigned number) {
    timelines[number].waited = true;
}

const struct work *timeline_pending_launch(uint32_t key) {
    for (size_t i = pending_count; i-- > 0;)
        if (pending[i].kernel && key >= pending[i].low && key < pending[i].high)
            return is_before(&pending[i], &host) ? NULL : &pending[i];
    return NULL;
}

const struct work *timeline_pending_copy(uint64_t address, bool written) {
    for (size_t i = pending_count; i-- > 0;)
        for (int side = 0; side < 2 && !pending[i].kernel && !is_before(&pending[i], &host); side++)
            if (pending[i].rows[side].written == written &&
                work_rows_overlap(&pending[i].rows[side], address, address + 1))
                return &pending[i];
    return NULL;
}

bool timeline_host_knows(const struct timeline_clock *work) {
    for (unsigned i = 0; i < TIMELINES; i++)
        if (work->latest[i] > host.latest[i])
            return false;
    return true;
}

bool work_rows_overlap(const struct work_rows *rows, uint64_t begin, uint64_t end) {
    if (!rows->height || end <= rows->address)
        return false;
    // The first row that ends behind begin.
    uint64_t past = begin > rows->address ? begin - rows->address : 0, row = rows->pitch ? past / rows->pitch : 0;
    row += past - row * rows->pitch >= rows->width;
    return row < rows->height && rows->address + row * rows->pitch < end;
}

void timeline_forget(void) {
    pending_count = 0;
    declared_low = declared_high;
}

void simulator_set_concurrency(uint64_t state) {
    if (!control_is_open())
        return;
    concurrency = (enum simulator_concurrency)state;
    declared_low = state == SIMULATOR_CONCURRENT ? serial : declared_low;
    declared_high = serial;
    if (concurrency == SIMULATOR_EXCLUSIVE)
        timeline_host_wait(&host);
}
