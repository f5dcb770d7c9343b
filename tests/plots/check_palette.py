#!/usr/bin/env python3
"""check_palette.py plots/palette: reports colours that are hard to distinguish.

Each colour of a theme has to differ from the paper by a contrast of 3 to 1 (WCAG 2, graphics), and from each other colour by 0.08 in OKLab, as
people see it with normal vision and without red, green or blue cones (Machado, Oliveira and Fernandes, 2009). Exit status 1 if a colour fails.
"""
import sys

VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_LMS = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566), (0.0883024619, 0.2817188376, 0.6299787005))
TO_LAB = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099), (0.0259040371, 0.7827717662, -0.8086757660))


def times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def light(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def lab(colour, kind):
    return times(TO_LAB, [max(c, 0) ** (1 / 3) for c in times(TO_LMS, times(VISION[kind], light(colour)))])


def contrast(a, b):
    a, b = [sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), light(x))) + 0.05 for x in (a, b)]
    return max(a, b) / min(a, b)


def check(rows):
    for column in (1, 2):
        paper = [row[column] for row in rows if row[0] == "paper"][0]
        colours = [row[column] for row in rows if row[0].startswith("colour[")]
        if len(colours) < 8:
            yield "a palette of %d colours only" % len(colours)
        for i, colour in enumerate(colours):
            if contrast(colour, paper) < 3:
                yield "%s on %s has a contrast of %.1f" % (colour, paper, contrast(colour, paper))
            for kind in VISION:
                for other in colours[:i]:
                    distance = sum((a - b) ** 2 for a, b in zip(lab(colour, kind), lab(other, kind))) ** 0.5
                    if distance < 0.08:
                        yield "%s and %s are %.3f apart in %s vision" % (colour, other, distance, kind)


def main():
    with open(sys.argv[1]) as file:
        wrong = list(check([line.split() for line in file if line.strip()]))
    for error in wrong:
        print(error)
    sys.exit(bool(wrong))


main()
