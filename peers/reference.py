"""Attention and row softmax in double precision, in pieces that fit in memory, and how far an output is from them."""

import math

from peers.inputs import Matrices, Tensors

PIECE = 2**26  # scores at a time: 512 MiB of doubles, a few times over
# The project's gates on the relative RMS error.
GATE = {"fp32": 5e-6, "fp16": 8e-4, "bf16": 5e-3}


def attention_reference(torch, tensors: Tensors):
    """o [batch][heads][nq][head_dim] in fp64, of set 0."""
    shape = tensors.shape
    o = torch.empty(tensors.q[0].shape, dtype=torch.float64, device=tensors.q.device)
    step = max(1, min(shape.nq, PIECE // shape.nk))
    for batch in range(shape.batch):
        for head in range(shape.heads):
            k = tensors.k[0, batch, head].double()
            v = tensors.v[0, batch, head].double()
            for first in range(0, shape.nq, step):
                q = tensors.q[0, batch, head, first : first + step].double()
                o[batch, head, first : first + step] = attend(torch, shape, first, q, k, v, tensors.scale)
    return o


def attend(torch, shape, first: int, q, k, v, scale: float):
    """Queries first .. of one head: q [queries][head_dim], k, v [nk][head_dim], all fp64."""
    scores = scale * (q @ k.T)
    if not shape.causal:
        return torch.softmax(scores, dim=-1) @ v
    query = torch.arange(first, first + q.shape[0], device=q.device)[:, None]
    hidden = torch.arange(shape.nk, device=q.device)[None, :] > query + shape.nk - shape.nq
    weights = torch.softmax(scores.masked_fill(hidden, -math.inf), dim=-1)
    return torch.nan_to_num(weights, nan=0.0) @ v  # a row that sees no key is 0


def relative_rms(torch, o, reference) -> float:
    """sqrt(sum (o - reference)^2 / sum reference^2); infinite where o has an element that is no number."""
    if o.shape != reference.shape or not torch.isfinite(o).all():
        return math.inf
    difference = (o.double() - reference).square().sum()
    return math.sqrt((difference / reference.square().sum()).item())


def softmax_error(torch, matrices: Matrices, out) -> tuple[float, bool]:
    """The largest relative error of out [rows][columns] for set 0, and whether each element is within the bound of
    tolerance_softmax() in common/host/tolerance.c."""
    columns, worst, within = matrices.shape.columns, 0.0, True
    step = max(1, PIECE // columns)
    for first in range(0, matrices.shape.rows, step):
        x = matrices.x[0, first : first + step].double()
        reference = torch.softmax(x, dim=-1)
        maximum = x.amax(dim=-1, keepdim=True).abs()
        bound = 2.0**-20 + 2.0**-22 * torch.maximum(x.abs(), maximum) + 2.0**-23 * math.sqrt(columns)
        difference = (out[first : first + step].double() - reference).abs()
        within = within and bool((difference <= bound * reference + 2.0**-126).all())
        worst = max(worst, (difference / reference).max().item())
    return worst, within
