"""A fake torch.cuda with simulated CPU and GPU clocks: enqueuing takes CPU time, execution takes GPU time."""

from types import SimpleNamespace

CLOCK_HZ = 1e9


class FakeCuda:
    def __init__(self) -> None:
        self.cpu = 0.0  # seconds
        self.gpu = 0.0  # time at which the GPU has finished all enqueued work
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

    def run(self, enqueue: float, duration: float) -> None:
        """One launch: enqueue is the CPU time, duration the GPU time, in seconds."""
        self.cpu += enqueue
        self.gpu = max(self.gpu, self.cpu) + duration

    def _sleep(self, cycles: int) -> None:
        self.run(0, cycles / CLOCK_HZ)

    def perf_counter(self) -> float:
        return self.cpu
