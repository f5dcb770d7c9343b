"""Reference attention and row softmax in fp64, computed in chunks that fit in memory, and the check of an output against them."""

import math
from dataclasses import dataclass
from typing import Any

from peers.inputs import Matrices, Tensors

MAX_SCORES = 2**26  # scores per chunk: 512 MiB in fp64 for each temporary tensor
# The project's gates on the relative RMS error.
GATE = {"fp32": 5e-6, "fp16": 8e-4, "bf16": 5e-3}
# Half of the distance between 1 and the next larger value of the type: the largest relative rounding error.
UNIT_ROUNDOFF = {"fp16": 2.0**-11, "bf16": 2.0**-8}


@dataclass
class Expected:
    """o and bound are [batch][heads][nq][head_dim] in fp64; bound is None in fp32, which has only the gate."""

    o: Any
    bound: Any


def attention_reference(torch, tensors: Tensors) -> Expected:
    """The expected output for set 0, computed from the rounded inputs.

    In 16 bits the error bound of an element is (u + 2 delta) a + u |o| + 1e-6. u is the unit roundoff: a kernel rounds each weight
    and each output once. a is the sum of |weight| |v|, by which the rounding errors of the weights are multiplied. delta bounds the
    error of a score, which is an fp32 dot product of head_dim terms: scale (head_dim + 4) 2^-24 sum |q| |k|. The factor 2 is for
    the numerator of the weight and the row sum."""
    shape = tensors.shape
    o = torch.empty(tensors.q[0].shape, dtype=torch.float64, device=tensors.q.device)
    roundoff = UNIT_ROUNDOFF.get(tensors.dtype)
    bound = torch.empty_like(o) if roundoff else None
    chunk = max(1, min(shape.nq, MAX_SCORES // shape.nk))
    for batch in range(shape.batch):
        for head in range(shape.heads):
            k = tensors.k[0, batch, head].double()
            v = tensors.v[0, batch, head].double()
            for first in range(0, shape.nq, chunk):
                q = tensors.q[0, batch, head, first : first + chunk].double()
                rows = (batch, head, slice(first, first + chunk))
                weights = attention_weights(torch, shape, first, q, k, tensors.scale)
                o[rows] = weights @ v
                if roundoff:
                    magnitudes = apply_mask(torch, shape, first, q.abs() @ k.abs().T, 0.0).amax(dim=-1, keepdim=True)
                    delta = tensors.scale * (shape.head_dim + 4) * 2.0**-24 * magnitudes
                    bound[rows] = (roundoff + 2 * delta) * (weights @ v.abs()) + roundoff * o[rows].abs() + 1e-6
    return Expected(o, bound)


def attention_weights(torch, shape, first: int, q, k, scale: float):
    """fp64 weights of one head for the queries from first on: q [queries][head_dim], k [nk][head_dim] -> [queries][nk]."""
    scores = apply_mask(torch, shape, first, scale * (q @ k.T), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.nan_to_num(weights, nan=0.0) if shape.causal else weights  # fully masked rows are 0


def apply_mask(torch, shape, first: int, scores, value: float):
    """Replaces masked elements of scores [queries][nk], whose first row is query first, by value."""
    if not shape.causal:
        return scores
    query = torch.arange(first, first + scores.shape[0], device=scores.device)[:, None]
    masked = torch.arange(shape.nk, device=scores.device)[None, :] > query + shape.nk - shape.nq
    return scores.masked_fill(masked, value)


def check_output(torch, o, expected: Expected, dtype: str) -> tuple[float, bool]:
    """The relative RMS error of o, and whether it is within the gate and each element within its bound."""
    error = relative_rms(torch, o, expected.o)
    exact = error <= GATE[dtype]
    if exact and expected.bound is not None:
        exact = bool(((o.double() - expected.o).abs() <= expected.bound).all())
    return error, exact


def relative_rms(torch, o, reference) -> float:
    """sqrt(sum (o - reference)^2 / sum reference^2); infinite if o has a NaN or an infinity."""
    if o.shape != reference.shape or not torch.isfinite(o).all():
        return math.inf
    difference = (o.double() - reference).square().sum()
    return math.sqrt((difference / reference.square().sum()).item())


def check_softmax(torch, matrices: Matrices, out) -> tuple[float, bool]:
    """The largest relative error of out [rows][columns] for set 0, and whether each element is within the bound of
    tolerance_softmax() in common/host/tolerance.c."""
    columns, worst, within = matrices.shape.columns, 0.0, True
    chunk = max(1, MAX_SCORES // columns)
    for first in range(0, matrices.shape.rows, chunk):
        x = matrices.x[0, first : first + chunk].double()
        reference = torch.softmax(x, dim=-1)
        maximum = x.amax(dim=-1, keepdim=True).abs()
        bound = 2.0**-20 + 2.0**-22 * torch.maximum(x.abs(), maximum) + 2.0**-23 * math.sqrt(columns)
        difference = (out[first : first + chunk].double() - reference).abs()
        within = within and bool((difference <= bound * reference + 2.0**-126).all())
        worst = max(worst, (difference / reference).max().item())
    return worst, within
