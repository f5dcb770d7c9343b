// The table of this build's operations.
#include "table.h"

#include "build.h"

struct lane_span LANE(span32)(const uint32_t address[LANES], uint32_t bytes);
struct lane_span LANE(span64)(const uint64_t address[LANES], uint32_t bytes);
void LANE(offset32)(uint32_t d[LANES], const uint32_t *a, uint32_t offset);
void LANE(offset64)(uint64_t d[LANES], const uint64_t *a, uint64_t offset);
uint32_t LANE(equal64)(const uint64_t a[LANES], uint64_t value);
void LANE(blend32)(uint32_t *d, const uint32_t *s, uint32_t mask);
void LANE(blend64)(uint64_t *d, const uint64_t *s, uint32_t mask);
bool LANE(shadow_read)(const struct shadow_cells *cells, size_t first, uint32_t per_lane,
                       const struct shadow_view *view);
bool LANE(shadow_write)(const struct shadow_cells *cells, size_t first, uint32_t per_lane,
                        const struct shadow_view *view);
bool LANE(global_read)(const struct global_cells *cells, size_t first, uint32_t per_lane,
                       const struct global_view *view);
bool LANE(global_write)(const struct global_cells *cells, size_t first, uint32_t per_lane,
                        const struct global_view *view);
void LANE(mma)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
               const uint32_t *const b[2], const uint32_t *const c[4]);
void LANE(mma_each)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
                    const uint32_t *const b[4], const uint32_t *const c[4], const uint32_t *metadata);
void LANE(wgmma)(const struct lane_wgmma *what, const uint8_t *shared, const struct wgmma_tile *a, uint32_t first_row,
                 const uint32_t *const registers[4], const struct wgmma_tile *b, uint32_t *const *d);

const struct lanes LANE(lanes) = {
#define LANE_OPERATION(name) .name = LANE(name),
#include "lanes.def"
#undef LANE_OPERATION
    .span32 = LANE(span32),
    .span64 = LANE(span64),
    .offset32 = LANE(offset32),
    .offset64 = LANE(offset64),
    .equal64 = LANE(equal64),
    .blend32 = LANE(blend32),
    .blend64 = LANE(blend64),
    .shadow_read = LANE(shadow_read),
    .shadow_write = LANE(shadow_write),
    .global_read = LANE(global_read),
    .global_write = LANE(global_write),
    .mma = LANE(mma),
    .mma_each = LANE(mma_each),
    .wgmma = LANE(wgmma),
};
