"""The tables that a comparison prints."""

from peers.inputs import ELEMENT_BYTES
from peers.shapes import Attention, Matrix
from peers.timing import Contestant

NAME_WIDTH = 36
TORCH = "peer-torch_"
# The rival beside the best of PyTorch's paths: the heading of its column, and its name.
RIVALS = {"fp32": ("efficient", "peer-torch_efficient"), "fp16": ("FA3", "peer-fa3"), "bf16": ("FA3", "peer-fa3")}


def duration(microseconds: float) -> str:
    if microseconds < 1e3:
        return f"{microseconds:.1f} us"
    if microseconds < 1e6:
        return f"{microseconds * 1e-3:.2f} ms"
    return f"{microseconds * 1e-6:.3f} s "


def ratio(rival: float | None, own: float) -> str:
    """How many times faster than the rival."""
    return f"{rival / own:.2f}x" if rival else "-"


def medians(contestants: list[Contestant], start: str) -> list[float]:
    """Of the contestants of right results whose names start so."""
    return [c.timing.median for c in contestants if c.exact and c.name.startswith(start)]


def print_attention(shape: Attention, dtype: str, contestants: list[Contestant]) -> None:
    if not contestants:
        return
    element, (heading, name) = ELEMENT_BYTES[dtype], RIVALS[dtype]
    best = min(medians(contestants, TORCH), default=None)
    rival = min(medians(contestants, name), default=None)
    print(
        f"  {'':{NAME_WIDTH}} {'median':>10} {'min':>10} {'p95':>10} {'samples':>7} {'TFLOP/s':>8} {'GB/s':>8} "
        f"{'best torch':>10} {heading:>9} {'rms':>8}"
    )
    for c in contestants:
        t = c.timing
        print(
            f"  {c.name:{NAME_WIDTH}} {duration(t.median):>10} {duration(t.least):>10} {duration(t.p95):>10} "
            f"{t.repeats:>7} {shape.flops() / t.median * 1e-6:>8.2f} {shape.bytes(element) / t.median * 1e-3:>8.1f} "
            f"{ratio(best, t.median):>10} {ratio(rival, t.median):>9} {c.error:>8.1e}{remarks(c)}"
        )


def print_softmax(matrix: Matrix, contestants: list[Contestant], copy: Contestant) -> None:
    rival = min(medians(contestants, "peer-torch_softmax"), default=None)
    print(
        f"  {'':{NAME_WIDTH}} {'median':>10} {'min':>10} {'p95':>10} {'samples':>7} {'GB/s':>8} {'of copy':>8} "
        f"{'torch.softmax':>13} {'error':>8}"
    )
    for c in [*contestants, copy]:
        t = c.timing
        print(
            f"  {c.name:{NAME_WIDTH}} {duration(t.median):>10} {duration(t.least):>10} {duration(t.p95):>10} "
            f"{t.repeats:>7} {matrix.bytes() / t.median * 1e-3:>8.1f} {100 * copy.timing.median / t.median:>7.1f}% "
            f"{ratio(rival, t.median):>13} {c.error:>8.1e}{remarks(c)}"
        )


def remarks(contestant: Contestant) -> str:
    words = [] if contestant.exact else ["not at this accuracy, so no rival"]
    if contestant.late:
        words.append("waited for the CPU")
    elif contestant.timing.noisy:
        words.append("noisy")
    return "".join("  " + word for word in words)


def say(name: str, text: str) -> None:
    print(f"  {name:{NAME_WIDTH}} {text}", flush=True)
