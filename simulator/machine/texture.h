// Textures and surfaces: what an object that a program made stands for. The runtime makes them, tex, suld and sust look
// them up.
#ifndef SIMULATOR_MACHINE_TEXTURE_H
#define SIMULATOR_MACHINE_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_texel { SIM_TEXEL_SIGNED, SIM_TEXEL_UNSIGNED, SIM_TEXEL_FLOAT };
enum sim_addressing { SIM_ADDRESS_WRAP, SIM_ADDRESS_CLAMP, SIM_ADDRESS_MIRROR, SIM_ADDRESS_BORDER };

#define SIM_LEVELS 18 // of the largest array that there can be

struct sim_level {
    uint64_t address;              // of the first texel
    size_t size[3];                // width, height, depth or layers, in texels; 1 where there is none
    size_t row_bytes, slice_bytes; // from row to row, from slice to slice
};

struct sim_texture {
    struct sim_level level[SIM_LEVELS]; // each half as large as the one before
    int levels;
    float bias, least, most;     // added to the level that a program asks for, and between which it is then taken
    bool mixes_levels;           // between two of them, not the nearest one
    int channels, channel_bytes; // 1, 2, 4; 1, 2, 4
    enum sim_texel kind;
    enum sim_addressing addressing[3];
    bool linear;     // between texels, not the nearest one
    bool unit;       // coordinates from 0 to 1
    bool normalised; // integers are read as floats from 0 or -1 to 1
    bool surface;
    bool array; // else plain memory, of which only what is there can be fetched
    bool cube;  // six faces a layer
    float border[4];
};

// 0: the host has no memory left.
uint64_t sim_texture_add(const struct sim_texture *texture);
const struct sim_texture *sim_texture_find(uint64_t handle); // NULL where there is none

// The two levels that are read for the one that was asked for, and the share of the second in what comes of it.
float sim_texture_levels(const struct sim_texture *texture, float asked, const struct sim_level *level[2]);

void sim_texture_remove(uint64_t handle);
void sim_texture_remove_all(void);

#endif
