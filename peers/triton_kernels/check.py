#!/usr/bin/env python3
"""Checks all Triton kernels of this package against fp64 PyTorch, with shapes and inputs that expose typical mistakes:

    python3 peers/triton_kernels/check.py [--quick] [PATTERN]

PATTERN: check only kernels whose names contain it. The kernels run on a CUDA GPU if PyTorch finds one, otherwise in Triton's
interpreter on the CPU, with smaller shapes and without bf16 (the interpreter of Triton 3.6 needs numpy below 2.4).
Exit status: 0 all kernels are correct; 1 a kernel is wrong; 2 PyTorch or Triton is missing, or wrong usage.
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
    print(f"{sys.argv[0]}: {error}; install PyTorch and Triton: pip install torch triton [no-torch]", file=sys.stderr)
    sys.exit(2)

DEVICE = "cuda" if GPU else "cpu"
GUARD = 32 * 512  # NaNs before and after each input, the size of a tile of the longest rows

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
INTERPRETER_CASES = QUICK + [
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
GPU_CASES = INTERPRETER_CASES + [
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
    (70000, 1, 1, 1, 4, False, "normal"),  # more programs than fit along grid axis y or z
    # More than 2^31 elements: in the score matrix, then in K and V.
    (1, 1, 40000, 60000, 16, False, "normal"),
    (1, 2, 3, 2200000, 512, False, "normal"),
]
# rows, columns, inputs
QUICK_SOFTMAX = [(1, 1, "normal"), (5, 3, "normal"), (3, 1000, "large"), (2, 33000, "normal"), (2, 33000, "negative")]
INTERPRETER_SOFTMAX = QUICK_SOFTMAX + [
    (rows, columns, inputs)
    for rows, columns in ((7, 31), (4, 32), (4, 257), (3, 4096), (2, 32768), (2, 32769), (1, 131071), (1, 131072))
    for inputs in ("normal", "negative", "unaligned")
]
GPU_SOFTMAX = INTERPRETER_SOFTMAX + [
    (4096, 1024, "normal"),
    (4096, 4096, "normal"),
    (16384, 4096, "normal"),
    (70001, 32768, "normal"),
    (20001, 131071, "normal"),
]


def guarded(tensor, shift):
    """A copy of the tensor surrounded by NaNs, `shift` elements after an aligned address."""
    memory = torch.full((tensor.numel() + 2 * GUARD + shift,), math.nan, dtype=tensor.dtype, device=tensor.device)
    interior = memory[GUARD + shift : GUARD + shift + tensor.numel()].view(tensor.shape)
    interior.copy_(tensor)
    return interior


def normal(*shape):
    return torch.randn(*shape, device=DEVICE)


def attention_inputs(batch, heads, nq, nk, head_dim, inputs):
    """q, k, v and softmax_scale."""
    q, k, v = normal(batch, heads, nq, head_dim), normal(batch, heads, nk, head_dim), normal(batch, heads, nk, head_dim)
    softmax_scale = head_dim**-0.5
    if inputs == "large":  # integers: the scores exceed the range of exp and are still exact
        q, k, softmax_scale = (4 * q).round(), (4 * k).round(), 1.0
    elif inputs == "negative":  # all scores far below 0: a mask of 0 instead of -inf would dominate
        q, k = 0.1 * q + 12, 0.1 * k - 12
        q, k = (8 * q).round() / 8, (8 * k).round() / 8
        softmax_scale = 0.125
    elif inputs == "offset":
        v = v + 10
    shift = 1 if inputs == "unaligned" else 0
    return *(guarded(x, shift) for x in (q, k, v)), softmax_scale


def sampled_rows(rows, keep=512):
    """Indices of the rows to compare: all rows, or the first and the last keep rows."""
    if rows <= 2 * keep:
        return torch.arange(rows, device=DEVICE)
    return torch.cat([torch.arange(keep, device=DEVICE), torch.arange(rows - keep, rows, device=DEVICE)])


def attention_reference(q, k, v, softmax_scale, causal, rows):
    """Expected output in fp64, [batch * heads][len(rows)][head_dim]; one head at a time if the scores are many."""
    nq, nk = q.shape[2], k.shape[2]
    masked = torch.arange(nk, device=DEVICE)[None, :] > rows[:, None] + (nk - nq) if causal else None
    q, k, v = q[:, :, rows].flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1)
    if nk * k.shape[0] < 1 << 22:
        return attention_of_heads(q, k, v, softmax_scale, masked)
    return torch.cat([attention_of_heads(q[h : h + 1], k[h : h + 1], v[h : h + 1], softmax_scale, masked) for h in range(len(q))])


def attention_of_heads(q, k, v, softmax_scale, masked):
    scores = softmax_scale * (q.double() @ k.double().transpose(1, 2))
    if masked is not None:
        scores.masked_fill_(masked, -math.inf)
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))  # fully masked rows are 0
    return weights @ v.double()


def relative_rms(actual, reference):
    """The relative RMS error of actual; NaN if actual has a NaN."""
    return ((actual.double() - reference).square().sum() / reference.square().sum()).sqrt().item()


def check_attention(attention, case):
    _, _, nq, nk, _, causal, inputs = case
    q, k, v, softmax_scale = attention_inputs(*case[:5], inputs)
    o = attention(q, k, v, softmax_scale, causal)
    if o.shape != q.shape or o.dtype != q.dtype:
        return f"o is {tuple(o.shape)} {o.dtype}", math.nan, 0.0
    rows = sampled_rows(nq)
    reference = attention_reference(q, k, v, softmax_scale, causal, rows)
    actual = o[:, :, rows].flatten(0, 1)
    if causal and not (actual[:, rows + nk - nq < 0] == 0).all():
        return "a fully masked row is not 0", math.nan, 0.0
    # The rounding error of sequential sums grows like a random walk.
    return None, relative_rms(actual, reference), 5e-6 * max(1.0, math.sqrt(nk / 4096))


def check_half_attention(dtype, gate):
    """Like check_attention, with inputs rounded to the type."""

    def check(attention, case):
        _, _, nq, nk, _, causal, inputs = case
        q, k, v, softmax_scale = attention_inputs(*case[:5], inputs)
        q, k, v = (guarded(x.to(dtype), 1 if inputs == "unaligned" else 0) for x in (q, k, v))
        o = attention(q, k, v, softmax_scale, causal)
        if o.shape != q.shape or o.dtype != dtype:
            return f"o is {tuple(o.shape)} {o.dtype}", math.nan, 0.0
        rows = sampled_rows(nq)
        actual = o[:, :, rows].flatten(0, 1)
        if causal and not (actual[:, rows + nk - nq < 0] == 0).all():
            return "a fully masked row is not 0", math.nan, 0.0
        # If one weight dominates a row, all elements of the row share its rounding error: few rows average less.
        margin = 1 + 1 / math.sqrt(actual.shape[0] * actual.shape[1])
        return None, relative_rms(actual, attention_reference(q, k, v, softmax_scale, causal, rows)), gate * margin

    return check


HALF_DTYPES = {"fp16": (torch.float16, 8e-4)}
if GPU:  # the interpreter of Triton 3.6 multiplies the bit patterns of bf16 as integers
    HALF_DTYPES["bf16"] = (torch.bfloat16, 5e-3)


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
    selected = sampled_rows(rows)
    return None, relative_rms(y[selected], torch.softmax(x[selected].double(), dim=-1)), 5e-6


def check_kernel(name, kernel, check, cases):
    """Prints a line per wrong case and a summary; returns the numbers of correct and wrong cases."""
    correct, wrong, worst, worst_case = 0, 0, 0.0, None
    for case in cases:
        torch.manual_seed(1)
        try:
            message, error, gate = check(kernel, case)
        except torch.cuda.OutOfMemoryError:
            print(f"{name} {case}: skipped, not enough GPU memory")
            continue
        except Exception as failure:  # a compiler or launch error makes this case wrong; the other cases still run
            message = f"{type(failure).__name__}: {str(failure).strip().splitlines()[-1]}"
        if message or not error <= gate:
            wrong += 1
            print(f"{name} {case}: {message or f'relative RMS {error:.2g}, limit {gate:.2g}'}")
            continue
        correct += 1
        if error >= worst:
            worst, worst_case = error, case
    print(f"{name}: {correct} of {len(cases)} cases correct; worst relative RMS {worst:.2g} {worst_case}", flush=True)
    return correct, wrong


def main():
    parser = argparse.ArgumentParser(description="Check the Triton kernels against fp64 PyTorch.")
    parser.add_argument("--quick", action="store_true", help="a few small cases")
    parser.add_argument("pattern", nargs="?", default="", help="check only kernels whose names contain PATTERN")
    options = parser.parse_args()
    device_name = torch.cuda.get_device_name() if GPU else "the CPU, in Triton's interpreter"
    print(f"PyTorch {torch.__version__}, on {device_name}", flush=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    attention_cases = QUICK if options.quick else GPU_CASES if GPU else INTERPRETER_CASES
    softmax_cases = QUICK_SOFTMAX if options.quick else GPU_SOFTMAX if GPU else INTERPRETER_SOFTMAX
    work = [(name, kernel, check_attention, attention_cases) for name, kernel in ATTENTION]
    work += [
        (f"{name} ({dtype})", kernel, check_half_attention(*HALF_DTYPES[dtype]), [c for c in attention_cases if c[4] <= 256])
        for name, kernel in HALF_ATTENTION
        for dtype in HALF_DTYPES
    ]
    work += [(name + " (row softmax)", kernel, check_softmax, softmax_cases) for name, kernel in SOFTMAX]
    work = [job for job in work if options.pattern in job[0]]
    if not work:
        print(f"{sys.argv[0]}: no kernel's name contains '{options.pattern}' [unknown-value]", file=sys.stderr)
        return 2
    counts = [check_kernel(*job) for job in work]
    correct, wrong, cases = sum(r for r, _ in counts), sum(w for _, w in counts), sum(len(job[3]) for job in work)
    print(f"{len(work)} kernels, {cases} cases: {correct} correct, {wrong} wrong, {cases - correct - wrong} skipped")
    return 0 if correct and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
