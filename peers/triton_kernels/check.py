#!/usr/bin/env python3
"""Checks every Triton kernel of this package against fp64 PyTorch, over shapes and inputs that a kernel may get wrong:

    python3 peers/triton_kernels/check.py [--quick] [PATTERN]

PATTERN: only kernels whose name contains it. Runs on a CUDA GPU where PyTorch sees one, else in Triton's interpreter on
the CPU, with smaller shapes and without bf16 (the interpreter of Triton 3.6 needs numpy below 2.4).
Exit status: 0 all right; 1 a kernel is wrong; 2 PyTorch or Triton is missing, or bad usage.
"""

import argparse
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
try:
    import torch

    GPU = torch.cuda.is_available()
    if not GPU:
        os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
    from peers.triton_kernels import ATTENTION, HALF_ATTENTION, SOFTMAX
except ImportError as error:
    print(f"{sys.argv[0]}: {error}; needs PyTorch and Triton: pip install torch triton", file=sys.stderr)
    sys.exit(2)

DEVICE = "cuda" if GPU else "cpu"
GUARD = 32 * 512  # floats of NaN before and after each input: a tile of the longest rows

# batch, heads, nq, nk, head_dim, causal, inputs
QUICK = [
    (1, 1, 1, 1, 1, False, "normal"),
    (1, 2, 33, 70, 64, False, "normal"),
    (2, 3, 5, 37, 80, False, "normal"),
    (1, 1, 9, 35, 64, False, "negative"),
    (1, 1, 9, 35, 64, False, "large"),
    (1, 2, 35, 35, 64, True, "normal"),
    (1, 2, 20, 45, 3, True, "normal"),
    (1, 2, 45, 20, 16, True, "normal"),
]
INTERPRETED = QUICK + [
    (1, 1, 17, 33, 1, False, "normal"),
    (1, 1, 17, 33, 3, False, "normal"),
    (1, 2, 7, 130, 31, False, "normal"),
    (1, 2, 9, 64, 128, False, "normal"),
    (1, 2, 5, 31, 200, False, "normal"),
    (1, 1, 3, 33, 512, False, "normal"),
    (1, 1, 3, 17, 511, False, "normal"),
    (1, 4, 1, 65, 64, False, "normal"),
    (1, 4, 65, 1, 64, False, "normal"),
    (3, 2, 16, 32, 32, False, "normal"),
    (1, 1, 4, 300, 16, False, "normal"),
    (1, 2, 8, 40, 64, False, "unaligned"),
    (1, 1, 9, 35, 80, False, "offset"),
    (1, 1, 20, 50, 8, True, "large"),
    (1, 1, 20, 50, 8, True, "negative"),
    (2, 2, 1, 40, 64, True, "normal"),
    (2, 2, 40, 1, 64, True, "normal"),
    (1, 2, 33, 97, 128, True, "normal"),
    (1, 1, 97, 33, 200, True, "normal"),
    (1, 1, 18, 18, 512, True, "normal"),
]
ON_A_GPU = INTERPRETED + [
    (1, 2, 257, 1000, 64, False, "normal"),
    (1, 2, 1000, 257, 96, False, "normal"),
    (2, 2, 333, 333, 128, True, "normal"),
    (1, 1, 300, 2049, 256, True, "normal"),
    (1, 1, 2049, 300, 40, True, "normal"),
    (1, 1, 129, 500, 512, False, "normal"),
    (1, 16, 1024, 1024, 64, False, "normal"),
    (1, 2, 4096, 4096, 64, False, "normal"),
    (1, 1, 4096, 4096, 128, True, "normal"),
    (1, 1, 64, 16384, 64, False, "normal"),
    (70000, 1, 1, 1, 4, False, "normal"),  # more programs than the other axes of a grid could hold
    # More than 2^31 elements: in the score matrix, and in K and V.
    (1, 1, 40000, 60000, 16, False, "normal"),
    (1, 2, 3, 2200000, 512, False, "normal"),
]
# rows, columns, inputs
QUICK_SOFTMAX = [(1, 1, "normal"), (5, 3, "normal"), (3, 1000, "large"), (2, 33000, "normal"), (2, 33000, "negative")]
INTERPRETED_SOFTMAX = QUICK_SOFTMAX + [
    (rows, columns, inputs)
    for rows, columns in ((7, 31), (4, 32), (4, 257), (3, 4096), (2, 32768), (2, 32769), (1, 131071), (1, 131072))
    for inputs in ("normal", "negative", "unaligned")
]
SOFTMAX_ON_A_GPU = INTERPRETED_SOFTMAX + [
    (4096, 1024, "normal"),
    (4096, 4096, "normal"),
    (16384, 4096, "normal"),
    (70001, 32768, "normal"),
    (20001, 131071, "normal"),
]


