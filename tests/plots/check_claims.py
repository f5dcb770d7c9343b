#!/usr/bin/env python3
"""tests/plots/check_claims.py [ROOT] [--list]: what pages, quizzes and chart titles say of the libraries that lessons are compared with.

A sentence that names a unit (tensor cores, FMA units, TF32, ...) and a library, or all of them, has to be in tests/plots/claims.tsv, with what it
claims: "LIBRARY=UNIT, ...", or "-" if it claims nothing of a library. No program understands sentences, so a person reads each once; a sentence
that is new or has changed fails until somebody has. The claims are then compared with what was counted (results/*/units.csv), on each GPU.
A version of a library has to be one that was timed (results/*/libraries.csv), unless the sentence says what is required at least.
Text between generated markers comes from results/ and is not read, and figures in charts are read as N. --list prints the sentences that are not listed, for claims.tsv.
The exit status is 1 if something is wrong, a line each, and 2 if results/ cannot be read."""

import csv
import re
import sys
from pathlib import Path

ARGUMENTS = [word for word in sys.argv[1:] if word != "--list"]
ROOT = Path(ARGUMENTS[0] if ARGUMENTS else ".")
CLAIMS = Path(__file__).with_name("claims.tsv")
LIBRARY = re.compile(r"PyTorch|\btorch\b|torch[._]|cuBLAS|cuDNN|FlashAttention|\bFA[234]\b|memory-efficient|EFFICIENT_ATTENTION|Triton|\blibrar(y|ies)\b|\bpeers?\b", re.I)
UNIT = re.compile(r"tensor[ -]?cores?|\bF?FMAs?\b|CUDA cores|TF32|single precision|(plain|ordinary|true) fp32|fp32 units", re.I)
PRODUCT = r"(PyTorch|torch|cuDNN|Triton|flash-attn-4|FlashAttention-[234]|CuTe DSL|nvidia-cutlass-dsl|CUTLASS|flash-attention)"
VERSION = re.compile(PRODUCT + r"`?(?:'s)?[ ,=(*]{1,4}(?:at )?(?:commit |version )?`?v?([0-9]+\.[0-9]+[0-9.]*(?:[a-z]+[0-9]+)?|[0-9a-f]{7,40})\b", re.I)
# Said of no library by name, and so of all that are compared in fp32.
GENERAL = re.compile(r"\b(nothing|none|neither|everything|nowhere|no kernel|all|tables?)\b.*(fp32|single precision|TF32)|(fp32|single precision|TF32).*\b(nothing|none|neither|everything|nowhere|no kernel|all)\b", re.I)
REQUIRED = re.compile(r"or (newer|later)|at least|too old|times|×", re.I)
ALIASES = {"torch": "pytorch", "nvidia-cutlass-dsl": "cute dsl", "flashattention-3": "flash-attention", "flashattention-4": "flash-attn-4"}


def fail(message: str) -> None:
    print(message)
    sys.exit(2)


def rows(name: str) -> list[dict[str, str]]:
    found = []
    for path in sorted(ROOT.glob(f"results/*/{name}")):
        try:
            with open(path, encoding="utf-8") as file:
                found += [row | {"gpu": path.parent.name} for row in csv.DictReader(file)]
        except (UnicodeDecodeError, csv.Error) as error:
            fail(f"{path}: {error}")
    return found


def counted_units() -> dict[str, set[str]]:
    """Of each library "tensor cores" or "FMA units", whichever does at least half of the multiply-adds that both GEMMs need, on each GPU."""
    units: dict[str, set[str]] = {}
    for row in rows("units.csv"):
        try:
            half = int(row["B"]) * int(row["H"]) * int(row["Nq"]) * int(row["Nk"]) * int(row["D"])
            on_fma = float(row["ffma"]) >= half
        except (KeyError, TypeError, ValueError):
            fail(f"results/{row['gpu']}/units.csv: a row of {row.get('lesson')} has a field that is not a number")
        units.setdefault(row["lesson"], set()).add("FMA units" if on_fma else "tensor cores")
    if not units:
        fail("results/ has no units.csv: make peers UNITS=1 counts them, on a GPU")
    return units


def sentences() -> list[tuple[str, str]]:
    """Each sentence, table row and title, without Markdown's marks, and where it begins."""
    found = []
    pages = {path for pattern in ("*.md", "results/*.md", "peers/*.md", "plots/*.md", "post/*.md", "examples/*.md", "lessons/**/*.md", "solutions/*/NOTES.md",
             "lessons/*/questions", "lessons/*/hints", "notebook.ipynb", "baselines/*.cu") for path in ROOT.glob(pattern)}
    for path in sorted(pages):
        block, start, generated = "", 1, False
        for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
            if re.match(r"<!-- \w+:(begin|end) ", line):
                generated, line = ":begin" in line, ""
            if generated:
                continue
            line = re.sub(r"^\s*(//|#+|[-*]|\"|ask:|why:|choice:)\s*", "" if block else " ", line).strip()
            starts_anew = not line or line.startswith("|") or block.startswith("|")
            if starts_anew:
                found += split(f"{path.relative_to(ROOT)}:{start}", block)
                block = ""
            start, block = (start if block else number), f"{block} {line}".strip()
        found += split(f"{path.relative_to(ROOT)}:{start}", block)
    for path in sorted(ROOT.glob("plots/charts/*/charts.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            name, *cells = line.split("\t")
            found += [(f"{path.relative_to(ROOT)}, chart {name}", re.sub(r"[0-9][0-9.]*", "N", cell)) for cell in cells[:3]]
    return found


def split(where: str, block: str) -> list[tuple[str, str]]:
    plain = re.sub(r"\]\([^)]*\)|\{\{[^}]*\}\}|[*`\[\]]", "", block)
    parts = [plain] if plain.startswith("|") else re.split(r"(?<=[.?!])\s+(?=[A-Z(])", plain)
    return [(where, re.sub(r"\s+", " ", part).strip()) for part in parts if part]


def main() -> int:
    units = counted_units()
    timed: dict[str, set[str]] = {}
    for row in rows("libraries.csv"):
        for part in (row.get("version") or "").split("; "):
            name, _, version = part.rpartition(" ")
            timed.setdefault(name.lower(), set()).add(version)
    listed = {}
    for line in CLAIMS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            claims, _, sentence = line.partition("\t")
            listed[sentence] = [] if claims == "-" else [tuple(claim.split("=")) for claim in claims.split(", ")]
    wrong, unlisted = [], []
    for where, sentence in sentences():
        if UNIT.search(sentence) and (LIBRARY.search(sentence) or GENERAL.search(sentence)):
            if sentence not in listed:
                unlisted.append(f"-\t{sentence}")
                wrong.append(f"{where}: say in tests/plots/claims.tsv what this claims of a library: {sentence}")
            for library, unit in listed.get(sentence, []):
                if units.get(library) != {unit}:
                    wrong.append(f"{where}: {library} runs on {' or '.join(sorted(units.get(library, {'units that were not counted'})))}, not on {unit}: {sentence}")
        for match in VERSION.finditer(sentence):
            name, version = ALIASES.get(match[1].lower(), match[1].lower()), match[2].rstrip(".")
            is_commit = "." not in version
            known = any(v == version or v.startswith(version + ".") or is_commit and (v.startswith(version) or version.startswith(v)) for v in timed.get(name, ()))
            if not known and not REQUIRED.search(sentence[match.start() : match.end() + 12]):
                wrong.append(f"{where}: no row of results/ is of {match[1]} {version}: {sentence}")
    print("\n".join(dict.fromkeys(unlisted) if "--list" in sys.argv else wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
