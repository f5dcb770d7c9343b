"""Lesson 01 in Triton: one program per query, one key per iteration, scores in device memory."""

import torch
import triton
import triton.language as tl

from .problem import dimensions, grid

NAME = "peer-triton_01_basic_attention"
THREADS = 128


# Grid: one program for each query of each head of each batch.
@triton.jit
def basic_attention(
    Q,  # [batch][heads][nq][HEAD_DIM]
    K,  # [batch][heads][nk][HEAD_DIM]
    V,  # [batch][heads][nk][HEAD_DIM]
    O,  # [batch][heads][nq][HEAD_DIM]
    scores,  # [batch][heads][nq][nk]
    nq,
    nk,
    softmax_scale,
    CAUSAL: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,  # HEAD_DIM rounded up to a power of two
    KEYS: tl.constexpr,  # scores per iteration of the softmax
):
    row = tl.program_id(0).to(tl.int64)
    head = row // nq
    key_end = nk
    if CAUSAL:
        key_end = tl.minimum(nk, (row % nq + 1 + nk - nq).to(tl.int32))
    column = tl.arange(0, BLOCK_D)
    in_bounds = column < HEAD_DIM
    q = tl.load(Q + row * HEAD_DIM + column, mask=in_bounds, other=0.0)

    for key in range(0, key_end):
        k = tl.load(K + (head * nk + key) * HEAD_DIM + column, mask=in_bounds, other=0.0)
        tl.store(scores + row * nk + key, softmax_scale * tl.sum(q * k))
    tl.debug_barrier()  # one thread stored the scores, all threads load them

    row_max = -float("inf")
    for key0 in range(0, key_end, KEYS):
        keys = key0 + tl.arange(0, KEYS)
        score = tl.load(scores + row * nk + keys, mask=keys < key_end, other=-float("inf"))
        row_max = tl.maximum(row_max, tl.max(score))
    row_sum = 0.0
    for key0 in range(0, key_end, KEYS):
        keys = key0 + tl.arange(0, KEYS)
        score = tl.load(scores + row * nk + keys, mask=keys < key_end, other=-float("inf"))
        weight = tl.exp(score - row_max)
        tl.store(scores + row * nk + keys, weight, mask=keys < key_end)
        row_sum += tl.sum(weight)
    tl.debug_barrier()  # each thread loads weights that other threads stored

    o = tl.zeros([BLOCK_D], tl.float32)
    for key in range(0, key_end):
        v = tl.load(V + (head * nk + key) * HEAD_DIM + column, mask=in_bounds, other=0.0)
        o += tl.load(scores + row * nk + key) * v
    if CAUSAL:
        row_sum = tl.where(key_end > 0, row_sum, 1.0)  # fully masked rows are 0
    tl.store(O + row * HEAD_DIM + column, o / row_sum, mask=in_bounds)


def attention(q, k, v, softmax_scale, causal=False):
    heads, nq, nk, head_dim = dimensions(q, k, v)
    o = torch.empty_like(q)
    scores = torch.empty(heads * nq * nk, dtype=torch.float32, device=q.device)
    block_d = triton.next_power_of_2(head_dim)
    basic_attention[grid(heads * nq)](
        q, k, v, o, scores, nq, nk, softmax_scale,
        CAUSAL=causal, HEAD_DIM=head_dim, BLOCK_D=block_d, KEYS=THREADS, num_warps=THREADS // 32,
    )
    return o