def guarded(tensor, shift):
    """The same tensor between NaNs, `shift` floats past an aligned address."""
    memory = torch.full((tensor.numel() + 2 * GUARD + shift,), math.nan, dtype=tensor.dtype, device=tensor.device)
    inside = memory[GUARD + shift : GUARD + shift + tensor.numel()].view(tensor.shape)
    inside.copy_(tensor)
    return inside


def normal(*shape):
    return torch.randn(*shape, device=DEVICE)


def attention_inputs(batch, heads, nq, nk, head_dim, inputs):
    """q, k, v and softmax_scale."""
    q, k, v = normal(batch, heads, nq, head_dim), normal(batch, heads, nk, head_dim), normal(batch, heads, nk, head_dim)
    softmax_scale = head_dim**-0.5
    if inputs == "large":  # whole numbers: the scores reach far beyond exp's range and are still exact
        q, k, softmax_scale = (4 * q).round(), (4 * k).round(), 1.0
    elif inputs == "negative":  # every score far below 0: what is masked with 0 instead of -inf would win
        q, k = 0.1 * q + 12, 0.1 * k - 12
        q, k = (8 * q).round() / 8, (8 * k).round() / 8
        softmax_scale = 0.125
    elif inputs == "offset":
        v = v + 10
    shift = 1 if inputs == "unaligned" else 0
    return *(guarded(x, shift) for x in (q, k, v)), softmax_scale


def sampled(rows, keep=512):
    """Indices of the rows to compare: all, or where there are many the first and the last ones."""
    if rows <= 2 * keep:
        return torch.arange(rows, device=DEVICE)
    return torch.cat([torch.arange(keep, device=DEVICE), torch.arange(rows - keep, rows, device=DEVICE)])


def attention_reference(q, k, v, softmax_scale, causal, rows):
    """fp64 [batch][heads][len(rows)][head_dim], a head at a time so that large shapes fit."""
    nq, nk = q.shape[2], k.shape[2]
    hidden = torch.arange(nk, device=DEVICE)[None, :] > rows[:, None] + (nk - nq) if causal else None
    q, k, v = q[:, :, rows].flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1)
    if nk * k.shape[0] < 1 << 22:
        return weighted(q, k, v, softmax_scale, hidden)
    return torch.cat([weighted(q[h : h + 1], k[h : h + 1], v[h : h + 1], softmax_scale, hidden) for h in range(len(q))])


def weighted(q, k, v, softmax_scale, hidden):
    scores = softmax_scale * (q.double() @ k.double().transpose(1, 2))
    if hidden is not None:
        scores.masked_fill_(hidden, -math.inf)
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))  # a row that sees no key is 0
    return weights @ v.double()


def relative_rms(got, reference):
    """NaN where got has one."""
    return ((got.double() - reference).square().sum() / reference.square().sum()).sqrt().item()


def check_attention(attention, case):
    _, _, nq, nk, _, causal, inputs = case
    q, k, v, softmax_scale = attention_inputs(*case[:5], inputs)
    o = attention(q, k, v, softmax_scale, causal)
    if o.shape != q.shape or o.dtype != q.dtype:
        return f"o is {tuple(o.shape)} {o.dtype}", math.nan, 0.0
    rows = sampled(nq)
    reference = attention_reference(q, k, v, softmax_scale, causal, rows)
    got = o[:, :, rows].flatten(0, 1)
    if causal and not (got[:, rows + nk - nq < 0] == 0).all():
        return "a row that sees no key is not 0", math.nan, 0.0
    # Sums of one key after the other drift like a random walk.
    return None, relative_rms(got, reference), 5e-6 * max(1.0, math.sqrt(nk / 4096))


