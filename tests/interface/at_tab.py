# at_tab.py SHELL SET-UP LINE...: what an interactive shell shows on a terminal when Tab is pressed after each LINE.
import os, pty, select, sys, time

shell, prepare, *lines = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="dumb", HOME="/nonexistent", ZDOTDIR="/nonexistent", PS1="> ")
    os.execvp(shell, [shell] + (["--norc", "-i"] if shell == "bash" else ["-f", "-i"]))


def read(until=None, seconds=10.0):
    seen, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not (until and until in seen):
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 4096).decode(errors="replace")
    return seen


os.write(terminal, f"{prepare}; echo rea''dy\n".encode())
read("ready")
for line in lines:
    os.write(terminal, (line + "\t").encode())
    print(read(seconds=1.2).replace("\r", "\n"))
    os.write(terminal, b"\x15\n")
    read(seconds=0.3)
os.kill(child, 9)
