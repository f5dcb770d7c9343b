"""peers/reference.py in 16 bits accepts rounding errors and nothing else. Skipped if PyTorch is not installed."""

import math
import unittest

try:
    import torch
except ImportError:
    torch = None

from peers import reference
from peers.inputs import draw_attention, torch_dtype
from peers.shapes import Attention


@unittest.skipUnless(torch, "PyTorch is not installed")
class CheckOutput(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)

    def problem(self, shape: Attention, dtype: str):
        tensors = draw_attention(torch, shape, dtype, 1, 7, device="cpu")
        return tensors, reference.attention_reference(torch, tensors)

    def rounded(self, tensors, dtype: str, dropped: int = 0):
        """Attention with weights and outputs rounded to the type; the first `dropped` keys are skipped."""
        element_type, shape = torch_dtype(torch, dtype), tensors.shape
        q, k, v = (tensor[0].double() for tensor in (tensors.q, tensors.k, tensors.v))
        scores = tensors.scale * q @ k.transpose(-1, -2)
        if shape.causal:
            unmasked = torch.ones(shape.nq, shape.nk, dtype=torch.bool).tril(shape.nk - shape.nq)
            scores = scores.masked_fill(~unmasked, -math.inf)
        scores[..., :dropped] = -math.inf
        weights = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        sums = weights.sum(dim=-1, keepdim=True)
        return ((weights.to(element_type).double() @ v) / sums).to(element_type)

    def test_amplitude_scales_the_inputs(self):
        shape = Attention(1, 2, 30, 40, 16, False)
        once, eight = (draw_attention(torch, shape, "fp32", 1, 7, x, device="cpu") for x in (1, 8))
        for a, b in ((once.q, eight.q), (once.k, eight.k), (once.v, eight.v)):
            self.assertTrue(torch.equal(8 * a, b))

    def is_accepted(self, o, expected, dtype: str) -> bool:
        return reference.check_output(torch, o, expected, dtype)[1]

    def test_rounding_errors_are_accepted(self):
        for dtype in ("bf16", "fp16"):
            for shape in (Attention(1, 2, 300, 300, 64), Attention(1, 2, 65, 193, 128, True), Attention(2, 1, 1, 1, 64)):
                with self.subTest(f"{dtype} {shape}"):
                    tensors, expected = self.problem(shape, dtype)
                    self.assertTrue(self.is_accepted(self.rounded(tensors, dtype), expected, dtype))

    def test_eight_skipped_keys_of_4096_are_found(self):
        for dtype in ("bf16", "fp16"):
            tensors, expected = self.problem(Attention(1, 1, 64, 4096, 64), dtype)
            self.assertTrue(self.is_accepted(self.rounded(tensors, dtype), expected, dtype))
            self.assertFalse(self.is_accepted(self.rounded(tensors, dtype, dropped=8), expected, dtype))

    def test_one_wrong_element_is_found(self):
        tensors, expected = self.problem(Attention(1, 4, 512, 512, 64), "bf16")
        o = self.rounded(tensors, "bf16")
        o[0, 1, 17, 5] += 0.03
        error, exact = reference.check_output(torch, o, expected, "bf16")
        self.assertLess(error, reference.GATE["bf16"])
        self.assertFalse(exact)

    def test_a_nan_is_wrong(self):
        tensors, expected = self.problem(Attention(1, 1, 8, 8, 64), "bf16")
        o = self.rounded(tensors, "bf16")
        o[0, 0, 0, 0] = math.nan
        self.assertFalse(self.is_accepted(o, expected, "bf16"))

    def test_the_reference_uses_the_rounded_inputs(self):
        tensors, expected = self.problem(Attention(1, 1, 16, 16, 64), "bf16")
        for tensor in (tensors.q, tensors.k, tensors.v):
            self.assertEqual(tensor.dtype, torch.bfloat16)
        whole = torch.softmax(tensors.scale * tensors.q[0].double() @ tensors.k[0].double().transpose(-1, -2), dim=-1)
        self.assertLess((expected.o - whole @ tensors.v[0].double()).abs().max().item(), 1e-12)

    def test_fp32_has_only_the_gate(self):
        tensors, expected = self.problem(Attention(1, 1, 16, 16, 64), "fp32")
        self.assertIsNone(expected.bound)
        self.assertTrue(self.is_accepted(expected.o.float(), expected, "fp32"))


if __name__ == "__main__":
    unittest.main()
