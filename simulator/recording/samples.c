// Accesses to memory: counts all, and keeps a sample of them as text.
#include "record.h"

#include "../lanes/wgmma.h"
#include "../machine/control.h"
#include "../machine/element_names.h"
#include "../simulator.h"
#include "../traffic/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEMORY = 64, MOST_UNITS = 2 * WGMMA_MOST_N * WGMMA_K_BYTES / 16 };

static struct recorded_memory memory[MOST_MEMORY];
static int memories, numbered;

// ---- Device memory -------------------------------------------------------------------------------------------------

void simulator_describe_memory(const void *device, size_t bytes, const char *name, const char *dtype,
                               unsigned element_bytes, int dimensions, const int64_t *size, const int64_t *stride,
                               const char *const *axis) {
    if (!control_is_open())
        return;
    element_names_describe((uint64_t)(uintptr_t)device, name, element_bytes, dimensions, size, stride);
    if (memories == MOST_MEMORY || dimensions > 5)
        return;
    struct recorded_memory *new = &memory[memories++];
    *new = (struct recorded_memory){.address = (uint64_t)(uintptr_t)device,
                                    .bytes = bytes,
                                    .element_bytes = element_bytes,
                                    .dimensions = dimensions,
                                    .number = -1};
    snprintf(new->name, sizeof new->name, "%s", name);
    snprintf(new->dtype, sizeof new->dtype, "%s", dtype);
    for (int d = 0; d < dimensions; d++) {
        new->size[d] = size[d];
        new->stride[d] = stride[d];
        snprintf(new->axis[d], sizeof new->axis[d], "%s", axis[d]);
    }
}

int recording_memory(uint64_t address, int64_t *offset) {
    int64_t distance = 0;
    const struct sim_allocation *allocation = sim_memory_find(address, 1);
    if (!allocation)
        allocation = sim_memory_nearest(address, &distance);
    if (!allocation)
        return -1;
    int i = 0;
    while (i < memories && memory[i].address != allocation->address)
        i++;
    if (i == memories && memories == MOST_MEMORY)
        return -1;
    if (i == memories) {
        memory[memories++] = (struct recorded_memory){
            .address = allocation->address, .bytes = allocation->size, .element_bytes = 1, .number = -1};
        if (allocation->name)
            snprintf(memory[i].name, sizeof memory[i].name, "%s", allocation->name);
        else
            snprintf(memory[i].name, sizeof memory[i].name, "allocation %u", allocation->id);
    }
    if (memory[i].number < 0)
        memory[i].number = numbered++;
    *offset = (int64_t)(address - memory[i].address);
    return memory[i].number;
}

const struct recorded_memory *recording_memory_at(int number) {
    for (int i = 0; i < memories; i++)
        if (memory[i].number == number)
            return &memory[i];
    return NULL;
}

// ---- Sites ---------------------------------------------------------------------------------------------------------

struct site *samples_site(struct recording *recording, int32_t instruction, enum site_space space, const char *kind) {
    struct site **site = &recording->site[instruction][space];
    if (!*site) {
        *site = calloc(1, sizeof **site);
        if (*site)
            **site = (struct site){.instruction = instruction, .space = space, .kind = kind};
    }
    return *site;
}

void samples_add(struct samples *samples, const struct sample *sample) {
    if (samples->count == samples->room) {
        size_t room = samples->room ? 2 * samples->room : 16;
        struct sample *grown = realloc(samples->list, room * sizeof *grown);
        if (!grown) {
            free(sample->text);
            return;
        }
        samples->list = grown;
        samples->room = room;
    }
    samples->list[samples->count++] = *sample;
}

void samples_free(struct samples *samples) {
    for (size_t i = 0; i < samples->count; i++)
        free(samples->list[i].text);
    free(samples->list);
    *samples = (struct samples){.count = 0};
}

// ---- One access as text --------------------------------------------------------------------------------------------

static void add_head(struct json *json, const struct recent *access) {
    json_add(json, "[%llu,%u,%u,%llu,%u,", (unsigned long long)access->block, access->warp, access->n,
             (unsigned long long)access->seq, access->mask);
}

static void add_global(struct json *json, const struct recent *access) {
    int64_t offset[LANES], first = 0;
    size_t count = 0;
    const int lane = first_lane(access->mask);
    const int number = recording_memory(access->address[lane], &first);
    for (uint32_t left = access->mask; left; left &= left - 1)
        offset[count++] = first + (int64_t)(access->address[first_lane(left)] - access->address[lane]);
    if (number >= 0)
        json_add(json, "%d,", number);
    else
        json_add(json, "null,");
    json_runs(json, offset, count);
}

static void add_own(struct json *json, const struct recent *access) {
    int64_t offset[LANES];
    size_t count = 0;
    for (uint32_t left = access->mask; left; left &= left - 1)
        offset[count++] = (int64_t)(uint32_t)access->address[first_lane(left)];
    json_add(json, "null,");
    json_runs(json, offset, count);
}

