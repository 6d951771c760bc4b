"""Compiles the core: runs setup.py, shows how far it is, and keeps what the compilers say in a file.

python scripts/build_core.py build/log build_ext --inplace --parallel 2

Cython and setup.py announce every module as `[ 3/48] Compiling search.tree`; that is what is shown.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STEP = re.compile(r"\[ *(\d+)/(\d+)\] (Cythonizing|Compiling) (\S+)")
TITLES = {"Cythonizing": "Translating to C", "Compiling": "Compiling"}
PLAIN_STEPS = 8  # between two lines where no bar can be drawn
SHOWN = 40  # last lines of the log of a build that fails


class Bars:
    """On a terminal: a bar for the translation, and one for the compiler."""

    def __init__(self):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        text = TextColumn("{task.description}")
        module = TextColumn("{task.fields[module]}")
        columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), module)
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.tasks = {}
        self.progress.start()

    def show(self, title, number, total, module):
        if title not in self.tasks:
            self.tasks[title] = self.progress.add_task(title, total=total, module="")
        self.progress.update(self.tasks[title], completed=number, module=module)

    def close(self):
        self.progress.stop()


class Lines:
    """Anywhere else: a line for every few modules."""

    def show(self, title, number, total, module):
        if number % PLAIN_STEPS == 0 or number == total:
            print(f"{title}: {number} of {total} modules", file=sys.stderr, flush=True)

    def close(self):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path, help="the file that keeps the output")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="what setup.py is told")
    options = parser.parse_args()
    options.log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-u", "setup.py", *options.words]
    display = Bars() if sys.stderr.isatty() else Lines()
    try:
        with (
            options.log.open("w", encoding="utf-8") as log,
            subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
            ) as process,
        ):
            for line in process.stdout:
                log.write(line)
                step = STEP.match(line)
                if step:
                    display.show(TITLES[step[3]], int(step[1]), int(step[2]), step[4])
    finally:
        display.close()
    if process.returncode:
        lines = options.log.read_text(encoding="utf-8").splitlines()
        print("\n".join(lines[-SHOWN:]), file=sys.stderr)
        print(f"The core was not built; {options.log} has the whole log.", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
