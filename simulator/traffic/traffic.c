// Launches and their counts. A launch has one table per host thread, so that counting needs no lock; when the launch
// ends, they are added to the totals of its kernel, which copy everything they need of the kernel and so outlive it.
#include "counts.h"
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// One instruction in one space: a generic load may access several.
struct cell {
    struct traffic_counts counts;
    uint32_t bytes;
    enum access_kind kind;
};

enum { SPACES = 3 }; // global, shared, local

enum { MOST_LINES = 2048, LINE_BYTES = 128, LINE_SECTORS = 4, L1_BYTES = 256 << 10 };

struct traffic_table {
    const int8_t *merged_bytes; // [instructions], the launch's
    const struct work_plan *plan;
    struct traffic_table *next;
    uint64_t *executed; // [instructions], followed by slots, see work_clock; NULL: work is not counted
    uint64_t missed_sectors, cycles, longest;
    uint32_t lines; // of a block's part of L1
    struct {
        uint64_t line;
        uint32_t sectors; // one bit each
    } held[MOST_LINES];
    struct cell cell[]; // [instructions * SPACES]
};

struct traffic_launch {
    const struct ptx_kernel *kernel;
    struct sim_dim grid, block;
    size_t shared_bytes;
    int8_t *merged_bytes;
    struct work_plan *plan; // NULL: work is not counted
    uint64_t blocks_run, resident_blocks, sm_blocks;
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

void traffic_launch_work(struct traffic_launch *launch, uint64_t blocks_run, uint64_t resident_blocks, unsigned sms) {
    if (!launch || !trace_counts_work())
        return;
    launch->blocks_run = blocks_run;
    launch->resident_blocks = resident_blocks;
    launch->sm_blocks = resident_blocks > sms ? resident_blocks / sms : 1;
    launch->plan = work_plan_make(launch->kernel, launch->merged_bytes);
}

// A power of 2.
static uint32_t lines_of_block(const struct traffic_launch *launch) {
    uint64_t blocks = launch->sm_blocks ? launch->sm_blocks : 1;
    uint64_t shared = blocks * launch->shared_bytes, bytes = shared < L1_BYTES ? (L1_BYTES - shared) / blocks : 0;
    uint32_t lines = 1;
    while (2 * lines <= bytes / LINE_BYTES && 2 * lines <= MOST_LINES)
        lines *= 2;
    return lines;
}

struct traffic_table *traffic_table_begin(struct traffic_launch *launch) {
    if (!launch)
        return NULL;
    const size_t cells = (size_t)launch->kernel->instructions * SPACES;
    struct traffic_table *table = calloc(1, sizeof *table + cells * sizeof table->cell[0]);
    if (!table)
        return NULL;
    table->merged_bytes = launch->merged_bytes;
    table->plan = launch->plan;
    table->lines = lines_of_block(launch);
    if (launch->plan)
        table->executed = calloc((size_t)launch->kernel->instructions + 1, sizeof *table->executed);
    pthread_mutex_lock(&launch->lock);
    table->next = launch->tables;
    launch->tables = table;
    pthread_mutex_unlock(&launch->lock);
    return table;
}

struct work_units *traffic_units_make(struct traffic_table *table) {
    return table && table->executed ? work_units_make() : NULL;
}

struct work_clock *traffic_clock_make(struct traffic_table *table, struct work_units *units, unsigned warp) {
    struct work_clock *clock = units ? calloc(1, sizeof *clock) : NULL;
    if (clock && work_clock_make(clock, table->plan, table->executed, units, warp))
        return clock;
    free(clock);
    return NULL;
}

void traffic_block_start(struct traffic_table *table) {
    if (table && table->executed)
        memset(table->held, 0, table->lines * sizeof table->held[0]);
}

void traffic_bulk(struct traffic_table *table, uint32_t bytes) {
    if (table)
        table->missed_sectors += bytes / 32;
}

static struct cell *bulk_cell(struct traffic_table *table, int32_t instruction, enum access_kind kind) {
    struct cell *cell = &table->cell[instruction * SPACES + space_index(PTX_GLOBAL)];
    cell->kind = kind;
    return cell;
}

void traffic_bulk_request(struct traffic_table *table, int32_t instruction, enum access_kind kind) {
    if (!table || trace_mode() != TRACE_LAUNCHES)
        return;
    struct cell *cell = bulk_cell(table, instruction, kind);
    cell->counts.requests++;
    cell->counts.lanes++;
}

static struct cell *bulk_row(struct traffic_table *table, int32_t instruction, enum access_kind kind, uint32_t bytes) {
    struct cell *cell = bulk_cell(table, instruction, kind);
    cell->bytes = bytes;
    cell->counts.bytes += bytes;
    cell->counts.ideal_sectors += traffic_row_sectors(0, bytes);
    return cell;
}

void traffic_bulk_load(struct traffic_table *table, int32_t instruction, unsigned blocks, uint64_t to, uint64_t address,
                       uint32_t bytes) {
    if (table && trace_mode() == TRACE_LAUNCHES)
        bulk_row(table, instruction, ACCESS_BULK_LOAD, bytes)->counts.sectors +=
            blocks * traffic_bulk_sectors(to, address, bytes);
}

void traffic_bulk_fill(struct traffic_table *table, int32_t instruction, unsigned blocks, uint64_t to, uint32_t bytes) {
    if (table && trace_mode() == TRACE_LAUNCHES)
        bulk_cell(table, instruction, ACCESS_BULK_LOAD)->counts.sectors += blocks * traffic_filled_sectors(to, bytes);
}

void traffic_bulk_store(struct traffic_table *table, int32_t instruction, enum access_kind kind, uint64_t from,
                        uint64_t address, uint32_t bytes) {
    if (table && trace_mode() == TRACE_LAUNCHES)
        bulk_row(table, instruction, kind, bytes)->counts.sectors += traffic_bulk_sectors(from, address, bytes);
}

void traffic_block_end(struct traffic_table *table, uint32_t cycles) {
    if (!table)
        return;
    table->cycles += cycles;
    table->longest = cycles > table->longest ? cycles : table->longest;
}

// Takes a sector into L1. False: it was in L1 already.
static bool take_sector(struct traffic_table *table, uint64_t address) {
    uint64_t line = address / LINE_BYTES + 1;
    uint32_t sector = 1u << address % LINE_BYTES / (LINE_BYTES / LINE_SECTORS);
    uint32_t index = (uint32_t)(line ^ line >> 11) & (table->lines - 1);
    if (table->held[index].line != line) {
        table->held[index].line = line;
        table->held[index].sectors = 0;
    }
    bool missed = !(table->held[index].sectors & sector);
    table->held[index].sectors |= sector;
    return missed;
}

// Loads go through L1, all other accesses bypass it.
static bool lookup_l1(struct traffic_table *table, const struct traffic_access *access, uint32_t bytes,
                      uint64_t sectors) {
    uint64_t last = 0, missed = 0;
    if (access->kind != ACCESS_LOAD) {
        table->missed_sectors += sectors;
        return true;
    }
    for (uint32_t left = access->mask; left; left &= left - 1) {
        uint64_t address = access->address[__builtin_ctz(left)], end = address + bytes;
        for (uint64_t at = address / 32 * 32; at < end; at += 32)
            if (at + 1 != last) {
                missed += take_sector(table, at);
                last = at + 1;
            }
    }
    table->missed_sectors += missed;
    return missed;
}

bool traffic_record(struct traffic_table *table, const struct traffic_access *access) {
    const int merged = table->merged_bytes[access->instruction];
    if (access->mask == 0 || merged < 0)
        return true;
    struct cell *cell = &table->cell[access->instruction * SPACES + space_index(access->space)];
    const uint32_t bytes = merged > 0 ? (uint32_t)merged : access->bytes;
    const uint64_t lanes = (uint64_t)__builtin_popcount(access->mask);
    cell->bytes = bytes;
    cell->kind = access->kind;
    cell->counts.requests++;
    cell->counts.lanes += lanes;
    cell->counts.bytes += lanes * bytes;
    if (access->space == PTX_SHARED) {
        traffic_count_wavefronts(&cell->counts, access->kind, bytes, access->mask, access->address);
        return true;
    }
    const uint64_t sectors = cell->counts.sectors;
    traffic_count_sectors(&cell->counts, access->space, access->kind, bytes, access->mask, access->address, access->to);
    return !table->executed || lookup_l1(table, access, bytes, cell->counts.sectors - sectors);
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
    access->outer_line = access->own_line = outer->line;
    for (const struct ptx_location *at = inner; at != outer; at = &module->location[at->inlined_at])
        if (at->file == outer->file) {
            access->own_line = at->line;
            break;
        }
}

// The total of this launch's kernel; a new one if it is the first launch of its kind, or each launch is kept
// separately.
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
    int position = total->accesses;
    for (int i = 0; i < total->accesses; i++) {
        struct traffic_access_total *access = &total->access[i];
        if (access->instruction == instruction && access->space == space)
            return access;
        if (access->instruction > instruction && position == total->accesses)
            position = i;
    }
    struct traffic_access_total *grown = realloc(total->access, ((size_t)total->accesses + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    total->access = grown;
    memmove(&grown[position + 1], &grown[position], (size_t)(total->accesses - position) * sizeof *grown);
    total->accesses++;
    const struct ptx_instruction *source = &launch->kernel->instruction[instruction];
    grown[position] = (struct traffic_access_total){
        .instruction = instruction,
        .ptx = copy_string(source->text),
        .space = space,
        .merged_leader = launch->merged_bytes[instruction] > 0,
        .merged_member = launch->merged_bytes[instruction] < 0,
        .is_loop = space == PTX_SHARED && traffic_is_loop(source),
    };
    locate(launch->kernel->module, source->location, &grown[position]);
    return &grown[position];
}

static void add_work(struct traffic_kernel_total *total, const struct traffic_launch *launch,
                     const struct traffic_table *table) {
    total->missed_sectors += table->missed_sectors;
    total->cycles += table->cycles;
    total->longest = table->longest > total->longest ? table->longest : total->longest;
    total->work[WORK_ISSUE] += table->executed ? table->executed[launch->kernel->instructions] : 0;
    for (int32_t i = 0; table->executed && i < launch->kernel->instructions; i++)
        for (int w = 0; table->executed[i] && w < WORK_KINDS; w++)
            total->work[w] += table->executed[i] * work_plan_cost(launch->plan, i)->count[w];
}

static void add_table(struct traffic_kernel_total *total, const struct traffic_launch *launch,
                      const struct traffic_table *table) {
    add_work(total, launch, table);
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
    if (total) {
        total->launches++;
        total->blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
        total->blocks_run += launch->blocks_run;
        total->resident_blocks = launch->resident_blocks;
    }
    while (launch->tables) {
        struct traffic_table *table = launch->tables;
        launch->tables = table->next;
        if (total)
            add_table(total, launch, table);
        free(table->executed);
        free(table);
    }
    pthread_mutex_unlock(&totals_lock);
    pthread_mutex_destroy(&launch->lock);
    work_plan_free(launch->plan);
    free(launch->merged_bytes);
    free(launch);
}

const struct traffic_kernel_total *traffic_totals(void) {
    return totals;
}
