"""The tables that a comparison prints."""

from peers.inputs import ELEMENT_BYTES
from peers.shapes import Attention, Matrix
from peers.timing import TimedKernel

NAME_WIDTH = 36
# The library that has a column of its own after the fastest one: its heading, and its name.
NAMED = {"fp32": ("efficient", "peer-torch_efficient"), "fp16": ("FA3", "peer-fa3"), "bf16": ("FA3", "peer-fa3")}


def duration(microseconds: float) -> str:
    if microseconds < 1e3:
        return f"{microseconds:.1f} us"
    if microseconds < 1e6:
        return f"{microseconds * 1e-3:.2f} ms"
    return f"{microseconds * 1e-6:.3f} s "


def ratio(library: float | None, own: float) -> str:
    """How many times faster than the library."""
    return f"{library / own:.2f}x" if library else "-"


def is_library(name: str) -> bool:
    """Triton's kernels are this project's own."""
    return name.startswith(("peer-", "baseline-")) and not name.startswith("peer-triton")


def fastest(kernels: list[TimedKernel], counts) -> float | None:
    """The least median of the kernels of right results whose names count."""
    return min((k.timing.median for k in kernels if k.exact and counts(k.name)), default=None)


def print_attention(shape: Attention, dtype: str, kernels: list[TimedKernel]) -> None:
    if not kernels:
        return
    element, (heading, name) = ELEMENT_BYTES[dtype], NAMED[dtype]
    best, named = fastest(kernels, is_library), fastest(kernels, name.__eq__)
    print(
        f"  {'':{NAME_WIDTH}} {'median':>10} {'min':>10} {'p95':>10} {'samples':>7} {'TFLOP/s':>8} {'GB/s':>8} "
        f"{'best library':>12} {heading:>9} {'rms':>8}"
    )
    for c in kernels:
        t = c.timing
        print(
            f"  {c.name:{NAME_WIDTH}} {duration(t.median):>10} {duration(t.least):>10} {duration(t.p95):>10} "
            f"{t.repeats:>7} {shape.flops() / t.median * 1e-6:>8.2f} {shape.bytes(element) / t.median * 1e-3:>8.1f} "
            f"{ratio(best, t.median):>12} {ratio(named, t.median):>9} {c.error:>8.1e}{remarks(c)}"
        )


def print_softmax(matrix: Matrix, kernels: list[TimedKernel], copy: TimedKernel) -> None:
    library = fastest(kernels, "peer-torch_softmax".__eq__)
    print(
        f"  {'':{NAME_WIDTH}} {'median':>10} {'min':>10} {'p95':>10} {'samples':>7} {'GB/s':>8} {'of copy':>8} "
        f"{'torch.softmax':>13} {'error':>8}"
    )
    for c in [*kernels, copy]:
        t = c.timing
        print(
            f"  {c.name:{NAME_WIDTH}} {duration(t.median):>10} {duration(t.least):>10} {duration(t.p95):>10} "
            f"{t.repeats:>7} {matrix.bytes() / t.median * 1e-3:>8.1f} {100 * copy.timing.median / t.median:>7.1f}% "
            f"{ratio(library, t.median):>13} {c.error:>8.1e}{remarks(c)}"
        )


def remarks(kernel: TimedKernel) -> str:
    words = [] if kernel.exact else ["less accurate, so not compared with"]
    if kernel.late:
        words.append("waited for the CPU")
    elif kernel.timing.noisy:
        words.append("noisy")
    return "".join("  " + word for word in words)


def report(name: str, text: str) -> None:
    print(f"  {name:{NAME_WIDTH}} {text}", flush=True)
