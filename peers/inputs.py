"""Random inputs of PyTorch, in enough sets to exceed twice the size of the L2 cache."""

import math
from dataclasses import dataclass
from typing import Any

from peers.shapes import Attention, Matrix

MAX_SETS = 2048
ELEMENT_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}


@dataclass
class Tensors:
    """Sets of inputs and outputs: q, o [sets][batch][heads][nq][head_dim]; k, v [sets][batch][heads][nk][head_dim]."""

    shape: Attention
    dtype: str
    scale: float
    q: Any
    k: Any
    v: Any
    o: Any

    @property
    def sets(self) -> int:
        return self.q.shape[0]


@dataclass
class Matrices:
    """x and out are [sets][rows][columns]."""

    shape: Matrix
    x: Any
    out: Any

    @property
    def sets(self) -> int:
        return self.x.shape[0]


def count_sets(size: float, l2_bytes: int, warm: bool) -> int:
    """The number of sets, of size bytes each, that evicts a set from L2 before it is used again; 1 for a warm cache."""
    return 1 if warm else max(1, min(MAX_SETS, math.ceil(2 * l2_bytes / size)))


def torch_dtype(torch, dtype: str):
    return {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]


def draw_attention(torch, shape: Attention, dtype: str, sets: int, seed: int, amplitude: float = 1, device: str = "cuda") -> Tensors:
    """Inputs: amplitude times samples of N(0,1), rounded to dtype. Outputs: NaN."""
    generator = torch.Generator(device=device).manual_seed(seed)
    element_type = torch_dtype(torch, dtype)

    def normal(n: int):
        size = (sets, shape.batch, shape.heads, n, shape.head_dim)
        return (amplitude * torch.randn(size, generator=generator, device=device)).to(element_type)

    q, k, v = normal(shape.nq), normal(shape.nk), normal(shape.nk)
    return Tensors(shape, dtype, 1 / math.sqrt(shape.head_dim), q, k, v, torch.full_like(q, math.nan))


def draw_softmax(torch, shape: Matrix, sets: int, seed: int, device: str = "cuda") -> Matrices:
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn((sets, shape.rows, shape.columns), generator=generator, device=device)
    return Matrices(shape, x, torch.full_like(x, math.nan))
