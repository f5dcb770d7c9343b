"""Times several kernels interleaved, so that all see the same clocks and temperature.

A sample is a batch of launches between two CUDA events. The launches are enqueued behind a kernel that only waits, so
that the GPU runs them back to back and the events see no launch cost of the CPU, which for small shapes and for
PyTorch's operators would be most of it. A sample whose wait ended before all was enqueued is taken again behind a
longer one."""

import math
import time
from dataclasses import dataclass, field
from typing import Any, Callable

from peers.results import Timing

WARM_UPS = 3
SLOW = 0.1  # seconds; from here on one launch is warm-up enough
VERY_SLOW = 0.4
LEAST_SLOW, LEAST, ENOUGH, MOST = 3, 5, 30, 200  # samples
SHORT, BATCH, MOST_BATCH = 50e-6, 100e-6, 64  # batches of at least 100 us where a launch takes less than 50
MOST_SPREAD, RESOLUTION, MOST_DROP = 0.05, 1e-6, 0.03  # as in common/host/noise.c
LONGEST_WAIT = 0.05  # seconds
# Seconds without work after each round in 16 bits. Kernels that fill the tensor cores without a pause run into the GPU's
# power limit: the clock falls, by how much depends on who ran before, and all timings come out noisy.
REST = 0.06


@dataclass
class TimedKernel:
    """launch(set) enqueues the work on that set of inputs and returns its output."""

    name: str
    launch: Callable[[int], Any]
    error: float = 0.0
    exact: bool = True
    estimate: float = 0.0  # seconds of GPU time a launch
    wait: float = 0.0  # seconds that the GPU is kept waiting before a sample
    late: int = 0  # samples that the longest wait was too short for
    repeats: int = 0
    samples: list[float] = field(default_factory=list)  # seconds a launch
    timing: Timing | None = None


class Stopwatch:
    def __init__(self, torch, device, clocks, sets: int, eager: bool = False, rest: float = 0) -> None:
        self.torch, self.device, self.clocks, self.sets, self.eager = torch, device, clocks, sets, eager
        self.rest = rest  # seconds after each round
        self.launches = 0
        self.batch = 1

    def event(self):
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def enqueue(self, kernel: TimedKernel, count: int):
        """Launches between two events. Every launch takes the next set, whichever kernel takes it."""
        start = self.event()
        for _ in range(count):
            kernel.launch(self.launches % self.sets)
            self.launches += 1
        return start, self.event()

    def sample(self, kernel: TimedKernel) -> float | None:
        """Seconds a launch; None where the wait was too short."""
        begun = None
        if not self.eager:
            self.torch.cuda._sleep(int(kernel.wait * self.device.clock_hz))
            begun = self.event()
        start, stop = self.enqueue(kernel, self.batch)
        late = begun is not None and begun.query()
        stop.synchronize()
        if late and kernel.wait < LONGEST_WAIT:
            kernel.wait = min(2 * kernel.wait, LONGEST_WAIT)
            return None
        kernel.late += late
        return start.elapsed_time(stop) * 1e-3 / self.batch

    def warm_up(self, kernel: TimedKernel) -> None:
        """Estimates what a launch takes, on the GPU and to enqueue."""
        for _ in range(WARM_UPS):
            self.torch.cuda.synchronize()
            before = time.perf_counter()
            start, stop = self.enqueue(kernel, 1)
            kernel.wait = time.perf_counter() - before
            stop.synchronize()
            kernel.estimate = start.elapsed_time(stop) * 1e-3
            if kernel.estimate > SLOW:
                break

    def plan(self, kernels: list[TimedKernel], seconds: float) -> None:
        """Decides how many launches a sample has, and how many samples a kernel gets. The estimates of short launches hold
        what the CPU took to enqueue them, so these are made anew from one sample."""
        for kernel in kernels:
            self.warm_up(kernel)
            kernel.wait = 1e-4 + 2 * kernel.wait
        if not self.eager:
            for kernel in kernels:
                if kernel.estimate < 10 * kernel.wait:
                    kernel.estimate = self.retry(kernel)
            fastest = max(min(kernel.estimate for kernel in kernels), 1e-7)
            self.batch = 1 if fastest >= SHORT else min(MOST_BATCH, math.ceil(BATCH / fastest))
        share = seconds / len(kernels)
        for kernel in kernels:
            kernel.wait = min(LONGEST_WAIT, 1e-4 + self.batch * (kernel.wait - 1e-4))
            each = self.batch * kernel.estimate + kernel.wait + self.rest / len(kernels)
            fitting = int(share / each)
            least = ENOUGH if ENOUGH * each < 3 * share else LEAST if each < VERY_SLOW else LEAST_SLOW
            kernel.repeats = min(MOST, max(fitting, least))

    def retry(self, kernel: TimedKernel) -> float:
        """A sample behind a wait that is long enough."""
        while True:
            seconds = self.sample(kernel)
            if seconds is not None:
                return seconds

    def interleave(self, kernels: list[TimedKernel]) -> list[int]:
        """Takes the samples, a slow kernel's few spread among a fast one's many. The SM clock before, meanwhile and
        after."""
        rounds = max(kernel.repeats for kernel in kernels)
        seen = [self.clocks.sm_mhz()]
        for kernel in kernels:
            kernel.samples, kernel.late = [], 0
        for i in range(rounds):
            # After a rest the first one finds the coolest GPU, so that each is the first in its turn.
            first = i % len(kernels) if self.rest else 0
            for kernel in kernels[first:] + kernels[:first]:
                if (i + 1) * kernel.repeats // rounds > i * kernel.repeats // rounds:
                    kernel.samples.append(self.retry(kernel))
            if i % 10 == 9 or i + 1 == rounds:
                seen.append(self.clocks.sm_mhz())
            if self.rest:
                time.sleep(self.rest)
        return seen

    def time(self, kernels: list[TimedKernel], seconds: float) -> None:
        """Sets kernel.timing. What stayed noisy is timed once more where the seconds allow, and the better kept."""
        self.plan(kernels, seconds / 2)
        begun = time.perf_counter()
        self.measure(kernels)
        took = time.perf_counter() - begun
        if not any(kernel.timing.noisy for kernel in kernels) or took > 0.6 * seconds:
            return
        first = [kernel.timing for kernel in kernels]
        self.measure(kernels)
        if sum(timing.noisy for timing in first) <= sum(kernel.timing.noisy for kernel in kernels):
            for kernel, timing in zip(kernels, first):
                kernel.timing = timing

    def measure(self, kernels: list[TimedKernel]) -> None:
        clocks = self.interleave(kernels)
        known = [clock for clock in clocks if clock] or [0]
        dropped = min(known) < (1 - MOST_DROP) * max(known)
        for kernel in kernels:
            kernel.timing = summarise(kernel.samples, self.batch)
            kernel.timing.noisy |= dropped or kernel.late > 0
            kernel.timing.clock_before, kernel.timing.clock_after = clocks[0], clocks[-1]


def summarise(samples: list[float], batch: int) -> Timing:
    """Of samples in seconds a launch."""
    ordered = sorted(samples)
    count = len(ordered)
    median = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    p95 = ordered[math.ceil(0.95 * count) - 1]
    spread = p95 - ordered[0]
    noisy = spread > MOST_SPREAD * median and batch * spread > RESOLUTION
    return Timing(1e6 * median, 1e6 * ordered[0], 1e6 * p95, count, noisy=noisy)
