// Texture and surface objects. The runtime creates them; tex, suld and sust look them up.
#ifndef SIMULATOR_MACHINE_TEXTURE_H
#define SIMULATOR_MACHINE_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_texel { SIM_TEXEL_SIGNED, SIM_TEXEL_UNSIGNED, SIM_TEXEL_FLOAT };
enum sim_addressing { SIM_ADDRESS_WRAP, SIM_ADDRESS_CLAMP, SIM_ADDRESS_MIRROR, SIM_ADDRESS_BORDER };

#define SIM_LEVELS 18 // of the largest possible array

struct sim_level {
    uint64_t address;              // of the first texel
    size_t size[3];                // width, height, depth or layers, in texels; 1 if there is none
    size_t row_bytes, slice_bytes; // distance of rows, and of slices
};

struct sim_texture {
    struct sim_level level[SIM_LEVELS]; // each half as large as the one before
    int levels;
    float bias, least, most;     // added to the requested level of detail, and its limits
    bool mixes_levels;           // interpolates between two levels, instead of using the nearest one
    int channels, channel_bytes; // 1, 2, 4; 1, 2, 4
    enum sim_texel kind;
    enum sim_addressing addressing[3];
    bool linear;     // interpolates between texels, instead of using the nearest one
    bool unit;       // normalized coordinates, from 0 to 1
    bool normalised; // integers are converted to floats from 0 or -1 to 1
    bool surface;
    bool array; // else linear memory, of which only existing texels can be fetched
    bool cube;  // six faces per layer
    float border[4];
};

// 0: the host has no memory left.
uint64_t sim_texture_add(const struct sim_texture *texture);
const struct sim_texture *sim_texture_find(uint64_t handle); // NULL if there is none

// The two levels that are read for the requested level of detail; returns the weight of the second one.
float sim_texture_levels(const struct sim_texture *texture, float requested, const struct sim_level *level[2]);

void sim_texture_remove(uint64_t handle);
void sim_texture_remove_all(void);

#endif
