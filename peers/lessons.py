"""The built lessons, as shared libraries behind the C functions of common/attention.h and common/softmax.h."""

import ctypes
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from peers.device import Device
from peers.inputs import Matrices, Tensors
from peers.problem import DTYPES, AttentionLesson, AttentionProblem, AttentionStrides, SoftmaxProblem

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "build" / "kernels"


class Unsupported(Exception):
    """The kernel does not support the problem; the message is one line with the reason."""


class LaunchFailed(Exception):
    """A lesson's function returned an error."""


@dataclass(frozen=True)
class Library:
    """The path of a lesson's shared library, and the name of its rows in results/."""

    name: str
    path: Path


def find_attention(names: list[str] | None) -> list[Library]:
    """Libraries of the named lessons (04, solution-04 or lesson-04), or of all solutions and then all baselines.
    Raises ValueError if one of them is not built."""
    if names is None:
        found = [path for path in sorted((KERNELS / "solutions").glob("[0-9][0-9]_*/attention.so")) if is_attention(path)]
        libraries = [Library(f"solution-{path.parent.name}", path) for path in found]
        libraries += [Library(f"baseline-{path.stem}", path) for path in sorted((KERNELS / "baselines").glob("*.so"))]
    else:
        libraries = [find_lesson(name, "attention.so") for name in names]
    if not libraries:
        raise ValueError("no lesson is built; make peers builds the solutions, make lesson-NN check builds a lesson [not-built]")
    return libraries


def is_attention(path: Path) -> bool:
    """Whether the library defines attention on one GPU: those on several GPUs are compared by peers/ring.py."""
    return b"\0attention_forward\0" in path.read_bytes()


def find_softmax(names: list[str] | None) -> list[Library]:
    """The row softmax in five passes, and the row softmax of the named lessons or of all solutions."""
    five_passes = sorted((KERNELS / "solutions").glob("*/unfused_softmax.so"))
    libraries = [Library("unfused_softmax", path) for path in five_passes]
    if names is None:
        found = sorted((KERNELS / "solutions").glob("[0-9][0-9]_*/softmax.so"))
        return libraries + [Library(f"solution-{path.parent.name}", path) for path in found]
    for name in names:
        try:
            libraries.append(find_lesson(name, "softmax.so"))
        except ValueError:
            pass  # most lessons have no row softmax
    return libraries


def find_lesson(name: str, file: str) -> Library:
    """name is 04, solution-04 or lesson-04."""
    match = re.fullmatch(r"(?:(solution|lesson)-)?([0-9][0-9])", name)
    if not match:
        raise ValueError(f"there is no lesson '{name}'; write 04, solution-04 or lesson-04 [unknown-lesson]")
    kind = match[1] or "solution"
    for path in (KERNELS / f"{kind}s").glob(f"{match[2]}_*/{file}"):
        return Library(f"{kind}-{path.parent.name}", path)
    raise ValueError(f"{kind}-{match[2]} is not built; make {kind}-{match[2]} check builds it [not-built]")


def find_fa3(path: Path) -> Library:
    """The library that make builds from the source tree FA3: FlashAttention-3 behind the interface of attention.h."""
    return Library("peer-fa3", path)


def defines(library: Library, function: str) -> bool:
    """Whether the library exports the function: a lesson on decoding has no attention_forward()."""
    return function.encode() + b"\0" in library.path.read_bytes()


def is_own_kernel(name: str) -> bool:
    """Whether a kernel belongs to this project; if it fails, the comparison fails."""
    return not name.startswith("peer-")


