"""Attention and row softmax in double precision, in pieces that fit in memory, and how far an output is from them."""

import math
from dataclasses import dataclass
from typing import Any

from peers.inputs import Matrices, Tensors

PIECE = 2**26  # scores at a time: 512 MiB of doubles, a few times over
# The project's gates on the relative RMS error.
GATE = {"fp32": 5e-6, "fp16": 8e-4, "bf16": 5e-3}
# Half of the distance between 1 and the next number: what rounding a number to this type may change of it.
UNIT_ROUNDOFF = {"fp16": 2.0**-11, "bf16": 2.0**-8}


@dataclass
class Expected:
    """o and bound are [batch][heads][nq][head_dim] in fp64; bound is None in fp32, where the gate alone judges."""

    o: Any
    bound: Any


def attention_reference(torch, tensors: Tensors) -> Expected:
    """What is right for set 0, from its inputs as they are, rounded already.

    In 16 bits an element may be off by (u + 2 delta) a + u |o| + 1e-6. u: the weights and the output are each rounded to the
    type once; a is the sum of |weight| |v|, what all the weights' roundings can add up to. delta: a score of head_dim
    products in fp32 is off by at most scale (head_dim + 4) 2^-24 sum |q| |k|, and twice that is the change of a weight's
    numerator and of the row's sum."""
    shape = tensors.shape
    o = torch.empty(tensors.q[0].shape, dtype=torch.float64, device=tensors.q.device)
    roundoff = UNIT_ROUNDOFF.get(tensors.dtype)
    bound = torch.empty_like(o) if roundoff else None
    step = max(1, min(shape.nq, PIECE // shape.nk))
    for batch in range(shape.batch):
        for head in range(shape.heads):
            k = tensors.k[0, batch, head].double()
            v = tensors.v[0, batch, head].double()
            for first in range(0, shape.nq, step):
                q = tensors.q[0, batch, head, first : first + step].double()
                rows = (batch, head, slice(first, first + step))
                weights = weigh(torch, shape, first, q, k, tensors.scale)
                o[rows] = weights @ v
                if roundoff:
                    sizes = hide(torch, shape, first, q.abs() @ k.abs().T, 0.0).amax(dim=-1, keepdim=True)
                    delta = tensors.scale * (shape.head_dim + 4) * 2.0**-24 * sizes
                    bound[rows] = (roundoff + 2 * delta) * (weights @ v.abs()) + roundoff * o[rows].abs() + 1e-6
    return Expected(o, bound)


def weigh(torch, shape, first: int, q, k, scale: float):
    """The weights of queries first .. of one head, fp64: q [queries][head_dim], k [nk][head_dim] -> [queries][nk]."""
    scores = hide(torch, shape, first, scale * (q @ k.T), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.nan_to_num(weights, nan=0.0) if shape.causal else weights  # a row that sees no key is 0


def hide(torch, shape, first: int, scores, value: float):
    """scores [queries][nk] of queries first .., with value where a query does not see the key."""
    if not shape.causal:
        return scores
    query = torch.arange(first, first + scores.shape[0], device=scores.device)[:, None]
    hidden = torch.arange(shape.nk, device=scores.device)[None, :] > query + shape.nk - shape.nq
    return scores.masked_fill(hidden, value)


def judge(torch, o, expected: Expected, dtype: str) -> tuple[float, bool]:
    """The relative RMS error of o, and whether it is within the gate and each element within its bound."""
    error = relative_rms(torch, o, expected.o)
    exact = error <= GATE[dtype]
    if exact and expected.bound is not None:
        exact = bool(((o.double() - expected.o).abs() <= expected.bound).all())
    return error, exact


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
