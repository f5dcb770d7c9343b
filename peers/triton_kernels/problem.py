"""Shared by the kernels of this package: supported shapes and the largest grid."""

import torch

MAX_HEAD_DIM = 512
FP32_DTYPES = (torch.float32,)
HALF_DTYPES = (torch.float16, torch.bfloat16)
MAX_PROGRAMS = 2**31 - 1  # maximum grid size along x


def dimensions(q, k, v, dtypes=FP32_DTYPES, max_head_dim=MAX_HEAD_DIM):
    """batch * heads, nq, nk and head_dim of q [batch][heads][nq][head_dim] and k, v [batch][heads][nk][head_dim]. Raises ValueError
    if the kernels do not support the tensors."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4 or tensor.dtype not in dtypes or tensor.dtype != q.dtype or not tensor.is_contiguous():
            types = " or ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
            raise ValueError(f"{name} must be a contiguous {types} tensor [batch][heads][n][head_dim] [unsupported-input]")
    batch, heads, nq, head_dim = q.shape
    nk = k.shape[2]
    if k.shape != (batch, heads, nk, head_dim) or v.shape != k.shape:
        raise ValueError(f"shapes do not match: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} [unsupported-input]")
    if min(q.shape) < 1 or nk < 1 or head_dim > max_head_dim:
        raise ValueError(f"each size must be at least 1, and head_dim at most {max_head_dim} [unsupported-input]")
    return batch * heads, nq, nk, head_dim


def grid(programs):
    if programs > MAX_PROGRAMS:
        raise ValueError(f"{programs} programs exceed the largest grid, {MAX_PROGRAMS} [unsupported-input]")
    return (programs,)
