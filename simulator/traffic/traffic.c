// Who counts where. A launch has one table a host thread, so that counting needs no lock; when the launch ends they are
// added to the totals of its kernel, which copy whatever they need of the kernel and so outlive it.
#include "counts.h"
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// One instruction in one space: a generic load may touch several.
struct cell {
    struct traffic_counts counts;
    uint32_t bytes;
    enum access_kind kind;
};

enum { SPACES = 3 }; // global, shared, local

struct traffic_table {
    const int8_t *merged_bytes; // [instructions], the launch's
    struct traffic_table *next;
    struct cell cell[]; // [instructions * SPACES]
};

struct traffic_launch {
    const struct ptx_kernel *kernel;
    struct sim_dim grid, block;
    size_t shared_bytes;
    int8_t *merged_bytes;
    pthread_mutex_t lock; // of the list of tables
    struct traffic_table *tables;
};

static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static struct traffic_kernel_total *totals, **totals_end = &totals;

static const enum ptx_space space_of[SPACES] = {PTX_GLOBAL, PTX_SHARED, PTX_LOCAL};

static int space_index(enum ptx_space space) {
    return space == PTX_GLOBAL ? 0 : space == PTX_SHARED ? 1 : 2;
}

bool traffic_enabled(void) {
    return trace_mode() != TRACE_OFF;
}

struct traffic_launch *traffic_launch_begin(const struct ptx_kernel *kernel, struct sim_dim grid, struct sim_dim block,
                                            size_t dynamic_shared_bytes) {
    struct traffic_launch *launch = traffic_enabled() ? calloc(1, sizeof *launch) : NULL;
    if (!launch)
        return NULL;
    *launch = (struct traffic_launch){
        .kernel = kernel,
        .grid = grid,
        .block = block,
        .shared_bytes = kernel->static_shared_bytes + dynamic_shared_bytes,
        .merged_bytes = traffic_merged_bytes(kernel),
    };
    if (!launch->merged_bytes) {
        free(launch);
        return NULL;
    }
    pthread_mutex_init(&launch->lock, NULL);
    return launch;
}

struct traffic_table *traffic_table_begin(struct traffic_launch *launch) {
    if (!launch)
        return NULL;
    const size_t cells = (size_t)launch->kernel->instructions * SPACES;
    struct traffic_table *table = calloc(1, sizeof *table + cells * sizeof table->cell[0]);
    if (!table)
        return NULL;
    table->merged_bytes = launch->merged_bytes;
    pthread_mutex_lock(&launch->lock);
    table->next = launch->tables;
    launch->tables = table;
    pthread_mutex_unlock(&launch->lock);
    return table;
}

void traffic_record(struct traffic_table *table, const struct traffic_access *access) {
    const int merged = table->merged_bytes[access->instruction];
    if (access->mask == 0 || merged < 0)
        return;
    struct cell *cell = &table->cell[access->instruction * SPACES + space_index(access->space)];
    const uint32_t bytes = merged > 0 ? (uint32_t)merged : access->bytes;
    const uint64_t lanes = (uint64_t)__builtin_popcount(access->mask);
    cell->bytes = bytes;
    cell->kind = access->kind;
    cell->counts.requests++;
    cell->counts.lanes += lanes;
    cell->counts.bytes += lanes * bytes;
    if (access->space == PTX_SHARED)
        traffic_count_wavefronts(&cell->counts, access->kind, bytes, access->mask, access->address);
    else
        traffic_count_sectors(&cell->counts, access->space, access->kind, bytes, access->mask, access->address);
}

static void add_counts(struct traffic_counts *to, const struct traffic_counts *from) {
    to->requests += from->requests;
    to->lanes += from->lanes;
    to->bytes += from->bytes;
    to->sectors += from->sectors;
    to->ideal_sectors += from->ideal_sectors;
    to->wavefronts += from->wavefronts;
    to->ideal_wavefronts += from->ideal_wavefronts;
}

// Strings of the totals live until the process ends.
static const char *copy_string(const char *text) {
    if (!text)
        return "";
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : "";
}

