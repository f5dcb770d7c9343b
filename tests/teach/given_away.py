"""given_away.py ROOT: prints a line for each hint in ROOT/lessons/NN_name/hints that gives a blank of solutions/NN_name/ away: runs of
RUN or more tokens that it quotes from the blank are more than a third of the blank's tokens. Comments, #pragma and spaces do not count.
"""
import glob
import os
import re
import sys

RUN = 5
BLANK = re.compile(r'^ *// TODO ([0-9]+).*\n(?: *//.*\n)*((?:.*\n)*?) *// END TODO [0-9].*\n', re.MULTILINE)
TOKEN = re.compile(r'\w+|->|::|\+\+|[-+*/%^|&=!<>]=|&&|\|\||\S')


def read(name):
    with open(name, encoding='utf-8') as file:
        return file.read()


def tokens(text):
    return TOKEN.findall(text)


def quoted(blank, hint):
    """How many tokens of the blank are in runs that occur in the hint."""
    runs = {tuple(hint[i:i + RUN]) for i in range(len(hint) - RUN + 1)}
    inside = set()
    for i in range(len(blank) - RUN + 1):
        if tuple(blank[i:i + RUN]) in runs:
            inside.update(range(i, i + RUN))
    return len(inside)


def blanks(solution):
    for name in glob.glob(solution + '/*.cu'):
        for number, code in BLANK.findall(read(name)):
            yield f'{os.path.basename(name)} {number}', tokens(re.sub(r'//.*|#.*', '', code))


def main(root):
    checked = 0
    for solution in sorted(glob.glob(root + '/solutions/[0-9][0-9]_*')):
        path = f'{root}/lessons/{os.path.basename(solution)}/hints'
        hints = dict(section.split('\n', 1) for section in re.split(r'^== ', read(path), flags=re.MULTILINE)[1:])
        for key, blank in blanks(solution):
            for number, hint in enumerate(re.split(r'^--$', hints[key], flags=re.MULTILINE), 1):
                checked += 1
                given = quoted(blank, tokens(hint))
                if 3 * given > len(blank):
                    print(f'{os.path.relpath(path, root)}: {key}, hint {number} quotes {given} of {len(blank)} tokens of the blank')
    return 0 if checked else 'no hint was checked'


sys.exit(main(sys.argv[1]))
