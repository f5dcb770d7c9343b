"""Lesson 09 in Triton: both GEMMs (QK^T and PV) of 16-bit tiles on tensor cores with fp32 accumulators.

On a GPU of compute capability 9.0 Triton uses wgmma, the subject of lesson 13."""

import torch
import triton
import triton.language as tl

from .problem import HALF_DTYPES, dimensions, grid

NAME = "peer-triton_09_tensor_cores"
DTYPES = HALF_DTYPES
MAX_HEAD_DIM = 256
LOG2_E = 1.44269504


# Grid: ceil(nq / QUERIES) programs for each head of each batch, QUERIES queries per program; longest work first.
@triton.jit
def tensor_core_attention(
    Q,  # [batch][heads][nq][HEAD_DIM]
    K,  # [batch][heads][nk][HEAD_DIM]
    V,  # [batch][heads][nk][HEAD_DIM]
    O,  # [batch][heads][nq][HEAD_DIM]
    nq,
    nk,
    scale,  # softmax_scale * log2(e), for exp2
    CAUSAL: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,  # HEAD_DIM rounded up to a power of two, at least 16
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,  # keys per tile
    STAGES: tl.constexpr,  # pipeline stages of the main loop; with 2 or more Triton prefetches tiles
):
    query_blocks = tl.cdiv(nq, QUERIES)
    head = (tl.program_id(0) // query_blocks).to(tl.int64)
    query0 = (query_blocks - 1 - tl.program_id(0) % query_blocks) * QUERIES
    query = query0 + tl.arange(0, QUERIES)
    column = tl.arange(0, BLOCK_D)
    rows = (head * nq + query[:, None]) * HEAD_DIM + column[None, :]  # offsets in Q and O
    q_in_bounds = (query[:, None] < nq) & (column[None, :] < HEAD_DIM)
    q = tl.load(Q + rows, mask=q_in_bounds, other=0.0)
    key_end = nk
    if CAUSAL:
        key_end = tl.minimum(nk, query0 + QUERIES + nk - nq)

    o = tl.zeros([QUERIES, BLOCK_D], tl.float32)
    row_max = tl.full([QUERIES], -float("inf"), tl.float32)
    row_sum = tl.zeros([QUERIES], tl.float32)
    for key0 in tl.range(0, key_end, KEYS, num_stages=STAGES):
        key = key0 + tl.arange(0, KEYS)
        tile = (head * nk + key[:, None]) * HEAD_DIM + column[None, :]
        in_bounds = (key[:, None] < nk) & (column[None, :] < HEAD_DIM)
        k = tl.load(K + tile, mask=in_bounds, other=0.0)
        v = tl.load(V + tile, mask=in_bounds, other=0.0)

        score = tl.dot(q, tl.trans(k))
        unmasked = key[None, :] < nk
        if CAUSAL:
            unmasked = unmasked & (key[None, :] <= query[:, None] + nk - nq)
        score = tl.where(unmasked, scale * score, -float("inf"))

        new_max = tl.maximum(row_max, tl.max(score, axis=1))
        shift = tl.where(new_max == -float("inf"), 0.0, new_max)  # -inf - -inf would be NaN
        weight = tl.exp2(score - shift[:, None])
        rescale = tl.exp2(row_max - shift)
        row_sum = row_sum * rescale + tl.sum(weight, axis=1)
        o = tl.dot(weight.to(v.dtype), v, o * rescale[:, None])
        row_max = new_max

    row_sum = tl.where(row_sum == 0.0, 1.0, row_sum)  # fully masked rows are 0
    tl.store(O + rows, (o / row_sum[:, None]).to(q.dtype), mask=q_in_bounds)


def attention(q, k, v, softmax_scale, causal=False, stages=1):
    heads, nq, nk, head_dim = dimensions(q, k, v, DTYPES, MAX_HEAD_DIM)
    o = torch.empty_like(q)
    queries, keys, warps = (128, 64, 8) if head_dim > 64 else (128, 64, 4)
    tensor_core_attention[grid(heads * triton.cdiv(nq, queries))](
        q, k, v, o, nq, nk, softmax_scale * LOG2_E, CAUSAL=causal, HEAD_DIM=head_dim,
        BLOCK_D=max(16, triton.next_power_of_2(head_dim)), QUERIES=queries, KEYS=keys, STAGES=stages, num_warps=warps,
    )
    return o
