"""peers/shapes.py and the command line of peers/compare.py."""

import unittest

from peers import compare, inputs, shapes
from peers.shapes import Attention, Matrix


class Parsing(unittest.TestCase):
    def test_formatting_and_parsing_are_inverse(self):
        for text in ("1,16,4096,64", "2,3,17:33,40", "4096,1024"):
            self.assertEqual(str(shapes.parse(text)), text)
        self.assertEqual(shapes.parse("2,3,17:33,40"), Attention(2, 3, 17, 33, 40))
        self.assertEqual(shapes.parse("7,9"), Matrix(7, 9))

    def test_invalid_shapes(self):
        for text in ("", "abc", "1", "1,2,3", "1,2,3,4,5", "1,1,16,", "1.5,1,16,16", " 1,1,16,16", "1,1,-5,16", "1,1,0,16",
                     "0,5", "1,1,16,513", "99999999999,1,1,1", "1,1,16:,16", "1,2:1,16,16", "1,1,16:0,16"):  # fmt: skip
            with self.subTest(text), self.assertRaisesRegex(ValueError, rf"^SHAPE={text} .*\[bad-shape\]$"):
                shapes.parse(text)


class Costs(unittest.TestCase):
    def test_operations_and_bytes(self):
        self.assertEqual(Attention(1, 16, 4096, 4096, 64).flops(), 4 * 16 * 4096 * 4096 * 64)
        self.assertEqual(Attention(1, 16, 256, 256, 64).bytes(), 4194304)  # the value in results/
        self.assertEqual(Attention(2, 3, 5, 7, 11).bytes(2), 2 * 2 * 2 * 3 * (5 + 7) * 11)
        self.assertEqual(Matrix(4096, 1024).bytes(), 33554432)

    def test_causal_counts_unmasked_pairs(self):
        for nq, nk in ((4, 4), (3, 5), (5, 3), (1, 9)):
            unmasked = sum(max(0, min(nk, i + nk - nq + 1)) for i in range(nq))
            self.assertEqual(Attention(1, 1, nq, nk, 1, True).flops(), 4 * unmasked)

    def test_sets_exceed_twice_the_cache(self):
        self.assertEqual(inputs.count_sets(10, 100, warm=False), 20)
        self.assertEqual(inputs.count_sets(10, 100, warm=True), 1)
        self.assertEqual(inputs.count_sets(1e9, 100, warm=False), 1)


class CommandLine(unittest.TestCase):
    def test_default_shapes(self):
        arguments = compare.parse_arguments([])
        self.assertEqual(
            [str(matrix) for matrix in arguments.matrices], ["4096,1024", "4096,4096", "16384,4096", "32768,8192"]
        )
        shapes_compared = {str(shape) for shape in arguments.attention_shapes}
        for shape in ("1,1,4096,64", "1,16,4096,64", "4,16,1024,64", "1,16,4096,128", "1,16,8192,64", "1,1,1024,512"):
            self.assertIn(shape, shapes_compared)

    def test_one_shape_and_one_part(self):
        arguments = compare.parse_arguments(["--shape", "1,2,33,64", "--causal"])
        self.assertEqual((arguments.attention_shapes, arguments.matrices), ([Attention(1, 2, 33, 33, 64, True)], []))
        arguments = compare.parse_arguments(["--shape", "33,64"])
        self.assertEqual((arguments.attention_shapes, arguments.matrices), ([], [Matrix(33, 64)]))
        self.assertEqual(compare.parse_arguments(["--softmax"]).attention_shapes, [])
        self.assertEqual(compare.parse_arguments(["--attention"]).matrices, [])
        self.assertEqual(compare.parse_arguments(["--dtype", "bf16"]).matrices, [])
        self.assertEqual(compare.parse_arguments(["--lessons", "04,lesson-05"]).lessons, ["04", "lesson-05"])

    def test_the_grid_of_16_bits(self):
        arguments = compare.parse_arguments(["--dtype", "bf16"])
        grid = arguments.attention_shapes
        self.assertEqual(len(set(grid)), 24)
        self.assertEqual({s.head_dim for s in grid}, {64, 128})
        self.assertEqual({s.nq for s in grid}, {512, 1024, 2048, 4096, 8192, 16384})
        self.assertEqual({(s.batch * s.nq, s.heads * s.head_dim, s.nq - s.nk) for s in grid}, {(16384, 2048, 0)})
        self.assertEqual(sum(s.causal for s in grid), 12)
        causal = compare.parse_arguments(["--dtype", "fp16", "--causal"]).attention_shapes
        self.assertEqual(causal, [s for s in grid if s.causal])
        self.assertEqual(str(compare.parse_arguments(["--dtype", "bf16", "--shape", "1,2,33,64"]).attention_shapes[0]), "1,2,33,64")

    def test_invalid_arguments(self):
        for text in ("--shape 1,2,3", "--shape 3,4 --causal", "--shape 3,4 --attention", "--shape 1,1,8,8 --softmax",
                     "--softmax --attention", "--softmax --causal", "--dtype fp64", "--time-budget 0", "--time-budget x",
                     "--amplitude 0", "--amplitude nan", "--amplitude 3 --softmax", "--amplitude 3 --results x",
                     "--seed x", "--speed", "stray", "--fa3 x.so", "--fa3 x.so --dtype fp32",
                     "--dtype bf16 --softmax", "--dtype bf16 --shape 3,4"):  # fmt: skip
            with self.subTest(text), self.assertRaises(ValueError) as caught:
                compare.parse_arguments(text.split())
            self.assertRegex(str(caught.exception), r"^[^\n]+ \[[a-z-]+\]$")


if __name__ == "__main__":
    unittest.main()
