"""One comparison: at each shape the kernels' outputs are checked, then the kernels timed interleaved, printed and recorded."""

import argparse
import random
import sys
import time
from pathlib import Path

from peers import reference, shapes, table
from peers.device import Clocks, Device
from peers.inputs import ELEMENT_BYTES, count_sets, draw_attention, draw_softmax
from peers.lessons import NotCovered, is_lesson
from peers.results import Run
from peers.timing import REST, Stopwatch, TimedKernel
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
        self.versions: set[str] = set()  # the libraries whose version is recorded

    def share(self) -> float:
        """Seconds for the next shape: an equal part of those that are left."""
        return (self.deadline - time.monotonic()) / max(1, self.ahead)

    def begin(self, text: str) -> bool:
        """False if the time is used up."""
        in_time = time.monotonic() < self.deadline
        print(f"\n{text}" if in_time else f"\n{text}: not timed, the time is used up: --time-budget", flush=True)
        self.left_out += not in_time
        self.ahead -= not in_time
        return in_time

    def enter(self, kernel, problem, check) -> TimedKernel | None:
        """Runs a kernel once and checks its output. None, and one line that says why, if the kernel cannot be timed."""
        ours = is_lesson(kernel.name)
        try:
            launch = kernel.prepare(self.torch, problem, self.device)
            error, exact = check(launch(0))
        except NotCovered as reason:
            table.report(kernel.name, f"not covered: {reason}")
            return None
        except self.torch.cuda.OutOfMemoryError:
            self.torch.cuda.empty_cache()
            table.report(kernel.name, "not timed: the GPU has too little memory for it here")
            return None
        except Exception as failure:  # a library's failure, whatever it is, is not the end of the comparison
            self.failed += ours
            table.report(kernel.name, f"failed: {first_line(failure)}")
            return None
        if ours and not exact:
            self.failed += 1
            table.report(kernel.name, f"is wrong here (error {error:.1e}) and was not timed: make check says more")
            return None
        return TimedKernel(kernel.name, launch, error, exact)

    def check_all(self, kernels: list, tensors, check) -> list[TimedKernel]:
        """The kernels that can be timed. What this takes, a first call that compiles included, does not count as time used."""
        begun = time.monotonic()
        entered = [kernel for kernel in (self.enter(kernel, tensors, check) for kernel in kernels) if kernel]
        self.deadline += time.monotonic() - begun
        return entered

    def draw(self, shape: shapes.Attention, sets: int):
        """Tensors, and the function that judges an output of the first set."""
        torch, dtype = self.torch, self.asked.dtype
        tensors = draw_attention(torch, shape, dtype, sets, self.seed, self.asked.amplitude)
        right = reference.attention_reference(torch, tensors)

        def check(o):
            judged = reference.judge(torch, o, right, dtype)
            tensors.o[0].fill_(float("nan"))
            return judged

        return tensors, check

    def attention(self, shape: shapes.Attention, kernels: list) -> None:
        dtype, element = self.asked.dtype, ELEMENT_BYTES[self.asked.dtype]
        sets = count_sets(shape.bytes(element), self.device.l2_bytes, self.asked.warm)
        if not self.begin(f"B,H,N,D = {shape}, {dtype}, {sets} set{'s' if sets > 1 else ''} of inputs"):
            return
        budget, begun = self.share(), time.monotonic()
        tensors, check = self.draw(shape, sets)
        budget -= time.monotonic() - begun
        timed = self.check_all(kernels, tensors, check)
        self.time(timed, sets, budget)
        table.print_attention(shape, dtype, timed)
        file = "attention-eager.csv" if self.asked.eager else "attention.csv"
        for c in timed:
            if self.record(file, kernels, c.name):
                kind = dtype if c.exact else f"{dtype}-inexact"
                cache = "warm" if self.asked.warm else "cold"
                self.run.add_attention(c.name, shape, kind, element, cache, c.timing, c.error, file)

    def launch_once(self, shape: shapes.Attention, kernels: list, order: Path) -> int:
        """Runs each kernel once between cudaProfilerStart and cudaProfilerStop, PyTorch's spin kernel before each, and writes their
        names to a file in that order: so a profiler's list of launches can be told apart. All have run before, and are compiled."""
        tensors, check = self.draw(shape, 1)
        entered = self.check_all(kernels, tensors, check)
        self.torch.cuda.profiler.start()
        for kernel in entered:
            self.torch.cuda._sleep(1)
            kernel.launch(0)
            self.torch.cuda.synchronize()
        self.torch.cuda.profiler.stop()
        order.write_text("".join(f"{kernel.name}\n" for kernel in entered), encoding="ascii")
        return FAILED if self.failed else 0

    def softmax(self, matrix: shapes.Matrix, kernels: list) -> None:
        sets = count_sets(matrix.bytes(), self.device.l2_bytes, self.asked.warm)
        if not self.begin(f"ROWS,COLUMNS = {matrix}, fp32, {sets} set{'s' if sets > 1 else ''} of inputs"):
            return
        torch, budget = self.torch, self.share()
        matrices = draw_softmax(torch, matrix, sets, self.seed)

        def check(out):
            judged = reference.softmax_error(torch, matrices, out)
            matrices.out[0].fill_(float("nan"))
            return judged

        timed = self.check_all(kernels, matrices, check)
        copy = TimedKernel("copy", lambda i: matrices.out[i].copy_(matrices.x[i]))
        self.time([*timed, copy], sets, budget)
        table.print_softmax(matrix, timed, copy)
        copied = matrix.bytes() / copy.timing.median * 1e-3
        for c in timed:
            if not self.asked.warm and not self.asked.eager and self.record("softmax.csv", kernels, c.name):
                self.run.add_softmax(c.name, "fp32" if c.exact else "fp32-inexact", matrix, c.timing, c.error, copied)

    def time(self, timed: list[TimedKernel], sets: int, seconds: float) -> None:
        self.ahead -= 1
        if timed:
            rest = REST if self.asked.dtype != "fp32" else 0
            Stopwatch(self.torch, self.device, self.clocks, sets, self.asked.eager, rest).time(timed, max(seconds, 2))
        sys.stdout.flush()

    def record(self, file: str, kernels: list, name: str) -> bool:
        """Whether a row of the file is to be written. The version of a library is written with its first row."""
        if not self.recorded:
            return False
        self.files[file] = self.files.get(file, 0) + 1
        version = next(getattr(kernel, "version", None) for kernel in kernels if kernel.name == name)
        if version and name not in self.versions:
            self.versions.add(name)
            self.run.add_library(name, version)
        return True

    def end(self) -> int:
        for file, rows in self.files.items():
            print(f"\nadded {rows} rows to {self.run.path(file)} as run {self.run.name}")
        print(f"{time.monotonic() - self.begun:.0f} s in all")
        return FAILED if self.failed or self.left_out else 0
