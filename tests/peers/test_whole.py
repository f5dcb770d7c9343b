"""A whole comparison with PyTorch on the CPU: the lessons are C functions, and the GPU's clock is a pretence. Skipped
where there is no PyTorch."""

import contextlib
import csv
import functools
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

try:
    import torch
except ImportError:
    torch = None

from peers import compare, comparison, fa4, lessons

ROOT = Path(__file__).resolve().parents[2]


class Event:
    """A CUDA event of work that is done as soon as it is enqueued; the GPU is never seen to be early."""

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        self.at = time.perf_counter()

    def query(self) -> bool:
        return False

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end) -> float:
        return 1e3 * (end.at - self.at)


def build_lessons(place: Path) -> Path:
    """build/kernels with two attention lessons, one that is unavailable, and two row softmaxes."""
    toolkit = subprocess.run(["scripts/find-cuda"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    flags = ["-std=c17", "-D_GNU_SOURCE=1", "-O2", "-shared", "-fPIC", "-Icommon", "-isystem", f"{toolkit[1]}/include"]

    def compile_to(output: Path, *arguments: str) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", *flags, *arguments, "-o", str(output), "-lm"], cwd=ROOT, check=True)

    kernels = place / "kernels"
    runtime = place / "libfakecuda.so"
    compile_to(runtime, "-Wl,-Bsymbolic", "tests/runner/fake_cudart.c")  # PyTorch may have brought the real one
    linked = ["common/dtype.c", "common/message.c", str(runtime), f"-Wl,-rpath,{place}"]
    compile_to(kernels / "solutions/01_first/attention.so", "tests/runner/fake_attention.c", *linked)
    compile_to(kernels / "solutions/02_second/attention.so", "-DMODEST", "tests/runner/fake_attention.c", *linked)
    compile_to(place / "half/solutions/08_half/attention.so", "-DSIXTEEN_BITS", "tests/runner/fake_attention.c", *linked)
    compile_to(place / "fa3.so", "-DSIXTEEN_BITS", "tests/runner/fake_attention.c", *linked)
    compile_to(kernels / "solutions/03_third/softmax.so", "tests/runner/fake_softmax.c", *linked)
    shutil.copy(kernels / "solutions/03_third/softmax.so", kernels / "solutions/03_third/unfused_softmax.so")
    compile_to(kernels / "baselines/lacking.so", "tests/peers/fake_lacking.c", *linked)
    return kernels


@unittest.skipUnless(torch, "PyTorch is not installed")
class Whole(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.kernels = build_lessons(Path(place.name))
        torch.set_num_threads(1)

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.results = Path(place.name) / "results"
        properties = SimpleNamespace(name="Fake GPU", major=8, minor=6, multi_processor_count=10)
        stand_ins = {
            "is_available": lambda: True,
            "init": lambda: None,
            "get_device_properties": lambda _: properties,
            "get_device_capability": lambda: (9, 0),
            "synchronize": lambda: None,
            "_sleep": lambda cycles: None,
            "Event": Event,
        }
        for name, stand_in in stand_ins.items():
            self.patch(torch.cuda, name, stand_in)
        self.patch(comparison, "draw_attention", functools.partial(comparison.draw_attention, device="cpu"))
        self.patch(comparison, "draw_softmax", functools.partial(comparison.draw_softmax, device="cpu"))
        self.patch(comparison, "REST", 0.001)
        self.patch(lessons, "KERNELS", self.kernels)

    def patch(self, place, name, stand_in):
        patch = mock.patch.object(place, name, stand_in)
        patch.start()
        self.addCleanup(patch.stop)

    def compare(self, *arguments: str) -> tuple[int, str]:
        told = io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            status = compare.main(["--time-budget", "6", "--results", str(self.results), "--commit", "abc", *arguments])
        told.seek(0)
        return status, told.read()

    def rows(self, name: str) -> dict[str, dict[str, str]]:
        with open(self.results / "fake-gpu" / name, encoding="ascii") as file:
            return {row["lesson"]: row for row in csv.DictReader(file)}

    def test_attention(self):
        status, told = self.compare("--shape", "2,3,40:56,32", "--seed", "5")
        self.assertEqual(status, 0, told)
        self.assertIn("seed 5", told)
        self.assertIn("baseline-lacking                     not covered: a library is not installed", told)
        self.assertRegex(told, "peer-torch_cudnn +not covered: does not take fp32")
        self.assertRegex(told, "peer-torch_efficient +not covered: has no kernel for this shape")
        rows = self.rows("attention.csv")
        here = {"solution-01_first", "solution-02_second", "peer-torch_math", "peer-torch_unfused"}
        self.assertLessEqual(here, set(rows))
        self.assertEqual(len({row["run"] for row in rows.values()}), 1)
        for row in rows.values():
            self.assertLess(float(row["rel_rms_error"]), 5e-6)
            self.assertEqual((row["B"], row["H"], row["Nq"], row["Nk"], row["D"]), ("2", "3", "40", "56", "32"))
            self.assertGreaterEqual(int(row["repeats"]), 5)
        self.assertIn(f"added {len(rows)} rows to ", told)

    def test_causal(self):
        status, told = self.compare("--shape", "1,2,33,16", "--causal", "--lessons", "01")
        self.assertEqual(status, 0, told)
        rows = self.rows("attention.csv")
        self.assertLessEqual({"solution-01_first", "peer-torch_math", "peer-torch_unfused"}, set(rows))
        self.assertTrue(all(row["causal"] == "1" for row in rows.values()))
        status, told = self.compare("--shape", "1,2,20:33,16", "--causal", "--lessons", "01")
        self.assertEqual(status, 0, told)
        self.assertRegex(told, "peer-torch_math +not covered: has another causal mask")

    def test_softmax(self):
        status, told = self.compare("--shape", "50,70")
        self.assertEqual(status, 0, told)
        rows = self.rows("softmax.csv")
        here = {"unfused_softmax", "solution-03_third", "peer-torch_softmax", "peer-torch_unfused_softmax"}
        self.assertLessEqual(here, set(rows))
        self.assertRegex(told, r"\n  copy ")
        for row in rows.values():
            self.assertLess(float(row["max_rel_error"]), 1e-5)
            self.assertGreater(float(row["copy_gb_per_s"]), 0)

    def test_a_wrong_lesson_is_not_timed(self):
        with mock.patch.dict(os.environ, {"MISTAKE": "last-key"}):
            status, told = self.compare("--shape", "1,2,30,16")
        self.assertEqual(status, 1, told)
        self.assertRegex(told, r"solution-01_first +is wrong here \(error .*make check says more")
        self.assertNotIn("solution-01_first", self.rows("attention.csv"))
        with mock.patch.dict(os.environ, {"MISTAKE": "unwritten"}):
            status, told = self.compare("--shape", "30,16")
        self.assertEqual(status, 1, told)
        self.assertRegex(told, r"solution-03_third +is wrong here")

    def test_a_lesson_that_fails_is_told(self):
        with mock.patch.dict(os.environ, {"MISTAKE": "error"}):
            status, told = self.compare("--shape", "1,2,30,16", "--lessons", "01")
        self.assertEqual(status, 1, told)
        self.assertRegex(told, r"solution-01_first +failed: attention_forward\(\) returned error \d+: some other error")

    def test_a_less_accurate_peer_is_not_compared_with(self):
        exact = torch.baddbmm

        def rounded(*arguments, **keywords):
            return exact(*arguments, **keywords).bfloat16().float()

        with mock.patch.object(torch, "baddbmm", rounded):
            status, told = self.compare("--shape", "1,2,30,16", "--lessons", "01")
        self.assertEqual(status, 0, told)
        self.assertRegex(told, r"peer-torch_unfused .*less accurate, so not compared with")
        self.assertEqual(self.rows("attention.csv")["peer-torch_unfused"]["dtype"], "fp32-inexact")

    def test_bf16_without_a_lesson_that_takes_it(self):
        status, told = self.compare("--shape", "1,2,30,16", "--dtype", "bf16")
        self.assertEqual(status, 0, told)
        self.assertIn("not bf16, so left out: solution-01_first, solution-02_second, baseline-lacking\n", told)
        rows = self.rows("attention.csv")
        self.assertEqual(set(rows), {"peer-torch_flash"})  # there is no cuDNN on the CPU
        row = rows["peer-torch_flash"]
        self.assertEqual((row["dtype"], row["bytes"], row["layout"], row["lse"]), ("bf16", "7680", "bhnd", "0"))
        self.assertTrue(0 < float(row["rel_rms_error"]) < 5e-3)

    def test_bf16_with_a_lesson_and_flashattention_3(self):
        self.patch(lessons, "KERNELS", self.kernels.parent / "half")
        chosen = ["--dtype", "bf16", "--fa3", str(self.kernels.parent / "fa3.so"), "--fa3-version", "flash-attention abc, CUTLASS def"]
        status, told = self.compare("--shape", "1,2,40,64", "--causal", *chosen)
        self.assertEqual(status, 0, told)
        self.assertIn("FlashAttention-3: flash-attention abc, CUTLASS def\n", told)
        self.assertNotIn("left out", told)
        rows = self.rows("attention.csv")
        self.assertEqual(set(rows), {"solution-08_half", "peer-torch_flash", "peer-fa3"})
        self.assertEqual(len({row["run"] for row in rows.values()}), 1)
        self.assertEqual({(row["dtype"], row["causal"]) for row in rows.values()}, {("bf16", "1")})
        self.assertRegex(told, r"samples +TFLOP/s +GB/s best library +FA3 +rms")
        self.assertRegex(told, r"\n  peer-fa3 .* 1\.00x +[0-9.e-]+")
        versions = self.rows("libraries.csv")
        self.assertEqual(versions["peer-fa3"]["version"], "flash-attention abc; CUTLASS def")
        self.assertRegex(versions["peer-torch_flash"]["version"], r"^PyTorch [0-9.]+$")
        self.assertEqual({row["run"] for row in versions.values()}, {row["run"] for row in rows.values()})
        status, told = self.compare("--shape", "1,1,16,32", *chosen)
        self.assertEqual(status, 0, told)
        self.assertRegex(told, "peer-fa3 +not covered: is built for D = 64, 96 and 128")

    def with_fa4(self, flash_attn_func=None, error=None):
        """A package flash-attn-4 whose function is this, or whose import raises this."""
        package, cute = types.ModuleType("flash_attn"), types.ModuleType("flash_attn.cute")
        if error:
            package.__getattr__ = cute.__getattr__ = mock.Mock(side_effect=error)
        else:
            cute.flash_attn_func = flash_attn_func
        patch = mock.patch.dict(sys.modules, {"flash_attn": package, "flash_attn.cute": cute})
        patch.start()
        self.addCleanup(patch.stop)
        self.patch(fa4.metadata, "version", {"flash-attn-4": "4.0.0", "nvidia-cutlass-dsl": "4.8.1"}.__getitem__)

    def test_flashattention_4(self):
        """It is given views of the inputs, in its own order of dimensions, and its output is viewed in ours."""

        def flash_attn_func(q, k, v, softmax_scale, causal):
            self.assertEqual(tuple(q.shape), (1, 40, 2, 64))
            self.assertEqual(q.stride(), (5120, 64, 2560, 1))  # not copied
            q, k, v = (x.transpose(1, 2) for x in (q, k, v))
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=softmax_scale)
            return o.transpose(1, 2).contiguous(), None

        self.with_fa4(flash_attn_func)
        status, told = self.compare("--shape", "1,2,40,64", "--dtype", "bf16", "--causal")
        self.assertEqual(status, 0, told)
        self.assertIn("FlashAttention-4: flash-attn-4 4.0.0, CuTe DSL 4.8.1\n", told)
        self.assertEqual(self.rows("attention.csv")["peer-fa4"]["dtype"], "bf16")
        self.assertEqual(self.rows("libraries.csv")["peer-fa4"]["version"], "flash-attn-4 4.0.0; CuTe DSL 4.8.1")
        status, told = self.compare("--shape", "1,2,40,64")
        self.assertNotIn("peer-fa4", told)  # nor asked for fp32

    def test_flashattention_4_refuses_a_shape(self):
        def flash_attn_func(q, k, v, softmax_scale, causal):
            raise AssertionError("head_dim must be a multiple of 8\nand more")

        self.with_fa4(flash_attn_func)
        status, told = self.compare("--shape", "1,2,30,16", "--dtype", "bf16")
        self.assertEqual(status, 0, told)
        self.assertRegex(told, r"peer-fa4 +not covered: head_dim must be a multiple of 8\n")
        self.assertNotIn("peer-fa4", self.rows("attention.csv"))

    def test_a_broken_flashattention_4_is_one_line(self):
        for error, words in (
            (ImportError("libcute_dsl_runtime.so: cannot open shared object file"), "its package cannot be imported: libcute"),
            (OSError("a library of another architecture\nmore"), "its package cannot be imported: a library of another"),
            (ModuleNotFoundError("No module named 'cutlass'"), "No module named 'cutlass'"),
        ):
            self.with_fa4(error=error)
            status, told = self.compare("--shape", "1,2,30,16", "--dtype", "bf16")
            self.assertEqual(status, 0, told)
            self.assertEqual(told.count("FlashAttention-4"), 1)
            self.assertRegex(told, f"no FlashAttention-4: {words}")
            self.assertIn("peer-torch_flash", self.rows("attention.csv"))

    def test_each_kernel_is_launched_once_for_a_profiler(self):
        profiler = SimpleNamespace(start=mock.Mock(), stop=mock.Mock())
        self.patch(torch.cuda, "profiler", profiler)
        order = self.results.parent / "order"
        with mock.patch.object(torch.cuda, "_sleep") as sleep:
            status, told = self.compare("--shape", "1,2,30,16", "--launch-once", str(order))
        self.assertEqual(status, 0, told)
        names = order.read_text().split()
        self.assertLessEqual({"solution-01_first", "peer-torch_math"}, set(names))
        self.assertEqual(sleep.call_count, len(names))
        self.assertEqual((profiler.start.call_count, profiler.stop.call_count), (1, 1))
        self.assertFalse(self.results.exists())

    def test_a_wrong_bf16_lesson_is_not_timed_and_a_wrong_peer_is_not_compared_with(self):
        self.patch(lessons, "KERNELS", self.kernels.parent / "half")
        chosen = ["--dtype", "bf16", "--fa3", str(self.kernels.parent / "fa3.so")]
        with mock.patch.dict(os.environ, {"MISTAKE": "eight-keys"}):
            status, told = self.compare("--shape", "1,1,40,64", *chosen)
        self.assertEqual(status, 1, told)
        self.assertRegex(told, r"solution-08_half +is wrong here")
        rows = self.rows("attention.csv")
        self.assertNotIn("solution-08_half", rows)
        self.assertEqual(rows["peer-fa3"]["dtype"], "bf16-inexact")

    def test_a_peer_that_fails_is_told_and_no_failure(self):
        chosen = ["--dtype", "bf16", "--fa3", str(self.kernels.parent / "fa3.so")]
        with mock.patch.dict(os.environ, {"MISTAKE": "error"}):
            status, told = self.compare("--shape", "1,1,40,64", *chosen)
        self.assertEqual(status, 0, told)
        self.assertRegex(told, r"peer-fa3 +failed: attention_forward\(\) returned error")
        self.assertEqual(set(self.rows("attention.csv")), {"peer-torch_flash"})

    def test_a_lesson_that_was_asked_for_lacks_the_type(self):
        status, told = self.compare("--lessons", "01", "--dtype", "fp16")
        self.assertEqual(status, 2)
        self.assertTrue(re.fullmatch(r"error: solution-01_first does not take fp16; .*\n", told), told)

    def test_flashattention_3_on_another_gpu(self):
        self.patch(torch.cuda, "get_device_capability", lambda: (8, 6))
        for ready in ([], ["--ready"]):
            status, told = self.compare("--dtype", "bf16", "--fa3", "not-built-yet.so", *ready)
            self.assertEqual(status, 2)
            self.assertTrue(re.fullmatch(r"error: FlashAttention-3's kernels are for .* 9\.0 alone, .* has 8\.6: .*\n", told), told)

    def test_eager_rows_are_kept_apart(self):
        status, told = self.compare("--shape", "1,2,30,16", "--lessons", "01", "--eager", "--no-triton")
        self.assertEqual(status, 0, told)
        self.assertIn("peer-torch_unfused", self.rows("attention-eager.csv"))
        self.assertFalse((self.results / "attention.csv").exists() or list(self.results.glob("*/attention.csv")))

    def test_warm_rows_say_so(self):
        status, told = self.compare("--shape", "1,2,30,16", "--lessons", "01", "--warm", "--no-triton")
        self.assertEqual(status, 0, told)
        self.assertIn("1 set of inputs", told)
        self.assertIn("no Triton kernels", told)
        self.assertEqual({row["cache"] for row in self.rows("attention.csv").values()}, {"warm"})

    def test_time_that_is_used_up_is_told(self):
        clock = itertools.count(0, 10)
        with mock.patch.object(comparison.time, "monotonic", lambda: next(clock)):
            status, told = self.compare("--attention")
        self.assertEqual(status, 1, told)
        self.assertRegex(told, "not timed, the time is used up: --time-budget")

    def test_lessons_that_are_not_there(self):
        for chosen, words in (
            ("09", "solution-09 is not built"),
            ("lesson-01", "lesson-01 is not built"),
            ("x", "no lesson"),
        ):
            status, told = self.compare("--lessons", chosen)
            self.assertEqual(status, 2)
            self.assertTrue(re.fullmatch(rf"error: .*{words}.*\n", told), told)

    def test_results_of_other_columns_are_left_as_they_are(self):
        file = self.results / "fake-gpu" / "attention.csv"
        file.parent.mkdir(parents=True)
        file.write_text("old\n")
        status, told = self.compare("--shape", "1,1,8,8")
        self.assertEqual(status, 2)
        self.assertIn("has other columns", told)
        self.assertEqual(file.read_text(), "old\n")


if __name__ == "__main__":
    unittest.main()
