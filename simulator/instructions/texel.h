// Shared by reads and writes of textures and of surfaces.
#ifndef SIMULATOR_INSTRUCTIONS_TEXEL_H
#define SIMULATOR_INSTRUCTIONS_TEXEL_H

#include "../memory/spaces.h"
#include "families.h"

enum { MOST_TEXEL = 16 };

struct fetch {
    int dimensions;              // of a layer or a face
    bool layered;                // the first coordinate is a layer
    bool cube;                   // then three coordinates are a direction
    int gathered;                // the channel that is gathered from four texels; -1: all channels, interpolated
    bool writes, surface, whole; // whole: coordinates are integers
    enum ptx_variant beyond;     // of surfaces: .trap, .clamp, .zero
    enum ptx_type type;          // of a result
    operand_ref handle, coordinate[4];
    operand_ref level; // NO_OPERAND: level 0
    int coordinates;
};

extern _Thread_local uint8_t texel[LANES][MOST_TEXEL]; // of each lane, read or to be written

// One access of all lanes in mask at their addresses.
enum step texel_move(struct warp *warp, const struct bound *bound, uint32_t mask, const uint64_t address[LANES],
                     uint32_t bytes, bool writes);

enum step texel_report_handle(struct warp *warp, const struct bound *bound, int lane, uint64_t handle, bool surface);

enum step run_surface(struct warp *warp, const struct bound *bound, uint32_t mask);

#endif
