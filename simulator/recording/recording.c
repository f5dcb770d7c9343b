// Chooses the recorded launches. Each warp of a recorded launch runs a copy of the kernel's code, in which every
// instruction except branches is recording_step.
#include "record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct recording *recording_first;
static struct recording **last = &recording_first;
static bool over; // simulator_write_recording has been called

static struct recorded_place *places;
static int place_count, place_room;

bool recording_enabled(void) {
    const char *path = getenv("SIMULATOR_RECORDING");
    return path && *path && !over;
}

// ---- Places --------------------------------------------------------------------------------------------------------

static int32_t add_place(const char *file, int line, int32_t inlined_at) {
    for (int32_t i = 0; i < place_count; i++)
        if (places[i].line == line && places[i].inlined_at == inlined_at && !strcmp(places[i].file, file))
            return i;
    if (place_count == place_room) {
        int room = place_room ? 2 * place_room : 256;
        struct recorded_place *grown = realloc(places, (size_t)room * sizeof *grown);
        if (!grown)
            return -1;
        places = grown;
        place_room = room;
    }
    places[place_count] = (struct recorded_place){file, line, inlined_at};
    return place_count++;
}

// A module exists as long as the process, or until it is unloaded, which no program with recorded launches does.
int32_t recording_place(const struct ptx_module *module, int32_t location) {
    if (location < 0 || location >= module->locations)
        return -1;
    const struct ptx_location *at = &module->location[location];
    int32_t outer = at->inlined_at == location ? -1 : recording_place(module, at->inlined_at);
    return add_place(module->file[at->file], at->line, outer);
}

int recording_places(void) {
    return place_count;
}

const struct recorded_place *recording_place_at(int32_t place) {
    return &places[place];
}

// ---- A launch ------------------------------------------------------------------------------------------------------

static enum step recording_step(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct recording *recording = warp->record->recording;
    const int32_t pc = pc_of(warp, bound);
    const struct bound *original = &recording->kernel->code[pc];
    enum step step = STEP_NEXT;
    warp->record->block->seq++;
    recording->warp_count[pc]++;
    recording->lane_count[pc] += (unsigned)__builtin_popcount(mask);
    if (warp->record->slot >= 0)
        events_step(warp, pc, mask);
    if (original->kind == BOUND_RUN)
        step = original->run(warp, bound, mask);
    else if (mask == ALL_LANES && !original->saturate)
        original->lanes(operand_data(warp, original->d), operand_data(warp, original->a),
                        operand_data(warp, original->b), operand_data(warp, original->c), original->extra);
    else
        warp_run_lanes(warp, original, mask);
    if (step == STEP_NEXT && warp->record->slot >= 0 && recording->value[pc])
        values_record(warp, bound, mask);
    return step;
}

static bool make_code(struct recording *recording) {
    const struct sim_kernel *kernel = recording->kernel;
    const size_t count = (size_t)kernel->ptx->instructions;
    recording->code = malloc((count + 1) * sizeof *recording->code);
    for (size_t i = 0; recording->code && i < count; i++) {
        recording->code[i] = kernel->code[i];
        if (kernel->code[i].kind != BOUND_BRANCH) {
            recording->code[i].kind = BOUND_RUN;
            recording->code[i].run = recording_step;
        }
    }
    return recording->code;
}

// The first and the last block, or those of the environment variable: "0,5,63".
static void choose_blocks(struct recording *recording) {
    const char *chosen = getenv("SIMULATOR_RECORDING_BLOCKS");
    while (chosen && *chosen && recording->sampled_blocks < MOST_SAMPLED_BLOCKS) {
        char *end;
        unsigned long long number = strtoull(chosen, &end, 10);
        if (end == chosen)
            break;
        if (number < recording->blocks)
            recording->sampled[recording->sampled_blocks++] = number;
        chosen = *end == ',' ? end + 1 : end;
    }
    if (recording->sampled_blocks)
        return;
    recording->sampled[recording->sampled_blocks++] = 0;
    if (recording->blocks > 1)
        recording->sampled[recording->sampled_blocks++] = recording->blocks - 1;
}

static bool make_slots(struct recording *recording) {
    for (int b = 0; b < recording->sampled_blocks; b++) {
        for (unsigned w = 0; w < recording->sampled_warps; w++) {
            struct slot *slot = &recording->slot[(unsigned)b * MOST_SAMPLED_WARPS + w];
            *slot = (struct slot){.block = recording->sampled[b], .warp = w, .used = true};
            slot->step = calloc(MOST_STEPS, sizeof *slot->step);
            slot->event = calloc(MOST_EVENTS, sizeof *slot->event);
            if (!slot->step || !slot->event)
                return false;
        }
    }
    return true;
}

