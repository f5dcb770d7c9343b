// What the simulator keeps in the 128 bytes of a CUtensorMap, which CUDA leaves to the implementation. All sizes are in
// the order of the API: dimension 0 is the one whose elements are neighbours.
#ifndef SIMULATOR_MEMORY_TENSOR_MAP_H
#define SIMULATOR_MEMORY_TENSOR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TENSOR_MAP_BYTES 128
#define TENSOR_MAP_ALIGNMENT 64
#define TENSOR_MAP_MAGIC 0x70616d54u
#define TENSOR_MOST_DIMENSIONS 5
#define TENSOR_MOST_BOX 256
#define TENSOR_MOST_STEP 8
#define TENSOR_STRIDE_END (UINT64_C(1) << 40)

struct block;
struct bound;
struct warp;

struct tensor_map {
    uint32_t magic;
    uint8_t rank;
    uint8_t element_bytes;
    uint8_t swizzle;  // 16-byte units are exchanged within 16 << swizzle bytes; 0: they are not
    uint8_t type;     // enum ptx_type
    uint8_t nan_fill; // what lies outside the tensor is NaN, not 0
    uint64_t address; // in the global window
    uint64_t stride[TENSOR_MOST_DIMENSIONS - 1]; // bytes, of dimensions 1, 2, ...
    uint32_t last[TENSOR_MOST_DIMENSIONS];       // largest coordinate: size - 1
    uint16_t box[TENSOR_MOST_DIMENSIONS];
    uint8_t step[TENSOR_MOST_DIMENSIONS]; // between elements of the box that are taken; dimension 0: 1
    // Where it is of pixels: box[0] channels of box[1] pixels, which follow each other along W, H and D from lower[] on
    // to upper[] beyond the last, then in the next image.
    uint8_t pixels;
    int16_t lower[TENSOR_MOST_DIMENSIONS - 2], upper[TENSOR_MOST_DIMENSIONS - 2];
    // Of a map that a kernel has changed; what the driver wrote has 0 here.
    uint8_t no_size;    // a bit a dimension: its size was set to 0
    uint8_t interleave; // which the driver's maps never have
    uint8_t released;   // tensormap.cp_fenceproxy wrote it
    uint64_t changed;   // when: see tensor_map_change()
};

_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "the map has to fit in a CUtensorMap");

// Where the byte at this offset of shared memory is with the map's swizzle: the address's bits of the row number are
// added, without carry, to those of the 16-byte unit.
static inline uint32_t tensor_swizzle(uint32_t offset, unsigned swizzle) {
    return offset ^ (offset >> 3 & ((1u << swizzle) - 1) << 4);
}

// A map is changed; returns when, by a clock of all changes, which begins with 1.
uint64_t tensor_map_change(void);
uint64_t tensor_map_last_change(void); // 0: there was none

// The block may use the map at a device address as it was changed last. false: the host has no memory left.
bool tensor_map_acquire(struct block *block, uint64_t address, uint64_t changed);

// Whether a map that a kernel has changed is one that the driver would have made. What it has not published, or what
// the block has not acquired since, is reported, and the kernel goes on; where a field is wrong that is reported, and
// the launch has ended: false.
bool tensor_map_check(struct warp *warp, const struct bound *bound, int lane, uint64_t address,
                      const struct tensor_map *map);

// A block begins: it has acquired nothing. tensor_maps_free: with the block.
void tensor_maps_start(struct block *block);
void tensor_maps_free(struct block *block);

#endif
