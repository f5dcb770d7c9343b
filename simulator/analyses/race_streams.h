// Races between launches, copies and memsets that nothing orders: see machine/timeline.h. Launches use the shadow of
// global memory (race_global.c), where the blocks of concurrent launches count like blocks of one launch; what a copy
// accesses is kept as rows of bytes.
#ifndef SIMULATOR_ANALYSES_RACE_STREAMS_H
#define SIMULATOR_ANALYSES_RACE_STREAMS_H

#include "../machine/block.h"
#include "../machine/timeline.h"

struct access;

// A launch begins, whose keys have been assigned, or ends.
void race_streams_begin(struct run *run);
void race_streams_end(struct run *run);

// The concurrent launch with this key; NULL: there is none.
const struct concurrent_work *race_streams_find(const struct run *run, uint32_t key);

// Whether the work may happen at the same time as what the warp does now.
bool race_streams_is_concurrent(const struct warp *warp, const struct concurrent_work *other);

// Reports an access to an element that a concurrent launch accesses at `by`.
void race_streams_report(struct warp *warp, const struct bound *bound, int lane, const char *element, bool writes,
                         const struct concurrent_work *other, uint32_t by, bool other_wrote);

// Compares an access with concurrent copies.
void race_streams_access(struct warp *warp, const struct bound *bound, const struct access *access);

// The allocation is freed in the order of the timeline: compares this with concurrent work.
void race_streams_free(unsigned timeline, const struct sim_allocation *allocation);

// A copy or memset, called `what`, that accesses these rows: compares it with concurrent work. height 0: none. later:
// its name in reports of later accesses, which stays valid.
void race_streams_copy(unsigned timeline, const char *what, const char *later, const struct work_rows rows[2]);

#endif
