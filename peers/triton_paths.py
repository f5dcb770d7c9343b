"""The Triton kernels of peers/triton_kernels, if Triton is installed."""

from peers.inputs import Matrices, Tensors
from peers.lessons import Unsupported


class TritonAttention:
    def __init__(self, name: str, attention, dtypes: tuple, version: str) -> None:
        self.name, self.version = name, version
        self.attention = attention
        self.dtypes = dtypes

    def prepare(self, _torch, tensors: Tensors, _device):
        """launch(set) -> o [batch][heads][nq][head_dim]."""
        if tensors.dtype not in self.dtypes:
            raise Unsupported(f"does not support {tensors.dtype}")
        q, k, v, scale, causal = tensors.q, tensors.k, tensors.v, tensors.scale, tensors.shape.causal
        return lambda i: self.attention(q[i], k[i], v[i], scale, causal)


class TritonSoftmax:
    def __init__(self, name: str, softmax, version: str) -> None:
        self.name, self.version = name, version
        self.softmax = softmax

    def prepare(self, _torch, matrices: Matrices, _device):
        """launch(set) -> out [rows][columns]."""
        return lambda i: self.softmax(matrices.x[i])


def load(dtype: str, skip: bool = False) -> tuple[list, list, str]:
    """The attention kernels that support the type, the fp32 row softmaxes, and one line with Triton's version or the reason why the
    kernels are skipped."""
    if skip:
        return [], [], "no Triton kernels: --no-triton"
    try:
        import triton
    except ImportError as error:
        return [], [], f"no Triton kernels: {first_line(error)} (python3 -m pip install triton)"
    from peers import triton_kernels

    kernels, dtypes = triton_kernels.ATTENTION, ("fp32",)
    if dtype != "fp32":
        kernels, dtypes = triton_kernels.HALF_ATTENTION, ("fp16", "bf16")
    version = f"Triton {triton.__version__}"
    attention = [TritonAttention(name, function, dtypes, version) for name, function in kernels]
    softmax = [TritonSoftmax(name, function, version) for name, function in triton_kernels.SOFTMAX]
    return attention, softmax, version


def first_line(error: BaseException) -> str:
    """The first line of an exception's message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
