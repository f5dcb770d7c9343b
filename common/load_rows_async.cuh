// load_rows() by cp.async: the caller waits for the copies, by cp_async_wait_all() and a barrier.
#pragma once

#include "cp_async.cuh"
#include "load_rows.cuh"

// Issues the copy of a chunk; both addresses are aligned. If not valid, writes zeros and reads nothing.
template <class E>
__device__ inline void load_chunk(E *to_smem, const E *from, bool valid) {
    cp_async<16>(reinterpret_cast<float *>(to_smem), reinterpret_cast<const float *>(from), valid);
}
