#!/usr/bin/env python3
"""timeline.py PAGE.html DRAWING.svg: checks a timeline against the simulator's events in the page.

Of each warp it compares the number of loads, GEMMs and exponentials, and which groups of GEMMs are in flight while exponentials are
computed: there, and nowhere else, the rows of both overlap. Prints differences; the exit status is then 1.
"""
import re
import sys

from drawing import Drawing, recording


def known(events):
    """The numbers of loads, GEMMs and runs of exponentials; for each run the indices of the last GEMM, if it is in flight."""
    loads, gemms, runs, committed = 0, [], [], 0
    for _, kind, _, a, _ in events:
        if kind == "expect":
            loads += 1
        elif kind == "wgmma" and a not in gemms:
            gemms.append(a)
            waited = False
        elif kind == "wgmma commit":
            committed = a + 1
        elif kind == "wgmma wait":
            waited = gemms and gemms[-1] < committed - a
        elif kind == "ex2":
            runs.append(None if waited else len(gemms) - 1)
    return loads, len(gemms), runs


def drawn(description, warp, part):
    """[(first row, last row)] of a warp's part."""
    text = re.search(r"Warp %d, %s: ([^.]*)\." % (warp, part), description)
    return [(int(a), int(b or a)) for a, b in re.findall(r"in row (\d+)(?: to (\d+))?", text[1])] if text else []


def main():
    kernel, description, wrong = recording(sys.argv[1])["kernels"][0], Drawing(sys.argv[2]).description, []
    events = {e["warp"]: e["list"] for e in kernel["events"] if e["block"] == kernel["events"][0]["block"]}
    warps = sorted({int(w) for w in re.findall(r"Warp (\d+),", description)})
    overlaps = 0
    for warp in warps:
        loads, gemms, runs = known(events[warp])
        tma, gemm, exp = (drawn(description, warp, part) for part in ("TMA", "GEMM", "exp"))
        for what, found, expected in (("loads", len(tma) if loads else 0, loads), ("GEMMs", len(gemm), gemms), ("exponentials", len(exp), len(runs))):
            if found != expected:
                wrong.append("warp %d: %d %s are drawn, and there are %d" % (warp, found, what, expected))
        for (first, last), flight in zip(exp, runs):
            beside = [i for i, (a, b) in enumerate(gemm) if a <= last and first <= b]
            overlaps += len(beside)
            if beside != ([] if flight is None else [flight]):
                wrong.append("warp %d: beside the exponentials in row %d are the GEMMs %s, and in flight is %s" % (warp, first, beside, flight))
    if len(warps) < 3:
        wrong.append("only %d warps are drawn" % len(warps))
    print("\n".join("%s: %s" % (sys.argv[2], w) for w in wrong) if wrong else "%d GEMMs beside exponentials" % overlaps)
    sys.exit(bool(wrong))


main()
