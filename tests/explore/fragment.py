#!/usr/bin/env python3
"""fragment.py PAGE.html DRAWING.svg...: checks that each drawing shows the simulator's map of lanes to elements from the page.

Parses the drawing: the number in the box of each element. Prints differences; the exit status is then 1.
"""
import sys

from drawing import Drawing, recording


def frames(drawing, operand, warps):
    """[(frame, its first row, rows, columns)] of an operand; of a warpgroup's one each warp has a frame, of some
    columns, two to a cell."""
    title = next((x, y) for x, y, text in drawing.texts if text.startswith(operand["name"] + ", "))
    if not warps:
        return [(drawing.frame_below(title), 0, operand["rows"], operand["columns"])]
    found, rows = [], operand["rows"] // warps
    for warp in range(warps):
        frame = drawing.frame_below(next((x, y) for x, y, text in drawing.texts if text == "warp %d" % warp and y > title[1]))
        found.append((frame, warp * rows, rows, round(2 * frame[2] / drawing.box_at(frame[0] + 1, frame[1] + 1)[2])))
    return found


def main():
    fragments = recording(sys.argv[1])["kernels"][0]["fragments"]
    wrong = 0
    for name in sys.argv[2:]:
        drawing = Drawing(name)
        instruction = drawing.title.split(":")[0] + " "
        fragment = next(f for f in fragments if f["name"].startswith(instruction) and
                        all(any(text.startswith(o["name"] + ", ") for _, _, text in drawing.texts) for o in f["operands"]))
        for operand in fragment["operands"]:
            looked = 0
            for frame, row0, rows, columns in frames(drawing, operand, fragment.get("warps", 0)):
                width, height = frame[2] / columns, frame[3] / rows
                for lane, elements in enumerate(operand["at"]):
                    for row, column in elements:
                        if not row0 <= row < row0 + rows or column >= columns:
                            continue
                        texts = drawing.texts_at(frame[0] + (column + 0.5) * width, frame[1] + (row - row0 + 0.5) * height)
                        looked += 1
                        if texts != [str(lane)]:
                            print("%s: %s[%d][%d] is held by lane %d, but the drawing shows %s" % (name, operand["name"], row, column, lane, texts))
                            wrong = 1
            if looked < operand["rows"] * 8:
                print("%s: of %s %d elements are drawn" % (name, operand["name"], looked))
                wrong = 1
    sys.exit(wrong)


main()
