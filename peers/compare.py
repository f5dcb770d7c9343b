#!/usr/bin/env python3
"""Times the built lessons interleaved with what PyTorch, FlashAttention and Triton offer for the same problem. `make peers` calls it."""

import argparse
import math
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # instead of this folder, which PyTorch's own imports must not see

from peers import fa4, lessons, shapes, torch_paths, triton_paths
from peers.comparison import FAILED, Comparison
from peers.device import Clocks, open_device
from peers.results import Run
from peers.timing import REST

BAD_INPUT = 2


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        raise ValueError(message)


def arguments(argv: list[str]) -> argparse.Namespace:
    """ValueError with one line where they cannot be used."""
    parser = Arguments(prog="peers/compare.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("--shape", help="B,H,N,D (N may be NQ:NK) or ROWS,COLUMNS instead of the usual ones")
    parser.add_argument("--lessons", help="04,05 or lesson-05, separated by commas; default: every solution")
    parser.add_argument("--causal", action="store_true", help="with the causal mask")
    parser.add_argument("--attention", action="store_true", help="only attention")
    parser.add_argument("--softmax", action="store_true", help="only the row softmax")
    parser.add_argument("--dtype", choices=["fp32", "fp16", "bf16"], default="fp32", help="of attention (fp32)")
    parser.add_argument("--fa3", type=Path, help="FlashAttention-3 behind attention.h, a library that make builds")
    parser.add_argument("--fa3-version", default="unknown", metavar="TEXT", help="which version of it that is, for results")
    parser.add_argument(
        "--no-triton", action="store_true", help="without the Triton kernels, which compile for a while"
    )
    parser.add_argument("--warm", action="store_true", help="the same inputs again and again, so that L2 holds them")
    parser.add_argument("--eager", action="store_true", help="times hold what a launch costs the CPU; recorded apart")
    parser.add_argument("--seed", type=int, help="of the inputs")
    parser.add_argument("--amplitude", type=float, default=1, metavar="X", help="inputs X times as large; not recorded")
    parser.add_argument("--time-budget", type=float, default=180, metavar="S", help="seconds for everything (180)")
    parser.add_argument("--results", type=Path, help="the folder that rows are added to; default: none")
    parser.add_argument("--commit", default="none", help="the state of the repository, for the rows")
    parser.add_argument(
        "--launch-once", type=Path, metavar="FILE", help="time nothing, launch each kernel once for a profiler; FILE gets their names"
    )
    parser.add_argument("--ready", action="store_true", help="only say whether a comparison can run here")
    asked = parser.parse_args(argv)
    if asked.attention and asked.softmax:
        raise ValueError("--attention and --softmax exclude each other; without either both are compared")
    if asked.time_budget <= 0:
        raise ValueError("--time-budget is a number of seconds above 0")
    if not 0 < asked.amplitude < math.inf:
        raise ValueError("--amplitude is a number above 0")
    if asked.amplitude != 1 and (asked.results or asked.softmax):
        raise ValueError("--amplitude is of attention's inputs, and rows of other inputs are not added to --results")
    if asked.fa3 and asked.dtype == "fp32":
        raise ValueError("--fa3 takes part in --dtype bf16 and fp16 only")
    asked.lessons = asked.lessons.split(",") if asked.lessons else None
    choose_shapes(asked)
    return asked


def choose_shapes(asked: argparse.Namespace) -> None:
    """Fills asked.attention_shapes and asked.matrices."""
    asked.attention_shapes, asked.matrices = list(shapes.ATTENTION), list(shapes.SOFTMAX)
    if asked.dtype != "fp32":
        asked.attention_shapes = [shape for shape in shapes.GRID if shape.causal or not asked.causal]
    if asked.shape:
        shape = shapes.parse(asked.shape)
        is_matrix = isinstance(shape, shapes.Matrix)
        if is_matrix and (asked.attention or asked.causal) or not is_matrix and asked.softmax:
            raise ValueError(f"SHAPE={asked.shape} is {'a matrix' if is_matrix else 'no matrix, ROWS,COLUMNS'}")
        asked.attention_shapes, asked.matrices = ([], [shape]) if is_matrix else ([shape], [])
    if asked.softmax:
        asked.attention_shapes = []
    if asked.attention or asked.causal or asked.dtype != "fp32":
        asked.matrices = []
    if not asked.attention_shapes and not asked.matrices:
        raise ValueError("the row softmax is compared in fp32 only, and without a mask")
    if asked.causal:
        asked.attention_shapes = [
            shapes.Attention(s.batch, s.heads, s.nq, s.nk, s.head_dim, True) for s in asked.attention_shapes
        ]


def import_torch():
    """ValueError where there is no PyTorch, or no GPU that it can use."""
    try:
        import torch
    except ImportError as error:
        raise ValueError(
            f"PyTorch cannot be imported by {sys.executable}: {triton_paths.first_line(error)}; install it with "
            "'python3 -m pip install torch', or name the Python that has it: make peers PYTHON=..."
        ) from None
    if not torch.cuda.is_available():
        raise ValueError("a comparison needs a GPU, and none answers PyTorch: nvidia-smi says more")
    try:
        import torch.nn.attention
    except ImportError:
        raise ValueError(f"PyTorch {torch.__version__} is too old: 2.3 or newer is needed") from None
    return torch


def introduce(torch, comparison: Comparison, optional: list[str]) -> None:
    """Prints what is compared, on what, and how. optional: a line for each package that may be missing."""
    gpu, precision = comparison.device, torch.get_float32_matmul_precision()
    print(f"{gpu.name}, {gpu.sm_count} SMs, driver {comparison.run.driver or 'unknown'}, CUDA {gpu.cuda}")
    print(f"PyTorch {torch.__version__}, cuDNN {torch_paths.cudnn_version(torch)}, fp32 GEMMs at precision '{precision}', without TF32")
    if comparison.asked.fa3:
        optional = [f"FlashAttention-3: {comparison.asked.fa3_version}", *optional]
    print("\n".join(optional))
    print(f"seed {comparison.seed}")
    if comparison.asked.amplitude != 1:
        print(f"inputs are {comparison.asked.amplitude:g} times as large as those of N(0,1)")
    if comparison.asked.eager:
        print("times hold what a launch costs the CPU")
    else:
        print("times are the GPU's alone: it is kept waiting until all launches of a sample are in its queue")
    if comparison.asked.dtype == "fp32":
        print("best library, efficient, torch.softmax: how many times faster than the fastest of PyTorch's paths and cuBLAS, than")
        print("PyTorch's memory-efficient kernel, than torch.softmax")
    else:
        print("best library, FA3: how many times faster than the fastest library, than FlashAttention-3; the GPU rests for")
        print(f"{1e3 * REST:.0f} ms after each round, so that its power limit is not reached")


def lessons_of_dtype(built: list, asked: argparse.Namespace) -> tuple[list, list[str]]:
    """Those that say that they take the type, and the names of the others. fp32 has all: they say themselves what they do
    not cover. ValueError where a lesson was asked for that does not take the type."""
    if asked.dtype == "fp32":
        return built, []
    left_out = [kernel.name for kernel in built if not kernel.takes(asked.dtype)]
    if asked.lessons and left_out:
        raise ValueError(f"{left_out[0]} does not take {asked.dtype}; the peers alone: make peers DTYPE={asked.dtype}")
    return [kernel for kernel in built if kernel.takes(asked.dtype)], left_out


def require_hopper(torch) -> None:
    """FlashAttention-3 takes minutes to compile: known before."""
    capability = torch.cuda.get_device_capability()
    if capability != (9, 0):
        raise ValueError(
            f"FlashAttention-3's kernels are for compute capability 9.0 alone, and this GPU has {capability[0]}.{capability[1]}: "
            "leave FA3= away"
        )


def compare(torch, asked: argparse.Namespace, begun: float) -> int:
    torch.set_float32_matmul_precision("highest")
    torch.cuda.init()
    built = [lessons.AttentionKernel(library) for library in lessons.find_attention(asked.lessons)]
    softmax = [lessons.SoftmaxKernel(library) for library in lessons.find_softmax(asked.lessons)]
    runtime = (built + softmax)[0].library
    device, clocks = open_device(torch, runtime), Clocks(runtime)
    attention, left_out = lessons_of_dtype(built, asked)
    fa3 = [lessons.Fa3Kernel(lessons.find_fa3(asked.fa3), asked.fa3_version)] if asked.fa3 else []
    fa4_kernels, fa4_line = fa4.load(asked.dtype)
    triton_attention, triton_softmax, triton_line = triton_paths.load(asked.dtype, asked.no_triton)
    run = Run(asked.results, asked.commit, clocks.driver(), device)
    comparison = Comparison(torch, asked, device, clocks, run, begun)
    introduce(torch, comparison, [triton_line] if asked.dtype == "fp32" else [fa4_line, triton_line])
    if left_out:
        print(f"not {asked.dtype}, so left out: {', '.join(left_out)}")
    peers = torch_paths.attention_paths(torch, asked.dtype) + fa3 + fa4_kernels + triton_attention
    if asked.launch_once:
        return comparison.launch_once(asked.attention_shapes[0], attention + peers, asked.launch_once)
    for shape in asked.attention_shapes:
        comparison.attention(shape, attention + peers)
    for matrix in asked.matrices:
        comparison.softmax(matrix, softmax + torch_paths.softmax_paths(torch) + triton_softmax)
    return comparison.end()


def main(argv: list[str]) -> int:
    begun = time.monotonic()
    sys.stdout.reconfigure(line_buffering=True)
    try:
        asked = arguments(argv)
        torch = import_torch()
        if asked.fa3:
            require_hopper(torch)
        return 0 if asked.ready else compare(torch, asked, begun)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("stopped; the shapes that were printed are recorded", file=sys.stderr)
        return 130
    except RuntimeError as error:
        print(f"error: {triton_paths.first_line(error)}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
