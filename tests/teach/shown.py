"""shown.py PAGE: for each block after <!-- lines of FILE --> a line "ok FILE", else one that begins "PAGE:LINE: ".

A line ... or // ... stands for what was left out, and in a solution at least for the lines of its blanks, which are the
learner's.
"""
import os
import re
import sys

LEFT_OUT = re.compile(r' *(// )?\.\.\.$')
BLANK = re.compile(r'^ *// TODO [0-9].*?^ *// END TODO [0-9][^\n]*', re.MULTILINE | re.DOTALL)


def parts(block):
    """The runs of lines between those that stand for what was left out."""
    part = []
    for line in block:
        if LEFT_OUT.match(line) and part:
            yield part
            part = []
        else:
            part.append(line)
    if part:
        yield part


def compare(name, block):
    if not os.path.exists(name):
        return 'there is no file ' + name
    with open(name, encoding='utf-8') as file:
        # A blank becomes a line that nothing equals.
        lines = BLANK.sub('\0', file.read()).split('\n')
    at = 0
    for part in parts(block):
        places = (i for i in range(at, len(lines) - len(part) + 1) if lines[i:i + len(part)] == part)
        at = next(places, -1) + len(part)
        if at < len(part):
            return f'not in {name}: {part[0]}'
    return None


def main(page):
    name, block, start = None, None, 0
    with open(page, encoding='utf-8') as file:
        for number, line in enumerate(file.read().split('\n'), 1):
            if block is not None and line != '```':
                block.append(line)
            elif block is not None:
                wrong = name and compare(name, block)
                if name:
                    print(f'{page}:{start}: {wrong}' if wrong else f'ok {name}')
                name = block = None
            elif line.startswith('```'):
                start, block = number, []
                if not name and re.match('```(python|cuda|c|cpp)', line):
                    print(f'{page}:{start}: a block of code does not say what file it is from: <!-- lines of FILE --> above it')
            else:
                said = re.fullmatch(r'<!-- lines of (\S+).* -->', line)
                name = said and said.group(1)


main(sys.argv[1])
