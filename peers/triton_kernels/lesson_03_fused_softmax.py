"""Lesson 03 in Triton: a row softmax in one kernel; then scores, softmax and weighted sum in one kernel.

A Triton tensor lives in registers and cannot be indexed, so a program has no on-chip array for the scores of a row while it
computes their maximum. The attention kernel computes the scores twice instead: once for the maximum, once for the weights.
As in CUDA, each loaded key and value serves four queries, and the score matrix is never stored."""

import torch
import triton
import triton.language as tl

from .problem import dimensions, grid

NAME = "peer-triton_03_fused_softmax"
QUERIES = 4
TILE = 2048  # maximum elements of a tile of K or V; QUERIES * TILE running sums must fit in registers
MAX_REGISTER_COLUMNS = 32768
LONG_ROW_BLOCK = 4096


# Rows of up to BLOCK columns. Grid: one program per row.
@triton.jit
def row_softmax(
    X,  # [rows][columns]
    Y,  # [rows][columns]
    columns,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    x = tl.load(X + row + column, mask=column < columns, other=-float("inf"))
    weight = tl.exp(x - tl.max(x))
    tl.store(Y + row + column, weight / tl.sum(weight), mask=column < columns)


# Rows that do not fit in a program's registers: the first pass computes maximum and sum (online softmax), the second the output.
@triton.jit
def long_row_softmax(
    X,  # [rows][columns]
    Y,  # [rows][columns]
    columns,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * columns
    running_max = tl.full([BLOCK], -float("inf"), tl.float32)  # element i: columns i, i + BLOCK, ...
    running_sum = tl.zeros([BLOCK], tl.float32)
    for column0 in range(0, columns, BLOCK):
        column = column0 + tl.arange(0, BLOCK)
        x = tl.load(X + row + column, mask=column < columns, other=-float("inf"))
        new_max = tl.maximum(running_max, x)
        shift = tl.where(new_max == -float("inf"), 0.0, new_max)  # -inf - -inf would be NaN
        running_sum = running_sum * tl.exp(running_max - shift) + tl.exp(x - shift)
        running_max = new_max
    row_max = tl.max(running_max)
    row_sum = tl.sum(running_sum * tl.exp(running_max - row_max))
    for column0 in range(0, columns, BLOCK):
        column = column0 + tl.arange(0, BLOCK)
        x = tl.load(X + row + column, mask=column < columns, other=-float("inf"))
        tl.store(Y + row + column, tl.exp(x - row_max) / row_sum, mask=column < columns)


def softmax(x):
    if x.dim() != 2 or x.dtype != torch.float32 or not x.is_contiguous() or min(x.shape) < 1:
        raise ValueError("x must be a contiguous float32 tensor [rows][columns] [unsupported-input]")
    rows, columns = x.shape
    y = torch.empty_like(x)
    if columns > MAX_REGISTER_COLUMNS:
        long_row_softmax[grid(rows)](x, y, columns, BLOCK=LONG_ROW_BLOCK, num_warps=32)
    else:
        block = triton.next_power_of_2(columns)
        row_softmax[grid(rows)](x, y, columns, BLOCK=block, num_warps=min(32, max(1, block // 256)))
    return y


# The scaled scores of a tile of keys; masked scores are -inf.
@triton.jit
def tile_scores(
    q,  # [QUERIES][1][BLOCK_D]
    k,  # [1][KEYS][BLOCK_D]
    query,  # [QUERIES][1]
    key,  # [1][KEYS]
    nq,
    nk,
    softmax_scale,
    CAUSAL: tl.constexpr,
):
    score = softmax_scale * tl.sum(q * k, axis=2)
    unmasked = key < nk
    if CAUSAL:
        unmasked = unmasked & (key <= query + nk - nq)
    return tl.where(unmasked, score, -float("inf"))


# Grid: ceil(nq / QUERIES) programs for each head of each batch, QUERIES queries per program.
@triton.jit
def fused_attention(
    Q,  # [batch][heads][nq][HEAD_DIM]
    K,  # [batch][heads][nk][HEAD_DIM]
    V,  # [batch][heads][nk][HEAD_DIM]
    O,  # [batch][heads][nq][HEAD_DIM]
    nq,
    nk,
    softmax_scale,
    CAUSAL: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,  # HEAD_DIM rounded up to a power of two
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,  # keys per tile
):
    query_blocks = tl.cdiv(nq, QUERIES)
    head = (tl.program_id(0) // query_blocks).to(tl.int64)
    query0 = tl.program_id(0) % query_blocks * QUERIES
    # Axes of the tensors: queries, keys, columns.
    query = query0 + tl.arange(0, QUERIES)[:, None]
    column = tl.arange(0, BLOCK_D)[None, None, :]
    q_rows = (head * nq + query[:, :, None]) * HEAD_DIM + column
    q_in_bounds = (query[:, :, None] < nq) & (column < HEAD_DIM)
    q = tl.load(Q + q_rows, mask=q_in_bounds, other=0.0)
    key_end = nk
    if CAUSAL:
        key_end = tl.minimum(nk, query0 + QUERIES + nk - nq)

    row_max = tl.full([QUERIES, 1], -float("inf"), tl.float32)
    for key0 in range(0, key_end, KEYS):
        key = key0 + tl.arange(0, KEYS)[None, :]
        tile = (head * nk + key[:, :, None]) * HEAD_DIM + column
        k = tl.load(K + tile, mask=(key[:, :, None] < nk) & (column < HEAD_DIM), other=0.0)
        score = tile_scores(q, k, query, key, nq, nk, softmax_scale, CAUSAL)
        row_max = tl.maximum(row_max, tl.max(score, axis=1, keep_dims=True))
    row_max = tl.where(row_max == -float("inf"), 0.0, row_max)  # fully masked row: -inf - -inf would be NaN

    partial_o = tl.zeros([QUERIES, KEYS, BLOCK_D], tl.float32)  # [:, i]: keys i, i + KEYS, ...; reduced once, in the epilogue
    partial_sum = tl.zeros([QUERIES, KEYS], tl.float32)
    for key0 in range(0, key_end, KEYS):
        key = key0 + tl.arange(0, KEYS)[None, :]
        tile = (head * nk + key[:, :, None]) * HEAD_DIM + column
        in_bounds = (key[:, :, None] < nk) & (column < HEAD_DIM)
        k = tl.load(K + tile, mask=in_bounds, other=0.0)
        weight = tl.exp(tile_scores(q, k, query, key, nq, nk, softmax_scale, CAUSAL) - row_max)
        partial_sum += weight
        partial_o += weight[:, :, None] * tl.load(V + tile, mask=in_bounds, other=0.0)

    row_sum = tl.sum(partial_sum, axis=1)
    row_sum = tl.where(row_sum == 0.0, 1.0, row_sum)  # fully masked rows are 0
    o = tl.sum(partial_o, axis=1) / row_sum[:, None]
    tl.store(O + q_rows, o[:, None, :], mask=q_in_bounds)


def attention(q, k, v, softmax_scale, causal=False):
    heads, nq, nk, head_dim = dimensions(q, k, v)
    o = torch.empty_like(q)
    block_d = triton.next_power_of_2(head_dim)
    fused_attention[grid(heads * triton.cdiv(nq, QUERIES))](
        q, k, v, o, nq, nk, softmax_scale, CAUSAL=causal, HEAD_DIM=head_dim,
        BLOCK_D=block_d, QUERIES=QUERIES, KEYS=min(32, TILE // block_d), num_warps=4,
    )
    return o
