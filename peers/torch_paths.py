"""What PyTorch offers: scaled_dot_product_attention by each of its backends, and both problems written out in steps."""

import math
import warnings

from peers.inputs import Matrices, Tensors
from peers.lessons import NotCovered

BACKENDS = {
    "peer-torch_flash": "FLASH_ATTENTION",
    "peer-torch_cudnn": "CUDNN_ATTENTION",
    "peer-torch_efficient": "EFFICIENT_ATTENTION",
    "peer-torch_math": "MATH",
}
HALF_ONLY = ("peer-torch_flash", "peer-torch_cudnn")  # made for 16 bits, and all that is compared there


class SdpaBackend:
    """scaled_dot_product_attention through one backend and no other."""

    def __init__(self, torch, name: str) -> None:
        self.name = name
        self.version = version(torch) + (f", cuDNN {cudnn_version(torch)}" if name == "peer-torch_cudnn" else "")

    def prepare(self, torch, tensors: Tensors, _device):
        """launch(set) -> o [batch][heads][nq][head_dim]."""
        from torch.nn.attention import SDPBackend, sdpa_kernel

        backend = getattr(SDPBackend, BACKENDS[self.name])
        attend = torch.nn.functional.scaled_dot_product_attention
        refuse_ragged_causal(tensors)

        def launch(i: int):
            q, k, v = tensors.q[i], tensors.k[i], tensors.v[i]
            with sdpa_kernel(backend):
                return attend(q, k, v, is_causal=tensors.shape.causal, scale=tensors.scale)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backend says in warnings why it refuses
            try:
                launch(0)
            except RuntimeError as error:
                if not str(error).startswith(("No available kernel", "No viable backend")):
                    raise
                half_only = tensors.dtype == "fp32" and self.name in HALF_ONLY
                raise NotCovered("does not take fp32" if half_only else "has no kernel for this shape") from None
        return launch


class Unfused:
    """Three kernels: the scaled product of q and k, torch.softmax, the product with v; causal, one that masks."""

    name = "peer-torch_unfused"

    def __init__(self, torch) -> None:
        self.version = version(torch)

    def prepare(self, torch, tensors: Tensors, _device):
        """launch(set) -> o [batch][heads][nq][head_dim]."""
        refuse_ragged_causal(tensors)
        shape = tensors.shape
        heads = shape.batch * shape.heads
        nothing = torch.empty((1, 1, 1), dtype=tensors.q.dtype, device=tensors.q.device)
        hidden = None
        if shape.causal:
            ones = torch.ones((shape.nq, shape.nk), dtype=torch.bool, device=tensors.q.device)
            hidden = ones.triu(1)

        def launch(i: int):
            q = tensors.q[i].view(heads, shape.nq, shape.head_dim)
            k = tensors.k[i].view(heads, shape.nk, shape.head_dim)
            v = tensors.v[i].view(heads, shape.nk, shape.head_dim)
            # A product whose factor is part of it: softmax_scale takes no kernel of its own.
            scores = torch.baddbmm(nothing, q, k.transpose(1, 2), beta=0, alpha=tensors.scale)
            if hidden is not None:
                scores.masked_fill_(hidden, -math.inf)
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
    """The same in five operations, each a kernel."""

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
        return [SdpaBackend(torch, name) for name in HALF_ONLY]
    return [SdpaBackend(torch, name) for name in BACKENDS] + [Unfused(torch)]


def softmax_paths(torch) -> list:
    return [UnfusedSoftmax(torch), Softmax(torch)]


def version(torch) -> str:
    """Without the suffix that names the CUDA it was built for: a row has that in a column of its own."""
    return f"PyTorch {torch.__version__.partition('+')[0]}"


def cudnn_version(torch) -> str:
    """9.19.0; PyTorch counts 91900."""
    try:
        version = torch.backends.cudnn.version() or 0
    except (RuntimeError, ValueError):  # of another version than PyTorch was built for, or made for other GPUs
        version = 0
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}" if version else "unknown"


def refuse_ragged_causal(tensors: Tensors) -> None:
    """PyTorch's causal mask starts at the top left, this project's ends at the bottom right."""
    if tensors.shape.causal and tensors.shape.nq != tensors.shape.nk:
        raise NotCovered("has another causal mask where NQ is not NK")
