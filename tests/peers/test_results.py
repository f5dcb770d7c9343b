"""peers/results.py: it writes the same columns and fields as common/host/results.c."""

import re
import tempfile
import unittest
from pathlib import Path

from peers import results
from peers.device import Device
from peers.results import Run, Timing
from peers.shapes import Attention, Matrix

ROOT = Path(__file__).resolve().parents[2]
PEAKS = {"fp32": 66.91, "fp16": 1070.53, "bf16": 1070.53}


def run_into(folder) -> Run:
    return Run(
        folder, "abc1234", "580.1", Device('GPU, "5"', 132, 90, 60 << 20, 227 << 10, 1.98e9, PEAKS, 4814.3, "13.0")
    )


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "results"
        self.timing = Timing(2000.0, 1990.5, 2010.25, 30, 1980, 1975)

    def test_columns_equal_the_columns_of_the_c_writer(self):
        source = "".join(path.read_text() for path in sorted((ROOT / "common" / "operations").glob("*.c")))
        literals = re.findall(r'((?:"[^"\n]*"\s*)+)', source)
        listed = {"".join(re.findall(r'"([^"]*)"', literal)) for literal in literals}
        # After '=' comes the value of the column in files that lack the column.
        headers = {re.sub(r"=[^,]*", "", columns) for columns in listed}
        older = {re.sub(r",[a-z_]+=[^,]*", "", columns) for columns in listed}
        for columns in (results.ATTENTION_COLUMNS, results.SOFTMAX_COLUMNS):
            self.assertIn(columns, headers)
        self.assertIn(results.OLDER_ATTENTION_COLUMNS, older)
        self.assertIn(results.ATTENTION_COLUMNS.replace("layout,lse", "layout=bhnd,lse=0"), listed)

    def test_a_row_of_attention(self):
        run = run_into(self.folder)
        shape = Attention(1, 16, 4096, 4096, 64)
        run.add_attention("peer-torch_efficient", shape, "fp32", 4, "cold", self.timing, 2.5e-7)
        self.timing.noisy = True
        run.add_attention("solution-05_x", shape, "fp32", 4, "warm", self.timing, 2.5e-7)
        header, row, second = run.path("attention.csv").read_text().splitlines()
        self.assertEqual(run.path("attention.csv").parent.name, "gpu---5-")
        fields = dict(zip(header.split(","), row.split(",")))
        self.assertEqual(len(row.split(",")), len(header.split(",")))
        self.assertEqual(fields["run"], run.name)
        self.assertEqual(fields["device"], "GPU- -5-")
        self.assertEqual((fields["median_us"], fields["p95_us"], fields["repeats"]), ("2000.000", "2010.250", "30"))
        self.assertEqual((fields["tflops"], fields["peak_tflops"]), ("34.3597", "66.91"))
        self.assertEqual((fields["bytes"], fields["gb_per_s"]), ("67108864", "33.55"))
        self.assertEqual((fields["rel_rms_error"], fields["cache"], fields["noise"]), ("2.500e-07", "cold", "steady"))
        self.assertTrue(second.endswith(",abc1234,warm,noisy,bhnd,0"))

    def test_a_file_without_the_last_columns_gets_rows_without_them(self):
        run = run_into(self.folder)
        path = run.path("attention.csv")
        path.parent.mkdir(parents=True)
        path.write_text(results.OLDER_ATTENTION_COLUMNS + "\nan,older,row\n")
        run.add_attention("peer-fa3", Attention(1, 16, 512, 512, 64), "bf16", 2, "cold", self.timing, 2e-3)
        header, older, row = path.read_text().splitlines()
        self.assertEqual((header, older), (results.OLDER_ATTENTION_COLUMNS, "an,older,row"))
        fields = dict(zip(header.split(","), row.split(","), strict=True))
        self.assertEqual((fields["dtype"], fields["cache"], fields["noise"]), ("bf16", "cold", "steady"))
        self.assertEqual(fields["peak_tflops"], "1070.53")
        self.assertNotIn("layout", fields)

    def test_a_row_of_softmax(self):
        run = run_into(self.folder)
        run.add_softmax("peer-torch_softmax", "fp32", Matrix(4096, 1024), self.timing, 5e-7, 2688.7)
        header, row = run.path("softmax.csv").read_text().splitlines()
        fields = dict(zip(header.split(","), row.split(",")))
        self.assertEqual((fields["rows"], fields["columns"], fields["copy_gb_per_s"]), ("4096", "1024", "2688.7"))
        self.assertEqual((fields["gb_per_s"], fields["noise"]), ("16.78", "steady"))

    def test_a_file_with_other_columns_is_not_changed(self):
        run = run_into(self.folder)
        path = run.path("attention.csv")
        path.parent.mkdir(parents=True)
        path.write_text("run,lesson\n")
        with self.assertRaisesRegex(ValueError, r"\[other-columns\]$"):
            run.add_attention("a", Attention(1, 1, 1, 1, 1), "fp32", 4, "cold", self.timing, 0)
        self.assertEqual(path.read_text(), "run,lesson\n")

    def test_without_a_folder_nothing_is_written(self):
        run_into(None).add_attention("a", Attention(1, 1, 1, 1, 1), "fp32", 4, "cold", self.timing, 0)
        self.assertFalse(self.folder.exists())


if __name__ == "__main__":
    unittest.main()
