// cp.async: asynchronous copies from global to shared memory that bypass the register file, from sm_80 on. On older
// devices the same functions copy synchronously, through a register.
#pragma once

#include <stdint.h>

// Copies BYTES bytes, 4 or 16; both addresses are aligned to BYTES. If not valid, writes zeros and reads nothing.
template <int BYTES>
__device__ inline void cp_async(float *to_smem, const float *from, bool valid = true) {
    static_assert(BYTES == 4 || BYTES == 16, "one float, or four floats, which bypass L1");
#if __CUDA_ARCH__ >= 800
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(to_smem);
    const int bytes = valid ? BYTES : 0;
    if (BYTES == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
#else
    for (int i = 0; i < BYTES / 4; i++)
        to_smem[i] = valid ? from[i] : 0.0f;
#endif
}

// Waits until all copies that this thread issued are complete and visible to it; other threads need a barrier after it.
__device__ inline void cp_async_wait_all() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Commits the copies that this thread has issued since the last commit as one group, which may be empty; waits until at
// most GROUPS groups are in flight. From sm_80 on.
__device__ inline void cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int GROUPS>
__device__ inline void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

// Issues the copies of ROWS rows of a matrix, from row0 on, with zeros for out-of-bounds elements. INSIDE: all elements
// are in bounds. BYTES: 16 if rows are whole float4s. TRANSPOSED: to_smem[column][row]. Eight threads copy adjacent
// columns, so that they read whole sectors.
template <bool INSIDE, int BYTES, bool TRANSPOSED, int D, int ROWS, int THREADS, int PITCH>
__device__ inline void copy_tile(float (*to_smem)[PITCH], const float *from /* [rows][head_dim] */, int row0, int rows,
                                 int head_dim) {
    const int c = threadIdx.x % 8 * (BYTES / 4), r = threadIdx.x / 8;
    const float *thread_from = from + (int64_t)(row0 + r) * head_dim + c;
#pragma unroll(INSIDE ? ROWS : 1)
    for (int row = 0; row < ROWS; row += THREADS / 8)
#pragma unroll(INSIDE ? D : 1)
        for (int column = 0; column < D; column += 2 * BYTES) {
            const bool valid = INSIDE || (row0 + r + row < rows && c + column < head_dim);
            float *to = TRANSPOSED ? &to_smem[c + column][r + row] : &to_smem[r + row][c + column];
            cp_async<BYTES>(to, valid ? thread_from + row * head_dim + column : from, valid);
        }
}

// All THREADS threads of the block call these. Rows are copied in units of 16 bytes if vectorized; a transposed tile is
// always copied in units of 4 bytes.
template <int D, int ROWS, int THREADS, int PITCH>
__device__ inline void copy_rows(float (*to_smem)[PITCH], const float *from /* [rows][head_dim] */, int row0, int rows,
                                 int head_dim, bool vectorized) {
    if (vectorized && row0 + ROWS <= rows && head_dim == D)
        copy_tile<true, 16, false, D, ROWS, THREADS>(to_smem, from, row0, rows, head_dim);
    else if (vectorized)
        copy_tile<false, 16, false, D, ROWS, THREADS>(to_smem, from, row0, rows, head_dim);
    else
        copy_tile<false, 4, false, D, ROWS, THREADS>(to_smem, from, row0, rows, head_dim);
}

template <int D, int ROWS, int THREADS, int PITCH>
__device__ inline void copy_transposed(float (*to_smem)[PITCH], const float *from /* [rows][head_dim] */, int row0,
                                       int rows, int head_dim) {
    if (row0 + ROWS <= rows && head_dim == D)
        copy_tile<true, 4, true, D, ROWS, THREADS>(to_smem, from, row0, rows, head_dim);
    else
        copy_tile<false, 4, true, D, ROWS, THREADS>(to_smem, from, row0, rows, head_dim);
}
