#!/usr/bin/env python3
"""Compares the lessons on decoding with FlashInfer, FlashAttention-3 and PyTorch's flash and cuDNN paths, on a GPU.

    python3 -m peers.decode                          the grid of make bench, bf16, and three ragged batches
    python3 -m peers.decode --shape 8,32:8,4096,128  one shape: batch, heads:kv_heads, keys, head_dim

    python3 -m peers.decode --cache e4m3             a cache in e4m3, at the shapes with 32 heads on 8 and D = 128

All kernels of a shape read the same cache in pages of 64 keys (lessons 22 and 23, and PyTorch: the same keys in one piece for each
request) and are timed in turn, whole calls, with as many caches as pass twice the L2 cache. The shapes that tell most come first, and each
row goes to results/<gpu>/decode-peers.csv at once, so that a run which --time-budget ends can be used. A peer that is not installed, or
that refuses a shape, is left out with one line. A lesson whose output is off is not timed. A peer that is less exact, such as one that rounds
queries to e4m3 as well, is timed as "inexact"; one whose output is wrong is left out. peers/decode.sql compares the rows."""

import argparse
import ctypes
import re
import sys
from pathlib import Path

from peers import lessons
from peers.device import Clocks, gpu_folder, open_device
from peers.problem import DTYPES, DecodeLesson, DecodeProblem
from peers.rows import Budget, Rows
from peers.timing import LaunchError, Stopwatch, TimedKernel

PAGE = 64
BATCHES, KEYS, HEADS = (1, 8, 64), (1024, 4096, 16384, 65536), ((32, 8), (64, 8), (8, 1))
RAGGED = [(64, 32, 8, 8192, 128, kind) for kind in ("ragged", "halving", "one-long")]


def grid(heads, head_dim: int) -> list[tuple]:
    return [(batch, *heads, keys, head_dim, "equal") for keys in KEYS for batch in BATCHES]


# The usual heads first, then ragged batches, then the other heads and head dimensions.
GRID = grid(HEADS[0], 128) + RAGGED + [s for head_dim in (128, 64) for heads in HEADS if (heads, head_dim) != (HEADS[0], 128) for s in grid(heads, head_dim)]
GRID_E4M3 = grid(HEADS[0], 128) + RAGGED
COLUMNS = "lesson,device,dtype,B,H,Hkv,Nk,D,lengths,keys,kv_bytes,median_us,repeats,gb_per_s,rel_rms_error,date,noise"
EXACT, USABLE = 5e-3, 0.1  # relative RMS errors
SCALE_E4M3 = 0.5  # of every head's keys and values
WORKSPACE = 1 << 28  # bytes that FlashInfer asks for


