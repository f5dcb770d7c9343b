#include "host_access.h"

#include "global_shadow.h"
#include "host_before.h"

#include "../machine/bound.h"
#include "../machine/element_names.h"
#include "../machine/kernel_name.h"
#include "../machine/report.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// PAGE_KEEPING: a thread keeps the page's content, since pending work is about to write it. PAGE_SHOWN: the page has
// its former values.
enum { PAGE_READ = 1, PAGE_WRITTEN = 2, PAGE_KEEPING = 4, PAGE_SHOWN = 8, MOST_ACCESSES = 8 };

// For so long the host sees former values: a loop that waits for a value ends, as it mostly does on a GPU.
enum { SHOWN_MS = 200 };

// The pages of one allocation that work accesses which the host has not waited for.
struct host_pages {
    struct sim_allocation *allocation;
    struct timeline_clock work; // the latest of it
    bool noted;                 // since the last host_access_end_work()
    struct host_before *copies; // or NULL
    const void *reported[2];    // of reads and writes by the host: the kernel, or what the work was, in the last race
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
    bool stores; // the host does
} races[MOST_ACCESSES];
static volatile sig_atomic_t race_count;

// Pages that are shown are counted; a thread of its own, which excludes host_access_enter(), ends that after a while.
static sem_t shown;
static pthread_mutex_t showing = PTHREAD_MUTEX_INITIALIZER;

