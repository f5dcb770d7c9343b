"""Zigzag ring attention as ring-flash-attention schedules it, by PyTorch's distributed package and one process per GPU, on the
kernel of lesson 20: what the schedule of lessons 30 and 31 is compared with.

    python3 peers/ring.py [--gpus 2] [--sizes 32768,131072] [--out results/FOLDER/ring_peers.csv]

For each size, without a mask and with it: the time of all steps, of the kernels and merges without the exchange, of the exchange
alone, and which part of the exchange is hidden: (kernels + exchange - all) / exchange. B=1, H=16, D=128, bf16. Times are the
median over the launches of the slowest rank, by CUDA events after a barrier.
"""

import argparse
import ctypes
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
except ImportError:
    print("error: PyTorch is not installed [no-torch]", file=sys.stderr)
    sys.exit(2)

from peers.lessons import AttentionKernel, find_lesson
from peers.problem import DTYPES, AttentionProblem, AttentionStrides
from peers.rows import Rows

BATCH, HEADS, HEAD_DIM = 1, 16, 128
WARM_UP, LAUNCHES, STEP_SECONDS = 5, 30, 60
COLUMNS = "lesson,device,dtype,N,causal,gpus,median_us,kernels_us,exchange_us,hidden"


def strides(tensor: torch.Tensor) -> AttentionStrides:
    return AttentionStrides(tensor.stride(0), tensor.stride(1), tensor.stride(2))


class Rank:
    """One GPU: its queries, keys and values, [batch][heads][n][head_dim] in zigzag order."""

    def __init__(self, rank: int, ranks: int, size: int, causal: bool) -> None:
        torch.manual_seed(rank)
        shape = (BATCH, HEADS, size // ranks, HEAD_DIM)
        self.rank, self.ranks, self.causal = rank, ranks, causal
        self.q, self.k, self.v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        self.received = [torch.empty_like(torch.stack((self.k, self.v))) for _ in range(2)]
        self.kernel = AttentionKernel(find_lesson("20", "attention.so"))

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
        o = torch.empty(q.shape, device="cuda", dtype=q.dtype)
        lse = torch.empty(q.shape[:3], device="cuda", dtype=torch.float32)
        problem = AttentionProblem(q=q.data_ptr(), k=k.data_ptr(), v=v.data_ptr(), o=o.data_ptr(), lse=lse.data_ptr(),
                                   q_stride=strides(q), k_stride=strides(k), v_stride=strides(v), o_stride=strides(o),
                                   batch=BATCH, heads=HEADS, kv_heads=HEADS, nq=q.shape[2], nk=k.shape[2],
                                   head_dim=HEAD_DIM, causal=causal, softmax_scale=HEAD_DIM**-0.5, dtype=DTYPES["bf16"])
        error = self.kernel.forward(ctypes.byref(problem), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if error:
            raise RuntimeError(f"lesson 20 returned error {error}")
        return o, lse

    def step(self, step: int, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor | None, lse: torch.Tensor | None):
        owner, half = (self.rank - step) % self.ranks, self.q.shape[2] // 2
        first = 0
        if not self.causal or owner == self.rank:
            part, part_lse = self.attend(self.q, k, v, self.causal)
        elif owner < self.rank:
            part, part_lse = self.attend(self.q, k[:, :, :half], v[:, :, :half], False)
        else:
            first = half
            part, part_lse = self.attend(self.q[:, :, half:], k, v, False)
        if out is None:
            return part.float(), part_lse
        merge(out[:, :, first:], lse[:, :, first:], part, part_lse)
        return out, lse

    def exchange(self, sent: torch.Tensor, received: torch.Tensor) -> list:
        following, previous = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        return dist.batch_isend_irecv([dist.P2POp(dist.isend, sent, following), dist.P2POp(dist.irecv, received, previous)])

    def run(self, compute: bool, exchange: bool) -> torch.Tensor | None:
        kv, out, lse = torch.stack((self.k, self.v)), None, None
        for step in range(self.ranks):
            arriving = self.received[step % 2]
            requests = self.exchange(kv, arriving) if exchange and step + 1 < self.ranks else []
            if compute:
                out, lse = self.step(step, kv[0], kv[1], out, lse)
            for request in requests:
                request.wait()
            kv = arriving if requests else kv
        return out.to(torch.bfloat16) if compute else None


@torch.jit.script
def merge(out: torch.Tensor, lse: torch.Tensor, part: torch.Tensor, part_lse: torch.Tensor):
    """As ring-flash-attention does it: one sigmoid, in place."""
    share = torch.sigmoid(part_lse - lse).unsqueeze(-1)
    out.sub_(share * (out - part.float()))
    lse.sub_(torch.nn.functional.logsigmoid(lse - part_lse))


def time_ms(rank: Rank, compute: bool, exchange: bool) -> float:
    samples = []
    for launch in range(WARM_UP + LAUNCHES):
        dist.barrier()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        rank.run(compute, exchange)
        end.record()
        torch.cuda.synchronize()
        slowest = torch.tensor([begin.elapsed_time(end)], device="cuda")
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        samples.append(slowest.item())
    return statistics.median(samples[WARM_UP:])


def work(rank: int, arguments: argparse.Namespace) -> None:
    from datetime import timedelta

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(arguments.port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=arguments.gpus, timeout=timedelta(seconds=STEP_SECONDS))
    rows = Rows(arguments.out if rank == 0 else None, COLUMNS)
    for size in arguments.sizes:
        for causal in (False, True):
            one = Rank(rank, arguments.gpus, size, causal)
            whole, kernels, exchange = time_ms(one, True, True), time_ms(one, True, False), time_ms(one, False, True)
            hidden = (kernels + exchange - whole) / exchange if exchange else 0.0
            rows.add("peer-torch_zigzag", torch.cuda.get_device_name(), "bf16", size, int(causal), arguments.gpus,
                     f"{1e3 * whole:.1f}", f"{1e3 * kernels:.1f}", f"{1e3 * exchange:.1f}", f"{hidden:.3f}")
            if rank == 0:
                print(f"N={size} {'causal' if causal else 'no mask'}: {whole:.3f} ms, kernels and merges {kernels:.3f}, "
                      f"exchange {exchange:.3f}, hidden {100 * hidden:.0f} %", flush=True)
    dist.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser(description="Zigzag ring attention by PyTorch's distributed package.")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[32768, 131072])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--port", type=int, default=29537)
    arguments = parser.parse_args()
    present = torch.cuda.device_count()
    if arguments.gpus < 2 or arguments.gpus > present:
        print(f"error: --gpus {arguments.gpus} is asked for, and there are {present} GPUs [too-few-gpus]", file=sys.stderr)
        return 2
    wrong = [size for size in arguments.sizes if size % (2 * arguments.gpus)]
    if wrong:
        print(f"error: N = {wrong[0]} does not divide into {2 * arguments.gpus} chunks [does-not-divide]", file=sys.stderr)
        return 2
    try:
        find_lesson("20", "attention.so")
        Rows(arguments.out, COLUMNS)
        mp.spawn(work, args=(arguments,), nprocs=arguments.gpus)  # ends the others when one fails
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except mp.ProcessRaisedException as error:
        print(f"error: rank {error.error_index} failed: {str(error).strip().splitlines()[-1]} [rank-failed]", file=sys.stderr)
        return 1
    except mp.ProcessExitedException as error:
        print(f"error: rank {error.error_index} ended with status {error.exit_code} [rank-failed]", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
