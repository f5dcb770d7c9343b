"""Times several kernels interleaved, so that clock and temperature of the GPU are the same for all.

A sample is a batch of launches between two CUDA events. A spin kernel runs on the GPU while the CPU enqueues the batch, so that
the GPU then executes the launches back to back and the events exclude the launch overhead of the CPU. At small shapes and with
PyTorch's operators this overhead exceeds the GPU time. If the spin kernel ends before the last launch is enqueued, the sample
is discarded and repeated with a longer spin."""

import math
import time
from dataclasses import dataclass, field
from typing import Any, Callable

from peers.results import Timing

WARM_UPS = 3
SLOW = 0.1  # seconds; a kernel this slow is warmed up by one launch
VERY_SLOW = 0.4
MIN_SAMPLES_SLOW, MIN_SAMPLES, ENOUGH_SAMPLES, MAX_SAMPLES = 3, 5, 30, 200
SHORT_LAUNCH, BATCH_TIME, MAX_BATCH = 50e-6, 100e-6, 64  # batches of at least 100 us if a launch takes less than 50 us
MAX_SPREAD, RESOLUTION, MAX_CLOCK_DROP = 0.05, 1e-6, 0.03  # the same as in common/host/noise.c
MAX_SPIN = 0.05  # seconds
# Idle seconds after each repetition in 16 bits. Kernels that keep the tensor cores busy reach the GPU's power limit: the clock
# then drops by an amount that depends on the previous kernel, and all timings become noisy.
COOLDOWN = 0.06


@dataclass
class TimedKernel:
    """launch(set) enqueues the kernels for that set of inputs and returns the output."""

    name: str
    launch: Callable[[int], Any]
    error: float = 0.0
    exact: bool = True
    estimate: float = 0.0  # seconds of GPU time per launch
    spin: float = 0.0  # seconds that the spin kernel runs before a sample
    late_samples: int = 0  # samples whose launches took longer to enqueue than MAX_SPIN
    repeats: int = 0
    samples: list[float] = field(default_factory=list)  # seconds per launch
    timing: Timing | None = None


class LaunchError(Exception):
    """A kernel's launch raised an exception, which is the __cause__."""

    def __init__(self, kernel: TimedKernel) -> None:
        super().__init__(kernel.name)
        self.kernel = kernel


