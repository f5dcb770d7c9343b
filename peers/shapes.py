"""Shapes: their notation, their operations and bytes, and the default shapes of a comparison."""

import re
from dataclasses import dataclass

MAX_HEAD_DIM = 512
MAX_SIZE = 2**31 - 1


@dataclass(frozen=True)
class Attention:
    """q and o are [batch][heads][nq][head_dim], k and v [batch][heads][nk][head_dim]."""

    batch: int
    heads: int
    nq: int
    nk: int
    head_dim: int
    causal: bool = False

    def __str__(self) -> str:
        n = str(self.nq) if self.nq == self.nk else f"{self.nq}:{self.nk}"
        return f"{self.batch},{self.heads},{n},{self.head_dim}{' causal' if self.causal else ''}"

    def flops(self) -> float:
        """Floating-point operations of both GEMMs, without masked pairs; the same as shape_flops() in common/shape.c."""
        pairs = float(self.nq) * self.nk
        if self.causal:
            rows = min(self.nq, self.nk)
            pairs = float(rows) * self.nk - rows * (rows - 1) / 2
        return 4.0 * self.batch * self.heads * pairs * self.head_dim

    def bytes(self, element_bytes: int = 4) -> float:
        """The minimum traffic: q, k and v are read once, o is written once."""
        return float(element_bytes) * 2 * self.batch * self.heads * (self.nq + self.nk) * self.head_dim


@dataclass(frozen=True)
class Matrix:
    """A row softmax over [rows][columns]."""

    rows: int
    columns: int

    def __str__(self) -> str:
        return f"{self.rows},{self.columns}"

    def bytes(self) -> float:
        """Each element is read once and written once."""
        return 8.0 * self.rows * self.columns


# One head at sizes that leave most SMs of a large GPU idle; then sizes that fill the GPU.
ATTENTION = [
    Attention(1, 1, n, n, head_dim)
    for n, head_dim in ((128, 64), (256, 128), (512, 128), (1024, 128), (1024, 256), (1024, 512), (4096, 64))
] + [
    Attention(4, 16, 1024, 1024, 64),
    Attention(1, 16, 4096, 4096, 64),
    Attention(1, 16, 4096, 4096, 128),
    Attention(1, 16, 8192, 8192, 64),
]
# In 16 bits: the grid of the FlashAttention papers, 16384 tokens with H * D = 2048.
TOKENS, WIDTH = 16384, 2048
GRID = [
    Attention(TOKENS // n, WIDTH // head_dim, n, n, head_dim, causal)
    for head_dim in (64, 128)
    for causal in (False, True)
    for n in (512, 1024, 2048, 4096, 8192, 16384)
]
SOFTMAX = [Matrix(4096, 1024), Matrix(4096, 4096), Matrix(16384, 4096), Matrix(32768, 8192)]


def parse(text: str) -> Attention | Matrix:
    """Reads B,H,N,D (N may be NQ:NK) or ROWS,COLUMNS. Raises ValueError with a message of one line if the text is invalid."""
    match = re.fullmatch(r"([0-9]+),([0-9]+),([0-9]+)(?::([0-9]+))?,([0-9]+)", text)
    if match:
        batch, heads, nq, nk, head_dim = (int(size) if size else 0 for size in match.groups())
        shape = Attention(batch, heads, nq, nk if match[4] else nq, head_dim)
        sizes = (batch, heads, nq, shape.nk, head_dim)
    elif match := re.fullmatch(r"([0-9]+),([0-9]+)", text):
        shape = Matrix(int(match[1]), int(match[2]))
        sizes = (shape.rows, shape.columns)
    else:
        raise ValueError(f"SHAPE={text} cannot be read; use B,H,N,D (N may be NQ:NK) or ROWS,COLUMNS [bad-shape]")
    if min(sizes) < 1 or max(sizes) > MAX_SIZE:
        raise ValueError(f"SHAPE={text} is out of range; each size is from 1 to {MAX_SIZE} [bad-shape]")
    if isinstance(shape, Attention) and shape.head_dim > MAX_HEAD_DIM:
        raise ValueError(f"SHAPE={text} is out of range; the head dimension D is at most {MAX_HEAD_DIM} [bad-shape]")
    return shape
