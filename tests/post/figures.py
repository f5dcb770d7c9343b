#!/usr/bin/env python3
"""figures.py RESULTS/GPU POST.md: every figure with a unit in a post, recomputed from the results.

Reads the CSVs by itself and lists what can be said of them: each median, rate and share of the peak, each quotient of two
timings of one run at one shape, each counter and ceiling. Prints the figures of the post that are not among these, and ends
with exit status 1 where there is one; and prints how many were looked at.
"""
import csv
import os
import re
import sys

NUMBER = r"([0-9][0-9.]*)"
UNITS = {
    "µs": "us", "ms": "ms", "×": "ratio", "%": "percent", "TFLOP/s": "tflops", "GB/s": "gb_per_s",
    "GB": "bytes", "MB": "bytes", "kB": "bytes", "TB": "bytes", "MHz": "clock",
}


def rows(folder, name):
    path = os.path.join(folder, name + ".csv")
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def allowed(folder):
    """Of each unit the exact values that results have."""
    found = {unit: [] for unit in set(UNITS.values())}
    timed = {}
    for row in rows(folder, "attention"):
        us = float(row["median_us"])
        found["us"].append(us)
        found["ms"].append(us / 1000)
        found["tflops"] += [float(row["tflops"]), float(row["peak_tflops"] or 0)]
        if float(row["peak_tflops"] or 0):
            found["percent"].append(100 * float(row["tflops"]) / float(row["peak_tflops"]))
        found["clock"] += [float(row["sm_clock_before_mhz"] or 0), float(row["sm_clock_after_mhz"] or 0)]
        timed.setdefault((row["run"], row["B"], row["H"], row["Nq"], row["Nk"], row["D"], row["causal"]), []).append(us)
    for row in rows(folder, "softmax"):
        us = float(row["median_us"])
        found["us"].append(us)
        found["ms"].append(us / 1000)
        found["gb_per_s"].append(float(row["gb_per_s"]))
        found["clock"] += [float(row["sm_clock_before_mhz"] or 0), float(row["sm_clock_after_mhz"] or 0)]
        if float(row["copy_gb_per_s"] or 0):
            found["percent"].append(100 * float(row["gb_per_s"]) / float(row["copy_gb_per_s"]))
        timed.setdefault((row["run"], row["rows"], row["columns"]), []).append(us)
    for times in timed.values():
        found["ratio"] += [a / b for a in times for b in times]
    for row in rows(folder, "profile"):
        value = float(row["value"])
        found["percent"].append(value)
        if row["unit"] == "byte":
            found["bytes"] += [value / 1000 ** power for power in range(5)]
    for row in rows(folder, "ceilings"):
        found["tflops" if row["unit"] == "TFLOP/s" else "gb_per_s"].append(float(row["median"]))
    return found


def agrees(text, values):
    """Whether a value, rounded as the text is, gives the text."""
    digits = len(text.partition(".")[2])
    half = 0.5 * 10.0 ** -digits
    return any(abs(float(text) - value) <= half * 1.0001 for value in values)


def main():
    folder, post = sys.argv[1], sys.argv[2]
    values = allowed(folder)
    with open(post, encoding="utf-8") as file:
        text = file.read()
    # Lines of code and the charts' own texts are not the outline's.
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"!\[.*?\]\(.*?\)", "", text)
    # A GPU's name may hold one: NVIDIA H100 80GB HBM3.
    for name in {row["device"] for row in rows(folder, "attention")}:
        text = text.replace(name, "")
    units = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
    figures = [(m.group(1), UNITS[m.group(2)]) for m in re.finditer(NUMBER + "[ \u00a0]?(" + units + r")(?![A-Za-z/]|[ \u00a0][0-9D])", text)]
    # In a table the unit stands above.
    for line in text.splitlines():
        if line.startswith("|") and "TFLOP/s" in line:
            column = [cell.strip() for cell in line.strip("|").split("|")].index("TFLOP/s")
        elif line.startswith("|") and "GB/s" in line:
            column = -[cell.strip() for cell in line.strip("|").split("|")].index("GB/s")
        elif line.startswith("|") and not line.startswith("|-"):
            cell = [cell.strip(" ~") for cell in line.strip("|").split("|")][abs(column)]
            if re.fullmatch(NUMBER, cell):
                figures.append((cell, "tflops" if column > 0 else "gb_per_s"))
        elif not line.startswith("|"):
            column = 0
    wrong = [figure for figure in figures if not agrees(figure[0], values[figure[1]])]
    for number, unit in wrong:
        print("%s %s is not what results say" % (number, unit))
    print("%d figures" % len(figures))
    sys.exit(bool(wrong) or not figures)


main()
