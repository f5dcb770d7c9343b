"""One comparison: at each shape it checks the output of each kernel, times the kernels interleaved, prints and records the timings."""

import argparse
import random
import sys
import time
from pathlib import Path

from peers import reference, shapes, table
from peers.device import Clocks, Device
from peers.inputs import ELEMENT_BYTES, count_sets, draw_attention, draw_softmax
from peers.lessons import Unsupported, is_own_kernel
from peers.results import Run
from peers.timing import COOLDOWN, LaunchError, Stopwatch, TimedKernel
from peers.triton_paths import first_line

FAILED = 1


class Comparison:
    def __init__(
        self, torch, arguments: argparse.Namespace, device: Device, clocks: Clocks, run: Run, start_time: float
    ) -> None:
        self.torch, self.arguments, self.device, self.clocks, self.run = torch, arguments, device, clocks, run
        self.start_time, self.deadline = start_time, start_time + arguments.time_budget
        self.remaining = len(arguments.attention_shapes) + len(arguments.matrices)
        self.seed = arguments.seed if arguments.seed is not None else random.randrange(1000000)
        self.records_rows = arguments.results is not None
        self.failed = self.skipped = 0
        self.row_counts: dict[str, int] = {}  # rows added to each file
        self.dropped: set[str] = set()  # libraries that failed
        self.versions: set[str] = set()  # names of libraries whose version has been recorded

    def seconds_for_next_shape(self) -> float:
        """The remaining time, divided equally among the remaining shapes."""
        return (self.deadline - time.monotonic()) / max(1, self.remaining)

    def start_shape(self, text: str) -> bool:
        """Prints a heading. False if the time budget is exhausted."""
        in_time = time.monotonic() < self.deadline
        print(f"\n{text}" if in_time else f"\n{text}: skipped, the time budget is exhausted; raise --time-budget [out-of-time]", flush=True)
        self.skipped += not in_time
        self.remaining -= not in_time
        return in_time

    def prepare_and_check(self, kernel, problem, check) -> TimedKernel | None:
        """Runs a kernel once and checks its output. Prints the reason and returns None if the kernel cannot be timed."""
        is_own = is_own_kernel(kernel.name)
        try:
            launch = kernel.prepare(self.torch, problem, self.device)
            error, exact = check(launch(0))
        except Unsupported as reason:
            table.print_status(kernel.name, f"not covered: {reason}")
            return None
        except self.torch.cuda.OutOfMemoryError:
            self.torch.cuda.empty_cache()
            table.print_status(kernel.name, "skipped: not enough GPU memory at this shape [out-of-memory]")
            return None
        except KeyboardInterrupt:
            raise
        except BaseException as failure:  # whatever one library raises must not end the comparison
            self.drop(kernel.name, failure)
            return None
        if is_own and not exact:
            self.failed += 1
            table.print_status(kernel.name, f"skipped: wrong output (error {error:.1e}); run make check [wrong-output]")
            return None
        return TimedKernel(kernel.name, launch, error, exact)

    def drop(self, name: str, failure: BaseException) -> None:
        """Reports a kernel that failed. A library is not tried again in this run; a lesson's failure is a failure of the run."""
        if is_own_kernel(name):
            self.failed += 1
            table.print_status(name, f"failed: {first_line(failure)} [failed]")
        else:
            self.dropped.add(name)
            table.print_status(name, f"failed, and is skipped from here on: {first_line(failure)} [failed]")

    def prepare_all(self, kernels: list, tensors, check) -> list[TimedKernel]:
        """The kernels that can be timed. Preparation, including compilation at the first call, is not charged to the time budget."""
        start_time = time.monotonic()
        tried = [kernel for kernel in kernels if kernel.name not in self.dropped]
        ready = [kernel for kernel in (self.prepare_and_check(kernel, tensors, check) for kernel in tried) if kernel]
        self.deadline += time.monotonic() - start_time
        return ready

    def make_inputs(self, shape: shapes.Attention, sets: int):
        """Tensors, and a function that checks the output of the first set."""
        torch, dtype = self.torch, self.arguments.dtype
        tensors = draw_attention(torch, shape, dtype, sets, self.seed, self.arguments.amplitude)
        expected = reference.attention_reference(torch, tensors)

        def check(o):
            result = reference.check_output(torch, o, expected, dtype)
            tensors.o[0].fill_(float("nan"))
            return result

        return tensors, check

    def time_attention(self, shape: shapes.Attention, kernels: list) -> None:
        dtype, element_bytes = self.arguments.dtype, ELEMENT_BYTES[self.arguments.dtype]
        sets = count_sets(shape.bytes(element_bytes), self.device.l2_bytes, self.arguments.warm)
        if not self.start_shape(f"B,H,N,D = {shape}, {dtype}, {sets} set{'s' if sets > 1 else ''} of inputs"):
            return
        budget, start_time = self.seconds_for_next_shape(), time.monotonic()
        tensors, check = self.make_inputs(shape, sets)
        budget -= time.monotonic() - start_time
        timed = self.prepare_all(kernels, tensors, check)
        self.time_kernels(timed, sets, budget)
        table.print_attention(shape, dtype, timed)
        file = "attention-eager.csv" if self.arguments.eager else "attention.csv"
        for kernel in timed:
            if self.record(file, kernels, kernel.name):
                dtype_label = dtype if kernel.exact else f"{dtype}-inexact"
                cache = "warm" if self.arguments.warm else "cold"
                self.run.add_attention(kernel.name, shape, dtype_label, element_bytes, cache, kernel.timing, kernel.error, file)

    def launch_once(self, shape: shapes.Attention, kernels: list, names_file: Path) -> int:
        """Launches each kernel once between cudaProfilerStart and cudaProfilerStop, and PyTorch's spin kernel before each. Writes the
        names to names_file in launch order, so that the profiler's list of launches can be split at the spin kernels. prepare_all()
        has compiled all kernels."""
        tensors, check = self.make_inputs(shape, 1)
        ready = self.prepare_all(kernels, tensors, check)
        self.torch.cuda.profiler.start()
        for kernel in ready:
            self.torch.cuda._sleep(1)
            kernel.launch(0)
            self.torch.cuda.synchronize()
        self.torch.cuda.profiler.stop()
        names_file.write_text("".join(f"{kernel.name}\n" for kernel in ready), encoding="ascii")
        return FAILED if self.failed else 0

    def time_softmax(self, matrix: shapes.Matrix, kernels: list) -> None:
        sets = count_sets(matrix.bytes(), self.device.l2_bytes, self.arguments.warm)
        if not self.start_shape(f"ROWS,COLUMNS = {matrix}, fp32, {sets} set{'s' if sets > 1 else ''} of inputs"):
            return
        torch, budget = self.torch, self.seconds_for_next_shape()
        matrices = draw_softmax(torch, matrix, sets, self.seed)

        def check(out):
            result = reference.check_softmax(torch, matrices, out)
            matrices.out[0].fill_(float("nan"))
            return result

        timed = self.prepare_all(kernels, matrices, check)
        copy = TimedKernel("copy", lambda i: matrices.out[i].copy_(matrices.x[i]))
        self.time_kernels([*timed, copy], sets, budget)
        table.print_softmax(matrix, timed, copy)
        copy_gb_per_s = matrix.bytes() / copy.timing.median * 1e-3
        for kernel in timed:
            if not self.arguments.warm and not self.arguments.eager and self.record("softmax.csv", kernels, kernel.name):
                self.run.add_softmax(kernel.name, "fp32" if kernel.exact else "fp32-inexact", matrix, kernel.timing, kernel.error, copy_gb_per_s)

    def time_kernels(self, timed: list[TimedKernel], sets: int, seconds: float) -> None:
        """Times the kernels. One that fails meanwhile leaves the list, and the others are timed anew."""
        self.remaining -= 1
        cooldown = COOLDOWN if self.arguments.dtype != "fp32" else 0
        while timed:
            try:
                Stopwatch(self.torch, self.device, self.clocks, sets, self.arguments.eager, cooldown).time(timed, max(seconds, 2))
                break
            except LaunchError as failure:
                self.drop(failure.kernel.name, failure.__cause__)
                timed.remove(failure.kernel)
        sys.stdout.flush()

    def record(self, file: str, kernels: list, name: str) -> bool:
        """Whether to write a row of the file. The version of a library is written with the first row of the library."""
        if not self.records_rows:
            return False
        self.row_counts[file] = self.row_counts.get(file, 0) + 1
        version = next(getattr(kernel, "version", None) for kernel in kernels if kernel.name == name)
        if version and name not in self.versions:
            self.versions.add(name)
            self.run.add_library(name, version)
        return True

    def finish(self) -> int:
        for file, rows in self.row_counts.items():
            print(f"\nadded {rows} rows to {self.run.path(file)} as run {self.run.name}")
        print(f"{time.monotonic() - self.start_time:.0f} s in total")
        return FAILED if self.failed or self.skipped else 0
