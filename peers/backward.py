#!/usr/bin/env python3
"""Times backward passes side by side: the lessons that define attention_backward(), and PyTorch's, FlashAttention-3's and FlashAttention-4's.

    peers/backward.py [--dtype bf16] [--shape B,H,N,D [--causal]] [--repeats 30] [--time-budget 600] [--csv FILE]

Whole calls: all kernels of a call count, also those that compute delta and round dq. The kernels take turns, with a cold L2 cache. The
libraries' forward passes are not timed; the lessons get o and lse of an fp32 forward pass of PyTorch. Before it is timed, each kernel's
gradients are compared with those of double precision at a reduced number of heads. A lesson that says it is deterministic is called 100 times
and has to return the same bits. The shapes that tell most come first, and each row is written at once, so that a run which --time-budget ends
can be used. peers/backward.sql compares the rows.
"""

import argparse
import ctypes
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # replaces this folder, which would shadow modules that PyTorch imports

from peers import lessons, shapes
from peers.problem import DTYPES, AttentionProblem, AttentionStrides, BackwardLesson, BackwardProblem
from peers.rows import Budget, Rows
from peers.torch_paths import BACKENDS

LIMIT = {"fp32": 1e-4, "fp16": 4e-3, "bf16": 2e-2}  # relative error of a gradient that is right: 16-bit weights, ds and results
FLUSH_BYTES = 1 << 28  # more than any L2 cache
SAME_BITS = 100  # calls of a lesson that is deterministic
COLUMNS = "lesson,device,dtype,B,H,Nq,Nk,D,causal,median_us,min_us,repeats,tflops,rel_error,same_bits"
# Long and short sequences, with the mask and without it, of both head dimensions, before what lies between.
ORDER = (4096, 1024, 16384, 2048, 512, 8192)
GRID = sorted(shapes.GRID, key=lambda shape: (ORDER.index(shape.nq), -shape.head_dim))
GRID_FP32 = [shapes.Attention(1, 16, n, n, d, causal) for n in (4096, 1024, 2048, 512) for d in (64, 128) for causal in (False, True)]


class Inputs:
    """q, k, v, d_o, and o and lse of their forward pass, [batch][heads][n][head_dim]."""

    def __init__(self, torch, shape, dtype: str) -> None:
        self.shape, self.dtype, self.scale = shape, dtype, shape.head_dim**-0.5
        element = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
        size = (shape.batch, shape.heads, shape.nq, shape.head_dim)
        self.q, self.k, self.v, self.d_o = (torch.randn(size, device="cuda").to(element) for _ in range(4))
        self.o, self.lse = torch.empty_like(self.q), torch.empty(size[:3], device="cuda")
        for batch in range(shape.batch):
            for head in range(shape.heads):
                self.forward_of_head(torch, batch, head)

    def forward_of_head(self, torch, b: int, h: int) -> None:
        q, k, v = (x[b, h].float() for x in (self.q, self.k, self.v))
        for first in range(0, self.shape.nq, 2048):
            scores = q[first : first + 2048] @ k.T * self.scale
            if self.shape.causal:
                rows = torch.arange(first, first + len(scores), device="cuda")[:, None]
                scores = scores.masked_fill(torch.arange(self.shape.nk, device="cuda") > rows + self.shape.nk - self.shape.nq, -torch.inf)
            self.lse[b, h, first : first + 2048] = scores.logsumexp(-1)
            self.o[b, h, first : first + 2048] = (scores.softmax(-1) @ v).to(self.o.dtype)


def expected(torch, inputs):
    """dq, dk, dv of the first head, in double precision."""
    q, k, v = (x[:1, :1].double().requires_grad_() for x in (inputs.q, inputs.k, inputs.v))
    scores = q @ k.transpose(-1, -2) * inputs.scale
    if inputs.shape.causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1 + inputs.shape.nk - inputs.shape.nq), -torch.inf)
    return torch.autograd.grad(scores.softmax(-1) @ v, (q, k, v), inputs.d_o[:1, :1].double())


def error_of(gradients, reference) -> float:
    return max(((got[:1, :1].double() - right).norm() / right.norm()).item() for got, right in zip(gradients, reference))


