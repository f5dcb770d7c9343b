# Training with a lesson's kernels: python3 examples/backward.py FORWARD.so BACKWARD.so [--log FILE]
#
# A torch.autograd.Function over a lesson's forward and backward pass, for example of lessons 14 and 27; gradcheck on small shapes; and
# 100 training steps of a small transformer, whose loss is compared with that of PyTorch's own attention in each step.
import ctypes, sys

try:
    import torch
    from torch import nn

    forward_library, backward_library = (ctypes.CDLL(path) for path in sys.argv[1:3])
except ImportError:
    sys.exit("error: PyTorch is not installed: pip install torch [no-pytorch]")
except (ValueError, OSError) as missing:
    sys.exit(f"error: give the libraries of a forward and a backward pass, which make builds: {missing} [no-kernel]")
torch.cuda.is_available() or sys.exit("error: PyTorch finds no GPU [no-gpu]")
log = open(sys.argv[4], "w") if sys.argv[3:4] == ["--log"] else None
TYPES = (torch.float32, torch.float16, torch.bfloat16)


class Strides(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("batch", "head", "row")]


class Problem(ctypes.Structure):  # struct attention_problem of common/attention.h
    _fields_ = ([(name, ctypes.c_void_p) for name in ("q", "k", "v", "o", "lse", "workspace")]
                + [(name, Strides) for name in ("q_stride", "k_stride", "v_stride", "o_stride")]
                + [(name, ctypes.c_int) for name in ("batch", "heads", "kv_heads", "nq", "nk", "head_dim", "causal")]
                + [("softmax_scale", ctypes.c_float), ("dtype", ctypes.c_int)])


class BackwardProblem(ctypes.Structure):  # struct attention_backward_problem of common/attention_backward.h
    _fields_ = ([("forward", Problem)] + [(name, ctypes.c_void_p) for name in ("d_o", "dq", "dk", "dv", "workspace")]
                + [(name, Strides) for name in ("d_o_stride", "dq_stride", "dk_stride", "dv_stride")])


class BackwardLesson(ctypes.Structure):  # struct attention_backward_lesson
    _fields_ = ([("dtypes", ctypes.c_uint)]
                + [(name, ctypes.c_int) for name in ("max_head_dim", "alignment", "causal", "strided", "grouped_heads", "capability")]
                + [(name, ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(BackwardProblem))) for name in ("workspace", "shared")]
                + [("deterministic", ctypes.c_int)])


lesson = BackwardLesson.in_dll(backward_library, "attention_backward_lesson")


def describe(q, k, v, o, lse, causal):
    return Problem(*(t.data_ptr() for t in (q, k, v, o, lse)), None, *(Strides(*t.stride()[:3]) for t in (q, k, v, o)),
                   *q.shape[:2], k.shape[1], q.shape[2], k.shape[2], q.shape[3], causal, q.shape[3] ** -0.5, TYPES.index(q.dtype))


def call(function, problem):
    if error := function(ctypes.byref(problem), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)):
        sys.exit(f"error: the kernel returned the CUDA error {error} [cuda-error]")


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(context, q, k, v, causal):
        q, k, v = (x.contiguous() for x in (q, k, v))
        o, lse = torch.empty_like(q), torch.empty(q.shape[:3], device="cuda")
        call(forward_library.attention_forward, describe(q, k, v, o, lse, causal))
        context.save_for_backward(q, k, v, o, lse)
        context.causal = causal
        return o

    @staticmethod
    def backward(context, d_o):
        q, k, v, o, lse = context.saved_tensors
        d_o = d_o.contiguous()
        dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
        problem = BackwardProblem(describe(q, k, v, o, lse, context.causal), *(x.data_ptr() for x in (d_o, dq, dk, dv)), None,
                                  *(Strides(*x.stride()[:3]) for x in (d_o, dq, dk, dv)))
        size = lesson.workspace(ctypes.byref(problem)) if lesson.workspace else 0
        workspace = torch.empty(size + 1, dtype=torch.uint8, device="cuda")
        problem.workspace = workspace.data_ptr()
        call(backward_library.attention_backward, problem)
        return dq, dk, dv, None


def say(text):
    print(text)
    if log:
        print(text, file=log, flush=True)


def check_gradients(dtype):
    """gradcheck's comparison, the Jacobian of small shapes, against that of double precision: finite differences of 16-bit outputs
    would tell nothing."""
    worst = 0.0
    for causal in (False, True):
        for nq, nk, d in ((5, 7, 8), (33, 33, 16)):
            inputs = [torch.randn(1, 2, n, d, device="cuda", dtype=dtype).requires_grad_() for n in (nq, nk, nk)]
            doubles = [x.detach().double().requires_grad_() for x in inputs]
            mask = torch.ones(nq, nk, dtype=torch.bool, device="cuda").tril(nk - nq) if causal else None

            def exact(q, k, v):
                return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

            assert torch.autograd.gradcheck(exact, doubles, fast_mode=True)  # the reference itself, by finite differences
            o, right = Attention.apply(*inputs, causal), exact(*doubles)
            for _ in range(8):  # random vectors times the Jacobian
                d_o = torch.randn_like(o)
                got = torch.autograd.grad(o, inputs, d_o, retain_graph=True)
                expected = torch.autograd.grad(right, doubles, d_o.double(), retain_graph=True)
                worst = max([worst] + [((a - b).norm() / b.norm()).item() for a, b in zip(got, expected)])
    return worst


class Block(nn.Module):
    def __init__(self, width, heads, attention):
        super().__init__()
        self.heads, self.attention = heads, attention
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(self.attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norms[1](x))


def losses(attention, dtype, steps=100, width=256, heads=4, n=256, symbols=64):
    """Of a transformer of two layers that learns to repeat what it saw n / 2 symbols before."""
    torch.manual_seed(1)
    model = nn.ModuleDict({"in": nn.Embedding(symbols, width), "place": nn.Embedding(n, width),
                           "blocks": nn.Sequential(*(Block(width, heads, attention) for _ in range(2))),
                           "out": nn.Linear(width, symbols)}).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    random, found = torch.Generator("cuda").manual_seed(2), []
    for _ in range(steps):
        half = torch.randint(symbols, (16, n // 2), device="cuda", generator=random)
        text = torch.cat((half, half), 1)
        with torch.autocast("cuda", dtype=dtype, enabled=dtype != torch.float32):
            x = model["in"](text) + model["place"](torch.arange(n, device="cuda"))
            logits = model["out"](model["blocks"](x))
        loss = nn.functional.cross_entropy(logits[:, :-1].float().flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


dtype = torch.float32 if lesson.dtypes & 1 else torch.bfloat16
say(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {dtype}, {' '.join(sys.argv[1:3])}")
error = check_gradients(dtype)
say(f"gradients of small shapes: relative error at most {error:.1e}")
own = losses(lambda q, k, v: Attention.apply(q, k, v, True), dtype)
theirs = losses(lambda q, k, v: nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True), dtype)
for step in range(0, len(own), 10):
    say(f"step {step:3}: loss {own[step]:.4f}, with PyTorch's attention {theirs[step]:.4f}")
apart = max(abs(a - b) / b for a, b in zip(own, theirs))
say(f"step {len(own) - 1:3}: loss {own[-1]:.4f}, with PyTorch's attention {theirs[-1]:.4f}; relative difference in all steps at most {apart:.1e}")
sys.exit(not (error < (1e-4 if dtype == torch.float32 else 2e-2) and apart < 1e-2))
