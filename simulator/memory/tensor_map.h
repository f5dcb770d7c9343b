// The simulator's contents of the 128 bytes of a CUtensorMap, which CUDA leaves to the implementation. All sizes are in
// the order of the API: dimension 0 has consecutive elements.
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
    uint8_t swizzle;                             // 16-byte units are permuted within 16 << swizzle bytes; 0: no swizzle
    uint8_t type;                                // enum ptx_type
    uint8_t nan_fill;                            // out-of-bounds elements are NaN, not 0
    uint64_t address;                            // in the global window
    uint64_t stride[TENSOR_MOST_DIMENSIONS - 1]; // bytes, of dimensions 1, 2, ...
    uint32_t last[TENSOR_MOST_DIMENSIONS];       // largest coordinate: size - 1
    uint16_t box[TENSOR_MOST_DIMENSIONS];
    uint8_t step[TENSOR_MOST_DIMENSIONS]; // element stride within the box; dimension 0: 1
    // If the map is im2col: box[0] channels of box[1] pixels, which follow each other along W, H and D from lower[] to
    // upper[] past the last, then in the next image.
    uint8_t pixels;
    int16_t lower[TENSOR_MOST_DIMENSIONS - 2], upper[TENSOR_MOST_DIMENSIONS - 2];
    // Fields of a map that a kernel has modified; the driver writes 0.
    uint8_t no_size;    // one bit per dimension whose size was set to 0
    uint8_t interleave; // never set in the driver's maps
    uint8_t released;   // tensormap.cp_fenceproxy has written the map
    uint64_t changed;   // number of the modification: see tensor_map_change()
};

_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "the map has to fit in a CUtensorMap");

// The swizzled offset in shared memory: the row bits of the offset are added, without carry, to the bits of the 16-byte
// unit.
static inline uint32_t tensor_swizzle(uint32_t offset, unsigned swizzle) {
    return offset ^ (offset >> 3 & ((1u << swizzle) - 1) << 4);
}

// Counts a modification of any map; returns its number, starting with 1.
uint64_t tensor_map_change(void);
uint64_t tensor_map_last_change(void); // 0: there was none

// Notes that the block has acquired this modification of the map at a device address. false: the host has no memory
// left.
bool tensor_map_acquire(struct block *block, uint64_t address, uint64_t changed);

// Checks a map that a kernel has modified. A modification that is not released or not acquired by the block is
// reported, and the kernel continues; a field that the driver would reject is reported and ends the launch: false.
bool tensor_map_check(struct warp *warp, const struct bound *bound, int lane, uint64_t address,
                      const struct tensor_map *map);

// A block starts: it has acquired nothing. tensor_maps_free: when the block is freed.
void tensor_maps_start(struct block *block);
void tensor_maps_free(struct block *block);

#endif
