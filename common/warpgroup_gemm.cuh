// The two GEMMs of a tile as wgmmas, see lesson 13. The arguments *_desc are matrix descriptors (descriptor_low()).
#pragma once

#include "tensor_maps.cuh"
#include "wgmma.cuh"

// Issues the wgmmas of S_rmem = Q K^T for the warpgroup's rows and all keys of the tile.
template <class T, class E = typename T::E>
__device__ inline void issue_qk(float (&S_rmem)[LANE_ROWS][T::LANE_KEYS], uint32_t q_desc, uint32_t k_desc) {
    q_desc = warp_uniform(q_desc), k_desc = warp_uniform(k_desc);
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        const int panel = column / PANEL, panel_column = column % PANEL;
        wgmma<E>(S_rmem, q_desc + descriptor_offset((panel * T::QUERIES * PANEL + panel_column) * sizeof(E)),
                 k_desc + descriptor_offset((panel * T::KEYS * PANEL + panel_column) * sizeof(E)), column > 0);
    }
}

// Issues the wgmmas of O_rmem += P V for the warpgroup's rows and all columns.
template <class T, class E = typename T::E>
__device__ inline void issue_pv(float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS], const uint32_t (&P_rmem)[T::KEYS / 16][4],
                                uint32_t v_desc) {
    v_desc = warp_uniform(v_desc);
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16)
        wgmma<E>(O_rmem, P_rmem[key / 16], v_desc + descriptor_offset(key * PANEL * sizeof(E)));
}
