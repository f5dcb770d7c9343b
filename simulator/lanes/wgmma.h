// The arithmetic of wgmma.
#ifndef SIMULATOR_LANES_WGMMA_H
#define SIMULATOR_LANES_WGMMA_H

#include <stdbool.h>
#include <stdint.h>

#define WGMMA_ROWS 16 // of D per warp
#define WGMMA_MOST_N 256
#define WGMMA_K_BYTES 32 // of a row of A or a column of B, for all types; of a column twice that number if A is sparse

enum wgmma_element {
    WGMMA_F16,
    WGMMA_BF16,
    WGMMA_TF32,
    WGMMA_E4M3,
    WGMMA_E5M2,
    WGMMA_S8,
    WGMMA_U8,
    WGMMA_BITS
}; // BITS: eight per byte

enum wgmma_sum { WGMMA_SUM_F32, WGMMA_SUM_F16, WGMMA_SUM_S32 };

// A matrix in shared memory by its descriptor: rows of M or N by K.
struct wgmma_tile {
    uint32_t start, leading, stride; // bytes
    uint8_t swizzle;                 // 16-byte units are permuted within 16 << swizzle bytes
    uint8_t base;                    // base offset of the swizzle pattern, in 128 bytes
    bool mn_major;                   // consecutive elements are along M or N, else along K
    enum wgmma_element element;
    uint32_t rows; // of M or N
};

struct lane_wgmma {
    enum wgmma_element a, b;
    uint32_t n, k;      // k: bytes where elements are bits
    enum wgmma_sum sum; // type of D
    bool keeps;         // D = A B + D, else A B
    bool negates;       // negates A
    bool saturates;     // integers, which wrap around otherwise
    // A stores half of the elements of each row: two of every four or, for tf32, one of every two.
    bool sparse;
    uint32_t selector;        // which pair of every four lanes holds the metadata, for 16- and 32-bit elements
    const uint32_t *metadata; // [lanes] the indices of the stored elements
};

// The number of stored elements per row of A.
static inline uint32_t wgmma_stored(const struct lane_wgmma *what) {
    return what->sparse ? what->k / 2 : what->k;
}

static inline uint32_t wgmma_element_bytes(enum wgmma_element element) {
    return element >= WGMMA_E4M3 ? 1 : element == WGMMA_TF32 ? 4 : 2;
}

// The offset of the 16-byte unit with element (row, k). In units of 16 bytes, T elements each (PTX ISA, strides of
// wgmma's operands in shared memory, and the canonical layouts): K-major, rows are 1 << swizzle units apart, groups of
// 8 rows `stride`; without a swizzle the two units of K are `leading` apart. MN-major, T << swizzle elements of M or N
// are consecutive; the next such run is at offset `leading`, the next 8 elements of K at `stride`, without a swizzle
// the reverse.
static inline uint32_t wgmma_unit(const struct wgmma_tile *tile, uint32_t row, uint32_t k) {
    uint32_t per_unit = 16 / wgmma_element_bytes(tile->element), address = tile->start;
    if (!tile->mn_major) {
        uint32_t unit = k / per_unit;
        address +=
            row / 8 * tile->stride + row % 8 * (16u << tile->swizzle) + unit * (tile->swizzle ? 16 : tile->leading);
    } else {
        uint32_t unit = row / per_unit, run = 1u << tile->swizzle;
        uint32_t next_run = tile->swizzle ? tile->leading : tile->stride;
        uint32_t next_k = tile->swizzle ? tile->stride : tile->leading;
        address += unit / run * next_run + unit % run * 16 + k / 8 * next_k + k % 8 * (16u << tile->swizzle);
    }
    return address ^ ((((address >> 7) - tile->base) & ((1u << tile->swizzle) - 1)) << 4);
}

#endif