def load(path: Path) -> ctypes.CDLL:
    """Loads a lesson, and the CUDA runtime of the toolkit if PyTorch has not loaded one."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        if "libcudart" not in str(error):
            raise ValueError(f"{path} cannot be loaded: {error} [cannot-load]") from None
    toolkit = subprocess.run(["scripts/find-cuda"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    folder = Path(toolkit[1] if len(toolkit) == 4 else "/")
    for runtime in sorted(folder.glob("lib*/libcudart.so.[0-9][0-9]")):
        ctypes.CDLL(str(runtime), ctypes.RTLD_GLOBAL)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise ValueError(f"{path} cannot be loaded: {error} [cannot-load]") from None


class AttentionKernel:
    """A lesson's attention_forward()."""

    def __init__(self, library: Library) -> None:
        self.name = library.name
        self.library = load(library.path)
        self.forward = self.library.attention_forward
        self.forward.argtypes = [ctypes.POINTER(AttentionProblem), ctypes.c_void_p]
        self.lesson = AttentionLesson.in_dll(self.library, "attention_lesson")

    def supports(self, dtype: str) -> bool:
        return bool(self.lesson.dtypes & 1 << DTYPES[dtype])

    def check_supported(self, tensors: Tensors, device: Device) -> None:
        """Raises Unsupported if the lesson or the device cannot run the problem."""
        lesson, shape = self.lesson, tensors.shape
        reason = lesson.unavailable() if lesson.unavailable else None
        if reason:
            raise Unsupported(reason.decode())
        if not self.supports(tensors.dtype):
            raise Unsupported(f"does not support {tensors.dtype}")
        if device.compute_capability < lesson.min_compute_capability:
            raise Unsupported(f"needs compute capability {lesson.min_compute_capability / 10}")
        if shape.head_dim > lesson.max_head_dim:
            raise Unsupported(f"supports head dimensions up to {lesson.max_head_dim}")
        if shape.causal and not lesson.causal:
            raise Unsupported("does not support causal masks")
        shared = lesson.shared_bytes(ctypes.byref(make_problem(tensors, 0))) if lesson.shared_bytes else 0
        if shared > device.shared_bytes:
            raise Unsupported(f"needs {shared / 1024:.1f} KiB of shared memory per block at this shape")

    def prepare(self, torch, tensors: Tensors, device: Device):
        """launch(set) -> o [batch][heads][nq][head_dim]. Raises Unsupported if the kernel cannot run."""
        self.check_supported(tensors, device)
        problems = [make_problem(tensors, i) for i in range(tensors.sets)]
        size = self.lesson.workspace_bytes(ctypes.byref(problems[0])) if self.lesson.workspace_bytes else 0
        workspace = torch.empty(size, dtype=torch.uint8, device=tensors.q.device)
        for problem in problems:
            problem.workspace = workspace.data_ptr() if size else None
        stream = current_stream(torch, tensors.q)

        def launch(i: int, workspace=workspace):  # keeps the workspace alive as long as the function
            status = self.forward(ctypes.byref(problems[i]), stream)
            if status:
                raise LaunchFailed(f"attention_forward() returned {error_text(self.library, status)}")
            return tensors.o[i]

        return launch


class Fa3Kernel(AttentionKernel):
    """FlashAttention-3, which is built for three head dimensions only."""

    HEAD_DIMS = (64, 96, 128)

    def __init__(self, library: Library, version: str) -> None:
        super().__init__(library)
        self.version = version

    def check_supported(self, tensors: Tensors, device: Device) -> None:
        super().check_supported(tensors, device)
        if tensors.shape.head_dim not in self.HEAD_DIMS:
            raise Unsupported("is built for D = 64, 96 and 128")


class SoftmaxKernel:
    """A lesson's softmax_forward()."""

    def __init__(self, library: Library) -> None:
        self.name = library.name
        self.library = load(library.path)
        self.forward = self.library.softmax_forward
        self.forward.argtypes = [ctypes.POINTER(SoftmaxProblem), ctypes.c_void_p]
        self.workspace_bytes = self.library.softmax_workspace_bytes
        self.workspace_bytes.argtypes = [ctypes.POINTER(SoftmaxProblem)]
        self.workspace_bytes.restype = ctypes.c_size_t

    def prepare(self, torch, matrices: Matrices, _device: Device):
        """launch(set) -> out [rows][columns]."""
        rows, columns = matrices.shape.rows, matrices.shape.columns
        problems = [
            SoftmaxProblem(matrices.x[i].data_ptr(), matrices.out[i].data_ptr(), None, rows, columns)
            for i in range(matrices.sets)
        ]
        size = self.workspace_bytes(ctypes.byref(problems[0]))
        workspace = torch.empty(size, dtype=torch.uint8, device=matrices.x.device)
        for problem in problems:
            problem.workspace = workspace.data_ptr() if size else None
        stream = current_stream(torch, matrices.x)

        def launch(i: int, workspace=workspace):
            status = self.forward(ctypes.byref(problems[i]), stream)
            if status:
                raise LaunchFailed(f"softmax_forward() returned {error_text(self.library, status)}")
            return matrices.out[i]

        return launch


def make_problem(tensors: Tensors, i: int) -> AttentionProblem:
    """The problem of set i; its workspace is not set."""
    shape = tensors.shape
    q = AttentionStrides(shape.heads * shape.nq * shape.head_dim, shape.nq * shape.head_dim, shape.head_dim)
    k = AttentionStrides(shape.heads * shape.nk * shape.head_dim, shape.nk * shape.head_dim, shape.head_dim)
    return AttentionProblem(
        q=tensors.q[i].data_ptr(),
        k=tensors.k[i].data_ptr(),
        v=tensors.v[i].data_ptr(),
        o=tensors.o[i].data_ptr(),
        q_stride=q,
        k_stride=k,
        v_stride=k,
        o_stride=q,
        batch=shape.batch,
        heads=shape.heads,
        kv_heads=shape.heads,
        nq=shape.nq,
        nk=shape.nk,
        head_dim=shape.head_dim,
        causal=int(shape.causal),
        softmax_scale=tensors.scale,
        dtype=DTYPES[tensors.dtype],
    )


def current_stream(torch, tensor) -> int | None:
    """PyTorch's current stream, on which PyTorch records its events."""
    return torch.cuda.current_stream().cuda_stream if tensor.is_cuda else None


def error_text(library: ctypes.CDLL, status: int) -> str:
    library.cudaGetErrorString.restype = ctypes.c_char_p
    return f"error {status}: {library.cudaGetErrorString(status).decode()}"
