#!/usr/bin/env python3
"""waits.py PAGE.html WARP,WARP,... DRAWING.svg...: checks that the arrows of each drawing lead from arrivals to the waits that they
complete, according to the simulator's events in the page.

Parses the drawing: the two boxes of each arrow, and the index of each box among the waits or arrivals of its warp. Prints differences;
the exit status is then 1.
"""
import re
import sys

from drawing import Drawing, recording


def known(events, warps):
    """{warp: [arrivals]}, {warp: [waits]}: (barrier, phase) each. A named barrier counts if several of the warps use it."""
    arrivals, waits, seen = {}, {}, {}
    at = {w: {e[3] for e in events[w] if e[1] == "arrive"} for w in warps}
    shared = {n for n in set().union(*at.values()) if n and sum(n in at[w] for w in warps) > 1}
    for warp in warps:
        arrivals[warp], waits[warp] = [], []
        for i, (_, kind, _, barrier, number) in enumerate(events[warp]):
            if kind == "signal":
                arrivals[warp].append((barrier, number))
            elif kind == "ready":
                times = seen[warp, barrier] = seen.get((warp, barrier), -1) + 1
                waits[warp].append((barrier, times if times % 2 == number else times - 1))
            elif kind == "arrive" and barrier in shared:
                then = next((e[1] for e in events[warp][i + 1:] if e[1] in ("arrive", "pass") and e[3] == barrier), None)
                (waits if then == "pass" else arrivals)[warp].append((-barrier, number))
    return arrivals, waits


def main():
    kernel, warps, wrong = recording(sys.argv[1])["kernels"][0], [int(w) for w in sys.argv[2].split(",")], []
    arrivals, waits = known({e["warp"]: e["list"] for e in kernel["events"] if e["block"] == kernel["events"][0]["block"]}, warps)
    for name in sys.argv[3:]:
        drawing = Drawing(name)
        boxes = [r for r in drawing.rects if r[2] > 60 * drawing.unit]
        columns = {w: sorted((r for r in boxes if abs(r[0] - x) < 1), key=lambda r: r[1]) for w, x in zip(warps, sorted({r[0] for r in boxes}))}
        fills = sorted({r[4] for r in boxes})
        paper = "#ffffff"
        place = {}
        for warp, own in columns.items():
            here = {"wait": 0, "arrival": 0}
            for r in own:
                kind = "wait" if r[4] == paper else "arrival" if r[4] in ("#0060a0", "#d6e8f3") else None
                if kind:
                    place[r] = (warp, kind, here[kind])
                    here[kind] += 1
        if not place or any(f not in (paper, "#0060a0", "#d6e8f3", "#eeeeee") for f in fills):
            wrong.append("%s: boxes of %s" % (name, fills))
        drawn = set()
        for x1, y1, x2, y2 in (map(float, re.match(r"M(\S+) (\S+)L(\S+) (\S+)M", d).groups()) for d in drawing.paths):
            ends = [next(p for r, p in place.items() if r[1] < y < r[1] + r[3] and min(abs(x - r[0]), abs(x - r[0] - r[2])) < 1) for x, y in ((x1, y1), (x2, y2))]
            drawn.add(tuple(ends))
        expected = set()
        for warp, kind, n in place.values():
            if kind == "wait":
                expected |= {((other, "arrival", i), (warp, "wait", n)) for other in warps if other != warp
                             for i, arrival in enumerate(arrivals[other]) if arrival == waits[warp][n] and (other, "arrival", i) in place.values()}
        for what, pairs in (("lacks", expected - drawn), ("has", drawn - expected)):
            wrong += ["%s: %s the arrow from %s to %s" % (name, what, *pair) for pair in sorted(pairs)]
        if len(expected) < 3:
            wrong.append("%s: only %d arrows" % (name, len(expected)))
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