def lengths(torch, kind: str, batch: int, keys: int) -> list[int]:
    generator = torch.Generator().manual_seed(1)
    draw = torch.rand(batch, generator=generator).tolist()
    if kind == "halving":
        return [max(1, keys >> i % 8) for i in range(batch)]
    if kind == "one-long":
        return [keys if i == batch // 2 else 1 + int(draw[i] * (1 + keys // 64)) for i in range(batch)]
    return [1 + int(draw[i] * keys) if kind == "ragged" else keys for i in range(batch)]


class Caches:
    """As many sets of q and of a cache in pages as pass twice the L2 cache; one if its tail is all that L2 can hold."""

    def __init__(self, torch, shape, cache: str, l2_bytes: int) -> None:
        self.batch, self.heads, self.kv_heads, self.keys, self.head_dim, self.kind = shape
        self.cache, self.scale = cache, self.head_dim**-0.5
        self.lens = lengths(torch, self.kind, self.batch, self.keys)
        self.width = (self.keys + PAGE - 1) // PAGE
        self.total = sum(self.lens)
        self.kv_bytes = 2 * self.total * self.kv_heads * self.head_dim * (1 if cache == "e4m3" else 2)
        self.bytes = self.kv_bytes + 4 * self.batch * self.heads * self.head_dim
        self.sets = 1 if self.bytes > 8 * l2_bytes else min(512, 2 * l2_bytes // self.bytes + 2)
        self.device_lens = torch.tensor(self.lens, dtype=torch.int32, device="cuda")
        self.table = torch.arange(self.batch * self.width, dtype=torch.int32, device="cuda").view(self.batch, self.width)
        options = {"device": "cuda", "dtype": torch.bfloat16}
        pages = (self.batch * self.width, self.kv_heads, PAGE, self.head_dim)
        self.q = [torch.randn(self.batch, self.heads, self.head_dim, **options) for _ in range(self.sets)]
        self.k, self.v = ([self.stored(torch, torch.randn(pages, **options)) for _ in range(self.sets)] for _ in range(2))
        self.pieces = None

    def stored(self, torch, tensor):
        return (tensor / SCALE_E4M3).to(torch.float8_e4m3fn) if self.cache == "e4m3" else tensor

    def whole(self, tensor):
        """[batch][kv_heads][keys][head_dim], copied: PyTorch and the lessons without pages take nothing else."""
        pages = tensor.view(self.batch, self.width, self.kv_heads, PAGE, self.head_dim)
        return pages.transpose(1, 2).reshape(self.batch, self.kv_heads, self.width * PAGE, self.head_dim).contiguous()

    def in_pieces(self):
        """All keys and values, whole: copied once for all kernels that want them."""
        self.pieces = self.pieces or [[self.whole(x) for x in side] for side in (self.k, self.v)]
        return self.pieces

    def expected(self, torch):
        """In fp64, of set 0."""
        out, group = [], self.heads // self.kv_heads
        for b, n in enumerate(self.lens):
            first, pages = b * self.width, (n + PAGE - 1) // PAGE
            k, v = (x[0][first : first + pages].double().transpose(0, 1).reshape(self.kv_heads, pages * PAGE, self.head_dim)[:, :n]
                    * (SCALE_E4M3 if self.cache == "e4m3" else 1) for x in (self.k, self.v))  # fmt: skip
            q = self.q[0][b].double().view(self.kv_heads, group, self.head_dim)
            p = torch.softmax(self.scale * q @ k.transpose(1, 2), dim=-1)
            out.append((p @ v).reshape(self.heads, self.head_dim))
        return torch.stack(out)


def lesson_kernel(torch, library, caches: Caches):
    handle = lessons.load(library.path)
    contract = DecodeLesson.in_dll(handle, "decode_lesson")
    if not contract.dtypes & 1 << DTYPES[caches.cache]:
        raise ValueError(f"takes no cache in {caches.cache}")
    handle.decode_forward.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    o = torch.empty_like(caches.q[0])
    k, v = (caches.k, caches.v) if contract.paged else caches.in_pieces()
    size = PAGE if contract.paged else caches.width * PAGE
    kv_scale = torch.full((2, caches.kv_heads), SCALE_E4M3, dtype=torch.float32, device="cuda") if caches.cache == "e4m3" else None
    problems = [
        DecodeProblem(
            q=caches.q[i].data_ptr(), k=k[i].data_ptr(), v=v[i].data_ptr(), lens=caches.device_lens.data_ptr(),
            block_table=caches.table.data_ptr() if contract.paged else None, kv_scale=None if kv_scale is None else kv_scale.data_ptr(),
            o=o.data_ptr(), page_stride=caches.kv_heads * size * caches.head_dim, batch=caches.batch, heads=caches.heads,
            kv_heads=caches.kv_heads, nq=1, head_dim=caches.head_dim, pages=k[i].shape[0], page_size=size,
            pages_per_request=caches.width if contract.paged else 1, softmax_scale=caches.scale,
            dtype=DTYPES["bf16"], cache_dtype=DTYPES[caches.cache],
        )
        for i in range(caches.sets)
    ]  # fmt: skip
    workspace = torch.empty(max(1, contract.workspace_bytes(ctypes.byref(problems[0]))), dtype=torch.uint8, device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch(i: int):
        problems[i].workspace = workspace.data_ptr()
        error = handle.decode_forward(ctypes.byref(problems[i]), stream)
        if error:
            raise lessons.LaunchFailed(f"decode_forward() returns error {error}")
        return o

    launch.keep = (k, v, kv_scale)  # as long as the function
    return launch


def flashinfer_kernel(torch, caches: Caches):
    import flashinfer

    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda"), "HND", use_tensor_cores=True)  # fmt: skip
    used = [(n + PAGE - 1) // PAGE for n in caches.lens]
    indptr = torch.tensor([sum(used[:i]) for i in range(caches.batch + 1)], dtype=torch.int32, device="cuda")
    indices = torch.cat([caches.table[b, : used[b]] for b in range(caches.batch)])
    last = torch.tensor([(n - 1) % PAGE + 1 for n in caches.lens], dtype=torch.int32, device="cuda")
    wrapper.plan(indptr, indices, last, caches.heads, caches.kv_heads, caches.head_dim, PAGE, q_data_type=torch.bfloat16,
                 kv_data_type=caches.k[0].dtype, sm_scale=caches.scale)  # fmt: skip
    scales = {"k_scale": SCALE_E4M3, "v_scale": SCALE_E4M3} if caches.cache == "e4m3" else {}
    return lambda i: wrapper.run(caches.q[i], (caches.k[i], caches.v[i]), **scales)


def xqa_kernel(torch, caches: Caches):
    import flashinfer

    workspace = torch.zeros(WORKSPACE, dtype=torch.uint8, device="cuda")
    scale = SCALE_E4M3 if caches.cache == "e4m3" else 1.0
    return lambda i: flashinfer.decode.xqa_batch_decode_with_kv_cache(
        caches.q[i], (caches.k[i], caches.v[i]), workspace, caches.table, caches.device_lens, max(caches.lens),
        bmm1_scale=caches.scale * scale, bmm2_scale=scale, kv_layout="HND")  # fmt: skip


def fa3_kernel(torch, caches: Caches):
    import flash_attn_interface

    k, v = ([x.transpose(1, 2) for x in side] for side in (caches.k, caches.v))  # [page][key][head][column], by strides
    q, scales = caches.q, {}
    if caches.cache == "e4m3":  # it multiplies in e4m3, so queries are of that type as well
        q = [x.to(torch.float8_e4m3fn) for x in q]
        ones = torch.ones(caches.batch, caches.kv_heads, dtype=torch.float32, device="cuda")
        scales = {"q_descale": ones, "k_descale": SCALE_E4M3 * ones, "v_descale": SCALE_E4M3 * ones}
    return lambda i: flash_attn_interface.flash_attn_with_kvcache(
        q[i].unsqueeze(1), k[i], v[i], cache_seqlens=caches.device_lens, page_table=caches.table,
        softmax_scale=caches.scale, num_splits=0, pack_gqa=True, **scales)  # fmt: skip


def sdpa_kernel(backend: str):
    def make(torch, caches: Caches):
        from torch.nn.attention import SDPBackend, sdpa_kernel as choose

        if caches.kind != "equal" or caches.keys % PAGE:
            raise ValueError("takes requests of one length")
        if caches.cache != "bf16":
            raise ValueError(f"takes no cache in {caches.cache}")
        k, v = caches.in_pieces()

        def launch(i: int):
            with choose(getattr(SDPBackend, backend)):
                return torch.nn.functional.scaled_dot_product_attention(caches.q[i].unsqueeze(2), k[i], v[i], enable_gqa=True)

        return launch

    return make


PEERS = {
    "peer-flashinfer": flashinfer_kernel,
    "peer-flashinfer_xqa": xqa_kernel,
    "peer-fa3": fa3_kernel,
    "peer-torch_flash": sdpa_kernel("FLASH_ATTENTION"),
    "peer-torch_cudnn": sdpa_kernel("CUDNN_ATTENTION"),
}


def check(name: str, launch, expected) -> TimedKernel:
    """Runs the kernel once. Raises ValueError if its output is wrong."""
    out = launch(0)
    out = (out[0] if isinstance(out, tuple) else out).double().reshape(expected.shape)
    error = float((out - expected).norm() / expected.norm())
    if not error <= (EXACT if lessons.is_own_kernel(name) else USABLE):
        raise ValueError(f"relative RMS error {error:.1e} [wrong-output]")
    return TimedKernel(name, launch, error, exact=error <= EXACT)


class Comparison:
    def __init__(self, torch, device, clocks, rows: Rows, arguments) -> None:
        self.torch, self.device, self.clocks, self.rows, self.arguments = torch, device, clocks, rows, arguments
        self.makers = {library.name: lambda torch, caches, library=library: lesson_kernel(torch, library, caches) for library in built()} | PEERS
        self.failed = False

    def kernels(self, caches: Caches) -> list[TimedKernel]:
        """Those that can be timed; a line for each other one. A package that is missing is named once."""
        expected, ready = caches.expected(self.torch), []
        for name, make in list(self.makers.items()):
            try:
                ready.append(check(name, make(self.torch, caches), expected))
            except Exception as problem:  # whatever a library raises
                text = str(problem).splitlines()[0][:150] if str(problem) else type(problem).__name__
                print(f"  {name}: left out: {text}")
                self.failed |= lessons.is_own_kernel(name) and not text.startswith("takes ")
                if isinstance(problem, ImportError):
                    del self.makers[name]
        return ready

    def time(self, shape) -> None:
        torch, cache = self.torch, self.arguments.cache
        caches = Caches(torch, shape, cache, self.device.l2_bytes)
        kernels = self.kernels(caches)
        target, source = (torch.empty(caches.bytes // 2, dtype=torch.int8, device="cuda") for _ in range(2))
        kernels.append(TimedKernel("copy", lambda i: target.copy_(source)))
        Stopwatch(torch, self.device, self.clocks, caches.sets).time(kernels, self.arguments.seconds)
        for kernel in sorted(kernels, key=lambda kernel: kernel.timing.median):
            timing, rate = kernel.timing, caches.bytes / kernel.timing.median * 1e-3
            print(f"  {kernel.name:28} {timing.median:9.2f} us {rate:8.0f} GB/s{'' if kernel.exact else '  inexact'}", flush=True)
            self.rows.add(kernel.name, self.device.name, cache if kernel.exact else cache + "-inexact", *shape, caches.total, caches.kv_bytes,
                          f"{timing.median:.3f}", timing.repeats, f"{rate:.1f}", f"{kernel.error:.2e}", self.rows.run[:10],
                          "noisy" if timing.noisy else "steady")  # fmt: skip


def built() -> list:
    found = sorted((lessons.KERNELS / "solutions").glob("[0-9][0-9]_*/attention.so"))
    libraries = [lessons.Library(f"solution-{path.parent.name}", path) for path in found]
    return [library for library in libraries if lessons.defines(library, "decode_forward")]


def parse_shape(text: str) -> tuple:
    match = re.fullmatch(r"([0-9]+),([0-9]+)(?::([0-9]+))?,([0-9]+),([0-9]+)", text)
    batch, heads, kv_heads, keys, head_dim = (int(size or 0) for size in match.groups()) if match else (0,) * 5
    kv_heads = kv_heads or heads
    if min(batch, heads, keys, head_dim) < 1 or heads % kv_heads:
        raise argparse.ArgumentTypeError(f"{text} is no batch,heads:kv_heads,keys,head_dim with heads a multiple of kv_heads")
    return batch, heads, kv_heads, keys, head_dim, "equal"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", type=parse_shape, help="batch,heads:kv_heads,keys,head_dim")
    parser.add_argument("--cache", choices=["bf16", "e4m3"], default="bf16")
    parser.add_argument("--seconds", type=float, default=1.5, help="for the timings of a shape")
    parser.add_argument("--time-budget", type=float, default=600, metavar="S", help="seconds for all shapes (600)")
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args(argv)
    try:
        import torch
    except ImportError:
        print("error: PyTorch is not installed [no-torch]", file=sys.stderr)
        return 2
    if not torch.cuda.is_available():
        print("error: PyTorch finds no GPU [no-gpu]", file=sys.stderr)
        return 2
    if not built():
        print("error: no lesson on decoding is built; scripts/measure-decode builds them [not-built]", file=sys.stderr)
        return 2
    torch.cuda.init()
    runtime = lessons.load(built()[0].path)
    device = open_device(torch, runtime)
    try:
        rows = Rows(arguments.results / gpu_folder(device.name) / "decode-peers.csv", COLUMNS)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    comparison, budget = Comparison(torch, device, Clocks(runtime), rows, arguments), Budget(arguments.time_budget)
    for shape in [arguments.shape] if arguments.shape else GRID_E4M3 if arguments.cache == "e4m3" else GRID:
        heading = "B=%d H=%d:%d keys=%d D=%d %s" % shape
        if not budget.reaches(heading):
            continue
        print(f"{heading}, cache in {arguments.cache}", flush=True)
        try:
            comparison.time(shape)
        except (torch.cuda.OutOfMemoryError, LaunchError) as error:
            print(f"  not timed: {str(error).splitlines()[0]}")
        torch.cuda.empty_cache()
    return int(comparison.failed or budget.left_out > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
