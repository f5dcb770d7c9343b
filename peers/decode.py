#!/usr/bin/env python3
"""Compares the lessons on decoding with FlashInfer, FlashAttention-3 and PyTorch's flash and cuDNN paths, on a GPU.

    python3 -m peers.decode                          the grid of make bench, bf16, and three ragged batches
    python3 -m peers.decode --shape 8,32:8,4096,128  one shape: batch, heads:kv_heads, keys, head_dim

All kernels of a shape read the same cache in pages of 64 keys (lesson 22 and 23, and PyTorch: the same keys in one piece for each
request) and are timed in turn, whole calls, with as many caches as pass twice the L2 cache. A peer that is not installed, or that
refuses a shape, is left out with one line. A kernel whose output is off is not timed. Rows go to results/<gpu>/decode-peers.csv."""

import argparse
import csv
import ctypes
import sys
from pathlib import Path

from peers import lessons
from peers.device import Clocks, open_device
from peers.problem import DTYPES, DecodeLesson, DecodeProblem
from peers.timing import LaunchError, Stopwatch, TimedKernel

PAGE = 64
GRID = [(b, h, kv, n, d, "equal") for d in (128, 64) for h, kv in ((32, 8), (64, 8), (8, 1)) for b in (1, 8, 64) for n in (1024, 4096, 16384, 65536)]
GRID += [(64, 32, 8, 8192, 128, kind) for kind in ("ragged", "halving", "one-long")]
COLUMNS = "kernel,device,dtype,B,H,Hkv,Nk,D,lengths,keys,median_us,gb_per_s,noise".split(",")
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
    """As many sets of q, of a cache in pages, and of o, as pass twice the L2 cache; at least two."""

    def __init__(self, torch, shape, l2_bytes: int) -> None:
        self.batch, self.heads, self.kv_heads, self.keys, self.head_dim, self.kind = shape
        self.lens = lengths(torch, self.kind, self.batch, self.keys)
        self.width = (self.keys + PAGE - 1) // PAGE
        self.total = sum(self.lens)
        self.bytes = 4 * self.total * self.kv_heads * self.head_dim + 4 * self.batch * self.heads * self.head_dim
        self.sets = min(64, max(2, 2 * l2_bytes // self.bytes + 1))
        options = {"device": "cuda", "dtype": torch.bfloat16}
        pages = self.batch * self.width
        self.q = [torch.randn(self.batch, self.heads, self.head_dim, **options) for _ in range(self.sets)]
        self.k = [torch.randn(pages, self.kv_heads, PAGE, self.head_dim, **options) for _ in range(self.sets)]
        self.v = [torch.randn_like(k) for k in self.k]
        self.device_lens = torch.tensor(self.lens, dtype=torch.int32, device="cuda")
        self.table = torch.arange(pages, dtype=torch.int32, device="cuda").view(self.batch, self.width)
        self.scale = self.head_dim**-0.5

    def whole(self, tensor):
        """[batch][kv_heads][keys][head_dim], copied: PyTorch and the lessons without pages take nothing else."""
        pages = tensor.view(self.batch, self.width, self.kv_heads, PAGE, self.head_dim)
        return pages.transpose(1, 2).reshape(self.batch, self.kv_heads, self.width * PAGE, self.head_dim).contiguous()

    def expected(self, torch):
        """In fp64, of set 0."""
        k, v, out = self.whole(self.k[0]), self.whole(self.v[0]), []
        group = self.heads // self.kv_heads
        for b, n in enumerate(self.lens):
            q = self.q[0][b].double().view(self.kv_heads, group, self.head_dim)
            p = torch.softmax(self.scale * q @ k[b, :, :n].double().transpose(1, 2), dim=-1)
            out.append((p @ v[b, :, :n].double()).reshape(self.heads, self.head_dim))
        return torch.stack(out)


def lesson_kernel(torch, library, caches: Caches):
    handle = lessons.load(library.path)
    contract = DecodeLesson.in_dll(handle, "decode_lesson")
    o = torch.empty_like(caches.q[0])
    problems, keep = [], []
    for i in range(caches.sets):
        k, v = (caches.k[i], caches.v[i]) if contract.paged else (caches.whole(caches.k[i]), caches.whole(caches.v[i]))
        keep += [k, v]
        size = PAGE if contract.paged else caches.width * PAGE
        problems.append(
            DecodeProblem(
                q=caches.q[i].data_ptr(), k=k.data_ptr(), v=v.data_ptr(), lens=caches.device_lens.data_ptr(),
                block_table=caches.table.data_ptr() if contract.paged else None, o=o.data_ptr(),
                page_stride=caches.kv_heads * size * caches.head_dim, batch=caches.batch, heads=caches.heads,
                kv_heads=caches.kv_heads, nq=1, head_dim=caches.head_dim, pages=k.shape[0], page_size=size,
                pages_per_request=caches.width if contract.paged else 1, softmax_scale=caches.scale,
                dtype=DTYPES["bf16"], cache_dtype=DTYPES["bf16"],
            )
        )  # fmt: skip
    workspace = torch.empty(max(1, contract.workspace_bytes(ctypes.byref(problems[0]))), dtype=torch.uint8, device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch(i: int):
        problems[i].workspace = workspace.data_ptr()
        error = handle.decode_forward(ctypes.byref(problems[i]), stream)
        if error:
            raise lessons.LaunchFailed(f"decode_forward() returns error {error}")
        return o

    launch.keep = keep
    return launch


def flashinfer_kernel(torch, caches: Caches):
    import flashinfer

    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda"), "HND", use_tensor_cores=True)  # fmt: skip
    used = [(n + PAGE - 1) // PAGE for n in caches.lens]
    indptr = torch.tensor([sum(used[:i]) for i in range(caches.batch + 1)], dtype=torch.int32, device="cuda")
    indices = torch.cat([caches.table[b, : used[b]] for b in range(caches.batch)])
    last = torch.tensor([(n - 1) % PAGE + 1 for n in caches.lens], dtype=torch.int32, device="cuda")
    wrapper.plan(indptr, indices, last, caches.heads, caches.kv_heads, caches.head_dim, PAGE, q_data_type=torch.bfloat16)
    return lambda i: wrapper.run(caches.q[i], (caches.k[i], caches.v[i]))


def xqa_kernel(torch, caches: Caches):
    import flashinfer

    workspace = torch.zeros(WORKSPACE, dtype=torch.uint8, device="cuda")
    return lambda i: flashinfer.decode.xqa_batch_decode_with_kv_cache(
        caches.q[i], (caches.k[i], caches.v[i]), workspace, caches.table, caches.device_lens, max(caches.lens),
        bmm1_scale=caches.scale, bmm2_scale=1.0, kv_layout="HND")  # fmt: skip


def fa3_kernel(torch, caches: Caches):
    import flash_attn_interface

    k, v = ([x.transpose(1, 2) for x in side] for side in (caches.k, caches.v))  # [page][key][head][column], by strides
    return lambda i: flash_attn_interface.flash_attn_with_kvcache(
        caches.q[i].unsqueeze(1), k[i], v[i], cache_seqlens=caches.device_lens, page_table=caches.table,
        softmax_scale=caches.scale, num_splits=0, pack_gqa=True)  # fmt: skip


def sdpa_kernel(backend: str):
    def make(torch, caches: Caches):
        from torch.nn.attention import SDPBackend, sdpa_kernel as choose

        if caches.kind != "equal" or caches.keys % PAGE:
            raise ValueError("takes requests of one length")
        k, v = ([caches.whole(x) for x in side] for side in (caches.k, caches.v))

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


def time_shape(torch, shape, device, clocks, seconds: float):
    caches = Caches(torch, shape, device.l2_bytes)
    makers = {library.name: lambda torch, caches, library=library: lesson_kernel(torch, library, caches)
              for library in lessons.find_attention(None) if lessons.defines(library, "decode_forward")}  # fmt: skip
    expected, kernels = caches.expected(torch), []
    for name, make in {**makers, **PEERS}.items():
        try:
            launch = make(torch, caches)
            out = launch(0)
            out = (out[0] if isinstance(out, tuple) else out).double().reshape(expected.shape)
            error = float((out - expected).norm() / expected.norm())
            if error > 5e-3:
                raise ValueError(f"relative RMS error {error:.1e}")
            kernels.append(TimedKernel(name, launch, error))
        except Exception as problem:  # whatever a library raises
            print(f"  {name}: left out: {str(problem).splitlines()[0] if str(problem) else type(problem).__name__}")
    source, target = torch.empty(caches.bytes // 4, dtype=torch.int16, device="cuda"), torch.empty(caches.bytes // 4, dtype=torch.int16, device="cuda")
    kernels.append(TimedKernel("copy", lambda i: target.copy_(source)))
    Stopwatch(torch, device, clocks, caches.sets).time(kernels, seconds)
    for kernel in sorted(kernels, key=lambda kernel: kernel.timing.median):
        rate = caches.bytes / kernel.timing.median * 1e-3
        print(f"  {kernel.name:28} {kernel.timing.median:9.2f} us {rate:8.0f} GB/s")
        yield dict(zip(COLUMNS, (kernel.name, device.name, "bf16", *shape[:5], shape[5], caches.total, f"{kernel.timing.median:.3f}", f"{rate:.1f}", "noisy" if kernel.timing.noisy else "steady")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", help="batch,heads:kv_heads,keys,head_dim")
    parser.add_argument("--seconds", type=float, default=1.5, help="for the timings of a shape")
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    import torch

    shapes = GRID
    if arguments.shape:
        batch, heads, keys, head_dim = arguments.shape.split(",")
        query, _, kv = heads.partition(":")
        shapes = [(int(batch), int(query), int(kv or query), int(keys), int(head_dim), "equal")]
    torch.cuda.init()
    runtime = next(lessons.load(x.path) for x in lessons.find_attention(None) if lessons.defines(x, "decode_forward"))
    device, clocks = open_device(torch, runtime), Clocks(runtime)
    folder = arguments.results / "".join(c.lower() if c.isalnum() else "-" for c in device.name)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "decode-peers.csv", "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for shape in shapes:
            print("B=%d H=%d:%d keys=%d D=%d %s" % shape)
            try:
                writer.writerows(time_shape(torch, shape, device, clocks, arguments.seconds))
            except (torch.cuda.OutOfMemoryError, LaunchError) as error:
                print(f"  not timed: {error}")
            torch.cuda.empty_cache()
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
