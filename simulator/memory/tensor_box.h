// Operands of a bulk copy: bytes of shared and of global memory, a tensor map, and a box of its tensor.
#ifndef SIMULATOR_MEMORY_TENSOR_BOX_H
#define SIMULATOR_MEMORY_TENSOR_BOX_H

#include "../machine/warp.h"
#include "tensor_map.h"

#define BULK_UNIT 16u

struct box {
    struct tensor_map map;
    int32_t at[TENSOR_MOST_DIMENSIONS];
    uint32_t count[TENSOR_MOST_DIMENSIONS]; // elements copied along each dimension
    uint32_t rows, row_bytes;
    uint32_t pitch; // distance of rows in shared memory: the swizzle span if a row is shorter (as on an H200)
    int32_t offset[TENSOR_MOST_DIMENSIONS]; // of pixels, relative to the coordinates
};

// Each check reports an error and returns the instruction's return value; else STEP_NEXT.
enum step bulk_misaligned(struct warp *warp, const struct bound *bound, int lane, const char *what, uint64_t value,
                          unsigned unit);
// Bytes in shared memory that start at a multiple of unit.
enum step bulk_check_shared(struct warp *warp, const struct bound *bound, int lane, uint64_t offset, uint32_t bytes,
                            unsigned unit);
// Bytes in global memory; by_map: they belong to a tensor map's tensor. Passes the access to the analyses.
enum step bulk_check_global(struct warp *warp, const struct bound *bound, int lane, uint64_t address, uint64_t bytes,
                            bool writes, bool by_map, struct sim_allocation **allocation);

// Reads the tensor map at a lane's address. false: there is none; reported, and the launch has ended.
bool tensor_map_read(struct warp *warp, const struct bound *bound, int lane, uint64_t address, struct tensor_map *map);

// Computes the box of box->map at a lane's coordinates; offset: 16-bit offsets of pixels, NULL: none. The rows of a box
// have to start at a multiple of 16 bytes: otherwise a GPU reports an illegal instruction (tested on an H200,
// tests/truth/tensor.cu; the PTX ISA does not mention it).
enum step tensor_box_find(struct warp *warp, const struct bound *bound, const operand_ref coordinate[],
                          const operand_ref offset[], int lane, struct box *box);

// The offset of a byte from the start of the box in shared memory, before the swizzle; bytes are counted row by row,
// without padding between rows.
static inline uint32_t tensor_box_distance(const struct box *box, uint32_t byte) {
    return box->pitch == box->row_bytes ? byte : byte / box->row_bytes * box->pitch + byte % box->row_bytes;
}

// The byte's swizzled address, for a box that starts at offset of shared memory.
static inline uint32_t tensor_box_offset(const struct box *box, uint32_t offset, uint32_t byte) {
    return tensor_swizzle(offset + tensor_box_distance(box, byte), box->map.swizzle);
}

// The part of a row that is within the tensor: bytes [*first, *end), the first at *address. false: there is none.
bool tensor_row_inside(const struct box *box, uint32_t row, uint64_t *address, uint32_t *first, uint32_t *end);

#endif
