"""spoilt.py ROOT: for each line in a file of ROOT/lessons/NN_name/ that has a line of a blank of solutions/NN_name/ in it, a line
"FILE:NUMBER: the line". Not for the skeletons, which are made from the solutions, nor for lines that are no news: those that
the skeleton shows elsewhere, and those of fewer than three words. A comment of the solution and spaces do not count.
"""
import glob
import os
import re
import sys

BLANK = re.compile(r'^ *// TODO [0-9].*\n(?: *//.*\n)*((?:.*\n)*?) *// END TODO [0-9].*\n', re.MULTILINE)


def plain(line):
    return ' '.join(re.sub(r'//.*', '', line).split())


def read(name):
    with open(name, encoding='utf-8', errors='replace') as file:
        return file.read()


def main(root):
    for solution in sorted(glob.glob(root + '/solutions/[0-9][0-9]_*')):
        lesson = root + '/lessons/' + os.path.basename(solution)
        sources = [text for text in map(read, glob.glob(solution + '/*.cu')) if BLANK.search(text)]
        shown = {plain(line) for text in sources for line in BLANK.sub('', text).split('\n')}
        blanks = {plain(line) for text in sources for blank in BLANK.findall(text) for line in blank.split('\n')}
        blanks = {line for line in blanks if len(re.findall(r'\w+', line)) >= 3 and not any(line in other for other in shown)}
        for name in sorted(glob.glob(lesson + '/**', recursive=True)):
            if not os.path.isfile(name) or os.path.exists(f'{solution}/{os.path.basename(name)}') and name.endswith('.cu'):
                continue
            if re.search(r'/repaired\.cu$|\.cu\.[0-9]+$|\.cu\.new$', name):
                continue  # a learner's
            for number, line in enumerate(read(name).split('\n'), 1):
                if any(blank in ' '.join(line.split()) for blank in blanks):
                    print(f'{os.path.relpath(name, root)}:{number}: {line.strip()}')


main(sys.argv[1])
