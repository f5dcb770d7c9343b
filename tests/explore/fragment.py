#!/usr/bin/env python3
"""fragment.py PAGE.html DRAWING.svg...: each drawing shows the map of lanes to elements that the simulator wrote into the page.

Read from the drawing itself: the number in the box that an element lies in. Prints what differs; exit status 1.
"""
import json
import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def boxes(root):
    """[(x, y, width, height)] of all boxes, and [(x, y, text)] of all texts, in the order of the drawing."""
    number = lambda e, name: float(e.get(name, 0))
    rects = [tuple(number(e, a) for a in ("x", "y", "width", "height")) for e in root.iter(SVG + "rect")]
    return rects, [(number(e, "x"), number(e, "y"), e.text) for e in root.iter(SVG + "text")]


def main():
    page = open(sys.argv[1], encoding="utf-8").read()
    data = json.loads(re.search(r'id="recording">(.*?)</script>', page, re.S).group(1))
    fragment = next(f for f in data["runs"][0]["kernels"][0]["fragments"] if f["name"].startswith("mma"))
    wrong = 0
    for drawing in sys.argv[2:]:
        rects, texts = boxes(xml.parse(drawing).getroot())
        for operand in fragment["operands"]:
            title = next((x, y) for x, y, text in texts if text.startswith(operand["name"] + ", "))
            # The frame is the first box below the title that spans the whole operand: it is drawn last of all that lie in it.
            frame = max((r for r in rects if abs(r[0] - title[0] - 22) < 1 and abs(r[1] - title[1] - 8) < 1), key=lambda r: r[2] * r[3])
            width, height = frame[2] / operand["columns"], frame[3] / operand["rows"]
            for lane, elements in enumerate(operand["at"]):
                for row, column in elements:
                    x, y = frame[0] + (column + 0.5) * width, frame[1] + (row + 0.5) * height
                    box = min((r for r in rects if r[0] <= x <= r[0] + r[2] and r[1] <= y <= r[1] + r[3]), key=lambda r: r[2] * r[3])
                    said = [t for tx, ty, t in texts if box[0] <= tx <= box[0] + box[2] and box[1] <= ty <= box[1] + box[3] + 1]
                    if said != [str(lane)]:
                        print("%s: %s[%d][%d] is lane %d's, and the drawing says %s" % (drawing, operand["name"], row, column, lane, said))
                        wrong = 1
    sys.exit(wrong)


main()
