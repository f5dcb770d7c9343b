"""PyTorch's scaled_dot_product_attention with each of its backends, and unfused attention and softmax."""

import math
import warnings

from peers.inputs import Matrices, Tensors
from peers.lessons import Unsupported

BACKENDS = {
    "peer-torch_flash": "FLASH_ATTENTION",
    "peer-torch_cudnn": "CUDNN_ATTENTION",
    "peer-torch_efficient": "EFFICIENT_ATTENTION",
    "peer-torch_math": "MATH",
}
HALF_PRECISION_ONLY = ("peer-torch_flash", "peer-torch_cudnn")  # these backends support 16 bits only, and only these are compared in 16 bits


class SdpaBackend:
    """scaled_dot_product_attention restricted to one backend."""

    def __init__(self, torch, name: str) -> None:
        self.name = name
        self.version = version(torch) + (f", cuDNN {cudnn_version(torch)}" if name == "peer-torch_cudnn" else "")

    def prepare(self, torch, tensors: Tensors, _device):
        """launch(set) -> o [batch][heads][nq][head_dim]."""
        from torch.nn.attention import SDPBackend, sdpa_kernel

        backend = getattr(SDPBackend, BACKENDS[self.name])
        sdpa = torch.nn.functional.scaled_dot_product_attention
        check_causal_is_square(tensors)

        def launch(i: int):
            q, k, v = tensors.q[i], tensors.k[i], tensors.v[i]
            with sdpa_kernel(backend):
                return sdpa(q, k, v, is_causal=tensors.shape.causal, scale=tensors.scale)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backend reports its reasons as warnings
            try:
                launch(0)
            except RuntimeError as error:
                if not str(error).startswith(("No available kernel", "No viable backend")):
                    raise
                half_only = tensors.dtype == "fp32" and self.name in HALF_PRECISION_ONLY
                raise Unsupported("does not support fp32" if half_only else "has no kernel for this shape") from None
        return launch


class Unfused:
    """Unfused attention: scaled QK^T GEMM, torch.softmax, PV GEMM, and a kernel that applies the mask if causal."""

    name = "peer-torch_unfused"

    def __init__(self, torch) -> None:
        self.version = version(torch)

    def prepare(self, torch, tensors: Tensors, _device):
        """launch(set) -> o [batch][heads][nq][head_dim]."""
        check_causal_is_square(tensors)
        shape = tensors.shape
        heads = shape.batch * shape.heads
        no_bias = torch.empty((1, 1, 1), dtype=tensors.q.dtype, device=tensors.q.device)
        masked = None
        if shape.causal:
            ones = torch.ones((shape.nq, shape.nk), dtype=torch.bool, device=tensors.q.device)
            masked = ones.triu(1)

        def launch(i: int):
            q = tensors.q[i].view(heads, shape.nq, shape.head_dim)
            k = tensors.k[i].view(heads, shape.nk, shape.head_dim)
            v = tensors.v[i].view(heads, shape.nk, shape.head_dim)
            # The GEMM applies softmax_scale as its alpha, without a separate kernel.
            scores = torch.baddbmm(no_bias, q, k.transpose(1, 2), beta=0, alpha=tensors.scale)
            if masked is not None:
                scores.masked_fill_(masked, -math.inf)
            return torch.bmm(torch.softmax(scores, dim=-1), v).view(tensors.q[i].shape)

        return launch


class Softmax:
    """torch.softmax over each row."""

    name = "peer-torch_softmax"

    def __init__(self, torch) -> None:
        self.version = version(torch)

    def prepare(self, torch, matrices: Matrices, _device):
        """launch(set) -> out [rows][columns]."""
        return lambda i: torch.softmax(matrices.x[i], dim=-1, out=matrices.out[i])


class UnfusedSoftmax:
    """Row softmax in five operations, one kernel each."""

    name = "peer-torch_unfused_softmax"

    def __init__(self, torch) -> None:
        self.version = version(torch)

    def prepare(self, torch, matrices: Matrices, _device):
        """launch(set) -> out [rows][columns]."""

        def launch(i: int):
            x = matrices.x[i]
            exponential = torch.exp(x - x.amax(dim=-1, keepdim=True))
            return torch.div(exponential, exponential.sum(dim=-1, keepdim=True), out=matrices.out[i])

        return launch


def attention_paths(torch, dtype: str) -> list:
    if dtype != "fp32":
        return [SdpaBackend(torch, name) for name in HALF_PRECISION_ONLY]
    return [SdpaBackend(torch, name) for name in BACKENDS] + [Unfused(torch)]


def softmax_paths(torch) -> list:
    return [UnfusedSoftmax(torch), Softmax(torch)]


def version(torch) -> str:
    """The version without its CUDA suffix; a row has a column for the CUDA version."""
    return f"PyTorch {torch.__version__.partition('+')[0]}"


def cudnn_version(torch) -> str:
    """For example 9.19.0, which PyTorch reports as 91900."""
    try:
        version = torch.backends.cudnn.version() or 0
    except (RuntimeError, ValueError):  # cuDNN does not match PyTorch's version or the GPU
        version = 0
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}" if version else "unknown"


def check_causal_is_square(tensors: Tensors) -> None:
    """PyTorch aligns the causal mask at the top left, this project at the bottom right."""
    if tensors.shape.causal and tensors.shape.nq != tensors.shape.nk:
        raise Unsupported("aligns the causal mask differently if NQ is not NK")
