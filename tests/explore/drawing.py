"""Parses a drawing, and the recording in the page that it was drawn from."""
import json
import re
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def recording(page):
    """The first run that a page of explore holds."""
    return json.loads(re.search(r'id="recording">(.*?)</script>', open(page, encoding="utf-8").read(), re.S).group(1))["runs"][0]


def expanded(runs):
    """[first, step, count, ...] to numbers."""
    return [runs[i] + k * runs[i + 1] for i in range(0, len(runs), 3) for k in range(runs[i + 2])]


class Drawing:
    """rects: (x, y, width, height, fill); texts: (x, y, text); paths: their d; all in the order of the drawing."""

    def __init__(self, name):
        root = xml.parse(name).getroot()
        number = lambda e, attribute: float(e.get(attribute, 0))
        self.unit = float(root.get("font-size")) / 12
        self.title, self.description = root.find(SVG + "title").text, root.find(SVG + "desc").text
        self.rects = [(*(number(e, a) for a in ("x", "y", "width", "height")), e.get("fill")) for e in root.iter(SVG + "rect") if e.get("x")]
        self.texts = [(number(e, "x"), number(e, "y"), e.text) for e in root.iter(SVG + "text")]
        self.paths = [e.get("d") for e in root.iter(SVG + "path")]

    def frame_below(self, title):
        """The largest box right below a title."""
        return max((r for r in self.rects if abs(r[0] - title[0] - 22 * self.unit) < 1 and abs(r[1] - title[1] - 8 * self.unit) < 1),
                   key=lambda r: r[2] * r[3])

    def box_at(self, x, y):
        """The smallest box at a point; None: there is none."""
        return min((r for r in self.rects if r[0] <= x <= r[0] + r[2] and r[1] <= y <= r[1] + r[3]), key=lambda r: r[2] * r[3], default=None)

    def texts_in(self, box):
        return [t for x, y, t in self.texts if box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3] + 1]

    def texts_at(self, x, y):
        return self.texts_in(self.box_at(x, y))