static void discard(struct recording *recording) {
    for (int32_t i = 0; recording->site && i < recording->ptx->instructions; i++) {
        for (int s = 0; s < SITE_SPACES; s++) {
            struct site *site = recording->site[i][s];
            if (site) {
                samples_free(&site->samples);
                free(site->recent);
                free(site);
            }
        }
    }
    for (int s = 0; s < MOST_SLOTS; s++) {
        free(recording->slot[s].step);
        free(recording->slot[s].event);
    }
    for (int f = 0; f < recording->found_count; f++)
        free(recording->found[f].text);
    if (recording->value)
        values_free(recording);
    free(recording->site);
    free(recording->place);
    free(recording->merged);
    free(recording->warp_count);
    free(recording->lane_count);
    free(recording->code);
    free(recording);
}

static bool fill(struct recording *recording) {
    const size_t count = (size_t)recording->ptx->instructions + 1;
    recording->place = malloc(count * sizeof *recording->place);
    recording->merged = traffic_merged_bytes(recording->ptx);
    recording->warp_count = calloc(count, sizeof *recording->warp_count);
    recording->lane_count = calloc(count, sizeof *recording->lane_count);
    recording->site = calloc(count, sizeof *recording->site);
    recording->value = calloc(count, sizeof *recording->value);
    if (!recording->place || !recording->merged || !recording->warp_count || !recording->lane_count ||
        !recording->site || !recording->value || !make_code(recording) || !make_slots(recording))
        return false;
    for (int32_t i = 0; i < recording->ptx->instructions; i++)
        recording->place[i] = recording_place(recording->ptx->module, recording->ptx->instruction[i].location);
    return values_find(recording);
}

static bool same(struct sim_dim a, struct sim_dim b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

struct recording *recording_begin(const struct run *run) {
    static unsigned launches;
    const struct sim_launch *launch = run->launch;
    unsigned kernels = 0;
    if (!recording_enabled())
        return NULL;
    launches++;
    for (struct recording *known = recording_first; known; known = known->next, kernels++) {
        if (known->kernel == run->kernel && same(known->grid, launch->grid) && same(known->block, launch->block)) {
            known->launches++;
            return NULL;
        }
    }
    struct recording *recording = kernels < MOST_KERNELS ? calloc(1, sizeof *recording) : NULL;
    if (!recording)
        return NULL;
    recording->kernel = run->kernel;
    recording->ptx = run->kernel->ptx;
    recording->device = launch->device->name;
    recording->grid = launch->grid;
    recording->block = launch->block;
    recording->shared_bytes = run->shared_bytes;
    recording->blocks = run->blocks;
    recording->warps = (launch->block.x * launch->block.y * launch->block.z + LANES - 1) / LANES;
    recording->sampled_warps = recording->warps < MOST_SAMPLED_WARPS ? recording->warps : MOST_SAMPLED_WARPS;
    recording->launch = launches;
    recording->launches = 1;
    choose_blocks(recording);
    if (!fill(recording)) {
        discard(recording);
        return NULL;
    }
    findings_attach(recording);
    *last = recording;
    last = &recording->next;
    return recording;
}

void recording_end(struct recording *recording, bool complete) {
    if (!recording)
        return;
    findings_attach(NULL);
    recording->complete = complete;
    free(recording->code);
    recording->code = NULL;
}

const struct bound *recording_code(const struct recording *recording) {
    return recording->code;
}

void recording_discard_all(void) {
    over = true;
    while (recording_first) {
        struct recording *next = recording_first->next;
        discard(recording_first);
        recording_first = next;
    }
    last = &recording_first;
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

bool recording_make_block(struct recording *recording, struct block *block) {
    if (!recording)
        return true;
    block->record = calloc(1, sizeof *block->record);
    for (unsigned w = 0; block->record && w < block->warps; w++) {
        block->record->warp[w] = (struct warp_record){recording, block->record, -1, -1};
        block->warp[w].record = &block->record->warp[w];
    }
    return block->record;
}

void recording_start_block(struct block *block) {
    struct block_record *record = block->record;
    if (!record)
        return;
    const struct recording *recording = block->run->recording;
    record->seq = 0;
    record->number = block->number;
    memset(record->use, 0, sizeof record->use);
    memset(record->passed, 0, sizeof record->passed);
    for (unsigned w = 0; w < block->warps; w++) {
        record->warp[w].slot = -1;
        record->warp[w].place = -1;
        for (int b = 0; b < recording->sampled_blocks && w < recording->sampled_warps; b++)
            if (recording->sampled[b] == block->number)
                record->warp[w].slot = b * MOST_SAMPLED_WARPS + (int)w;
    }
}

void recording_free_block(struct block *block) {
    free(block->record);
    block->record = NULL;
}
