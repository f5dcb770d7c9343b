"""The structs of common/attention.h, common/decode.h and common/softmax.h for ctypes; tests/peers compares their layout with the C compiler's."""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint, c_void_p

# enum attention_dtype
DTYPES = {"fp32": 0, "fp16": 1, "bf16": 2, "e4m3": 3}  # e4m3: of a cache alone (decode.h)


class AttentionStrides(Structure):
    """struct attention_strides: distances in elements."""

    _fields_ = [("batch", c_int64), ("head", c_int64), ("row", c_int64)]


class AttentionProblem(Structure):
    """struct attention_problem: q, k, v, o are [batch][heads][n][head_dim]."""

    _fields_ = [
        ("q", c_void_p),
        ("k", c_void_p),
        ("v", c_void_p),
        ("o", c_void_p),
        ("lse", c_void_p),
        ("workspace", c_void_p),
        ("q_stride", AttentionStrides),
        ("k_stride", AttentionStrides),
        ("v_stride", AttentionStrides),
        ("o_stride", AttentionStrides),
        ("batch", c_int),
        ("heads", c_int),
        ("kv_heads", c_int),
        ("nq", c_int),
        ("nk", c_int),
        ("head_dim", c_int),
        ("causal", c_int),
        ("softmax_scale", c_float),
        ("dtype", c_int),
    ]


class DecodeProblem(Structure):
    """struct decode_problem: q, o are [batch][heads][nq][head_dim], k, v [pages][kv_heads][page_size][head_dim]."""

    _fields_ = [
        ("q", c_void_p),
        ("k", c_void_p),
        ("v", c_void_p),
        ("lens", c_void_p),
        ("block_table", c_void_p),
        ("kv_scale", c_void_p),
        ("o", c_void_p),
        ("lse", c_void_p),
        ("workspace", c_void_p),
        ("page_stride", c_int64),
        ("batch", c_int),
        ("heads", c_int),
        ("kv_heads", c_int),
        ("nq", c_int),
        ("head_dim", c_int),
        ("pages", c_int),
        ("page_size", c_int),
        ("pages_per_request", c_int),
        ("causal", c_int),
        ("softmax_scale", c_float),
        ("dtype", c_int),
        ("cache_dtype", c_int),
    ]


class DecodeLesson(Structure):
    """struct decode_lesson: the capabilities of a lesson on decoding."""

    _fields_ = [
        ("dtypes", c_uint),
        ("max_head_dim", c_int),
        ("paged", c_int),
        ("min_compute_capability", c_int),
        ("workspace_bytes", ctypes.CFUNCTYPE(c_size_t, POINTER(DecodeProblem))),
    ]


SIZE_FUNCTION = ctypes.CFUNCTYPE(c_size_t, POINTER(AttentionProblem))


class AttentionLesson(Structure):
    """struct attention_lesson: the capabilities of a lesson."""

    _fields_ = [
        ("dtypes", c_uint),
        ("max_head_dim", c_int),
        ("alignment", c_int),
        ("causal", c_int),
        ("lse", c_int),
        ("strided", c_int),
        ("grouped_heads", c_int),
        ("min_compute_capability", c_int),
        ("workspace_bytes", SIZE_FUNCTION),
        ("shared_bytes", SIZE_FUNCTION),
        ("unavailable", ctypes.CFUNCTYPE(c_char_p)),
        ("positive_scale", c_int),
        ("deterministic", c_int),
    ]


class BackwardProblem(Structure):
    """struct attention_backward_problem of common/attention_backward.h."""

    _fields_ = [
        ("forward", AttentionProblem),
        ("d_o", c_void_p),
        ("dq", c_void_p),
        ("dk", c_void_p),
        ("dv", c_void_p),
        ("workspace", c_void_p),
        ("d_o_stride", AttentionStrides),
        ("dq_stride", AttentionStrides),
        ("dk_stride", AttentionStrides),
        ("dv_stride", AttentionStrides),
    ]


BACKWARD_SIZE_FUNCTION = ctypes.CFUNCTYPE(c_size_t, POINTER(BackwardProblem))


class BackwardLesson(Structure):
    """struct attention_backward_lesson."""

    _fields_ = [
        ("dtypes", c_uint),
        ("max_head_dim", c_int),
        ("alignment", c_int),
        ("causal", c_int),
        ("strided", c_int),
        ("grouped_heads", c_int),
        ("min_compute_capability", c_int),
        ("workspace_bytes", BACKWARD_SIZE_FUNCTION),
        ("shared_bytes", BACKWARD_SIZE_FUNCTION),
        ("deterministic", c_int),
    ]


class SoftmaxProblem(Structure):
    """struct softmax_problem: in and out are [rows][columns]."""

    _fields_ = [
        ("in_", c_void_p),
        ("out", c_void_p),
        ("workspace", c_void_p),
        ("rows", c_int64),
        ("columns", c_int),
    ]


STRUCTS = {
    "attention_strides": AttentionStrides,
    "attention_problem": AttentionProblem,
    "attention_lesson": AttentionLesson,
    "decode_problem": DecodeProblem,
    "decode_lesson": DecodeLesson,
    "attention_backward_problem": BackwardProblem,
    "attention_backward_lesson": BackwardLesson,
    "softmax_problem": SoftmaxProblem,
}


def describe_layout() -> str:
    """One line per field, "struct field offset size", and one per struct, "struct size", as the C program of the test prints them."""
    lines = []
    for name, struct in STRUCTS.items():
        for field, _ in struct._fields_:
            descriptor = getattr(struct, field)
            lines.append(f"{name} {field.rstrip('_')} {descriptor.offset} {descriptor.size}")
        lines.append(f"{name} {ctypes.sizeof(struct)}")
    return "\n".join(lines)
