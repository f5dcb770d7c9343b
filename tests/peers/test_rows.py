"""peers/rows.py, and the shapes of peers/decode.py and peers/backward.py: a run that is cut has the shapes that tell most."""

import argparse
import contextlib
import io
import itertools
import tempfile
import unittest
from pathlib import Path

from peers import backward, decode, shapes
from peers.rows import Budget, Rows


class WrittenAtOnce(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "gpu" / "rows.csv"

    def test_each_row_is_in_the_file_before_the_next(self):
        rows = Rows(self.path, "lesson,us")
        self.assertEqual(self.path.read_text(), "run,lesson,us\n")
        for count in (1, 2):
            rows.add("copy", count)
            self.assertEqual(self.path.read_text().count("\n"), 1 + count)
        Rows(self.path, "lesson,us").add("copy", 3)
        self.assertEqual([line.split(",", 1)[1] for line in self.path.read_text().splitlines()[1:]], ["copy,1", "copy,2", "copy,3"])

    def test_other_columns_are_refused(self):
        Rows(self.path, "lesson,us")
        with self.assertRaisesRegex(ValueError, r"\[other-columns\]$"):
            Rows(self.path, "lesson,ms")
        with self.assertRaises(ValueError):
            Rows(self.path, "lesson,us").add("copy")

    def test_a_shape_after_the_budget_is_left_out_with_a_line(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertTrue(Budget(60).reaches("a"))
            spent = Budget(0)
            self.assertFalse(spent.reaches("b"))
        self.assertEqual(spent.left_out, 1)
        self.assertRegex(printed.getvalue(), r"^b: left out.*\[out-of-time\]\n$")


class Shapes(unittest.TestCase):
    def test_decoding_has_every_combination_once_and_three_ragged_batches(self):
        heads = ((32, 8), (64, 8), (8, 1))
        equal = {(b, *h, n, d, "equal") for b, h, n, d in itertools.product((1, 8, 64), heads, (1024, 4096, 16384, 65536), (64, 128))}
        ragged = [shape for shape in decode.GRID if shape[5] != "equal"]
        self.assertEqual(set(decode.GRID), equal | set(ragged))
        self.assertEqual((len(decode.GRID), len(ragged)), (75, 3))
        self.assertEqual(decode.GRID[:15], decode.GRID_E4M3)
        self.assertTrue(all(shape[1:3] == (32, 8) and shape[4] == 128 for shape in decode.GRID_E4M3))

    def test_a_shape_of_decoding(self):
        self.assertEqual(decode.parse_shape("8,32:8,4096,128"), (8, 32, 8, 4096, 128, "equal"))
        self.assertEqual(decode.parse_shape("1,4,16,64"), (1, 4, 4, 16, 64, "equal"))
        for text in ("", "8", "8,32:8,4096", "8,32:5,4096,128", "0,1,1,64", "8,32:8,4096,128,1", "a,b,c,d"):
            with self.subTest(text), self.assertRaises(argparse.ArgumentTypeError):
                decode.parse_shape(text)

    def test_the_backward_pass_has_the_24_shapes_and_both_masks_early(self):
        self.assertEqual((len(backward.GRID), set(backward.GRID)), (24, set(shapes.GRID)))
        self.assertEqual({(s.head_dim, s.causal) for s in backward.GRID[:4]}, {(64, False), (64, True), (128, False), (128, True)})
        self.assertEqual({s.nq for s in backward.GRID[:8]}, {1024, 4096})


if __name__ == "__main__":
    unittest.main()
