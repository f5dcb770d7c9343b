"""Lesson 02 in Triton: one tile of keys per iteration, 16-byte loads, the query in registers, scores in device memory."""

import torch
import triton
import triton.language as tl

from .problem import dimensions, grid

NAME = "peer-triton_02_vectorized"
THREADS = 256
KEYS_PER_ITERATION = 32


# Grid: one program for each query of each head of each batch.
@triton.jit
def vectorized_attention(
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
    KEYS: tl.constexpr,  # keys per tile of K or V
    SCORES: tl.constexpr,  # scores per iteration of the softmax
):
    row = tl.program_id(0).to(tl.int64)
    head = row // nq
    key_end = nk
    if CAUSAL:
        key_end = tl.minimum(nk, (row % nq + 1 + nk - nq).to(tl.int32))
    column = tl.arange(0, BLOCK_D)
    q = tl.load(Q + row * HEAD_DIM + column, mask=column < HEAD_DIM, other=0.0)

    for key0 in range(0, key_end, KEYS):
        key = key0 + tl.arange(0, KEYS)
        in_bounds = (key[:, None] < key_end) & (column[None, :] < HEAD_DIM)
        k = tl.load(K + (head * nk + key[:, None]) * HEAD_DIM + column[None, :], mask=in_bounds, other=0.0)
        score = softmax_scale * tl.sum(q[None, :] * k, axis=1)
        tl.store(scores + row * nk + key, score, mask=key < key_end)
    tl.debug_barrier()  # some threads stored the scores, all threads load them

    row_max = -float("inf")
    for key0 in range(0, key_end, SCORES):
        key = key0 + tl.arange(0, SCORES)
        score = tl.load(scores + row * nk + key, mask=key < key_end, other=-float("inf"))
        row_max = tl.maximum(row_max, tl.max(score))
    row_sum = 0.0
    for key0 in range(0, key_end, SCORES):
        key = key0 + tl.arange(0, SCORES)
        score = tl.load(scores + row * nk + key, mask=key < key_end, other=-float("inf"))
        weight = tl.exp(score - row_max)
        tl.store(scores + row * nk + key, weight, mask=key < key_end)
        row_sum += tl.sum(weight)
    tl.debug_barrier()  # each thread loads weights that other threads stored

    partial_o = tl.zeros([KEYS, BLOCK_D], tl.float32)  # element [i]: keys i, i + KEYS, ...; reduced once, in the epilogue
    for key0 in range(0, key_end, KEYS):
        key = key0 + tl.arange(0, KEYS)
        in_bounds = (key[:, None] < key_end) & (column[None, :] < HEAD_DIM)
        v = tl.load(V + (head * nk + key[:, None]) * HEAD_DIM + column[None, :], mask=in_bounds, other=0.0)
        weight = tl.load(scores + row * nk + key, mask=key < key_end, other=0.0)
        partial_o += weight[:, None] * v
    if CAUSAL:
        row_sum = tl.where(key_end > 0, row_sum, 1.0)  # fully masked rows are 0
    tl.store(O + row * HEAD_DIM + column, tl.sum(partial_o, axis=0) / row_sum, mask=column < HEAD_DIM)


def attention(q, k, v, softmax_scale, causal=False):
    heads, nq, nk, head_dim = dimensions(q, k, v)
    o = torch.empty_like(q)
    scores = torch.empty(heads * nq * nk, dtype=torch.float32, device=q.device)
    block_d = triton.next_power_of_2(head_dim)
    vectorized_attention[grid(heads * nq)](
        q, k, v, o, scores, nq, nk, softmax_scale, CAUSAL=causal, HEAD_DIM=head_dim,
        BLOCK_D=block_d, KEYS=KEYS_PER_ITERATION, SCORES=THREADS, num_warps=THREADS // 32,
    )
    return o