def strides(tensor) -> AttentionStrides:
    return AttentionStrides(*tensor.stride()[:3])


def lesson_call(torch, library, inputs):
    """A function that launches the lesson's backward pass and returns dq, dk, dv; None if the lesson does not take the type."""
    lesson = BackwardLesson.in_dll(library, "attention_backward_lesson")
    capability = torch.cuda.get_device_capability()
    if not lesson.dtypes & 1 << DTYPES[inputs.dtype] or capability[0] * 10 + capability[1] < lesson.min_compute_capability:
        return None
    s = inputs.shape
    q, k, v, o, lse, d_o = inputs.q, inputs.k, inputs.v, inputs.o, inputs.lse, inputs.d_o
    dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
    forward = AttentionProblem(
        q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), lse.data_ptr(), None, *(strides(x) for x in (q, k, v, o)),
        s.batch, s.heads, s.heads, s.nq, s.nk, s.head_dim, int(s.causal), inputs.scale, DTYPES[inputs.dtype])
    problem = BackwardProblem(
        forward, d_o.data_ptr(), dq.data_ptr(), dk.data_ptr(), dv.data_ptr(), None, *(strides(x) for x in (d_o, dq, dk, dv)))
    size = lesson.workspace_bytes(ctypes.byref(problem)) if lesson.workspace_bytes else 0
    workspace = torch.empty(size + 256, dtype=torch.uint8, device="cuda")
    problem.workspace = workspace.data_ptr()
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch(_workspace=workspace):  # keeps the workspace alive as long as the function
        if status := library.attention_backward(ctypes.byref(problem), stream):
            raise RuntimeError(f"attention_backward() returned error {status}")
        return dq, dk, dv

    launch.deterministic = bool(lesson.deterministic)
    return launch


def same_bits(torch, launch) -> bool:
    """Whether repeated calls return the same bits."""
    first = [x.clone() for x in launch()]
    return all(torch.equal(a, b) for _ in range(SAME_BITS - 1) for a, b in zip(first, launch()))


def autograd_call(torch, inputs, attention, swapped: bool = False):
    """The same of a library whose forward pass PyTorch's autograd knows. swapped: it takes [batch][n][heads][head_dim]."""
    turn = (lambda x: x.transpose(1, 2)) if swapped else (lambda x: x)
    leaves = [turn(x).detach().requires_grad_() for x in (inputs.q, inputs.k, inputs.v)]
    o = attention(*leaves)
    o = o[0] if isinstance(o, tuple) else o
    d_o = turn(inputs.d_o)
    return lambda: [turn(x) for x in torch.autograd.grad(o, leaves, d_o, retain_graph=True)]


def sdpa(torch, name: str, inputs):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attention(q, k, v):
        with sdpa_kernel(getattr(SDPBackend, BACKENDS[name])):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=inputs.shape.causal, scale=inputs.scale)

    return autograd_call(torch, inputs, attention)


def fa3(torch, _name: str, inputs):
    from flash_attn_interface import flash_attn_func  # FlashAttention-3, hopper/ of its repository

    return autograd_call(torch, inputs, lambda q, k, v: flash_attn_func(q, k, v, softmax_scale=inputs.scale, causal=inputs.shape.causal), True)


def fa4(torch, _name: str, inputs):
    from flash_attn.cute import flash_attn_func

    return autograd_call(torch, inputs, lambda q, k, v: flash_attn_func(q, k, v, softmax_scale=inputs.scale, causal=inputs.shape.causal), True)


def find_calls(torch, inputs) -> dict:
    """By name, a function that launches a backward pass. What cannot run here is printed with its reason."""
    calls = {}
    for source in sorted(ROOT.glob("solutions/*/attention.cu")):
        library = lessons.KERNELS / source.relative_to(ROOT).with_suffix(".so")
        if "attention_backward_lesson" in source.read_text() or "backward_launch.cuh" in source.read_text():
            if not library.exists():
                raise ValueError(f"{library} is missing: make it first [not-built]")
            if call := lesson_call(torch, lessons.load(library), inputs):
                calls["solution-" + source.parent.name] = call
    peers = {"peer-torch_efficient": sdpa, "peer-torch_flash": sdpa, "peer-torch_cudnn": sdpa, "peer-fa3": fa3, "peer-fa4": fa4}
    for name, make in peers.items():
        try:
            calls[name] = make(torch, name, inputs)
            calls[name]()
        except Exception as error:  # a library that rejects the shape or is not installed; the others go on
            calls.pop(name, None)
            print(f"  {name}: not timed: {str(error).splitlines()[0][:120] if str(error) else type(error).__name__}")
    return calls


