"""peers/lessons.py with the real lessons, which ctypes loads and the simulator runs; the simulator's runtime library must come
first in the loader's path. PyTorch is not needed: a tensor is an allocation with a shape."""

import ctypes
import math
import random
import unittest
from types import SimpleNamespace

from peers import lessons
from peers.inputs import Matrices, Tensors
from peers.lessons import AttentionKernel, Unsupported, SoftmaxKernel
from peers.shapes import Attention, Matrix

SETS = 2
DEVICE = SimpleNamespace(compute_capability=90, shared_bytes=227 << 10)
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


class Allocation:
    """shape[0] sets of floats on the simulated device."""

    is_cuda = False

    def __init__(self, runtime, shape: tuple[int, ...], address: int | None = None) -> None:
        self.runtime, self.shape, self.address = runtime, shape, address
        if address is None:
            pointer = ctypes.c_void_p()
            assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4 * math.prod(shape))) == 0
            self.address = pointer.value
            self.fill([random.gauss(0, 1) for _ in range(math.prod(shape))])

    def __getitem__(self, i: int) -> "Allocation":
        return Allocation(self.runtime, self.shape[1:], self.address + 4 * i * math.prod(self.shape[1:]))

    device = None

    def data_ptr(self) -> int:
        return self.address

    def copy(self, host, kind: int) -> None:
        destination, source = (self.address, host) if kind == HOST_TO_DEVICE else (host, self.address)
        size = ctypes.c_size_t(4 * math.prod(self.shape))
        assert self.runtime.cudaMemcpy(ctypes.c_void_p(destination), ctypes.c_void_p(source), size, kind) == 0

    def fill(self, values: list[float]) -> None:
        host = (ctypes.c_float * len(values))(*values)
        self.copy(ctypes.addressof(host), HOST_TO_DEVICE)

    def values(self) -> list[float]:
        host = (ctypes.c_float * math.prod(self.shape))()
        self.copy(ctypes.addressof(host), DEVICE_TO_HOST)
        return list(host)


def softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    return [weight / sum(weights) for weight in weights]


def attention(tensors: Tensors, i: int) -> list[float]:
    """o of set i in fp64."""
    s, o = tensors.shape, []
    q, k, v = (tensor[i].values() for tensor in (tensors.q, tensors.k, tensors.v))
    for head in range(s.batch * s.heads):
        for query in range(s.nq):
            row = q[(head * s.nq + query) * s.head_dim :][: s.head_dim]
            key_end = min(s.nk, query + s.nk - s.nq + 1) if s.causal else s.nk
            keys = [(head * s.nk + key) * s.head_dim for key in range(key_end)]
            weights = softmax([tensors.scale * sum(a * b for a, b in zip(row, k[at:])) for at in keys])
            o += [sum(w * v[at + column] for w, at in zip(weights, keys)) for column in range(s.head_dim)]
    return o


class RealLessons(unittest.TestCase):
    def setUp(self):
        self.libraries = lessons.find_attention(None)
        self.runtime = lessons.load(self.libraries[0].path)
        self.torch = SimpleNamespace(empty=self.empty, uint8=None)

    def empty(self, size: int, dtype, device) -> Allocation:
        return Allocation(self.runtime, (max(1, size),))

    def tensors(self, shape: Attention) -> Tensors:
        def draw(n: int) -> Allocation:
            return Allocation(self.runtime, (SETS, shape.batch, shape.heads, n, shape.head_dim))

        q, k, v, o = draw(shape.nq), draw(shape.nk), draw(shape.nk), draw(shape.nq)
        return Tensors(shape, "fp32", 1 / math.sqrt(shape.head_dim), q, k, v, o)

    def check(self, shape: Attention) -> tuple[int, list[str]]:
        """Runs each lesson on each set. Returns the number of lessons that ran, and the reasons why the others did not."""
        tensors, run, reasons = self.tensors(shape), 0, []
        expected = [attention(tensors, i) for i in range(SETS)]
        for library in self.libraries:
            with self.subTest(library.name):
                try:
                    launch = AttentionKernel(library).prepare(self.torch, tensors, DEVICE)
                except Unsupported as reason:
                    reasons.append(f"{library.name} {reason}")
                    continue
                for i in range(SETS):
                    for actual, expected_value in zip(launch(i).values(), expected[i], strict=True):
                        self.assertAlmostEqual(actual, expected_value, delta=2e-5)
                run += 1
        return run, reasons

    def test_each_lesson_computes_attention(self):
        # Lessons in 16 bits report that they lack fp32; make check tests their output.
        fp32_libraries = [library for library in self.libraries if AttentionKernel(library).supports("fp32")]
        solutions = sum(library.name.startswith("solution-") for library in fp32_libraries)
        self.assertGreaterEqual(solutions, 4)
        run, reasons = self.check(Attention(2, 3, 5, 37, 40))
        self.assertEqual(run, solutions)
        for line in reasons:
            self.assertRegex(line, "^(baseline-cublas_unfused cuBLAS runs on a GPU only|solution-.* does not support fp32$)")

    def test_causal_if_a_lesson_supports_it(self):
        run, reasons = self.check(Attention(1, 2, 5, 9, 32, causal=True))
        self.assertGreaterEqual(run, 1)
        self.assertIn("solution-01_basic_attention does not support causal masks", reasons)

    def test_unsupported_shape(self):
        third = next(library for library in self.libraries if library.name.startswith("solution-03"))
        with self.assertRaisesRegex(Unsupported, "needs .* KiB of shared memory per block"):
            AttentionKernel(third).prepare(self.torch, self.tensors(Attention(1, 1, 2, 20000, 1)), DEVICE)

    def test_row_softmax(self):
        found = lessons.find_softmax(None)
        self.assertEqual([library.name for library in found], ["unfused_softmax", "solution-03_fused_softmax"])
        x, out = (Allocation(self.runtime, (SETS, 3, 50)) for _ in range(2))
        for library in found:
            launch = SoftmaxKernel(library).prepare(self.torch, Matrices(Matrix(3, 50), x, out), DEVICE)
            for i in range(SETS):
                values = x[i].values()
                expected = sum((softmax(values[row : row + 50]) for row in range(0, 150, 50)), [])
                for actual, expected_value in zip(launch(i).values(), expected, strict=True):
                    self.assertAlmostEqual(actual, expected_value, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
