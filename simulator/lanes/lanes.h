// Operations on the 32 lanes of a warp: plain loops over arrays, written so that the host compiler vectorizes each of
// them. They know nothing of masks, program counters or memory; execution/interpret.c does.
//
// Every file lanes/*.c except lanes.c is compiled twice, once with -DLANES_AVX2 -O3 -mavx2 -mfma -mf16c and once with
// -DLANES_GENERIC -O3, and lanes.c chooses at run time. Both builds return the same bits: floating-point code here may
// use only operations whose result IEEE 754 defines, or integer arithmetic.
#ifndef SIMULATOR_LANES_LANES_H
#define SIMULATOR_LANES_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES 32
#define ALL_LANES 0xffffffffu

// d, a, b, c: [32] uint32_t for types of up to 32 bits (bits above the type's width are zero), [32] uint64_t for 64-bit
// types, one uint32_t with one bit per lane for predicates. Sources that an operation does not have are ignored. d may
// be the same register as a source. extra: an immediate that is part of the opcode (lop3's table, a rounding mode,
// ...).
typedef void lane_operation(void *d, const void *a, const void *b, const void *c, uint32_t extra);

enum lane_pattern { LANES_SCATTERED, LANES_UNIFORM, LANES_CONTIGUOUS };

// The addresses of one access.
struct lane_span {
    uint64_t low, high;        // lowest and highest address
    uint32_t unaligned;        // bitwise or of all addresses' bits below the access width
    enum lane_pattern pattern; // contiguous: lane i at low + i * bytes
};

// The latest accesses to a cell of shared memory: epochs, and instruction << 6 | lane. See machine/block.h.
struct shadow_cells {
    uint32_t *write, *write_by, *read1, *read1_by, *read2, *read2_by;
};

// A warp's view of cells: epochs below floor, and its own below own_floor, happen before its access.
struct shadow_view {
    uint32_t first, floor, own_floor, mine, by;
};

// The latest accesses to a word of global memory: keys, block << 32 | when, and instruction << 8 | two sets of its
// bytes. See analyses/global_shadow.h.
struct global_cells {
    uint64_t *write, *read;
    uint32_t *write_by, *read_by;
};

// A warp's view of words: of its block's keys, those below floor, and its own below own_floor, happen before its
// access. Keys below `oldest` belong to earlier launches; those below `first` also do, or belong to other streams.
struct global_view {
    uint32_t oldest, first, block, several, floor, own_floor, now, by;
    bool unwritten; // all keys of the memory's writers are smaller than oldest
};

#define SHADOW_MANY 32u   // instead of a lane: several lanes
#define SHADOW_ATOMIC 33u // an atomic or volatile access
#define SHADOW_ASYNC 34u  // a bulk copy

// In global memory: when is clock << GLOBAL_CLOCK | lane << GLOBAL_LANE | warp, 0: not known, happens before all
// accesses.
#define GLOBAL_LANE 5
#define GLOBAL_CLOCK 11
#define GLOBAL_BYTES 255u // of by: the bytes of the word that the block accessed, << 4 those accessed at `when`

struct lane_mma;   // matrix.h
struct lane_wgmma; // wgmma.h
struct wgmma_tile;

struct lanes {
#define LANE_OPERATION(name) lane_operation *name;
#include "lanes.def"
#undef LANE_OPERATION

    // bytes: width of a lane's access, a power of two.
    struct lane_span (*span32)(const uint32_t address[LANES], uint32_t bytes);
    struct lane_span (*span64)(const uint64_t address[LANES], uint32_t bytes);
    void (*offset32)(uint32_t d[LANES], const uint32_t *a, uint32_t offset); // d[i] = a[i] + offset
    void (*offset64)(uint64_t d[LANES], const uint64_t *a, uint64_t offset);

    uint32_t (*equal64)(const uint64_t a[LANES], uint64_t value); // bit i: a[i] == value

    void (*blend32)(uint32_t *d, const uint32_t *s, uint32_t mask); // d[i] = s[i] where mask has bit i
    void (*blend64)(uint64_t *d, const uint64_t *s, uint32_t mask);

    // Shadows of memory, see analyses/: lanes 0, 1, ... access 32 * per_lane consecutive cells from `first` on. true:
    // there is nothing to report, and the accesses are noted.
    bool (*shadow_read)(const struct shadow_cells *cells, size_t first, uint32_t per_lane,
                        const struct shadow_view *view);
    bool (*shadow_write)(const struct shadow_cells *cells, size_t first, uint32_t per_lane,
                         const struct shadow_view *view);
    bool (*global_read)(const struct global_cells *cells, size_t first, uint32_t per_lane,
                        const struct global_view *view);
    bool (*global_write)(const struct global_cells *cells, size_t first, uint32_t per_lane,
                         const struct global_view *view);

    // Fragments of [lanes] words each; those that the shape does not have are ignored.
    void (*mma)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
                const uint32_t *const b[2], const uint32_t *const c[4]);
    // The same for elements smaller than a byte, or for a sparse A, which has metadata (else NULL). B has up to four
    // registers.
    void (*mma_each)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
                     const uint32_t *const b[4], const uint32_t *const c[4], const uint32_t *metadata);

    // A warp's 16 rows, from first_row of A on; A is a tile, or NULL and in registers. d: n / 2 registers, n / 4 for
    // fp16.
    void (*wgmma)(const struct lane_wgmma *what, const uint8_t *shared, const struct wgmma_tile *a, uint32_t first_row,
                  const uint32_t *const registers[4], const struct wgmma_tile *b, uint32_t *const *d);
};

// The table that fits this host. The environment variable SIMULATOR_LANES=generic overrides the choice.
const struct lanes *lanes_table(void);

#endif
