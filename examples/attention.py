# A lesson's kernel from PyTorch: python3 examples/attention.py build/kernels/solutions/11_swizzle/attention.so
import ctypes, sys
try:
    import torch
    library = ctypes.CDLL(sys.argv[1])
except ImportError:
    sys.exit("error: PyTorch is not installed: pip install torch [no-pytorch]")
except (IndexError, OSError) as missing:
    sys.exit(f"error: give the kernel's library, which make builds: {missing} [no-kernel]")
torch.cuda.is_available() or sys.exit("error: PyTorch finds no GPU; examples/attention.c runs on the simulator [no-gpu]")


class Strides(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("batch", "head", "row")]


class Problem(ctypes.Structure):  # struct attention_problem of common/attention.h
    _fields_ = ([(name, ctypes.c_void_p) for name in ("q", "k", "v", "o", "lse", "workspace")]
                + [(name, Strides) for name in ("q_stride", "k_stride", "v_stride", "o_stride")]
                + [(name, ctypes.c_int) for name in ("batch", "heads", "kv_heads", "nq", "nk", "head_dim", "causal")]
                + [("softmax_scale", ctypes.c_float), ("dtype", ctypes.c_int)])


def attention(q, k, v, causal=False):  # [batch][heads][n][head_dim], strides as they are, rows contiguous
    o = torch.empty_like(q)
    problem = Problem(*(t.data_ptr() for t in (q, k, v, o)), None, None,
                      *(Strides(*t.stride()[:3]) for t in (q, k, v, o)), *q.shape[:2], k.shape[1],
                      q.shape[2], k.shape[2], q.shape[3], causal, q.shape[3] ** -0.5,
                      (torch.float32, torch.float16, torch.bfloat16).index(q.dtype))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    if error := library.attention_forward(ctypes.byref(problem), stream):
        sys.exit(f"error: attention_forward returned the CUDA error {error} [cuda-error]")
    return o


q, k, v = (torch.randn(2, 1000, 8, 128, device="cuda", dtype=torch.bfloat16).transpose(1, 2) for _ in range(3))
expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
error = ((attention(q, k, v, causal=True) - expected).norm() / expected.norm()).item()
print(f"relative error {error:.1e}")
sys.exit(not error < 5e-3)
