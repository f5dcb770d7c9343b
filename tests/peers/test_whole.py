"""A complete comparison with PyTorch on the CPU: the lessons are C functions, and the GPU's clock is simulated. Skipped if
PyTorch is not installed."""

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

from peers import compare, comparison, fa4, lessons, shapes

ROOT = Path(__file__).resolve().parents[2]


class Event:
    """A CUDA event of work that completes when it is enqueued; query() never reports that the spin kernel ended early."""

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


def build_lessons(folder: Path) -> Path:
    """build/kernels with two attention lessons, one that is unavailable, and two row softmaxes."""
    toolkit = subprocess.run(["scripts/find-cuda"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    flags = ["-std=c17", "-D_GNU_SOURCE=1", "-O2", "-shared", "-fPIC", "-Icommon", "-isystem", f"{toolkit[1]}/include"]

    def compile_to(output: Path, *arguments: str) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", *flags, *arguments, "-o", str(output), "-lm"], cwd=ROOT, check=True)

    kernels = folder / "kernels"
    runtime = folder / "libfakecuda.so"
    compile_to(runtime, "-Wl,-Bsymbolic", "tests/runner/fake_cudart.c")  # PyTorch may have loaded the real runtime
    linked = ["common/dtype.c", "common/message.c", str(runtime), f"-Wl,-rpath,{folder}"]
    compile_to(kernels / "solutions/01_first/attention.so", "tests/runner/fake_attention.c", *linked)
    compile_to(kernels / "solutions/02_second/attention.so", "-DMODEST", "tests/runner/fake_attention.c", *linked)
    compile_to(folder / "half/solutions/08_half/attention.so", "-DSIXTEEN_BITS", "tests/runner/fake_attention.c", *linked)
    compile_to(folder / "fa3.so", "-DSIXTEEN_BITS", "tests/runner/fake_attention.c", *linked)
    compile_to(kernels / "solutions/03_third/softmax.so", "tests/runner/fake_softmax.c", *linked)
    shutil.copy(kernels / "solutions/03_third/softmax.so", kernels / "solutions/03_third/unfused_softmax.so")
    compile_to(kernels / "baselines/lacking.so", "tests/peers/fake_lacking.c", *linked)
    return kernels


@unittest.skipUnless(torch, "PyTorch is not installed")
class Whole(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.kernels = build_lessons(Path(folder.name))
        torch.set_num_threads(1)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name) / "results"
        properties = SimpleNamespace(name="Fake GPU", major=8, minor=6, multi_processor_count=10)
        fakes = {
            "is_available": lambda: True,
            "init": lambda: None,
            "get_device_properties": lambda _: properties,
            "get_device_capability": lambda: (9, 0),
            "synchronize": lambda: None,
            "_sleep": lambda cycles: None,
            "Event": Event,
        }
        for name, fake in fakes.items():
            self.patch(torch.cuda, name, fake)
        self.patch(comparison, "draw_attention", functools.partial(comparison.draw_attention, device="cpu"))
        self.patch(comparison, "draw_softmax", functools.partial(comparison.draw_softmax, device="cpu"))
        self.patch(comparison, "COOLDOWN", 0.001)
        self.patch(lessons, "KERNELS", self.kernels)

    def patch(self, target, name, fake):
        patch = mock.patch.object(target, name, fake)
        patch.start()
        self.addCleanup(patch.stop)

    def compare(self, *arguments: str) -> tuple[int, str]:
        printed = io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = compare.main(["--time-budget", "6", "--results", str(self.results), "--commit", "abc", *arguments])
        printed.seek(0)
        return status, printed.read()

    def rows(self, name: str) -> dict[str, dict[str, str]]:
        with open(self.results / "fake-gpu" / name, encoding="ascii") as file:
            return {row["lesson"]: row for row in csv.DictReader(file)}

    def test_attention(self):
        status, printed = self.compare("--shape", "2,3,40:56,32", "--seed", "5")
        self.assertEqual(status, 0, printed)
        self.assertIn("seed 5", printed)
        self.assertIn("baseline-lacking                     not covered: a library is not installed", printed)
        self.assertRegex(printed, "peer-torch_cudnn +not covered: does not support fp32")
        self.assertRegex(printed, "peer-torch_efficient +not covered: has no kernel for this shape")
        rows = self.rows("attention.csv")
        here = {"solution-01_first", "solution-02_second", "peer-torch_math", "peer-torch_unfused"}
        self.assertLessEqual(here, set(rows))
        self.assertEqual(len({row["run"] for row in rows.values()}), 1)
        for row in rows.values():
            self.assertLess(float(row["rel_rms_error"]), 5e-6)
            self.assertEqual((row["B"], row["H"], row["Nq"], row["Nk"], row["D"]), ("2", "3", "40", "56", "32"))
            self.assertGreaterEqual(int(row["repeats"]), 5)
        self.assertIn(f"added {len(rows)} rows to ", printed)

    def test_causal(self):
        status, printed = self.compare("--shape", "1,2,33,16", "--causal", "--lessons", "01")
        self.assertEqual(status, 0, printed)
        rows = self.rows("attention.csv")
        self.assertLessEqual({"solution-01_first", "peer-torch_math", "peer-torch_unfused"}, set(rows))
        self.assertTrue(all(row["causal"] == "1" for row in rows.values()))
        status, printed = self.compare("--shape", "1,2,20:33,16", "--causal", "--lessons", "01")
        self.assertEqual(status, 0, printed)
        self.assertRegex(printed, "peer-torch_math +not covered: aligns the causal mask differently")

    def test_softmax(self):
        status, printed = self.compare("--shape", "50,70")
        self.assertEqual(status, 0, printed)
        rows = self.rows("softmax.csv")
        here = {"unfused_softmax", "solution-03_third", "peer-torch_softmax", "peer-torch_unfused_softmax"}
        self.assertLessEqual(here, set(rows))
        self.assertRegex(printed, r"\n  copy ")
        for row in rows.values():
            self.assertLess(float(row["max_rel_error"]), 1e-5)
            self.assertGreater(float(row["copy_gb_per_s"]), 0)

    def test_a_wrong_lesson_is_not_timed(self):
        with mock.patch.dict(os.environ, {"MISTAKE": "last-key"}):
            status, printed = self.compare("--shape", "1,2,30,16")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, r"solution-01_first +skipped: wrong output .*\[wrong-output\]")
        self.assertNotIn("solution-01_first", self.rows("attention.csv"))
        with mock.patch.dict(os.environ, {"MISTAKE": "unwritten"}):
            status, printed = self.compare("--shape", "30,16")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, r"solution-03_third +skipped: wrong output")

    def test_a_failing_lesson_is_reported(self):
        with mock.patch.dict(os.environ, {"MISTAKE": "error"}):
            status, printed = self.compare("--shape", "1,2,30,16", "--lessons", "01")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, r"solution-01_first +failed: attention_forward\(\) returned error \d+: some other error")

    def test_a_less_accurate_peer_is_excluded(self):
        exact = torch.baddbmm

        def rounded(*arguments, **keywords):
            return exact(*arguments, **keywords).bfloat16().float()

        with mock.patch.object(torch, "baddbmm", rounded):
            status, printed = self.compare("--shape", "1,2,30,16", "--lessons", "01")
        self.assertEqual(status, 0, printed)
        self.assertRegex(printed, r"peer-torch_unfused .*less accurate, excluded from the comparison")
        self.assertEqual(self.rows("attention.csv")["peer-torch_unfused"]["dtype"], "fp32-inexact")

    def test_bf16_without_a_lesson_that_supports_it(self):
        status, printed = self.compare("--shape", "1,2,30,16", "--dtype", "bf16")
        self.assertEqual(status, 0, printed)
        self.assertIn("skipped, bf16 is not supported: solution-01_first, solution-02_second, baseline-lacking\n", printed)
        rows = self.rows("attention.csv")
        self.assertEqual(set(rows), {"peer-torch_flash"})  # cuDNN does not run on the CPU
        row = rows["peer-torch_flash"]
        self.assertEqual((row["dtype"], row["bytes"], row["layout"], row["lse"]), ("bf16", "7680", "bhnd", "0"))
        self.assertTrue(0 < float(row["rel_rms_error"]) < 5e-3)

    def test_bf16_with_a_lesson_and_flashattention_3(self):
        self.patch(lessons, "KERNELS", self.kernels.parent / "half")
        options = ["--dtype", "bf16", "--fa3", str(self.kernels.parent / "fa3.so"), "--fa3-version", "flash-attention abc, CUTLASS def"]
        status, printed = self.compare("--shape", "1,2,40,64", "--causal", *options)
        self.assertEqual(status, 0, printed)
        self.assertIn("FlashAttention-3: flash-attention abc, CUTLASS def\n", printed)
        self.assertNotIn("skipped", printed)
        rows = self.rows("attention.csv")
        self.assertEqual(set(rows), {"solution-08_half", "peer-torch_flash", "peer-fa3"})
        self.assertEqual(len({row["run"] for row in rows.values()}), 1)
        self.assertEqual({(row["dtype"], row["causal"]) for row in rows.values()}, {("bf16", "1")})
        self.assertRegex(printed, r"samples +TFLOP/s +GB/s best library +FA3 +rms")
        self.assertRegex(printed, r"\n  peer-fa3 .* 1\.00x +[0-9.e-]+")
        versions = self.rows("libraries.csv")
        self.assertEqual(versions["peer-fa3"]["version"], "flash-attention abc; CUTLASS def")
        self.assertRegex(versions["peer-torch_flash"]["version"], r"^PyTorch [0-9.]+$")
        self.assertEqual({row["run"] for row in versions.values()}, {row["run"] for row in rows.values()})
        status, printed = self.compare("--shape", "1,1,16,32", *options)
        self.assertEqual(status, 0, printed)
        self.assertRegex(printed, "peer-fa3 +not covered: is built for D = 64, 96 and 128")

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
        """flash_attn_func gets views of the inputs in its own order of dimensions; the output is viewed in this project's order."""

        def flash_attn_func(q, k, v, softmax_scale, causal):
            self.assertEqual(tuple(q.shape), (1, 40, 2, 64))
            self.assertEqual(q.stride(), (5120, 64, 2560, 1))  # not copied
            q, k, v = (x.transpose(1, 2) for x in (q, k, v))
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=softmax_scale)
            return o.transpose(1, 2).contiguous(), None

        self.with_fa4(flash_attn_func)
        status, printed = self.compare("--shape", "1,2,40,64", "--dtype", "bf16", "--causal")
        self.assertEqual(status, 0, printed)
        self.assertIn("FlashAttention-4: flash-attn-4 4.0.0, CuTe DSL 4.8.1\n", printed)
        self.assertEqual(self.rows("attention.csv")["peer-fa4"]["dtype"], "bf16")
        self.assertEqual(self.rows("libraries.csv")["peer-fa4"]["version"], "flash-attn-4 4.0.0; CuTe DSL 4.8.1")
        status, printed = self.compare("--shape", "1,2,40,64")
        self.assertNotIn("peer-fa4", printed)  # not called in fp32

    def test_flashattention_4_rejects_a_shape(self):
        def flash_attn_func(q, k, v, softmax_scale, causal):
            raise AssertionError("head_dim must be a multiple of 8\nand more")

        self.with_fa4(flash_attn_func)
        status, printed = self.compare("--shape", "1,2,30,16", "--dtype", "bf16")
        self.assertEqual(status, 0, printed)
        self.assertRegex(printed, r"peer-fa4 +not covered: head_dim must be a multiple of 8\n")
        self.assertNotIn("peer-fa4", self.rows("attention.csv"))

    def test_a_broken_flashattention_4_is_reported_in_one_line(self):
        for error, words in (
            (ImportError("libcute_dsl_runtime.so: cannot open shared object file"), "its package cannot be imported: libcute"),
            (OSError("a library of another architecture\nmore"), "its package cannot be imported: a library of another"),
            (ModuleNotFoundError("No module named 'cutlass'"), "No module named 'cutlass'"),
            (SystemExit("unsupported CUDA"), "its package cannot be imported: unsupported CUDA"),
        ):
            self.with_fa4(error=error)
            status, printed = self.compare("--shape", "1,2,30,16", "--dtype", "bf16")
            self.assertEqual(status, 0, printed)
            self.assertEqual(printed.count("FlashAttention-4"), 1)
            self.assertRegex(printed, f"no FlashAttention-4: {words}")
            self.assertIn("peer-torch_flash", self.rows("attention.csv"))

    def test_a_library_that_fails_is_dropped_and_the_others_are_timed(self):
        """At its first call, with one line in all; and while it is timed, after it was right."""
        right = torch.nn.functional.scaled_dot_product_attention

        def missing_runtime(q, k, v, softmax_scale, causal):
            raise OSError("libcute_dsl_runtime.so: cannot open shared object file")

        self.with_fa4(missing_runtime)
        self.patch(shapes, "GRID", [shapes.Attention(1, 2, 30, 30, 16), shapes.Attention(1, 2, 40, 40, 16)])
        status, printed = self.compare("--dtype", "bf16")
        self.assertEqual(status, 0, printed)
        self.assertEqual(len(re.findall("peer-fa4 .*libcute_dsl_runtime.so", printed)), 1)
        self.assertEqual(len(re.findall(r"\n  peer-torch_flash ", printed)), 2)

        calls = itertools.count()

        def fails_later(q, k, v, softmax_scale, causal):
            if next(calls) > 3:
                raise RuntimeError("CUDA driver error: an illegal memory access")
            return right(*(x.transpose(1, 2) for x in (q, k, v)), scale=softmax_scale, is_causal=causal).transpose(1, 2), None

        self.with_fa4(fails_later)
        status, printed = self.compare("--dtype", "bf16", "--shape", "1,2,30,16")
        self.assertEqual(status, 0, printed)
        self.assertRegex(printed, r"peer-fa4 +failed, and is skipped from here on: CUDA driver error: an illegal .*\[failed\]")
        self.assertNotIn("peer-fa4", self.rows("attention.csv"))
        self.assertIn("peer-torch_flash", self.rows("attention.csv"))

    def test_flashattention_4_without_words_or_with_another_type(self):
        def bare(q, k, v, softmax_scale, causal):
            assert q.shape[-1] == 64

        self.with_fa4(bare)
        status, printed = self.compare("--dtype", "bf16", "--shape", "1,2,30,16")
        self.assertRegex(printed, r"peer-fa4 +not covered: AssertionError in bare\(\), test_whole.py:[0-9]+")

        self.with_fa4(lambda q, k, v, softmax_scale, causal: q.float())
        status, printed = self.compare("--dtype", "bf16", "--shape", "1,2,30,16")
        self.assertRegex(printed, r"peer-fa4 +not covered: returns torch.float32 for torch.bfloat16")

    def test_each_kernel_is_launched_once_for_a_profiler(self):
        profiler = SimpleNamespace(start=mock.Mock(), stop=mock.Mock())
        self.patch(torch.cuda, "profiler", profiler)
        order = self.results.parent / "order"
        with mock.patch.object(torch.cuda, "_sleep") as sleep:
            status, printed = self.compare("--shape", "1,2,30,16", "--launch-once", str(order))
        self.assertEqual(status, 0, printed)
        names = order.read_text().split()
        self.assertLessEqual({"solution-01_first", "peer-torch_math"}, set(names))
        self.assertEqual(sleep.call_count, len(names))
        self.assertEqual((profiler.start.call_count, profiler.stop.call_count), (1, 1))
        self.assertFalse(self.results.exists())

    def test_a_wrong_bf16_lesson_is_skipped_and_a_wrong_peer_is_excluded(self):
        self.patch(lessons, "KERNELS", self.kernels.parent / "half")
        options = ["--dtype", "bf16", "--fa3", str(self.kernels.parent / "fa3.so")]
        with mock.patch.dict(os.environ, {"MISTAKE": "eight-keys"}):
            status, printed = self.compare("--shape", "1,1,40,64", *options)
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, r"solution-08_half +skipped: wrong output")
        rows = self.rows("attention.csv")
        self.assertNotIn("solution-08_half", rows)
        self.assertEqual(rows["peer-fa3"]["dtype"], "bf16-inexact")

    def test_a_failing_peer_is_reported_but_is_no_failure(self):
        options = ["--dtype", "bf16", "--fa3", str(self.kernels.parent / "fa3.so")]
        with mock.patch.dict(os.environ, {"MISTAKE": "error"}):
            status, printed = self.compare("--shape", "1,1,40,64", *options)
        self.assertEqual(status, 0, printed)
        self.assertRegex(printed, r"peer-fa3 +failed, and is skipped from here on: attention_forward\(\) returned error")
        self.assertEqual(set(self.rows("attention.csv")), {"peer-torch_flash"})

    def test_a_selected_lesson_lacks_the_type(self):
        status, printed = self.compare("--lessons", "01", "--dtype", "fp16")
        self.assertEqual(status, 2)
        self.assertTrue(re.fullmatch(r"error: solution-01_first does not support fp16; .* \[unsupported-dtype\]\n", printed), printed)

    def test_flashattention_3_on_another_gpu(self):
        self.patch(torch.cuda, "get_device_capability", lambda: (8, 6))
        for ready in ([], ["--ready"]):
            status, printed = self.compare("--dtype", "bf16", "--fa3", "not-built-yet.so", *ready)
            self.assertEqual(status, 2)
            self.assertTrue(re.fullmatch(r"error: FlashAttention-3 needs .* 9\.0, .* has 8\.6; .* \[unsupported-gpu\]\n", printed), printed)

    def test_eager_rows_have_a_file_of_their_own(self):
        status, printed = self.compare("--shape", "1,2,30,16", "--lessons", "01", "--eager", "--no-triton")
        self.assertEqual(status, 0, printed)
        self.assertIn("peer-torch_unfused", self.rows("attention-eager.csv"))
        self.assertFalse((self.results / "attention.csv").exists() or list(self.results.glob("*/attention.csv")))

    def test_warm_rows_are_marked(self):
        status, printed = self.compare("--shape", "1,2,30,16", "--lessons", "01", "--warm", "--no-triton")
        self.assertEqual(status, 0, printed)
        self.assertIn("1 set of inputs", printed)
        self.assertIn("no Triton kernels", printed)
        self.assertEqual({row["cache"] for row in self.rows("attention.csv").values()}, {"warm"})

    def test_an_exhausted_time_budget_is_reported(self):
        clock = itertools.count(0, 10)
        with mock.patch.object(comparison.time, "monotonic", lambda: next(clock)):
            status, printed = self.compare("--attention")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, "skipped, the time budget is exhausted; .*\\[out-of-time\\]")

    def test_missing_lessons(self):
        for chosen, words in (
            ("09", r"solution-11 .*\[not-built\]"),
            ("lesson-01", r"lesson-01 .*\[not-built\]"),
            ("x", r"'x'.*\[unknown-lesson\]"),
        ):
            status, printed = self.compare("--lessons", chosen)
            self.assertEqual(status, 2)
            self.assertTrue(re.fullmatch(rf"error: .*{words}\n", printed), printed)

    def test_results_with_other_columns_are_not_changed(self):
        file = self.results / "fake-gpu" / "attention.csv"
        file.parent.mkdir(parents=True)
        file.write_text("old\n")
        status, printed = self.compare("--shape", "1,1,8,8")
        self.assertEqual(status, 2)
        self.assertIn("[other-columns]", printed)
        self.assertEqual(file.read_text(), "old\n")


if __name__ == "__main__":
    unittest.main()
