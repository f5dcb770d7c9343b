"""Lesson 04 in Triton: tiles of K and V, with a running maximum and a running sum (online softmax)."""

import torch
import triton
import triton.language as tl

from .problem import dimensions, grid

NAME = "peer-triton_04_tiled_online_softmax"
QUERIES = 32
KEYS = 32


# Grid: ceil(nq / QUERIES) programs for each head of each batch, QUERIES queries per program.
@triton.jit
def tiled_attention(
    Q,  # [batch][heads][nq][HEAD_DIM]
    K,  # [batch][heads][nk][HEAD_DIM]
    V,  # [batch][heads][nk][HEAD_DIM]
    O,  # [batch][heads][nq][HEAD_DIM]
    nq,
    nk,
    softmax_scale,
    CAUSAL: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,  # HEAD_DIM rounded up to a power of two, at least 16
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,  # keys per tile
):
    query_blocks = tl.cdiv(nq, QUERIES)
    head = (tl.program_id(0) // query_blocks).to(tl.int64)
    query0 = tl.program_id(0) % query_blocks * QUERIES
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
    for key0 in range(0, key_end, KEYS):
        key = key0 + tl.arange(0, KEYS)
        tile = (head * nk + key[:, None]) * HEAD_DIM + column[None, :]
        in_bounds = (key[:, None] < nk) & (column[None, :] < HEAD_DIM)
        k = tl.load(K + tile, mask=in_bounds, other=0.0)
        v = tl.load(V + tile, mask=in_bounds, other=0.0)

        score = softmax_scale * tl.dot(q, tl.trans(k), input_precision="ieee")
        unmasked = key[None, :] < nk
        if CAUSAL:
            unmasked = unmasked & (key[None, :] <= query[:, None] + nk - nq)
        score = tl.where(unmasked, score, -float("inf"))

        new_max = tl.maximum(row_max, tl.max(score, axis=1))
        shift = tl.where(new_max == -float("inf"), 0.0, new_max)  # -inf - -inf would be NaN
        weight = tl.exp(score - shift[:, None])
        rescale = tl.exp(row_max - shift)
        row_sum = row_sum * rescale + tl.sum(weight, axis=1)
        o = o * rescale[:, None] + tl.dot(weight, v, input_precision="ieee")
        row_max = new_max

    row_sum = tl.where(row_sum == 0.0, 1.0, row_sum)  # fully masked rows are 0
    tl.store(O + rows, o / row_sum[:, None], mask=q_in_bounds)


def attention(q, k, v, softmax_scale, causal=False):
    heads, nq, nk, head_dim = dimensions(q, k, v)
    o = torch.empty_like(q)
    block_d = max(16, triton.next_power_of_2(head_dim))  # tl.dot needs a K dimension of at least 16
    warps = 4 if head_dim <= 64 else 8  # longer rows would spill registers with 4 warps
    tiled_attention[grid(heads * triton.cdiv(nq, QUERIES))](
        q, k, v, o, nq, nk, softmax_scale, CAUSAL=causal, HEAD_DIM=head_dim,
        BLOCK_D=block_d, QUERIES=QUERIES, KEYS=KEYS, num_warps=warps, num_stages=1,
    )
    return o
