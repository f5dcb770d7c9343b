#!/usr/bin/env python3
"""check_svg.py CHART.svg...: reports errors that affect readers of a chart.

Texts outside the picture, texts that cover each other, texts that a line or a bar crosses, type that is too small on a phone, text without contrast to the paper, light or dark,
no title, no text alternative, colours without a counterpart for a dark background. Exit status 1 if it finds an error. Text widths are computed for DejaVu Sans.
"""
import re
import sys
import xml.etree.ElementTree as tree

# Widths of the letters from the space on, in thousandths of the type size.
NARROW = (
    "318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636 636 636 636 337 "
    "337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863 748 787 603 787 695 635 611 732 "
    "684 989 685 611 685 390 337 390 838 500 500 613 635 550 635 615 352 635 634 278 278 579 278 974 634 612 635 "
    "635 411 521 392 634 592 818 592 592 525 636 337 636 838 "
).split()
BOLD = (
    "348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 696 696 696 696 400 "
    "400 838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 637 995 837 850 733 850 770 720 682 812 "
    "774 1103 771 724 725 457 365 457 838 500 500 675 716 593 716 678 435 716 712 343 343 665 343 1042 712 687 716 "
    "716 493 595 478 712 652 924 645 652 582 712 365 712 838 "
).split()
LEAST_TYPE = 11
WIDTH_ON_A_PHONE = 328  # pixels of a chart on a page 360 pixels wide
WIDTH_OF_A_WIDE_ONE = 760  # pages of less show the narrow drawing of the same chart
LEAST_CONTRAST = 4.5
SVG = "{http://www.w3.org/2000/svg}"


def width_of(text, size, bold):
    widths = BOLD if bold else NARROW
    return sum(int(widths[ord(c) - 32]) if 32 <= ord(c) < 127 else 838 for c in text) * size / 1000


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    a, b = luminance(a) + 0.05, luminance(b) + 0.05
    return max(a, b) / min(a, b)


def texts_of(node, x=0.0, y=0.0, style=None):
    """Each text with its position, size, anchor, weight and colour, which its groups define."""
    style = dict(style or {})
    for name in ("font-size", "text-anchor", "font-weight", "fill"):
        if node.get(name):
            style[name] = node.get(name)
    move = re.match(r"translate\(([-0-9.]+),([-0-9.]+)\)", node.get("transform", ""))
    if move:
        x, y = x + float(move[1]), y + float(move[2])
    if node.tag == SVG + "text":
        yield "".join(node.itertext()).strip(), x, y, style, "rotate" in node.get("transform", "")
        return
    for child in node:
        yield from texts_of(child, x, y, style)


def shapes_of(root, faint):
    """Strokes and filled shapes, as lists of points; not those in a `faint` colour, of paper, tracks and grids, nor symbols."""
    for node in root.iter():
        if node.tag == SVG + "path" and node.get("stroke") not in (None, "none", "currentColor", *faint):
            for stroke in re.findall(r"M[^Mz]*", node.get("d")):
                yield [(float(x), float(y)) for x, y in re.findall(r"([-0-9.]+),([-0-9.]+)", stroke)]
        elif node.tag == SVG + "polygon" and node.get("fill") not in (None, "none", *faint):
            numbers = [float(v) for v in re.findall(r"[-0-9.]+", node.get("points"))]
            yield list(zip(numbers[::2], numbers[1::2])) + [(numbers[0], numbers[1])]


def crosses(box, points):
    """Whether the line through the points enters the box (left, right, top, bottom)."""
    for (x, y), (to_x, to_y) in zip(points, points[1:]):
        enters, leaves = 0.0, 1.0
        for from_, step, low, high in ((x, to_x - x, box[0], box[1]), (y, to_y - y, box[2], box[3])):
            if step == 0:
                if not low < from_ < high:
                    leaves = -1.0
                continue
            ends = sorted(((low - from_) / step, (high - from_) / step))
            enters, leaves = max(enters, ends[0]), min(leaves, ends[1])
        if enters < leaves:
            return True
    return False


def check(path):
    root = tree.parse(path).getroot()
    box = [float(v) for v in (root.get("viewBox") or "0 0 0 0").split()]
    title, text = root.find(SVG + "title"), root.find(SVG + "desc")
    if root.get("role") != "img" or title is None or not title.text or text is None or not text.text:
        yield "has no title, no text alternative or no role"
    paper = next((e.get("fill") for e in root.iter(SVG + "rect") if (e.get("fill") or "none") != "none"), None)
    if not box[2] or paper is None:
        yield "has no viewBox or no background"
        return
    style = "".join(e.text or "" for e in root.iter(SVG + "style"))
    dark = dict(re.findall(r'\[fill="(#[0-9a-f]+)"\]\{fill:(#[0-9a-f]+)\}', style))
    for colour in {e.get(a) for e in root.iter() for a in ("fill", "stroke", "color")} - {None, "none", "currentColor", "black"}:
        if colour not in dark:
            yield "%s has no colour for dark paper" % colour
    texts, shapes = [], list(shapes_of(root, (paper, "#dddddd")))
    page = WIDTH_ON_A_PHONE if box[2] <= 440 else WIDTH_OF_A_WIDE_ONE
    for words, x, y, style, rotated in texts_of(root):
        if not words:
            continue
        size = float(style["font-size"])
        width = width_of(words, size, style.get("font-weight") == "bold")
        left = x - {"middle": width / 2, "end": width}.get(style.get("text-anchor"), 0)
        here = (left, left + width, y - 0.73 * size, y + 0.18 * size, words)
        if rotated:
            yield "'%s' is rotated" % words
        if size * page / box[2] < LEAST_TYPE:
            yield "'%s' has type of %.1f pixels on a phone" % (words, size * page / box[2])
        if here[0] < 2 or here[1] > box[2] - 2 or here[2] < 2 or here[3] > box[3] - 2:
            yield "'%s' leaves the picture: %d to %d of %d, %d to %d of %d" % (words, *here[:2], box[2], *here[2:4], box[3])
        for other in texts:
            if here[0] < other[1] - 1 and here[1] > other[0] + 1 and here[2] < other[3] - 1 and here[3] > other[2] + 1:
                yield "'%s' covers '%s'" % (words, other[4])
        texts.append(here)
        if any(crosses(here, points) for points in shapes):
            yield "'%s' is crossed by a line or a bar" % words
        for ink, ground in ((style["fill"], paper), (dark.get(style["fill"], "#000000"), dark.get(paper, "#000000"))):
            if contrast(ink, ground) < LEAST_CONTRAST:
                yield "'%s' has a contrast of %.1f only" % (words, contrast(ink, ground))
    if not texts:
        yield "has no text"


def main():
    wrong = [(path, error) for path in sys.argv[1:] for error in check(path)]
    for path, error in wrong:
        print("%s: %s" % (path, error))
    sys.exit(bool(wrong))


main()
