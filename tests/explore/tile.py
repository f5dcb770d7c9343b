#!/usr/bin/env python3
"""tile.py PAGE.html DRAWING.svg...: checks that each drawing shows the contents of shared memory and the elements that a wgmma reads,
as recorded in the page, and that both follow the 128-byte swizzle: chunk c of row r at c ^ (r % 8).

Parses the drawing: the text and the colour of each cell. Prints differences; the exit status is then 1.
"""
import re
import sys

from drawing import Drawing, expanded, recording

UNIT, ROW = 16, 128


def tile_contents(run, kernel):
    """{address: (row, column)} of each 16 bytes that TMA loads of a box write to shared memory, by the box's first address."""
    samples = lambda space: [s for site in kernel["sites"] if site["kind"] == "bulk copy" and site["space"] == space for s in site["samples"]]
    boxes = {}
    for block, warp, _, seq, _, _, (first, row_bytes, _), _, _, *tiles in samples("shared"):
        source = next(s for s in samples("global") if (s[0], s[1], s[3]) == (block, warp, seq))
        tensor = run["tensors"][source[5]]
        rows, each, columns = expanded(source[6]), row_bytes // UNIT, tensor["shape"][-1]
        for address_of in tiles:
            boxes[first] = {address: (i // each, (rows[i // each] + i % each * UNIT) // tensor["element_bytes"] % columns)
                            for i, address in enumerate(expanded(address_of[0]["units"]))}
    return boxes


def main():
    run = recording(sys.argv[1])
    kernel, wrong = run["kernels"][0], []
    boxes = tile_contents(run, kernel)
    tiles = [tile for site in kernel["sites"] if site["kind"] == "wgmma" for s in site["samples"] for tile in (s[9] if len(s) > 9 else [])]
    for name in sys.argv[2:]:
        drawing, cells, marked = Drawing(name), 0, 0
        fields = re.search(r"descriptor: start address of (\w) (\d+); stride byte offset \(eight rows\) ([\d,]+); "
                           r"(?:leading byte offset \(next panel\) ([\d,]+); )?(\d+)-byte swizzle", drawing.description).groups()
        operand, start, stride, leading, swizzle = [int(s.replace(",", "")) if s and s[0].isdigit() else s for s in fields]
        tile = next(t for t in tiles if (t["name"], t["start"]) == (operand, start))
        read = set(expanded(tile["units"]))
        if (stride, swizzle) != (tile["stride"], tile["swizzle"]) or leading != (tile["leading"] if tile["mn_major"] else None):
            wrong.append("%s: the descriptor is %s" % (name, tile))
        labels = [(x, y, int(text)) for x, y, text in drawing.texts if text.isdigit()]
        for x, y, text in drawing.texts:
            if not text.startswith("panel "):
                continue
            number, first = map(int, re.findall(r"\d+", text))
            end = min([other for _, other, t in drawing.texts if t.startswith("panel ") and other > y + 1] or [1e9])
            own = sorted((r for r in drawing.rects if y < r[1] < end and r[0] > x - 2 and r[0] + r[2] < x + 8 * r[2] + 2), key=lambda r: (r[1], r[0]))
            for i, cell in enumerate(own[:len(own) // 8 * 8]):
                middle = cell[1] + cell[3] / 2
                row = next(n for _, at, n in labels if cell[1] < at < cell[1] + cell[3] + 2)
                address, unit = first + row * ROW + i % 8 * UNIT, i % 8
                at, label, used = boxes[first][address], drawing.texts_at(cell[0] + cell[2] / 2, middle), cell[4] != "none"
                if at != (row, (number * 8 + (unit ^ row % 8)) * 8) or label != ["c%d" % (at[1] // 8)] or used != (address in read):
                    wrong.append("%s: at byte %d lies %s, %sread; the drawing says %s, %s" % (
                        name, address, at, "" if address in read else "not ", label, "read" if used else "not read"))
                cells, marked = cells + 1, marked + used
        if cells < 128 or not 32 <= marked:
            wrong.append("%s: %d cells, %d of them marked" % (name, cells, marked))
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