class Stopwatch:
    def __init__(self, torch, device, clocks, sets: int, eager: bool = False, cooldown: float = 0) -> None:
        self.torch, self.device, self.clocks, self.sets, self.eager = torch, device, clocks, sets, eager
        self.cooldown = cooldown  # idle seconds after each repetition
        self.launches = 0
        self.batch = 1

    def event(self):
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def enqueue(self, kernel: TimedKernel, count: int):
        """Enqueues count launches between two events. Each launch, of any kernel, uses the next set of inputs."""
        start = self.event()
        for _ in range(count):
            try:
                kernel.launch(self.launches % self.sets)
            except Exception as error:
                raise LaunchError(kernel) from error
            self.launches += 1
        return start, self.event()

    def sample(self, kernel: TimedKernel) -> float | None:
        """Seconds per launch; None if the spin was too short."""
        spin_end = None
        if not self.eager:
            self.torch.cuda._sleep(int(kernel.spin * self.device.clock_hz))
            spin_end = self.event()
        start, stop = self.enqueue(kernel, self.batch)
        late = spin_end is not None and spin_end.query()
        stop.synchronize()
        if late and kernel.spin < MAX_SPIN:
            kernel.spin = min(2 * kernel.spin, MAX_SPIN)
            return None
        kernel.late_samples += late
        return start.elapsed_time(stop) * 1e-3 / self.batch

    def warm_up(self, kernel: TimedKernel) -> None:
        """Estimates the GPU time of a launch and the CPU time to enqueue it."""
        for _ in range(WARM_UPS):
            self.torch.cuda.synchronize()
            before = time.perf_counter()
            start, stop = self.enqueue(kernel, 1)
            kernel.spin = time.perf_counter() - before
            stop.synchronize()
            kernel.estimate = start.elapsed_time(stop) * 1e-3
            if kernel.estimate > SLOW:
                break

    def plan(self, kernels: list[TimedKernel], seconds: float) -> None:
        """Sets the launches per sample and the samples per kernel. The first estimate of a short launch includes the time to
        enqueue it, so the estimate is replaced by one sample behind a spin kernel."""
        for kernel in kernels:
            self.warm_up(kernel)
            kernel.spin = 1e-4 + 2 * kernel.spin
        if not self.eager:
            for kernel in kernels:
                if kernel.estimate < 10 * kernel.spin:
                    kernel.estimate = self.valid_sample(kernel)
            fastest = max(min(kernel.estimate for kernel in kernels), 1e-7)
            self.batch = 1 if fastest >= SHORT_LAUNCH else min(MAX_BATCH, math.ceil(BATCH_TIME / fastest))
        seconds_per_kernel = seconds / len(kernels)
        for kernel in kernels:
            kernel.spin = min(MAX_SPIN, 1e-4 + self.batch * (kernel.spin - 1e-4))
            seconds_per_sample = self.batch * kernel.estimate + kernel.spin + self.cooldown / len(kernels)
            fitting = int(seconds_per_kernel / seconds_per_sample)
            minimum = MIN_SAMPLES if seconds_per_sample < VERY_SLOW else MIN_SAMPLES_SLOW
            if ENOUGH_SAMPLES * seconds_per_sample < 3 * seconds_per_kernel:
                minimum = ENOUGH_SAMPLES
            kernel.repeats = min(MAX_SAMPLES, max(fitting, minimum))

    def valid_sample(self, kernel: TimedKernel) -> float:
        """Repeats a sample until the spin is long enough."""
        while True:
            seconds = self.sample(kernel)
            if seconds is not None:
                return seconds

    def interleave(self, kernels: list[TimedKernel]) -> list[int]:
        """Takes all samples; the few samples of a slow kernel are spread evenly over the repetitions. Returns the SM clocks before,
        during and after."""
        repetitions = max(kernel.repeats for kernel in kernels)
        clocks = [self.clocks.sm_mhz()]
        for kernel in kernels:
            kernel.samples, kernel.late_samples = [], 0
        for i in range(repetitions):
            # The first kernel after a cooldown runs on the coolest GPU, so the kernels rotate.
            first = i % len(kernels) if self.cooldown else 0
            for kernel in kernels[first:] + kernels[:first]:
                if (i + 1) * kernel.repeats // repetitions > i * kernel.repeats // repetitions:
                    kernel.samples.append(self.valid_sample(kernel))
            if i % 10 == 9 or i + 1 == repetitions:
                clocks.append(self.clocks.sm_mhz())
            if self.cooldown:
                time.sleep(self.cooldown)
        return clocks

    def time(self, kernels: list[TimedKernel], seconds: float) -> None:
        """Sets kernel.timing. If a timing is noisy and time remains, all kernels are timed again, and the less noisy timings are kept."""
        self.plan(kernels, seconds / 2)
        start = time.perf_counter()
        self.measure(kernels)
        elapsed = time.perf_counter() - start
        if not any(kernel.timing.noisy for kernel in kernels) or elapsed > 0.6 * seconds:
            return
        first_timings = [kernel.timing for kernel in kernels]
        self.measure(kernels)
        if sum(timing.noisy for timing in first_timings) <= sum(kernel.timing.noisy for kernel in kernels):
            for kernel, timing in zip(kernels, first_timings):
                kernel.timing = timing

    def measure(self, kernels: list[TimedKernel]) -> None:
        clocks = self.interleave(kernels)
        known = [clock for clock in clocks if clock] or [0]
        dropped = min(known) < (1 - MAX_CLOCK_DROP) * max(known)
        for kernel in kernels:
            kernel.timing = summarise(kernel.samples, self.batch)
            kernel.timing.noisy |= dropped or kernel.late_samples > 0
            kernel.timing.clock_before, kernel.timing.clock_after = clocks[0], clocks[-1]


def summarise(samples: list[float], batch: int) -> Timing:
    """Summarises samples in seconds per launch."""
    ordered = sorted(samples)
    count = len(ordered)
    median = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    p95 = ordered[math.ceil(0.95 * count) - 1]
    spread = p95 - ordered[0]
    noisy = spread > MAX_SPREAD * median and batch * spread > RESOLUTION
    return Timing(1e6 * median, 1e6 * ordered[0], 1e6 * p95, count, noisy=noisy)
