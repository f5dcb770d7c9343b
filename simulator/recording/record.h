// Shared by the files of this folder.
#ifndef SIMULATOR_RECORDING_RECORD_H
#define SIMULATOR_RECORDING_RECORD_H

#include "../traffic/counts.h"
#include "json.h"
#include "recording.h"

// Limits of the data that is kept while a kernel runs; write.c writes less if the file would be too large.
enum {
    MOST_KERNELS = 4,
    MOST_SAMPLED_BLOCKS = 4,
    MOST_SAMPLED_WARPS = 16, // of a block
    MOST_SLOTS = MOST_SAMPLED_BLOCKS * MOST_SAMPLED_WARPS,
    MOST_EXECUTIONS = 64, // of a site by a warp
    MOST_STEPS = 8000,    // of a warp
    MOST_EVENTS = 2000,   // of a warp
    MOST_COPIES = 16,     // of an assignment, by unrolling
    MOST_FINDINGS = 32,
    RECENT = 64, // accesses of an instruction that a finding may refer to
};

struct sample {
    uint32_t n, slot;
    uint64_t block;
    unsigned warp;
    uint64_t seq;
    bool kept; // of a finding: kept regardless of the limits
    char *text;
};

struct samples {
    struct sample *list;
    size_t count, room;
    uint32_t seen[MOST_SLOTS]; // executions by each sampled warp
    uint64_t executed;
};

// A recent access.
struct recent {
    uint64_t block, seq;
    unsigned warp;
    uint32_t mask, bytes, n;
    uint64_t address[LANES];
    int32_t sample; // index in the site's samples, -1: not kept
};

enum site_space { SITE_GLOBAL, SITE_SHARED, SITE_LOCAL, SITE_NONE, SITE_SPACES };

struct site {
    int32_t instruction;
    enum site_space space;
    const char *kind;
    uint32_t bytes;
    int merged;
    bool counted;
    struct traffic_counts counts;
    struct samples samples;
    struct recent *recent; // [RECENT], NULL: none yet
    unsigned recent_count; // their number
    int number;            // in the file
};

struct value {
    int32_t instruction;
    char name[136];
    int copy, copies;
    struct samples samples;
};

struct event_record {
    uint64_t seq;
    enum recording_event event;
    int32_t instruction;
    int64_t a, b;
};

struct step_record {
    uint64_t seq;
    int32_t place;
    uint32_t mask;
};

// A sampled warp.
struct slot {
    uint64_t block;
    unsigned warp;
    bool used;
    struct step_record *step; // [MOST_STEPS]
    unsigned steps, events;
    bool steps_left_out, events_left_out;
    struct event_record *event; // [MOST_EVENTS]
};

struct warp_record {
    struct recording *recording;
    struct block_record *block;
    int slot; // -1: not sampled
    int32_t place;
};

struct block_record {
    uint64_t seq;
    uint64_t number;
    uint32_t use[BARRIERS]; // of a barrier, from 0
    bool passed[BARRIERS];  // a warp has passed it
    struct warp_record warp[MAX_WARPS];
};

// One access of a finding.
struct found_access {
    int32_t instruction;
    uint64_t block;
    int warp; // -1: not known
    struct sim_dim thread;
    int32_t site_instruction; // -1: none
    enum site_space space;
    int32_t sample;
};

struct found {
    enum sim_finding_kind kind;
    int32_t instruction, other; // as they were reported
    struct found_access here, there;
    char *text; // NULL until the launch has ended: the finding may be a consequence of another one
    uint64_t count;
};

struct recording {
    const struct sim_kernel *kernel;
    const struct ptx_kernel *ptx;
    const char *device;
    struct sim_dim grid, block;
    size_t shared_bytes;
    uint64_t blocks;
    unsigned warps, launch, launches;
    bool complete;
    uint64_t sampled[MOST_SAMPLED_BLOCKS];
    int sampled_blocks;
    unsigned sampled_warps;
    struct bound *code;                // [instructions]
    int32_t *place;                    // [instructions], source locations of the run
    int8_t *merged;                    // [instructions], as traffic_merged_bytes
    uint64_t *warp_count, *lane_count; // [instructions]
    struct site *(*site)[SITE_SPACES]; // [instructions]
    struct value **value;              // [instructions], NULL: none
    struct slot slot[MOST_SLOTS];
    struct found found[MOST_FINDINGS];
    int found_count;
    struct recording *next;
};

extern struct recording *recording_first;
void recording_discard_all(void); // and record no further launch

// recording.c: the source locations of the run, found or added.
int32_t recording_place(const struct ptx_module *module, int32_t location);
int recording_places(void);
struct recorded_place {
    const char *file; // "" unknown
    int line;
    int32_t inlined_at;
};
const struct recorded_place *recording_place_at(int32_t place);

// samples.c
void samples_add(struct samples *samples, const struct sample *sample);
void samples_free(struct samples *samples);
struct site *samples_site(struct recording *recording, int32_t instruction, enum site_space space, const char *kind);
// An execution without a memory access: of an mma.
void samples_note(struct warp *warp, int32_t instruction, uint32_t mask, const char *kind);
// Makes a sample of a recent access, unless it has one; returns its index.
int32_t samples_keep(struct site *site, struct recent *recent);

// samples.c: allocations that contain recorded accesses.
struct recorded_memory {
    uint64_t address;
    size_t bytes;
    char name[32];
    char dtype[8]; // "": not known
    unsigned element_bytes;
    int dimensions;
    int64_t size[5], stride[5];
    char axis[5][12];
    int number; // in the file, -1: no access is in it
};
int recording_memory(uint64_t address, int64_t *offset); // the number; -1: not near any
const struct recorded_memory *recording_memory_at(int number);

// events.c
void events_step(struct warp *warp, int32_t instruction, uint32_t mask);
const char *event_name(enum recording_event event);

// values.c
bool values_find(struct recording *recording);
void values_record(struct warp *warp, const struct bound *bound, uint32_t mask);
void values_free(struct recording *recording);

// findings.c
void findings_attach(struct recording *recording); // NULL: stop

// fragments.c: adds the fragment of an instruction; false: it has none.
bool fragments_describe(const struct ptx_instruction *instruction, struct json *json);

#endif
