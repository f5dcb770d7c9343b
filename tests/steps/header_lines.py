#!/usr/bin/env python3
"""tests/steps/header_lines.py [ROOT]: "LESSON HEADER LINES" for each shared header that is new to a lesson.

A header (common/*.cuh) is new to the first lesson whose attention.cu includes it, directly or through other headers.

What counts: each line of code. Comments, blank lines, #include and #pragma do not count.
Nor do wrappers of PTX instructions. A wrapper is
- a function with exactly one asm statement, no branch or loop and at most three semicolons (such as an address, the asm, and
  return), with its template line and signature; #if, which selects an architecture, is no branch;
- a macro whose name begins with WGMMA, and its use at the top level: one wgmma has up to 136 operands.
An asm statement with a branch or a loop around it is code like any other.
"""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else ".")


def without_comments(text: str) -> str:
    """The text with the same lines; strings become empty, since they may contain braces and semicolons."""

    def replacement(match: re.Match) -> str:
        return '""' if match[0].startswith('"') else "\n" * match[0].count("\n")

    return re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', replacement, text, flags=re.S)


def is_wrapper(block: str) -> bool:
    if re.match(r"(#\s*define\s+)?WGMMA", block):
        return True
    return (
        "{" in block
        and not block.startswith(("#", "struct", "class", "namespace"))
        and len(re.findall(r"\basm\b", block)) == 1
        and not re.search(r"(?<!#)\b(if|else|for|while|do|switch)\b", block)
        and block.count(";") <= 3
    )


def lines_of(header: Path) -> int:
    """Reads a header block by block: a function, a type, a declaration, a macro or another directive of the preprocessor."""
    counted, block = 0, []
    for line in without_comments(header.read_text()).splitlines():
        if not line.strip() or re.match(r"\s*#\s*(include|pragma once)", line):
            continue
        block.append(line.strip())
        text = "\n".join(block)
        if block[0].startswith("#"):
            complete = not line.endswith("\\")
        else:
            complete = text[-1] in ";})" and all(text.count(a) == text.count(b) for a, b in ("{}", "()"))
        if complete:
            counted += 0 if is_wrapper(text) else len(block)
            block = []
    return counted + len(block)


def headers_of(source: Path, found: set[Path]) -> set[Path]:
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+\.cuh)"', source.read_text(), re.M):
        header = ROOT / "common" / name
        if header.is_file() and header not in found:
            found.add(header)
            headers_of(header, found)
    return found


known: set[Path] = set()
for solution in sorted(ROOT.glob("solutions/[0-9]*/attention.cu")):
    lesson = solution.parent.name.split("_")[0]
    new = headers_of(solution, set()) - known
    for header in sorted(new):
        print(lesson, header.name, lines_of(header))
    known |= new
