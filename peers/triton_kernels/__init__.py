"""Triton kernels with the ideas of lessons 01 to 04, 09 and 11, for comparison. They need PyTorch and Triton.

ATTENTION: (name, attention(q, k, v, softmax_scale, causal=False) -> o), fp32 tensors [batch][heads][n][head_dim].
HALF_ATTENTION: the same for fp16 and bf16 tensors with head dimensions up to 256.
SOFTMAX: (name, softmax(x) -> y), fp32 [rows][columns]. The names appear in the column `lesson` of results/."""

from . import lesson_01_basic_attention as lesson_01
from . import lesson_02_vectorized as lesson_02
from . import lesson_03_fused_softmax as lesson_03
from . import lesson_04_tiled_online_softmax as lesson_04
from . import lesson_09_tensor_cores as lesson_09
from . import lesson_11_swizzle as lesson_11

ATTENTION = [(lesson.NAME, lesson.attention) for lesson in (lesson_01, lesson_02, lesson_03, lesson_04)]
HALF_ATTENTION = [(lesson.NAME, lesson.attention) for lesson in (lesson_09, lesson_11)]
SOFTMAX = [(lesson_03.NAME, lesson_03.softmax)]