static void add_passes(struct json *json, const struct recent *access, enum access_kind kind) {
    struct traffic_wavefronts passes = {.count = 0};
    struct traffic_counts counts = {0};
    int64_t number[TRAFFIC_MOST_WAVEFRONTS];
    size_t count = 0, words = access->bytes <= 4 ? 1 : access->bytes >= 16 ? 4 : access->bytes / 4;
    traffic_find_wavefronts(&counts, kind, access->bytes, access->mask, access->address, &passes);
    for (uint32_t left = access->mask; left; left &= left - 1)
        for (size_t w = 0; w < words; w++)
            number[count++] = passes.word[first_lane(left)][w];
    json_add(json, ",");
    json_runs(json, number, count);
    for (unsigned i = 0; i < passes.count; i++)
        number[i] = passes.part[i];
    json_add(json, ",");
    json_runs(json, number, passes.count);
}

static enum access_kind kind_of(const struct site *site) {
    for (int kind = ACCESS_LOAD; kind <= ACCESS_BULK_STORE; kind++)
        if (!strcmp(access_kind_name((enum access_kind)kind), site->kind))
            return (enum access_kind)kind;
    return ACCESS_LOAD;
}

static char *text_of(const struct site *site, const struct recent *access) {
    struct json json = {0};
    add_head(&json, access);
    if (site->space == SITE_GLOBAL)
        add_global(&json, access);
    else
        add_own(&json, access);
    if (site->space == SITE_SHARED)
        add_passes(&json, access, kind_of(site));
    json_add(&json, "]");
    if (json.failed)
        json_free(&json);
    return json.text;
}

int32_t samples_keep(struct site *site, struct recent *recent) {
    if (recent->sample < 0) {
        char *text = text_of(site, recent);
        recent->sample = (int32_t)site->samples.count;
        if (text)
            samples_add(
                &site->samples,
                &(struct sample){
                    .n = recent->n, .block = recent->block, .warp = recent->warp, .seq = recent->seq, .text = text});
        if ((size_t)recent->sample == site->samples.count)
            return recent->sample = -1;
    }
    site->samples.list[recent->sample].kept = true;
    return recent->sample;
}

// ---- Recording -----------------------------------------------------------------------------------------------------

// Keeps the access as a recent one, and as text if its warp is sampled.
static void remember(struct warp *warp, struct site *site, struct recent *recent) {
    struct samples *samples = &site->samples;
    const int slot = warp->record->slot;
    recent->sample = -1;
    recent->block = warp->record->block->number;
    recent->seq = warp->record->block->seq;
    recent->warp = warp->index;
    recent->n = 0;
    if (slot >= 0) {
        recent->n = samples->seen[slot]++;
        samples->executed++;
    }
    if (!site->recent)
        site->recent = malloc(RECENT * sizeof *site->recent);
    if (slot >= 0 && recent->n < MOST_EXECUTIONS && samples_keep(site, recent) >= 0)
        samples->list[recent->sample].kept = false;
    if (site->recent)
        site->recent[site->recent_count++ % RECENT] = *recent;
}

void recording_access(struct warp *warp, int32_t instruction, enum ptx_space space, enum access_kind kind,
                      uint32_t bytes, uint32_t mask, const uint64_t *address, const uint64_t *to) {
    struct recording *recording = warp->record->recording;
    const enum site_space place = space == PTX_SHARED ? SITE_SHARED : space == PTX_GLOBAL ? SITE_GLOBAL : SITE_LOCAL;
    struct site *site = samples_site(recording, instruction, place, access_kind_name(kind));
    if (!site || !mask)
        return;
    site->merged = recording->merged[instruction];
    site->bytes = site->merged > 0 ? (uint32_t)site->merged : bytes;
    site->counted = true;
    struct recent recent = {.mask = mask, .bytes = site->bytes};
    for (int i = 0; i < LANES; i++)
        recent.address[i] = address[mask >> i & 1 ? i : first_lane(mask)];
    if (site->merged >= 0) {
        struct traffic_counts *counts = &site->counts;
        const uint64_t lanes = (uint64_t)__builtin_popcount(mask);
        counts->requests++;
        counts->lanes += lanes;
        counts->bytes += lanes * site->bytes;
        if (place == SITE_SHARED)
            traffic_count_wavefronts(counts, kind, site->bytes, mask, recent.address);
        else
            traffic_count_sectors(counts, space, kind, site->bytes, mask, recent.address, to);
    }
    remember(warp, site, &recent);
}

// ---- What is no access of lanes ------------------------------------------------------------------------------------

