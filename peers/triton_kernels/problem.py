"""What the kernels of this package have in common: the shapes they take, and the largest grid."""

import torch

MAX_HEAD_DIM = 512
SINGLE = (torch.float32,)
HALVES = (torch.float16, torch.bfloat16)
MAX_PROGRAMS = 2**31 - 1  # of one launch, along its first axis


def dimensions(q, k, v, dtypes=SINGLE, max_head_dim=MAX_HEAD_DIM):
    """Heads of all batches together, nq, nk and head_dim of q [batch][heads][nq][head_dim] and k, v [batch][heads][nk]
    [head_dim]. ValueError where the kernels do not cover them."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4 or tensor.dtype not in dtypes or tensor.dtype != q.dtype or not tensor.is_contiguous():
            types = " or ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
            raise ValueError(f"{name} has to be a contiguous {types} tensor [batch][heads][n][head_dim]")
    batch, heads, nq, head_dim = q.shape
    nk = k.shape[2]
    if k.shape != (batch, heads, nk, head_dim) or v.shape != k.shape:
        raise ValueError(f"shapes do not match: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
    if min(q.shape) < 1 or nk < 1 or head_dim > max_head_dim:
        raise ValueError(f"every size has to be at least 1 and head_dim at most {max_head_dim}")
    return batch * heads, nq, nk, head_dim


def grid(programs):
    if programs > MAX_PROGRAMS:
        raise ValueError(f"{programs} programs are more than one launch takes ({MAX_PROGRAMS})")
    return (programs,)
