"""FlashAttention-4, the package flash-attn-4, if this Python can import it. Its kernels are written in CuTe DSL and compiled at their
first call, which is not timed."""

from importlib import metadata

from peers.inputs import Tensors
from peers.lessons import NotCovered
from peers.triton_paths import first_line

INSTALL = "python3 -m pip install 'flash-attn-4[cu13]'"


class Fa4Kernel:
    """flash_attn_func, as its users call it. It takes [batch][n][heads][head_dim] and strides, so that views of the inputs do."""

    name = "peer-fa4"

    def __init__(self, flash_attn_func, version: str) -> None:
        self.flash_attn_func, self.version = flash_attn_func, version

    def prepare(self, torch, tensors: Tensors, _device):
        """launch(set) -> o [batch][heads][nq][head_dim], a view. NotCovered, with the package's own words, if it refuses the shape."""
        q, k, v = (tensor.transpose(2, 3) for tensor in (tensors.q, tensors.k, tensors.v))  # [sets][batch][n][heads][head_dim]

        def launch(i: int):
            with torch.no_grad():
                o = self.flash_attn_func(q[i], k[i], v[i], softmax_scale=tensors.scale, causal=tensors.shape.causal)
            return (o[0] if isinstance(o, tuple) else o).transpose(1, 2)

        try:
            launch(0)
        except (AssertionError, NotImplementedError, ValueError) as refusal:
            raise NotCovered(first_line(refusal)) from None
        return launch


def load(dtype: str) -> tuple[list, str]:
    """The kernel, if there is one for the type, and one line that says which version it is or why there is none."""
    if dtype == "fp32":
        return [], "no FlashAttention-4: it does not take fp32"
    try:
        from flash_attn.cute import flash_attn_func

        version = f"flash-attn-4 {metadata.version('flash-attn-4')}, CuTe DSL {metadata.version('nvidia-cutlass-dsl')}"
    except ModuleNotFoundError as error:
        return [], f"no FlashAttention-4: {first_line(error)} ({INSTALL})"
    except Exception as error:  # whatever a half-installed package raises, the comparison goes on without it
        return [], f"no FlashAttention-4: its package cannot be imported: {first_line(error)} ({INSTALL})"
    return [Fa4Kernel(flash_attn_func, version)], f"FlashAttention-4: {version}"
