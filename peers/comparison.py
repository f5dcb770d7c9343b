"""One comparison: each shape's contestants are judged, timed interleaved, printed and recorded."""

import argparse
import random
import sys
import time

from peers import reference, shapes, table
from peers.device import Clocks, Device
from peers.inputs import ELEMENT_BYTES, count_sets, draw_attention, draw_softmax
from peers.lessons import NotCovered, is_lesson
from peers.results import Run
from peers.timing import REST, Contestant, Stopwatch
from peers.triton_paths import first_line

FAILED = 1


class Comparison:
    def __init__(
        self, torch, asked: argparse.Namespace, device: Device, clocks: Clocks, run: Run, begun: float
    ) -> None:
        self.torch, self.asked, self.device, self.clocks, self.run = torch, asked, device, clocks, run
        self.begun, self.deadline = begun, begun + asked.time_budget
        self.ahead = len(asked.attention_shapes) + len(asked.matrices)
        self.seed = asked.seed if asked.seed is not None else random.randrange(1000000)
        self.recorded = asked.results is not None
        self.failed = self.left_out = 0
        self.files: dict[str, int] = {}

    def share(self) -> float:
        """Seconds for the next shape: those that are left, shared out evenly."""
        return (self.deadline - time.monotonic()) / max(1, self.ahead)

    def begin(self, text: str) -> bool:
        """False where the time is used up."""
        in_time = time.monotonic() < self.deadline
        print(f"\n{text}" if in_time else f"\n{text}: not timed, the time is used up: --time-budget", flush=True)
        self.left_out += not in_time
        self.ahead -= not in_time
        return in_time

    def enter(self, contestant, problem, judge) -> Contestant | None:
        """Runs a contestant once and judges its output; None, and one line, where it cannot take part."""
        ours = is_lesson(contestant.name)
        try:
            launch = contestant.prepare(self.torch, problem, self.device)
            error, exact = judge(launch(0))
        except NotCovered as reason:
            table.say(contestant.name, f"not covered: {reason}")
            return None
        except self.torch.cuda.OutOfMemoryError:
            self.torch.cuda.empty_cache()
            table.say(contestant.name, "not timed: the GPU has too little memory for it here")
            return None
        except Exception as failure:  # a rival's failure, whatever it is, is not the end of the comparison
            self.failed += ours
            table.say(contestant.name, f"failed: {first_line(failure)}")
            return None
        if ours and not exact:
            self.failed += 1
            table.say(contestant.name, f"is wrong here (error {error:.1e}) and was not timed: make check says more")
            return None
        return Contestant(contestant.name, launch, error, exact)

    def attention(self, shape: shapes.Attention, contestants: list) -> None:
        dtype, element = self.asked.dtype, ELEMENT_BYTES[self.asked.dtype]
        sets = count_sets(shape.bytes(element), self.device.l2_bytes, self.asked.warm)
        if not self.begin(f"B,H,N,D = {shape}, {dtype}, {sets} set{'s' if sets > 1 else ''} of inputs"):
            return
        torch, budget = self.torch, self.share()
        entered = time.monotonic()
        tensors = draw_attention(torch, shape, dtype, sets, self.seed, self.asked.amplitude)
        right = reference.attention_reference(torch, tensors)

        def judge(o):
            judged = reference.judge(torch, o, right, dtype)
            tensors.o[0].fill_(float("nan"))
            return judged

        timed = [c for c in (self.enter(contestant, tensors, judge) for contestant in contestants) if c]
        self.time(timed, sets, budget - (time.monotonic() - entered))
        table.print_attention(shape, dtype, timed)
        for c in timed:
            file = "attention-eager.csv" if self.asked.eager else "attention.csv"
            if self.record(file):
                kind = dtype if c.exact else f"{dtype}-inexact"
                cache = "warm" if self.asked.warm else "cold"
                self.run.add_attention(c.name, shape, kind, element, cache, c.timing, c.error, file)

    def softmax(self, matrix: shapes.Matrix, contestants: list) -> None:
        sets = count_sets(matrix.bytes(), self.device.l2_bytes, self.asked.warm)
        if not self.begin(f"ROWS,COLUMNS = {matrix}, fp32, {sets} set{'s' if sets > 1 else ''} of inputs"):
            return
        torch, budget = self.torch, self.share()
        entered = time.monotonic()
        matrices = draw_softmax(torch, matrix, sets, self.seed)

        def judge(out):
            judged = reference.softmax_error(torch, matrices, out)
            matrices.out[0].fill_(float("nan"))
            return judged

        timed = [c for c in (self.enter(contestant, matrices, judge) for contestant in contestants) if c]
        copy = Contestant("copy", lambda i: matrices.out[i].copy_(matrices.x[i]))
        self.time([*timed, copy], sets, budget - (time.monotonic() - entered))
        table.print_softmax(matrix, timed, copy)
        copied = matrix.bytes() / copy.timing.median * 1e-3
        for c in timed:
            if not self.asked.warm and not self.asked.eager and self.record("softmax.csv"):
                self.run.add_softmax(c.name, "fp32" if c.exact else "fp32-inexact", matrix, c.timing, c.error, copied)

    def time(self, timed: list[Contestant], sets: int, seconds: float) -> None:
        self.ahead -= 1
        if timed:
            rest = REST if self.asked.dtype != "fp32" else 0
            Stopwatch(self.torch, self.device, self.clocks, sets, self.asked.eager, rest).time(timed, max(seconds, 2))
        sys.stdout.flush()

    def record(self, file: str) -> bool:
        if self.recorded:
            self.files[file] = self.files.get(file, 0) + 1
        return self.recorded

    def end(self) -> int:
        for file, rows in self.files.items():
            print(f"\nadded {rows} rows to {self.run.path(file)} as run {self.run.name}")
        print(f"{time.monotonic() - self.begun:.0f} s in all")
        return FAILED if self.failed or self.left_out else 0