def time_calls(torch, calls: dict, repeats: int) -> dict:
    """Microseconds of each launch, by name; the kernels take turns."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    times = {name: [] for name in calls}
    for repeat in range(repeats + 3):
        for name, call in calls.items():
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            torch.cuda._sleep(400_000)  # the launches are enqueued meanwhile
            start.record()
            call()
            stop.record()
            stop.synchronize()
            if repeat >= 3:
                times[name].append(start.elapsed_time(stop) * 1e3)
    return times


def compare(torch, shape, arguments, rows: Rows) -> bool:
    """Whether all lessons are right at a shape."""
    torch.manual_seed(1)
    inputs, good = Inputs(torch, shape, arguments.dtype), True
    calls, reference, errors, same = find_calls(torch, inputs), expected(torch, inputs), {}, {}
    for name in list(calls):
        errors[name] = error_of(calls[name](), reference)
        if getattr(calls[name], "deterministic", False):
            same[name] = same_bits(torch, calls[name])
        if errors[name] < LIMIT[arguments.dtype] and same.get(name, True):
            continue
        print(f"  {name}: wrong, relative error {errors[name]:.1e}" + ("" if same.get(name, True) else ", and other bits in another call"))
        good &= not lessons.is_own_kernel(name)
        del calls[name]
    for name, samples in time_calls(torch, calls, arguments.repeats).items():
        median = statistics.median(samples)
        tflops = 2.5 * shape.flops() / median / 1e6
        print(f"  {name:32} {median:10.1f} us  {tflops:7.1f} TFLOP/s  error {errors[name]:.1e}", flush=True)
        rows.add(name, torch.cuda.get_device_name(), arguments.dtype, shape.batch, shape.heads, shape.nq, shape.nk, shape.head_dim,
                 int(shape.causal), f"{median:.3f}", f"{min(samples):.3f}", len(samples), f"{tflops:.2f}", f"{errors[name]:.2e}",
                 SAME_BITS if name in same else 1)  # fmt: skip
    return good


def parse(argv: list):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", choices=list(LIMIT), default="bf16")
    parser.add_argument("--shape")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--time-budget", type=float, default=600, metavar="S", help="seconds for all shapes (600)")
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args(argv)
    arguments.grid = GRID_FP32 if arguments.dtype == "fp32" else GRID
    if arguments.shape:
        s = shapes.parse(arguments.shape)
        if not isinstance(s, shapes.Attention):
            raise ValueError(f"SHAPE={arguments.shape} is no B,H,N,D [bad-shape]")
        arguments.grid = [shapes.Attention(s.batch, s.heads, s.nq, s.nk, s.head_dim, arguments.causal)]
    return arguments


def main(argv: list) -> int:
    try:
        arguments = parse(argv)
        import torch

        if not torch.cuda.is_available():
            raise ValueError("PyTorch finds no GPU [no-gpu]")
        rows = Rows(arguments.csv, COLUMNS)
        torch.backends.cuda.matmul.allow_tf32 = False
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {arguments.dtype}")
        budget, good = Budget(arguments.time_budget), True
        for shape in arguments.grid:
            if not budget.reaches(f"B,H,N,D = {shape}"):
                continue
            print(f"B,H,N,D = {shape}", flush=True)
            try:
                good &= compare(torch, shape, arguments, rows)
            except torch.cuda.OutOfMemoryError as error:
                print(f"  not timed: {str(error).splitlines()[0]}")
            torch.cuda.empty_cache()
    except ImportError:
        print("error: PyTorch is not installed [no-torch]", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int(not good or budget.left_out > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
