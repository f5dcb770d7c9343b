"""fa3_calls.py LIBRARY DTYPE: calls the fake FlashAttention-3 with problems of all kinds; the fake prints its arguments."""

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from peers import lessons
from peers.problem import DTYPES, AttentionLesson, AttentionProblem, AttentionStrides


def problem(head_dim: int, causal: int, lse: int | None) -> AttentionProblem:
    """A problem in which all strides and pointers differ."""
    return AttentionProblem(
        q=0x1000, k=0x2000, v=0x3000, o=0x4000, lse=lse, workspace=0x6000,
        q_stride=AttentionStrides(11, 12, 13), k_stride=AttentionStrides(21, 22, 23),
        v_stride=AttentionStrides(31, 32, 33), o_stride=AttentionStrides(41, 42, 43),
        batch=2, heads=8, kv_heads=4, nq=100, nk=300, head_dim=head_dim, causal=causal, softmax_scale=0.25,
        dtype=DTYPES[sys.argv[2]],
    )  # fmt: skip


def main() -> None:
    library = lessons.load(Path(sys.argv[1]))
    lesson = AttentionLesson.in_dll(library, "attention_lesson")
    forward = library.attention_forward
    forward.argtypes = [ctypes.POINTER(AttentionProblem), ctypes.c_void_p]

    def call(p: AttentionProblem) -> None:
        status = forward(ctypes.byref(p), None)
        if status:
            print("status", status, flush=True)

    print("supports", [name for name, bit in DTYPES.items() if lesson.dtypes & 1 << bit])
    without = problem(64, 0, None)
    print("workspace", lesson.workspace_bytes(ctypes.byref(without)), lesson.workspace_bytes(problem(64, 0, 0x5000)), flush=True)
    call(without)
    call(problem(128, 1, 0x5000))
    # More launches than the ring has counters: each launch must read a counter of 0.
    for _ in range(5000):
        call(problem(64, 1, None))
    call(problem(96, 0, None))
    call(problem(72, 0, None))
    other = problem(64, 0, None)
    other.dtype = DTYPES["fp32"]
    call(other)


if __name__ == "__main__":
    main()
