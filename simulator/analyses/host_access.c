#include "host_access.h"

#include "global_shadow.h"

#include "../machine/bound.h"
#include "../machine/element_names.h"
#include "../machine/kernel_name.h"
#include "../machine/report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_READ = 1, PAGE_WRITTEN = 2, MOST_ACCESSES = 8 };

// The pages of one allocation that work accesses which the host has not waited for.
struct host_pages {
    struct sim_allocation *allocation;
    struct timeline_clock work; // the latest of it
    bool noted;                 // since the last host_access_end_work()
    size_t count;
    struct host_pages *next;
    uint8_t page[]; // [count] PAGE_...
};

static struct host_pages *guarded;
static bool is_protected;
static size_t page_bytes;
static struct sigaction previous;

// What the handler has found, for host_access_report(): a handler cannot print.
static struct host_race {
    const struct sim_allocation *allocation;
    size_t offset;
    struct work work;
    uint32_t by;
    bool written;
} races[MOST_ACCESSES];
static volatile sig_atomic_t race_count;

void host_access_note(struct sim_allocation *allocation, size_t offset, size_t bytes, bool writes) {
    if (!allocation->mapped_bytes || !bytes)
        return; // memory of the program's own: its pages may hold other variables
    struct host_pages *pages = __atomic_load_n(&allocation->host_pages, __ATOMIC_ACQUIRE);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!pages) {
        size_t count = (allocation->size + page - 1) / page;
        struct host_pages *made = calloc(1, sizeof *made + count);
        if (!made)
            return;
        made->allocation = allocation;
        made->count = count;
        if (!__atomic_compare_exchange_n(&allocation->host_pages, &pages, made, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            free(made);
        } else {
            pages = made;
            made->next = __atomic_load_n(&guarded, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(&guarded, &made->next, made, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                ;
        }
    }
    uint8_t state = writes ? PAGE_WRITTEN : PAGE_READ;
    for (size_t i = offset / page; i <= (offset + bytes - 1) / page; i++)
        if (!(__atomic_load_n(&pages->page[i], __ATOMIC_RELAXED) & state))
            __atomic_fetch_or(&pages->page[i], state, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&pages->noted, __ATOMIC_RELAXED))
        __atomic_store_n(&pages->noted, true, __ATOMIC_RELAXED);
}

void host_access_end_work(unsigned timeline) {
    struct timeline_clock now;
    bool read = false;
    for (struct host_pages *pages = guarded; pages; pages = pages->next) {
        if (!pages->noted)
            continue;
        if (!read)
            timeline_latest(timeline, &now);
        read = true;
        pages->work.latest[timeline] = now.latest[timeline];
        pages->noted = false;
    }
}

// Protects the runs of pages that are in use, or makes all of them accessible.
static void protect(const struct host_pages *pages, bool on) {
    for (size_t first = 0, end; first < pages->count; first = end) {
        uint8_t state = pages->page[first];
        for (end = first + 1; end < pages->count && pages->page[end] == state;)
            end++;
        int access = state & PAGE_WRITTEN ? PROT_NONE : PROT_READ;
        if (state)
            mprotect(pages->allocation->bytes + first * page_bytes, (end - first) * page_bytes,
                     on ? access : PROT_READ | PROT_WRITE);
    }
}

// The pending launch that has written, or read, the word. A word that was written by an atomic or volatile store is a
// signal: the host that polls it knows all that the launch did before.
static bool find_launch(const struct sim_allocation *allocation, size_t offset, bool page_written,
                        struct host_race *race) {
    const struct global_shadow *shadow = allocation->races;
    if (!shadow)
        return false;
    uint64_t write = shadow->cells.write[offset / 4], read = shadow->cells.read[offset / 4];
    const struct work *work = timeline_pending_launch(shadow_block(write));
    if (work && shadow_lane(shadow_when(write)) == SHADOW_ATOMIC) {
        struct timeline_clock signal = {{0}};
        signal.latest[work->timeline] = work->serial;
        timeline_host_observe(&signal);
        return false;
    }
    race->written = work;
    race->by = shadow->cells.write_by[offset / 4];
    if (!work && !page_written) {
        work = timeline_pending_launch(shadow_block(read));
        race->by = shadow->cells.read_by[offset / 4];
    }
    if (work)
        race->work = *work;
    return work;
}

static bool find_copy(uint64_t address, bool page_written, struct host_race *race) {
    const struct work *work = timeline_pending_copy(address, page_written);
    race->written = page_written;
    if (work)
        race->work = *work;
    return work;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    uint8_t *at = info->si_addr;
    for (struct host_pages *pages = guarded; pages; pages = pages->next) {
        struct sim_allocation *allocation = pages->allocation;
        size_t offset = (size_t)(at - allocation->bytes);
        if (at < allocation->bytes || offset >= allocation->size || !pages->page[offset / page_bytes])
            continue;
        bool page_written = pages->page[offset / page_bytes] & PAGE_WRITTEN;
        struct host_race race = {.allocation = allocation, .offset = offset};
        if (race_count < MOST_ACCESSES && (find_launch(allocation, offset, page_written, &race) ||
                                           find_copy((uint64_t)(uintptr_t)at, page_written, &race)))
            races[race_count++] = race;
        mprotect(allocation->bytes + offset / page_bytes * page_bytes, page_bytes, PROT_READ | PROT_WRITE);
        return;
    }
    // Not here: what the program does of its own accord, or the system's default.
    if (previous.sa_flags & SA_SIGINFO && previous.sa_sigaction)
        previous.sa_sigaction(number, info, context);
    else if (previous.sa_handler && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(number);
    else
        signal(number, SIG_DFL);
}

static void install_handler(void) {
    struct sigaction now, action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction != on_fault && sigaction(SIGSEGV, &action, NULL) == 0)
        previous = now;
}

void host_access_enter(void) {
    for (struct host_pages *pages = guarded; is_protected && pages; pages = pages->next)
        protect(pages, false);
    is_protected = false;
    if (race_count)
        host_access_report();
}

void host_access_leave(void) {
    for (struct host_pages *pages = guarded; pages; pages = pages->next) {
        if (timeline_host_knows(&pages->work)) {
            memset(pages->page, 0, pages->count);
            pages->work = (struct timeline_clock){{0}};
            continue;
        }
        if (!is_protected)
            install_handler();
        is_protected = true;
        protect(pages, true);
    }
}

void host_access_report(void) {
    for (int i = 0; i < race_count; i++) {
        const struct host_race *race = &races[i];
        char element[ELEMENT_NAME_TEXT], what[420] = "an asynchronous copy or memset", location[256];
        element_name_global(race->allocation, race->offset, element);
        if (race->work.kernel) {
            const struct sim_kernel *kernel = race->work.kernel;
            size_t length;
            const char *name = kernel_plain_name(kernel->ptx->name, &length);
            sim_report_location(kernel->ptx, kernel->code[shadow_pc(race->by)].line, location, sizeof location);
            snprintf(what, sizeof what, "kernel %.*s, at %s,", (int)(length < 100 ? length : 100), name, location);
        }
        sim_report_call(SIM_FINDING_RACE_STREAMS,
                        "the host %s %s, which %s may still %s: the host has not waited for it [host-race]",
                        race->written ? "accesses" : "writes", element, what, race->written ? "write" : "read");
    }
    if (race_count)
        sim_report_flush();
    race_count = 0;
}

void host_access_forget(struct sim_allocation *allocation) {
    struct host_pages **link = &guarded;
    while (*link && (*link)->allocation != allocation)
        link = &(*link)->next;
    if (!*link)
        return;
    struct host_pages *pages = *link;
    host_access_report();
    *link = pages->next;
    allocation->host_pages = NULL;
    free(pages);
}