static void locate(const struct ptx_module *module, int32_t location, struct traffic_access_total *access) {
    access->file = access->outer_file = "";
    if (location < 0 || location >= module->locations)
        return;
    const struct ptx_location *inner = &module->location[location], *outer = inner;
    while (outer->inlined_at >= 0 && outer->inlined_at < module->locations)
        outer = &module->location[outer->inlined_at];
    access->file = copy_string(module->file[inner->file]);
    access->line = inner->line;
    access->outer_file = copy_string(module->file[outer->file]);
    access->outer_line = outer->line;
}

// The total that this launch belongs to; a new one where it is the first of its kind, or each launch is kept for
// itself.
static struct traffic_kernel_total *find_total(const struct traffic_launch *launch) {
    for (struct traffic_kernel_total *t = totals; t && trace_mode() != TRACE_LAUNCHES; t = t->next)
        if (strcmp(t->name, launch->kernel->name) == 0 && memcmp(&t->grid, &launch->grid, sizeof t->grid) == 0 &&
            memcmp(&t->block, &launch->block, sizeof t->block) == 0 && t->shared_bytes == launch->shared_bytes)
            return t;
    struct traffic_kernel_total *total = calloc(1, sizeof *total);
    if (total) {
        total->name = copy_string(launch->kernel->name);
        total->grid = launch->grid;
        total->block = launch->block;
        total->shared_bytes = launch->shared_bytes;
        *totals_end = total;
        totals_end = &total->next;
    }
    return total;
}

// The row of an instruction in a space; rows stay in the order of instructions.
static struct traffic_access_total *find_access(struct traffic_kernel_total *total, const struct traffic_launch *launch,
                                                int32_t instruction, enum ptx_space space) {
    int place = total->accesses;
    for (int i = 0; i < total->accesses; i++) {
        struct traffic_access_total *access = &total->access[i];
        if (access->instruction == instruction && access->space == space)
            return access;
        if (access->instruction > instruction && place == total->accesses)
            place = i;
    }
    struct traffic_access_total *grown = realloc(total->access, ((size_t)total->accesses + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    total->access = grown;
    memmove(&grown[place + 1], &grown[place], (size_t)(total->accesses - place) * sizeof *grown);
    total->accesses++;
    const struct ptx_instruction *source = &launch->kernel->instruction[instruction];
    grown[place] = (struct traffic_access_total){
        .instruction = instruction,
        .ptx = copy_string(source->text),
        .space = space,
        .merged_leader = launch->merged_bytes[instruction] > 0,
        .merged_member = launch->merged_bytes[instruction] < 0,
    };
    locate(launch->kernel->module, source->location, &grown[place]);
    return &grown[place];
}

static void add_table(struct traffic_kernel_total *total, const struct traffic_launch *launch,
                      const struct traffic_table *table) {
    for (int32_t i = 0; i < launch->kernel->instructions; i++) {
        for (int s = 0; s < SPACES; s++) {
            const struct cell *cell = &table->cell[i * SPACES + s];
            struct traffic_access_total *access =
                cell->counts.requests > 0 ? find_access(total, launch, i, space_of[s]) : NULL;
            if (access) {
                access->kind = cell->kind;
                access->bytes = cell->bytes;
                add_counts(&access->counts, &cell->counts);
            }
        }
    }
}

void traffic_launch_end(struct traffic_launch *launch) {
    if (!launch)
        return;
    pthread_mutex_lock(&totals_lock);
    struct traffic_kernel_total *total = find_total(launch);
    if (total)
        total->launches++;
    while (launch->tables) {
        struct traffic_table *table = launch->tables;
        launch->tables = table->next;
        if (total)
            add_table(total, launch, table);
        free(table);
    }
    pthread_mutex_unlock(&totals_lock);
    pthread_mutex_destroy(&launch->lock);
    free(launch->merged_bytes);
    free(launch);
}

const struct traffic_kernel_total *traffic_totals(void) {
    return totals;
}
