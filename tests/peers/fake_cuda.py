"""A torch.cuda with a clock of its own: what the CPU enqueues takes CPU time, what the GPU runs takes GPU time."""

from types import SimpleNamespace

CLOCK_HZ = 1e9


class FakeCuda:
    def __init__(self) -> None:
        self.cpu = 0.0  # seconds
        self.gpu = 0.0  # when the GPU has done all that is enqueued
        cuda = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing

            def record(self) -> None:
                cuda.gpu = self.at = max(cuda.gpu, cuda.cpu)

            def query(self) -> bool:
                return cuda.cpu >= self.at

            def synchronize(self) -> None:
                cuda.cpu = max(cuda.cpu, self.at)

            def elapsed_time(self, end) -> float:
                return 1e3 * (end.at - self.at)

        self.Event = Event
        self.torch = SimpleNamespace(cuda=self)

    def synchronize(self) -> None:
        self.cpu = max(self.cpu, self.gpu)

    def run(self, enqueue: float, take: float) -> None:
        """One launch: enqueue seconds of the CPU, take seconds of the GPU."""
        self.cpu += enqueue
        self.gpu = max(self.gpu, self.cpu) + take

    def _sleep(self, cycles: int) -> None:
        self.run(0, cycles / CLOCK_HZ)

    def perf_counter(self) -> float:
        return self.cpu
