"""Prints the tables of a comparison."""

from peers.inputs import ELEMENT_BYTES
from peers.shapes import Attention, Matrix
from peers.timing import TimedKernel

NAME_WIDTH = 36
# The library with a column of its own next to the fastest library: heading and name.
REFERENCE_LIBRARY = {"fp32": ("efficient", "peer-torch_efficient"), "fp16": ("FA3", "peer-fa3"), "bf16": ("FA3", "peer-fa3")}


def duration(microseconds: float) -> str:
    if microseconds < 1e3:
        return f"{microseconds:.1f} us"
    if microseconds < 1e6:
        return f"{microseconds * 1e-3:.2f} ms"
    return f"{microseconds * 1e-6:.3f} s "


def speedup(library: float | None, kernel: float) -> str:
    """The speed-up over the library."""
    return f"{library / kernel:.2f}x" if library else "-"


def is_library(name: str) -> bool:
    """Triton kernels belong to this project and are not libraries."""
    return name.startswith(("peer-", "baseline-")) and not name.startswith("peer-triton")


def fastest(kernels: list[TimedKernel], is_included) -> float | None:
    """The smallest median among the accurate kernels whose names is_included() accepts."""
    return min((k.timing.median for k in kernels if k.exact and is_included(k.name)), default=None)


def print_attention(shape: Attention, dtype: str, kernels: list[TimedKernel]) -> None:
    if not kernels:
        return
    element, (heading, name) = ELEMENT_BYTES[dtype], REFERENCE_LIBRARY[dtype]
    best, reference = fastest(kernels, is_library), fastest(kernels, name.__eq__)
    print(
        f"  {'':{NAME_WIDTH}} {'median':>10} {'min':>10} {'p95':>10} {'samples':>7} {'TFLOP/s':>8} {'GB/s':>8} "
        f"{'best library':>12} {heading:>9} {'rms':>8}"
    )
    for kernel in kernels:
        t = kernel.timing
        print(
            f"  {kernel.name:{NAME_WIDTH}} {duration(t.median):>10} {duration(t.minimum):>10} {duration(t.p95):>10} "
            f"{t.repeats:>7} {shape.flops() / t.median * 1e-6:>8.2f} {shape.bytes(element) / t.median * 1e-3:>8.1f} "
            f"{speedup(best, t.median):>12} {speedup(reference, t.median):>9} {kernel.error:>8.1e}{notes(kernel)}"
        )


def print_softmax(matrix: Matrix, kernels: list[TimedKernel], copy: TimedKernel) -> None:
    library = fastest(kernels, "peer-torch_softmax".__eq__)
    print(
        f"  {'':{NAME_WIDTH}} {'median':>10} {'min':>10} {'p95':>10} {'samples':>7} {'GB/s':>8} {'of copy':>8} "
        f"{'torch.softmax':>13} {'error':>8}"
    )
    for kernel in [*kernels, copy]:
        t = kernel.timing
        print(
            f"  {kernel.name:{NAME_WIDTH}} {duration(t.median):>10} {duration(t.minimum):>10} {duration(t.p95):>10} "
            f"{t.repeats:>7} {matrix.bytes() / t.median * 1e-3:>8.1f} {100 * copy.timing.median / t.median:>7.1f}% "
            f"{speedup(library, t.median):>13} {kernel.error:>8.1e}{notes(kernel)}"
        )


def notes(kernel: TimedKernel) -> str:
    found = [] if kernel.exact else ["less accurate, excluded from the comparison"]
    if kernel.late_samples:
        found.append("GPU waited for the CPU")
    elif kernel.timing.noisy:
        found.append("noisy")
    return "".join("  " + word for word in found)


def print_status(name: str, text: str) -> None:
    print(f"  {name:{NAME_WIDTH}} {text}", flush=True)
