"""FlashAttention-4, the package flash-attn-4, if this Python can import it. CuTe DSL compiles its kernels at their
first call, which is not timed."""

import traceback
from importlib import metadata
from pathlib import Path

from peers.inputs import Tensors
from peers.lessons import Unsupported
from peers.triton_paths import first_line

INSTALL = "python3 -m pip install 'flash-attn-4[cu13]'"


class Fa4Kernel:
    """flash_attn_func. It takes strided tensors [batch][n][heads][head_dim], so it gets views of the inputs and no copies."""

    name = "peer-fa4"

    def __init__(self, flash_attn_func, version: str) -> None:
        self.flash_attn_func, self.version = flash_attn_func, version

    def prepare(self, torch, tensors: Tensors, _device):
        """launch(set) -> o [batch][heads][nq][head_dim], a view. Raises Unsupported with the package's message if the package rejects the shape."""
        q, k, v = (tensor.transpose(2, 3) for tensor in (tensors.q, tensors.k, tensors.v))  # [sets][batch][n][heads][head_dim]

        def launch(i: int):
            with torch.no_grad():
                o = self.flash_attn_func(q[i], k[i], v[i], softmax_scale=tensors.scale, causal=tensors.shape.causal)
            return (o[0] if isinstance(o, tuple) else o).transpose(1, 2)

        try:
            o = launch(0)
        except (AssertionError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            raise Unsupported(reason(error)) from None
        if o.dtype != tensors.q.dtype:
            raise Unsupported(f"returns {o.dtype} for {tensors.q.dtype}")
        return launch


def reason(error: Exception) -> str:
    """The first line of the message; of a bare assertion the place where it is."""
    if str(error).strip():
        return first_line(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {frame.name}(), {Path(frame.filename).name}:{frame.lineno}"


def version_of(package: str) -> str:
    try:
        return metadata.version(package) or "unknown"
    except metadata.PackageNotFoundError:
        return "unknown"


def load(dtype: str) -> tuple[list, str]:
    """The kernel if it supports the element type, and one line with its version or the reason why it is skipped."""
    if dtype == "fp32":
        return [], "no FlashAttention-4: it does not support fp32"
    try:
        from flash_attn.cute import flash_attn_func
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        return [], f"no FlashAttention-4: {first_line(error)} ({INSTALL})"
    except BaseException as error:  # a broken installation may raise anything; the comparison continues without the package
        return [], f"no FlashAttention-4: its package cannot be imported: {first_line(error)} ({INSTALL})"
    version = f"flash-attn-4 {version_of('flash-attn-4')}, CuTe DSL {version_of('nvidia-cutlass-dsl')}"
    return [Fa4Kernel(flash_attn_func, version)], f"FlashAttention-4: {version}"
