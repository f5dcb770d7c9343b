#!/usr/bin/env python3
"""tests/plots/check_claims.py [ROOT]: what pages, chart titles and quizzes say of the libraries that lessons are compared with.

A sentence about a library must not contradict the units that were counted (results/*/units.csv), and a version of a library that is
named must be one that was timed (results/*/libraries.csv). A sentence about fp32 that denies tensor cores and
names neither a library nor a lesson is about all libraries in fp32. One line a contradiction; the exit status is 1 if there is one, 2 if nothing
was counted."""

import csv
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
# How pages call what a row of results calls NAME, and the type that a sentence is about if it names none.
CALLED = {
    "peer-torch_efficient": (r"memory-efficient", "fp32"),
    "peer-torch_math": (r"PyTorch, math|math (path|kernel|backend)", "fp32"),
    "peer-torch_unfused": (r"PyTorch, unfused|unfused path", "fp32"),
    "baseline-cublas_unfused": (r"cuBLAS", "fp32"),
    "peer-torch_flash": (r"flash path|FlashAttention-2", "bf16"),
    "peer-torch_cudnn": (r"cuDNN", "bf16"),
    "peer-fa3": (r"FlashAttention-3|FA3", "bf16"),
    "peer-fa4": (r"FlashAttention-4|FA4", "bf16"),
}
TENSOR = re.compile(r"tensor[ -]cores?|3xTF32", re.I)
FMA = re.compile(r"FMA units|\bFFMA\b|CUDA cores", re.I)
DENIED = re.compile(r"\b(no|not|nothing|none|without|never|neither)\b[^.;:]*tensor[ -]cores?|tensor[ -]cores? (are|is) not", re.I)
OURS = re.compile(r"\b(lessons?|solutions?|kernels?|ours?)\b", re.I)
VERSION = re.compile(
    r"\b(PyTorch|cuDNN|Triton|flash-attn-4|CuTe DSL|CUTLASS|flash-attention)(?:'s)? (?:at )?(?:commit )?v?([0-9]+(?:\.[0-9]+)+[a-z0-9]*|[0-9a-f]{7,})(?! or newer)\b"
)


def rows(name: str) -> list[dict[str, str]]:
    return [row for path in sorted(ROOT.glob(f"results/*/{name}")) for row in csv.DictReader(open(path, encoding="utf-8"))]


def on_tensor_cores(row: dict[str, str]) -> bool:
    """If fewer multiply-adds run on the FMA units than half of those that both GEMMs need."""
    return float(row["ffma"]) < int(row["B"]) * int(row["H"]) * int(row["Nq"]) * int(row["Nk"]) * int(row["D"])


def texts() -> list[tuple[str, str]]:
    """Where, and a paragraph, a table's row or a title."""
    found = []
    pages = [*ROOT.glob("*.md"), *ROOT.glob("results/*.md"), *ROOT.glob("peers/*.md"), *ROOT.glob("lessons/**/*.md"), *ROOT.glob("solutions/*/NOTES.md")]
    for path in sorted({*pages, *ROOT.glob("post/outline.md"), *ROOT.glob("lessons/*/questions")}):
        block, start = "", 1
        for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
            if line.strip() and not line.startswith(("|", "#", "- ", "==", "ask:", "why:")):
                start, block = (number if not block else start), f"{block} {line.strip()}"
                continue
            found.append((f"{path.relative_to(ROOT)}:{start}", block))
            start, block = number, line
        found.append((f"{path.relative_to(ROOT)}:{start}", block))
    for path in sorted(ROOT.glob("plots/charts/*/charts.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found += [(f"{path.relative_to(ROOT)}, chart {line.split(chr(9))[0]}", cell) for cell in line.split("\t")[1:]]
    for path in sorted(ROOT.glob("plots/charts/*/*.svg")):
        words = " ".join(re.findall(r">([^<>]+)<", path.read_text(encoding="utf-8")))
        found.append((str(path.relative_to(ROOT)), words))
    return found


def main() -> int:
    units = {(row["lesson"], row["dtype"]): on_tensor_cores(row) for row in rows("units.csv")}
    if not units:
        print("results/ has no units.csv: make peers UNITS=1 counts them, on a GPU")
        return 2
    timed = {name: set() for name in ("PyTorch", "cuDNN", "Triton", "flash-attn-4", "CuTe DSL", "CUTLASS", "flash-attention")}
    for row in rows("libraries.csv"):
        for part in row["version"].split("; "):
            name, _, version = part.rpartition(" ")
            timed.setdefault(name, set()).add(version)
    wrong = []
    for where, text in texts():
        for sentence in [text] if text.startswith("|") else re.split(r"(?<=[.;:?])\s", text):
            named = [(name, dtype) for name, (words, dtype) in CALLED.items() if re.search(f"{words}|`{name}`", sentence)]
            denied = bool(DENIED.search(sentence))
            if denied and not named and not OURS.search(sentence) and "fp32" in text:
                named = [key for key in units if key[1] == "fp32" and not key[0].startswith("solution") and "triton" not in key[0]]
            for key in named:
                if key not in units:
                    continue
                says_tensor = TENSOR.search(sentence) and not denied
                says_other = denied or FMA.search(sentence) and not TENSOR.search(sentence)
                if units[key] and says_other:
                    wrong.append(f"{where}: {key[0]} runs on tensor cores in {key[1]}, as counted: {sentence.strip()[:150]}")
                elif not units[key] and says_tensor and len(named) == 1:
                    wrong.append(f"{where}: {key[0]} runs on FMA units in {key[1]}, as counted: {sentence.strip()[:150]}")
        for name, version in VERSION.findall(text):
            if not any(known.startswith(version) or version.startswith(known) for known in timed[name]):
                wrong.append(f"{where}: no row of results/ is of {name} {version}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