// Of several threads that write the page, the first keeps its content, and the others wait for that.
static void keep(struct host_pages *pages, size_t number, size_t page) {
    uint8_t *state = &pages->page[number];
    if (__atomic_load_n(state, __ATOMIC_ACQUIRE) & PAGE_WRITTEN)
        return;
    if (__atomic_fetch_or(state, PAGE_KEEPING, __ATOMIC_ACQ_REL) & PAGE_KEEPING) {
        while (!(__atomic_load_n(state, __ATOMIC_ACQUIRE) & PAGE_WRITTEN))
            sched_yield();
        return;
    }
    if (pages->copies)
        host_before_keep(pages->copies, number * page, page);
    __atomic_fetch_or(state, PAGE_WRITTEN, __ATOMIC_RELEASE);
}

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
        made->copies = host_before_new(allocation->bytes, count * page);
        if (!__atomic_compare_exchange_n(&allocation->host_pages, &pages, made, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            host_before_free(made->copies);
            free(made);
        } else {
            pages = made;
            made->next = __atomic_load_n(&guarded, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(&guarded, &made->next, made, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                ;
        }
    }
    for (size_t i = offset / page; i <= (offset + bytes - 1) / page; i++)
        if (writes)
            keep(pages, i, page);
        else if (!(__atomic_load_n(&pages->page[i], __ATOMIC_RELAXED) & PAGE_READ))
            __atomic_fetch_or(&pages->page[i], PAGE_READ, __ATOMIC_RELAXED);
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

// Whether a pending launch or copy writes the word, and no signal tells the host of it.
static bool is_pending(const void *of, size_t offset) {
    const struct sim_allocation *allocation = of;
    const struct global_shadow *shadow = allocation->races;
    uint64_t write = shadow ? shadow->cells.write[offset / 4] : 0;
    if (shadow && timeline_pending_launch(shadow_block(write)))
        return shadow_lane(shadow_when(write)) != SHADOW_ATOMIC;
    return timeline_pending_copy(allocation->address + offset, true);
}

static size_t page_end(const struct host_pages *pages, size_t begin) {
    size_t end = begin + page_bytes;
    return end < pages->allocation->size ? end : pages->allocation->size / 4 * 4;
}

static void show(struct host_pages *pages, size_t number) {
    size_t begin = number * page_bytes, end = page_end(pages, begin);
    if (!pages->copies || end <= begin || pages->page[number] & PAGE_SHOWN)
        return;
    host_before_show(pages->copies, begin, end - begin, pages->allocation, is_pending);
    pages->page[number] |= PAGE_SHOWN;
    sem_post(&shown);
}

static void end_shown(void) {
    pthread_mutex_lock(&showing);
    for (struct host_pages *pages = guarded; pages; pages = pages->next) {
        for (size_t i = 0; i < pages->count; i++) {
            if (!(pages->page[i] & PAGE_SHOWN))
                continue;
            host_before_end(pages->copies, i * page_bytes, page_end(pages, i * page_bytes) - i * page_bytes);
            pages->page[i] &= (uint8_t)~PAGE_SHOWN;
        }
    }
    pthread_mutex_unlock(&showing);
}

// x86-64 says what the host does; elsewhere an access to a page that work has written may be either.
static bool is_store(const void *context, bool page_written) {
#ifdef __x86_64__
    (void)page_written;
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)context;
    return !page_written;
#endif
}

// Of an array that the host walks through, the first page says it all.
static void note_race(struct host_pages *pages, const struct host_race *race) {
    const void *with = race->work.kernel ? (const void *)race->work.kernel : race->work.what;
    if (pages->reported[race->stores] == with || race_count == MOST_ACCESSES)
        return;
    pages->reported[race->stores] = with;
    races[race_count++] = *race;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    uint8_t *at = info->si_addr;
    for (struct host_pages *pages = guarded; pages; pages = pages->next) {
        struct sim_allocation *allocation = pages->allocation;
        size_t offset = (size_t)(at - allocation->bytes), page = offset / page_bytes;
        if (at < allocation->bytes || offset >= allocation->size || !pages->page[page])
            continue;
        bool page_written = pages->page[page] & PAGE_WRITTEN;
        struct host_race race = {.allocation = allocation, .offset = offset, .stores = is_store(context, page_written)};
        bool found = find_launch(allocation, offset, page_written, &race) ||
                     find_copy((uint64_t)(uintptr_t)at, page_written, &race);
        if (found)
            note_race(pages, &race);
        mprotect(allocation->bytes + page * page_bytes, page_bytes, PROT_READ | PROT_WRITE);
        if (found && race.written)
            show(pages, page);
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

static void *end_shown_later(void *unused) {
    for (;;) {
        while (sem_wait(&shown))
            ;
        usleep(1000 * SHOWN_MS);
        end_shown();
    }
    return unused;
}

static void install_handler(void) {
    struct sigaction now, action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    pthread_t thread;
    if (!page_bytes && sem_init(&shown, 0, 0) == 0 && pthread_create(&thread, NULL, end_shown_later, NULL) == 0)
        pthread_detach(thread);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction != on_fault && sigaction(SIGSEGV, &action, NULL) == 0)
        previous = now;
}

void host_access_enter(void) {
    for (struct host_pages *pages = guarded; is_protected && pages; pages = pages->next)
        protect(pages, false);
    if (is_protected)
        end_shown();
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
        char element[ELEMENT_NAME_TEXT], what[420], location[256];
        element_name_global(race->allocation, race->offset, element);
        if (race->work.kernel) {
            const struct sim_kernel *kernel = race->work.kernel;
            size_t length;
            const char *name = kernel_plain_name(kernel->ptx->name, &length);
            sim_report_location(kernel->ptx, kernel->code[shadow_pc(race->by)].line, location, sizeof location);
            snprintf(what, sizeof what, "kernel %.*s (%s)", (int)(length < 100 ? length : 100), name, location);
        } else {
            snprintf(what, sizeof what, "%s", race->work.what);
        }
        sim_report_call(SIM_FINDING_RACE_HOST, "the host %s %s before it has waited for %s, which may still %s",
                        race->stores ? "writes" : "reads", element, what, race->written ? "write it" : "read it");
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
    pthread_mutex_lock(&showing);
    *link = pages->next;
    pthread_mutex_unlock(&showing);
    allocation->host_pages = NULL;
    host_before_free(pages->copies);
    free(pages);
}
