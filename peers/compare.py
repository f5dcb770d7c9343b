#!/usr/bin/env python3
"""Times the kernels lessons, interleaved with kernels of PyTorch, FlashAttention and Triton for the same problem. `make peers` calls it."""

import argparse
import math
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # replaces this folder, which would shadow modules that PyTorch imports

from peers import fa4, lessons, shapes, torch_paths, triton_paths
from peers.comparison import FAILED, Comparison
from peers.device import Clocks, open_device
from peers.results import Run
from peers.timing import COOLDOWN

BAD_INPUT = 2


class ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        raise ValueError(f"{message} [usage]")


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Raises ValueError with a message of one line if the arguments are invalid."""
    parser = ArgumentParser(prog="peers/compare.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("--shape", help="B,H,N,D (N may be NQ:NK) or ROWS,COLUMNS instead of the default shapes")
    parser.add_argument("--lessons", help="04,05 or lesson-05, separated by commas; default: every solution")
    parser.add_argument("--causal", action="store_true", help="apply the causal mask")
    parser.add_argument("--attention", action="store_true", help="only attention")
    parser.add_argument("--softmax", action="store_true", help="only the row softmax")
    parser.add_argument("--dtype", choices=["fp32", "fp16", "bf16"], default="fp32", help="element type of attention (fp32)")
    parser.add_argument("--fa3", type=Path, help="library with FlashAttention-3 behind the interface of attention.h; make builds it")
    parser.add_argument("--fa3-version", default="unknown", metavar="TEXT", help="version of FlashAttention-3, written to results")
    parser.add_argument(
        "--no-triton", action="store_true", help="skip the Triton kernels, which take long to compile"
    )
    parser.add_argument("--warm", action="store_true", help="reuse one set of inputs, which stays in L2")
    parser.add_argument("--eager", action="store_true", help="times include the launch overhead of the CPU; written to a file of their own")
    parser.add_argument("--seed", type=int, help="seed of the inputs")
    parser.add_argument("--amplitude", type=float, default=1, metavar="X", help="multiply the inputs by X; timings are not recorded")
    parser.add_argument("--time-budget", type=float, default=180, metavar="S", help="seconds for the whole comparison (180)")
    parser.add_argument("--results", type=Path, help="folder to which rows are appended; default: none")
    parser.add_argument("--commit", default="none", help="commit of the repository, written to each row")
    parser.add_argument(
        "--launch-once", type=Path, metavar="FILE", help="no timing: launch each kernel once for a profiler, and write the names to FILE"
    )
    parser.add_argument("--ready", action="store_true", help="only check that a comparison can run here")
    arguments = parser.parse_args(argv)
    if arguments.attention and arguments.softmax:
        raise ValueError("--attention and --softmax exclude each other; omit both to compare both [conflict]")
    if arguments.time_budget <= 0:
        raise ValueError("--time-budget must be a number of seconds above 0 [unknown-value]")
    if not 0 < arguments.amplitude < math.inf:
        raise ValueError("--amplitude must be a number above 0 [unknown-value]")
    if arguments.amplitude != 1 and (arguments.results or arguments.softmax):
        raise ValueError("--amplitude scales the inputs of attention only, and cannot be combined with --softmax or --results [conflict]")
    if arguments.fa3 and arguments.dtype == "fp32":
        raise ValueError("--fa3 needs --dtype bf16 or fp16 [conflict]")
    arguments.lessons = arguments.lessons.split(",") if arguments.lessons else None
    choose_shapes(arguments)
    return arguments


def choose_shapes(arguments: argparse.Namespace) -> None:
    """Sets arguments.attention_shapes and arguments.matrices."""
    arguments.attention_shapes, arguments.matrices = list(shapes.ATTENTION), list(shapes.SOFTMAX)
    if arguments.dtype != "fp32":
        arguments.attention_shapes = [shape for shape in shapes.GRID if shape.causal or not arguments.causal]
    if arguments.shape:
        shape = shapes.parse(arguments.shape)
        is_matrix = isinstance(shape, shapes.Matrix)
        if is_matrix and (arguments.attention or arguments.causal) or not is_matrix and arguments.softmax:
            problem, form = ("the row softmax", "ROWS,COLUMNS") if is_matrix else ("attention", "B,H,N,D")
            raise ValueError(f"SHAPE={arguments.shape} is a shape of {problem} ({form}), which the other options exclude [conflict]")
        arguments.attention_shapes, arguments.matrices = ([], [shape]) if is_matrix else ([shape], [])
    if arguments.softmax:
        arguments.attention_shapes = []
    if arguments.attention or arguments.causal or arguments.dtype != "fp32":
        arguments.matrices = []
    if not arguments.attention_shapes and not arguments.matrices:
        raise ValueError("the row softmax is compared in fp32 and without a mask only [conflict]")
    if arguments.causal:
        arguments.attention_shapes = [
            shapes.Attention(s.batch, s.heads, s.nq, s.nk, s.head_dim, True) for s in arguments.attention_shapes
        ]


def import_torch():
    """Raises ValueError if PyTorch is not installed, or finds no GPU."""
    try:
        import torch
    except ImportError as error:
        raise ValueError(
            f"PyTorch cannot be imported by {sys.executable}: {triton_paths.first_line(error)}; install it with "
            "'python3 -m pip install torch', or select another Python: make peers PYTHON=... [no-torch]"
        ) from None
    if not torch.cuda.is_available():
        raise ValueError("PyTorch finds no GPU, which a comparison needs; see nvidia-smi [no-gpu]")
    try:
        import torch.nn.attention
    except ImportError:
        raise ValueError(f"PyTorch {torch.__version__} is too old; use 2.3 or newer [old-torch]") from None
    return torch


def print_header(torch, comparison: Comparison, package_lines: list[str]) -> None:
    """Prints the GPU, the versions and the method. package_lines: one line per optional package."""
    gpu, precision = comparison.device, torch.get_float32_matmul_precision()
    print(f"{gpu.name}, {gpu.sm_count} SMs, driver {comparison.run.driver or 'unknown'}, CUDA {gpu.cuda}")
    print(f"PyTorch {torch.__version__}, cuDNN {torch_paths.cudnn_version(torch)}, fp32 GEMMs at precision '{precision}', TF32 off")
    if comparison.arguments.fa3:
        package_lines = [f"FlashAttention-3: {comparison.arguments.fa3_version}", *package_lines]
    print("\n".join(package_lines))
    print(f"seed {comparison.seed}")
    if comparison.arguments.amplitude != 1:
        print(f"inputs are {comparison.arguments.amplitude:g} times samples of N(0,1)")
    if comparison.arguments.eager:
        print("times include the launch overhead of the CPU")
    else:
        print("times are GPU time only: a spin kernel delays the GPU until all launches of a sample are enqueued")
    if comparison.arguments.dtype == "fp32":
        print("best library, efficient, torch.softmax: speed-up over the fastest of PyTorch's paths and cuBLAS, over PyTorch's")
        print("memory-efficient kernel, over torch.softmax")
    else:
        print("best library, FA3: speed-up over the fastest library, over FlashAttention-3; the GPU idles for")
        print(f"{1e3 * COOLDOWN:.0f} ms after each repetition, which keeps it below its power limit")


def select_by_dtype(kernels: list, arguments: argparse.Namespace) -> tuple[list, list[str]]:
    """The kernels that support the element type, and the names of the others. In fp32 all kernels are returned: prepare() raises
    Unsupported for a kernel that lacks fp32. Raises ValueError if --lessons names a lesson that lacks the type."""
    if arguments.dtype == "fp32":
        return kernels, []
    skipped = [kernel.name for kernel in kernels if not kernel.supports(arguments.dtype)]
    if arguments.lessons and skipped:
        raise ValueError(f"{skipped[0]} does not support {arguments.dtype}; make peers DTYPE={arguments.dtype} times the libraries alone [unsupported-dtype]")
    return [kernel for kernel in kernels if kernel.supports(arguments.dtype)], skipped


def require_hopper(torch) -> None:
    """Checked before FlashAttention-3 is compiled, which takes minutes."""
    capability = torch.cuda.get_device_capability()
    if capability != (9, 0):
        raise ValueError(
            f"FlashAttention-3 needs compute capability 9.0, and this GPU has {capability[0]}.{capability[1]}; "
            "omit FA3 [unsupported-gpu]"
        )


def compare(torch, arguments: argparse.Namespace, start_time: float) -> int:
    torch.set_float32_matmul_precision("highest")
    torch.cuda.init()
    found = lessons.find_attention(arguments.lessons)
    kernels = [lessons.AttentionKernel(library) for library in found if lessons.defines(library, "attention_forward")]
    if not kernels:
        raise ValueError("these lessons are decoding: python3 -m peers.decode compares them [other-operation]")
    softmax = [lessons.SoftmaxKernel(library) for library in lessons.find_softmax(arguments.lessons)]
    runtime = (kernels + softmax)[0].library
    device, clocks = open_device(torch, runtime), Clocks(runtime)
    attention, skipped = select_by_dtype(kernels, arguments)
    fa3 = [lessons.Fa3Kernel(lessons.find_fa3(arguments.fa3), arguments.fa3_version)] if arguments.fa3 else []
    fa4_kernels, fa4_line = fa4.load(arguments.dtype)
    triton_attention, triton_softmax, triton_line = triton_paths.load(arguments.dtype, arguments.no_triton)
    run = Run(arguments.results, arguments.commit, clocks.driver(), device)
    comparison = Comparison(torch, arguments, device, clocks, run, start_time)
    print_header(torch, comparison, [triton_line] if arguments.dtype == "fp32" else [fa4_line, triton_line])
    if skipped:
        print(f"skipped, {arguments.dtype} is not supported: {', '.join(skipped)}")
    peers = torch_paths.attention_paths(torch, arguments.dtype) + fa3 + fa4_kernels + triton_attention
    if arguments.launch_once:
        return comparison.launch_once(arguments.attention_shapes[0], attention + peers, arguments.launch_once)
    for shape in arguments.attention_shapes:
        comparison.time_attention(shape, attention + peers)
    for matrix in arguments.matrices:
        comparison.time_softmax(matrix, softmax + torch_paths.softmax_paths(torch) + triton_softmax)
    return comparison.finish()


def main(argv: list[str]) -> int:
    start_time = time.monotonic()
    sys.stdout.reconfigure(line_buffering=True)
    try:
        arguments = parse_arguments(argv)
        torch = import_torch()
        if arguments.fa3:
            require_hopper(torch)
        return 0 if arguments.ready else compare(torch, arguments, start_time)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted; all printed shapes are recorded", file=sys.stderr)
        return 130
    except RuntimeError as error:
        print(f"error: {triton_paths.first_line(error)}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
