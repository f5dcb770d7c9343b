// One kernel for each instruction whose traffic depends on the addresses of the lanes. One warp; the global_ kernels
// use the argument memory, the shared_ kernels do not.
#include "patterns.h"

// Eight accesses per iteration, to reduce the loop overhead.
#define EIGHT(access) access access access access access access access access

// Loads and stores are volatile, results of atomics and ldmatrix are used, and a warp barrier separates equal ldmatrix:
// otherwise ptxas removes them.
#define FOR_EACH_PATTERN(access)                                                                                       \
    unsigned turns = PATTERN_FIRST_WEIGHT / 8, used = 0;                                                               \
    for (int p = 0; p < batch.count; p++, turns *= batch.base) {                                                       \
        const unsigned offset = batch.pattern[p].offset[threadIdx.x];                                                  \
        if (batch.pattern[p].mask >> threadIdx.x & 1) {                                                                \
            for (unsigned turn = 0; turn < turns; turn++) {                                                            \
                EIGHT(access)                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        __syncwarp();                                                                                                  \
    }                                                                                                                  \
    if (used == 0x9e3779b9) {                                                                                          \
        asm volatile("trap;");                                                                                         \
    }

#define ACCESS(address, access)                                                                                        \
    asm volatile("{.reg .b32 x, y, z, w; .reg .b64 u; .reg .b16 h;" access "}"                                         \
                 : "+r"(used)                                                                                          \
                 : address, "r"(offset), "l"((unsigned long long)offset), "h"((unsigned short)offset)                  \
                 : "memory");

#define SHARED_KERNEL(name, access)                                                                                    \
    __global__ void name(const __grid_constant__ pattern_batch batch) {                                                \
        __shared__ alignas(128) char tile[PATTERN_MEMORY];                                                             \
        const unsigned start = static_cast<unsigned>(__cvta_generic_to_shared(tile));                                  \
        FOR_EACH_PATTERN(ACCESS("r"(start + offset), access))                                                          \
    }

#define GLOBAL_KERNEL(name, access)                                                                                    \
    __global__ void name(const __grid_constant__ pattern_batch batch) {                                                \
        FOR_EACH_PATTERN(ACCESS("l"(batch.memory + offset), access))                                                   \
    }

SHARED_KERNEL(shared_ld_16, "ld.volatile.shared.b16 h, [%1];")
SHARED_KERNEL(shared_ld_32, "ld.volatile.shared.b32 x, [%1];")
SHARED_KERNEL(shared_ld_64, "ld.volatile.shared.b64 u, [%1];")
SHARED_KERNEL(shared_ld_128, "ld.volatile.shared.v4.b32 {x, y, z, w}, [%1];")
SHARED_KERNEL(shared_st_16, "st.volatile.shared.b16 [%1], %4;")
SHARED_KERNEL(shared_st_32, "st.volatile.shared.b32 [%1], %2;")
SHARED_KERNEL(shared_st_64, "st.volatile.shared.b64 [%1], %3;")
SHARED_KERNEL(shared_st_128, "st.volatile.shared.v4.b32 [%1], {%2, %2, %2, %2};")
SHARED_KERNEL(shared_atom_32, "atom.shared.add.u32 x, [%1], %2; xor.b32 %0, %0, x;")
SHARED_KERNEL(shared_ldmatrix_x1,
              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {x}, [%1]; bar.warp.sync -1; xor.b32 %0, %0, x;")
SHARED_KERNEL(shared_ldmatrix_x2, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {x, y}, [%1]; bar.warp.sync -1; "
                                  "xor.b32 %0, %0, x; xor.b32 %0, %0, y;")
SHARED_KERNEL(shared_ldmatrix_x4, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {x, y, z, w}, [%1]; bar.warp.sync -1; "
                                  "xor.b32 %0, %0, x; xor.b32 %0, %0, y; xor.b32 %0, %0, z; xor.b32 %0, %0, w;")
SHARED_KERNEL(shared_stmatrix_x4, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%1], {%2, %2, %2, %2};")
GLOBAL_KERNEL(global_ld_16, "ld.volatile.global.b16 h, [%1];")
GLOBAL_KERNEL(global_ld_32, "ld.volatile.global.b32 x, [%1];")
GLOBAL_KERNEL(global_ld_64, "ld.volatile.global.b64 u, [%1];")
GLOBAL_KERNEL(global_ld_128, "ld.volatile.global.v4.b32 {x, y, z, w}, [%1];")
GLOBAL_KERNEL(global_st_32, "st.volatile.global.b32 [%1], %2;")
GLOBAL_KERNEL(global_st_128, "st.volatile.global.v4.b32 [%1], {%2, %2, %2, %2};")
GLOBAL_KERNEL(global_atom_32, "atom.global.add.u32 x, [%1], %2; xor.b32 %0, %0, x;")
GLOBAL_KERNEL(global_red_32, "red.global.add.u32 [%1], %2;")

// cp.async: source and destination have the pattern. Each copy is awaited, since equal copies in flight share sectors.
#define COPY_KERNEL(name, access)                                                                                      \
    __global__ void name(const __grid_constant__ pattern_batch batch) {                                                \
        __shared__ alignas(128) char tile[PATTERN_MEMORY];                                                             \
        const unsigned start = static_cast<unsigned>(__cvta_generic_to_shared(tile));                                  \
        FOR_EACH_PATTERN(asm volatile(access ::"r"(start + offset), "l"(batch.memory + offset) : "memory");)           \
    }

COPY_KERNEL(copy_4, "cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;")
COPY_KERNEL(copy_16, "cp.async.cg.shared.global [%0], [%1], 16; cp.async.wait_all;")

#define ENTRY(name, width, sets, base)                                                                                 \
    { #name, (const void *)name, width, sets, base }

extern "C" const struct pattern_kernel pattern_kernels[] = {
    ENTRY(shared_ld_128, 16, PATTERN_STRIDES | PATTERN_FEW | PATTERN_SHAPES, 64),
    ENTRY(shared_ld_64, 8, PATTERN_STRIDES | PATTERN_FEW | PATTERN_SHAPES, 64),
    ENTRY(shared_st_128, 16, PATTERN_STRIDES | PATTERN_FEW | PATTERN_ALONE, 64),
    ENTRY(shared_st_64, 8, PATTERN_STRIDES | PATTERN_FEW, 64),
    ENTRY(global_ld_32, 4, PATTERN_FEW | PATTERN_MISALIGNED, 40),
    ENTRY(global_ld_128, 16, PATTERN_FEW | PATTERN_MISALIGNED, 40),
    ENTRY(global_st_32, 4, PATTERN_FEW | PATTERN_MISALIGNED, 40),
    ENTRY(shared_ld_32, 4, PATTERN_STRIDES | PATTERN_FEW | PATTERN_SHAPES, 64),
    ENTRY(shared_st_32, 4, PATTERN_STRIDES | PATTERN_FEW, 64),
    ENTRY(shared_ldmatrix_x4, 16, PATTERN_FEW | PATTERN_WHOLE_WARP, 64),
    ENTRY(shared_atom_32, 4, PATTERN_FEW, 64),
    ENTRY(shared_ldmatrix_x1, 16, PATTERN_FEW | PATTERN_WHOLE_WARP, 64),
    ENTRY(shared_ldmatrix_x2, 16, PATTERN_FEW | PATTERN_WHOLE_WARP, 64),
    ENTRY(shared_stmatrix_x4, 16, PATTERN_FEW | PATTERN_WHOLE_WARP | PATTERN_ALONE, 64),
    ENTRY(global_ld_16, 2, PATTERN_FEW, 40),
    ENTRY(global_ld_64, 8, PATTERN_FEW, 40),
    ENTRY(global_st_128, 16, PATTERN_FEW, 40),
    ENTRY(global_atom_32, 4, PATTERN_FEW, 40),
    ENTRY(global_red_32, 4, PATTERN_FEW, 40),
    ENTRY(shared_ld_16, 2, PATTERN_FEW, 64),
    ENTRY(shared_st_16, 2, PATTERN_FEW, 64),
    ENTRY(copy_4, 4, PATTERN_FEW | PATTERN_ALONE, 40),
    ENTRY(copy_16, 16, PATTERN_FEW | PATTERN_ROWS | PATTERN_ALONE, 40),
    {nullptr, nullptr, 0, 0, 0},
};