def check_half_attention(dtype, gate):
    """As check_attention, of inputs rounded to the type."""

    def check(attention, case):
        _, _, nq, nk, _, causal, inputs = case
        q, k, v, softmax_scale = attention_inputs(*case[:5], inputs)
        q, k, v = (guarded(x.to(dtype), 1 if inputs == "unaligned" else 0) for x in (q, k, v))
        o = attention(q, k, v, softmax_scale, causal)
        if o.shape != q.shape or o.dtype != dtype:
            return f"o is {tuple(o.shape)} {o.dtype}", math.nan, 0.0
        rows = sampled(nq)
        got = o[:, :, rows].flatten(0, 1)
        if causal and not (got[:, rows + nk - nq < 0] == 0).all():
            return "a row that sees no key is not 0", math.nan, 0.0
        # One weight may be all of a row, whose rounding all its elements share: few rows may be off by more.
        few = 1 + 1 / math.sqrt(got.shape[0] * got.shape[1])
        return None, relative_rms(got, attention_reference(q, k, v, softmax_scale, causal, rows)), gate * few

    return check


HALVES = {"fp16": (torch.float16, 8e-4)}
if GPU:  # the interpreter of Triton 3.6 multiplies bf16 as if its bits were whole numbers
    HALVES["bf16"] = (torch.bfloat16, 5e-3)


def check_softmax(softmax, case):
    rows, columns, inputs = case
    x = normal(rows, columns)
    if inputs == "large":
        x = (40 * x).round()
    elif inputs == "negative":
        x = x.round() - 1000
    x = guarded(x, 1 if inputs == "unaligned" else 0)
    y = softmax(x)
    if y.shape != x.shape or y.dtype != x.dtype:
        return f"y is {tuple(y.shape)} {y.dtype}", math.nan, 0.0
    some = sampled(rows)
    return None, relative_rms(y[some], torch.softmax(x[some].double(), dim=-1)), 5e-6


def check_kernel(name, kernel, check, cases):
    """Prints what is wrong and one line about the kernel; returns how many cases are right, and how many wrong."""
    right, wrong, worst, worst_case = 0, 0, 0.0, None
    for case in cases:
        torch.manual_seed(1)
        try:
            message, error, gate = check(kernel, case)
        except torch.cuda.OutOfMemoryError:
            print(f"{name} {case}: not checked, the GPU has too little memory free")
            continue
        except Exception as problem:  # of compiler or launch: this case is wrong, the others still run
            message = f"{type(problem).__name__}: {str(problem).strip().splitlines()[-1]}"
        if message or not error <= gate:
            wrong += 1
            print(f"{name} {case}: {message or f'relative RMS {error:.2g}, at most {gate:.2g} is allowed'}")
            continue
        right += 1
        if error >= worst:
            worst, worst_case = error, case
    print(f"{name}: {right} of {len(cases)} cases right; worst relative RMS {worst:.2g} {worst_case}", flush=True)
    return right, wrong


def main():
    parser = argparse.ArgumentParser(description="Check the Triton kernels against fp64 PyTorch.")
    parser.add_argument("--quick", action="store_true", help="a few small cases")
    parser.add_argument("pattern", nargs="?", default="", help="only kernels whose name contains this")
    options = parser.parse_args()
    where = torch.cuda.get_device_name() if GPU else "the CPU, in Triton's interpreter"
    print(f"PyTorch {torch.__version__}, on {where}", flush=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    attention_cases = QUICK if options.quick else ON_A_GPU if GPU else INTERPRETED
    softmax_cases = QUICK_SOFTMAX if options.quick else SOFTMAX_ON_A_GPU if GPU else INTERPRETED_SOFTMAX
    work = [(name, kernel, check_attention, attention_cases) for name, kernel in ATTENTION]
    work += [
        (f"{name} ({dtype})", kernel, check_half_attention(*HALVES[dtype]), [c for c in attention_cases if c[4] <= 256])
        for name, kernel in HALF_ATTENTION
        for dtype in HALVES
    ]
    work += [(name + " (row softmax)", kernel, check_softmax, softmax_cases) for name, kernel in SOFTMAX]
    work = [job for job in work if options.pattern in job[0]]
    if not work:
        print(f"{sys.argv[0]}: no kernel's name contains '{options.pattern}'", file=sys.stderr)
        return 2
    counts = [check_kernel(*job) for job in work]
    right, wrong, cases = sum(r for r, _ in counts), sum(w for _, w in counts), sum(len(job[3]) for job in work)
    print(f"{len(work)} kernels, {cases} cases: {right} right, {wrong} wrong, {cases - right - wrong} not checked")
    return 0 if right and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
