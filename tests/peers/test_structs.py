"""compares the layouts of peers/problem.py with the C compiler."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import problem

ROOT = Path(__file__).resolve().parents[2]


def program() -> str:
    headers = ["attention.h", "attention_backward.h", "decode.h", "softmax.h"]
    lines = ['#include "%s"' % header for header in headers] + ["#include <stdio.h>", "int main(void) {"]
    for name, struct in problem.STRUCTS.items():
        for field, _ in struct._fields_:
            c = field.rstrip("_")
            size = f"sizeof(((struct {name} *)0)->{c})"
            lines.append(f'printf("{name} {c} %zu %zu\\n", offsetof(struct {name}, {c}), {size});')
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
    for name in problem.DTYPES:
        lines.append(f'printf("{name} %d\\n", ATTENTION_{name.upper()});')
    return "\n".join([*lines, "return 0;", "}"])


class Structs(unittest.TestCase):
    def test_fields_and_sizes_equal_the_headers(self):
        toolkit = subprocess.run(["scripts/find-cuda"], cwd=ROOT, capture_output=True, text=True).stdout.split()
        with tempfile.TemporaryDirectory() as folder:
            executable = os.path.join(folder, "layout")
            subprocess.run(
                ["gcc", "-std=c17", "-Icommon", "-isystem", f"{toolkit[1]}/include", "-x", "c", "-", "-o", executable],
                cwd=ROOT,
                input=program(),
                text=True,
                check=True,
            )
            printed = subprocess.run([executable], capture_output=True, text=True, check=True).stdout
        dtypes = "".join(f"{name} {value}\n" for name, value in problem.DTYPES.items())
        self.assertEqual(printed, problem.describe_layout() + "\n" + dtypes)


if __name__ == "__main__":
    unittest.main()