// The addresses of a tile's 16-byte units are written once per site and warpgroup.
static bool is_first(const struct warp *warp, const struct site *site) {
    return warp->record->slot >= 0 && warp->index % 4 == 0 && site->samples.seen[warp->record->slot] == 0;
}

static void add_sample(struct warp *warp, struct site *site, uint32_t mask, const char *rest) {
    struct samples *samples = &site->samples;
    const int slot = warp->record->slot;
    if (slot < 0)
        return;
    struct recent head = {.block = warp->record->block->number,
                          .seq = warp->record->block->seq,
                          .warp = warp->index,
                          .mask = mask,
                          .n = samples->seen[slot]++};
    samples->executed++;
    if (head.n >= MOST_EXECUTIONS)
        return;
    struct json json = {0};
    add_head(&json, &head);
    json_add(&json, "%s]", rest);
    samples_add(samples, &(struct sample){
                             .n = head.n, .block = head.block, .warp = head.warp, .seq = head.seq, .text = json.text});
}

void recording_box(struct warp *warp, const struct bound *bound, bool stores, uint32_t offset, uint32_t row_bytes,
                   uint32_t rows, const uint64_t *address, const int64_t *unit, size_t units) {
    const char *kind = stores ? "bulk store" : "bulk copy";
    const int32_t pc = pc_of(warp, bound);
    struct recording *recording = warp->record->recording;
    struct site *global = samples_site(recording, pc, SITE_GLOBAL, kind);
    struct site *shared = samples_site(recording, pc, SITE_SHARED, kind);
    struct json json = {0};
    int64_t number[256];
    size_t count = 0;
    int tensor = -1;
    if (!global || !shared)
        return;
    global->bytes = shared->bytes = row_bytes;
    for (uint32_t row = 0; row < rows && count < 256; row++)
        if (address[row])
            tensor = recording_memory(address[row], &number[count++]);
    json_add(&json, tensor >= 0 ? "%d," : "null,", tensor);
    json_runs(&json, number, count);
    add_sample(warp, global, warp->now->mask, json.text ? json.text : "null,[]");
    json_free(&json);
    json_add(&json, "null,[%u,%u,%u],[],[]", offset, row_bytes, rows);
    if (unit && is_first(warp, shared)) {
        json_add(&json, ",[{\"name\":\"box\",\"units\":");
        json_runs(&json, unit, units);
        json_add(&json, "}]");
    }
    add_sample(warp, shared, warp->now->mask, json.text ? json.text : "null,[],[],[]");
    json_free(&json);
}

// A descriptor's fields, and the 16-byte units that it refers to, in the order of rows.
static void add_tile(struct json *json, const char *name, const struct wgmma_tile *tile, uint32_t first, uint32_t rows,
                     uint32_t k) {
    const uint32_t per_unit = 16 / wgmma_element_bytes(tile->element);
    const uint32_t row_step = tile->mn_major ? per_unit : 1, k_step = tile->mn_major ? 1 : per_unit;
    int64_t unit[MOST_UNITS];
    size_t units = 0;
    for (uint32_t row = first; row < first + rows; row += row_step)
        for (uint32_t i = 0; i < k && units < MOST_UNITS; i += k_step)
            unit[units++] = wgmma_unit(tile, row, i);
    json_add(json,
             "{\"name\":\"%s\",\"start\":%u,\"leading\":%u,\"stride\":%u,\"swizzle\":%u,\"mn_major\":%s,\"units\":",
             name, tile->start, tile->leading, tile->stride, tile->swizzle ? 16u << tile->swizzle : 0,
             tile->mn_major ? "true" : "false");
    json_runs(json, unit, units);
    json_add(json, "}");
}

void recording_mma(struct warp *warp, const struct bound *bound, const struct wgmma_tile *a, uint32_t first_row,
                   const struct wgmma_tile *b, uint32_t k) {
    struct site *site = samples_site(warp->record->recording, pc_of(warp, bound), SITE_NONE, "wgmma");
    struct json json = {0};
    if (!site)
        return;
    json_add(&json, "null,[");
    if (a)
        json_add(&json, "%u,0,1,", a->start);
    json_add(&json, "%u,0,1]", b->start);
    if (is_first(warp, site)) {
        json_add(&json, ",[],[],[");
        if (a)
            add_tile(&json, "A", a, first_row, WGMMA_ROWS, bound->ptx->flags & PTX_SPARSE ? k / 2 : k);
        json_add(&json, a ? "," : "");
        add_tile(&json, "B", b, 0, b->rows, k);
        json_add(&json, "]");
    }
    add_sample(warp, site, ALL_LANES, json.text ? json.text : "null,[]");
    json_free(&json);
}

void samples_note(struct warp *warp, int32_t instruction, uint32_t mask, const char *kind) {
    struct site *site = samples_site(warp->record->recording, instruction, SITE_NONE, kind);
    if (site)
        add_sample(warp, site, mask, "null,[]");
}
