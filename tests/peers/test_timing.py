"""peers/timing.py on a simulated GPU with a simulated clock."""

import itertools
import unittest
from types import SimpleNamespace
from unittest import mock

from peers import timing
from peers.timing import TimedKernel, Stopwatch, summarise
from tests.peers.fake_cuda import CLOCK_HZ, FakeCuda


class Interleaved(unittest.TestCase):
    def setUp(self):
        self.cuda = FakeCuda()
        patch = mock.patch.object(timing.time, "perf_counter", self.cuda.perf_counter)
        patch.start()
        self.addCleanup(patch.stop)
        self.cooldowns = []
        patch = mock.patch.object(timing.time, "sleep", self.sleep)
        patch.start()
        self.addCleanup(patch.stop)
        self.mhz = itertools.repeat(1980)
        self.launched = []  # (name, set) of each launch

    def sleep(self, seconds: float) -> None:
        self.cooldowns.append(seconds)
        self.cuda.cpu += seconds

    def kernel(self, name: str, enqueue: float, take) -> TimedKernel:
        def launch(i: int) -> None:
            self.launched.append((name, i))
            self.cuda.run(enqueue, take() if callable(take) else take)

        return TimedKernel(name, launch)

    def time(self, kernels, seconds=10.0, sets=7, eager=False, cooldown=0):
        device = SimpleNamespace(clock_hz=CLOCK_HZ)
        clocks = SimpleNamespace(sm_mhz=lambda: next(self.mhz))
        watch = Stopwatch(self.cuda.torch, device, clocks, sets, eager, cooldown)
        watch.time(kernels, seconds)
        return watch

    def test_times_exclude_launch_overhead(self):
        fast, slow = self.kernel("fast", 100e-6, 10e-6), self.kernel("slow", 5e-6, 300e-6)
        watch = self.time([fast, slow])
        self.assertAlmostEqual(fast.timing.median, 10, 3)
        self.assertAlmostEqual(slow.timing.median, 300, 3)
        self.assertEqual(watch.batch, 10)
        self.assertFalse(fast.timing.noisy or slow.timing.noisy)

    def test_eager_times_include_launch_overhead(self):
        fast = self.kernel("fast", 100e-6, 10e-6)
        self.time([fast], eager=True)
        self.assertGreaterEqual(fast.timing.median, 100)

    def test_a_spin_that_is_too_short_is_extended(self):
        costs = [1e-6] * 4 + [400e-6] * 100000  # the warm-up measures cheap launches
        slow = TimedKernel("slow", lambda i: self.cuda.run(costs.pop(0), 60e-6))
        self.time([slow])
        self.assertAlmostEqual(slow.timing.median, 60, 3)
        self.assertFalse(slow.late_samples)

    def test_a_launch_that_synchronizes_is_noisy(self):
        def launch(_i: int) -> None:
            self.cuda.run(1e-6, 60e-6)
            self.cuda.synchronize()

        waits = TimedKernel("waits", launch)
        self.time([waits])
        self.assertGreater(waits.late_samples, 0)
        self.assertTrue(waits.timing.noisy)

    def test_each_launch_uses_the_next_set(self):
        self.time([self.kernel("a", 1e-6, 1e-3), self.kernel("b", 1e-6, 2e-3)], sets=5)
        sets = [i for _, i in self.launched]
        self.assertEqual(sets, [i % 5 for i in range(len(sets))])

    def test_a_slow_kernel_gets_fewer_samples_evenly_spread(self):
        fast, slow = self.kernel("fast", 1e-6, 1e-3), self.kernel("slow", 1e-6, 0.3)
        self.time([fast, slow], seconds=4)
        self.assertEqual(slow.timing.repeats, timing.MIN_SAMPLES)
        self.assertEqual(fast.timing.repeats, timing.MAX_SAMPLES)
        order = [name for name, _ in self.launched][-timing.MAX_SAMPLES :]
        gaps = [i for i, name in enumerate(order) if name == "slow"]
        self.assertGreaterEqual(len(gaps), 4)
        self.assertTrue(all(30 < b - a < 50 for a, b in zip(gaps, gaps[1:])))

    def test_a_cooldown_follows_each_repetition_and_kernels_rotate(self):
        kernels = [self.kernel(name, 1e-6, 1e-3) for name in "abc"]
        start = self.cuda.cpu
        self.time(kernels, seconds=8, cooldown=0.06)
        repetitions = kernels[0].timing.repeats
        self.assertTrue(30 <= repetitions <= 70)
        self.assertEqual(self.cooldowns, [0.06] * repetitions)
        self.assertLess(self.cuda.cpu - start, 5)
        order = "".join(name for name, _ in self.launched)[-3 * repetitions :]
        self.assertEqual(order[:9], "abcbcacab")

    def test_without_cooldown_the_order_is_fixed(self):
        self.time([self.kernel(name, 1e-6, 1e-3) for name in "abc"], seconds=1)
        self.assertEqual(self.cooldowns, [])
        self.assertTrue("".join(name for name, _ in self.launched).endswith("abcabcabc"))

    def test_thirty_samples_if_the_time_allows(self):
        kernels = [self.kernel(str(i), 1e-6, 20e-3) for i in range(5)]
        self.time(kernels, seconds=5)
        self.assertTrue(all(c.timing.repeats >= timing.ENOUGH_SAMPLES for c in kernels))

    def test_a_clock_drop_makes_a_timing_noisy(self):
        self.mhz = itertools.cycle([1980, 1500])
        steady = self.kernel("steady", 1e-6, 1e-3)
        self.time([steady])
        self.assertTrue(steady.timing.noisy)

    def test_a_noisy_timing_is_repeated(self):
        times = [1e-3] * 10 + [2e-3, 1e-3] * 100
        shaky = self.kernel("shaky", 1e-6, lambda: times.pop(0) if times else 1e-3)
        self.time([shaky])
        self.assertFalse(shaky.timing.noisy)
        self.assertAlmostEqual(shaky.timing.p95, 1000, 3)


class Summary(unittest.TestCase):
    def test_median_minimum_and_p95(self):
        result = summarise([i * 1e-6 for i in range(20, 0, -1)], 1)
        self.assertEqual((result.repeats, round(result.median, 3)), (20, 10.5))
        self.assertEqual((round(result.minimum, 3), round(result.p95, 3)), (1, 19))
        self.assertTrue(result.noisy)

    def test_a_spread_below_the_event_resolution_is_not_noise(self):
        self.assertFalse(summarise([8e-6] * 10 + [8.9e-6] * 10, 1).noisy)
        self.assertTrue(summarise([8e-6] * 10 + [8.9e-6] * 10, 10).noisy)


if __name__ == "__main__":
    unittest.main()
