// What a bulk copy touches: bytes of shared and of global memory, a tensor map, the box of a tensor that it names.
#ifndef SIMULATOR_MEMORY_TENSOR_BOX_H
#define SIMULATOR_MEMORY_TENSOR_BOX_H

#include "../machine/warp.h"
#include "tensor_map.h"

#define BULK_UNIT 16u

struct box {
    struct tensor_map map;
    int32_t at[TENSOR_MOST_DIMENSIONS];
    uint32_t count[TENSOR_MOST_DIMENSIONS]; // elements taken along each dimension
    uint32_t rows, row_bytes;
    uint32_t pitch; // from row to row in shared memory: what a swizzle spans, where a row has less (so on an H200)
    int32_t offset[TENSOR_MOST_DIMENSIONS]; // of pixels, from where the coordinates say
};

// Each reports what is wrong, and returns what the instruction has to return then; else STEP_NEXT.
enum step bulk_misaligned(struct warp *warp, const struct bound *bound, int lane, const char *what, uint64_t value,
                          unsigned unit);
// Bytes in shared memory, from a multiple of unit on.
enum step bulk_check_shared(struct warp *warp, const struct bound *bound, int lane, uint64_t offset, uint32_t bytes,
                            unsigned unit);
// Bytes in global memory; by_map: a tensor map says that they are there. Tells the analyses.
enum step bulk_check_global(struct warp *warp, const struct bound *bound, int lane, uint64_t address, uint64_t bytes,
                            bool writes, bool by_map, struct sim_allocation **allocation);

// The map that a lane's address names. false: there is none; reported, and the launch has ended.
bool tensor_map_read(struct warp *warp, const struct bound *bound, int lane, uint64_t address, struct tensor_map *map);

// The box of box->map at a lane's coordinates; offset: of pixels, of 16 bits, NULL: none. A box begins at a multiple of
// 16 bytes of its rows: otherwise a GPU calls the instruction illegal (tried on an H200, tests/truth/tensor.cu; the PTX
// ISA does not say so).
enum step tensor_box_find(struct warp *warp, const struct bound *bound, const place coordinate[], const place offset[],
                          int lane, struct box *box);

// How far behind the beginning of the box in shared memory a byte is, before the swizzle; bytes are counted row by row,
// without what lies between rows.
static inline uint32_t tensor_box_distance(const struct box *box, uint32_t byte) {
    return box->pitch == box->row_bytes ? byte : byte / box->row_bytes * box->pitch + byte % box->row_bytes;
}

// Where that byte is, of a box that begins at offset of shared memory.
static inline uint32_t tensor_box_place(const struct box *box, uint32_t offset, uint32_t byte) {
    return tensor_swizzle(offset + tensor_box_distance(box, byte), box->map.swizzle);
}

// The part of a row that is inside the tensor: bytes [*first, *end) of it, the first at *address. false: none is.
bool tensor_row_inside(const struct box *box, uint32_t row, uint64_t *address, uint32_t *first, uint32_t *end);

#endif
