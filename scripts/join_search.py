"""Writes search/joined.py and search/joined.pxd: the search and the functions that it calls most, as one module.

python scripts/join_search.py    (setup.py does it before every build)

A compiled module calls another one's functions through pointers, and no compiler can look through those. In one module
the same functions are called directly, or inlined. The sources stay as they are, a file for each idea: what is joined is
their functions, word for word. Types, constants and tables still come from the modules that own them, and these are
compiled as ever for all other callers; only those that nothing else calls (`joined` in pyproject.toml) are not.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    "search.iterate", "search.tree", "search.quiescence", "search.selectivity", "search.picker", "search.history", "search.tt",
    "search.state", "search.limits", "board.see", "board.legality", "board.position", "board.movegen",
)  # fmt: skip
MADE = ("search/joined.py", "search/joined.pxd")
HEAD = '"""The search in one module. Written by scripts/join_search.py: change the sources, not this file."""\n'

CIMPORT = re.compile(r"from (?:cython\.cimports\.)?([\w.]+) c?import (?:\(([^)]*)\)|(.*))")


class JoinError(Exception):
    """Something in a source that cannot be joined."""


def blocks(text):
    """The statements of a file, each with all that is indented below it and the comments and decorators above it."""
    text = re.sub(r'\A""".*?"""\n', "", text, flags=re.DOTALL)
    found = []
    is_open = False  # only comments and decorators so far
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith(")") and not is_open:
            found.append([])
        if not found:
            continue
        found[-1].append(line)
        is_open = line.startswith(("@", "#"))
    return ["\n".join(lines).rstrip() for lines in found]


def without_comments(text):
    return "\n".join(re.sub(r"\s*#.*", "", line) for line in text.splitlines() if not re.match(r"\s*(#|$)", line))


def cimported(code):
    """The module and the names of a cimport, or None."""
    found = CIMPORT.match(code)
    if found is None:
        return None
    return found[1], [name.strip() for name in (found[2] or found[3]).split(",") if name.strip()]


class Definitions:
    """A .pxd: what it cimports, its functions, and the names of everything else."""

    def __init__(self, module):
        self.cimports, self.functions, self.declarations, self.inline, self.others = [], [], [], [], []
        for block in blocks((ROOT / (module.replace(".", "/") + ".pxd")).read_text(encoding="utf-8")):
            code = without_comments(block)
            function = re.match(r"cdef (inline )?[\w* ]*?(\w+)\(", code)
            if code.startswith("from "):
                self.cimports.append(cimported(code))
            elif function:
                self.functions.append(function[2])
                (self.inline if function[1] else self.declarations).append(block)
            elif code:
                self.others += self.names(module, code)

    @staticmethod
    def names(module, code):
        kinds = (
            r"cdef struct (\w+):",
            r"ctypedef .*\(\*(\w+)\)",
            r"ctypedef .* (\w+)$",
            r"cdef [\w* ]+? (\w+)(?:\[.*)?$",
        )
        if code.startswith("cdef enum:"):
            return re.findall(r"^ +(\w+)", code, re.MULTILINE)
        for kind in kinds:
            found = re.match(kind, code)
            if found:
                return [found[1]]
        raise JoinError(f"{module}: '{code.splitlines()[0]}' cannot be joined")


def functions_of(module):
    """The functions of a .py as (name, text), and what it cimports. Other statements stay where they are."""
    path = ROOT / (module.replace(".", "/") + ".py")
    functions, cimports = [], []
    if not path.exists():
        return functions, cimports
    for block in blocks(path.read_text(encoding="utf-8")):
        code = without_comments(block)
        function = re.match(r"(?:@.*\n)*def (\w+)\(", code)
        if function:
            functions.append((function[1], block))
        elif code.startswith("from cython.cimports."):
            cimports.append(cimported(code))
        elif re.match(r"from|(?!import cython$)import|\w+ = ", code):
            raise JoinError(f"{module}: '{code.splitlines()[0]}' cannot be joined")
    return functions, cimports


def joined():
    """The texts of both files."""
    definitions = {module: Definitions(module) for module in MODULES}
    wanted = {module: set(each.others) for module, each in definitions.items()}
    texts, owners = [], {}
    for module in MODULES:
        functions, cimports = functions_of(module)
        for name, text in functions:
            if name in owners:
                raise JoinError(f"{module} and {owners[name]} both have a function '{name}'")
            owners[name] = module
            texts.append(text)
        for other, names in cimports + definitions[module].cimports:
            inside = definitions[other].functions if other in definitions else ()
            wanted.setdefault(other, set()).update(name for name in names if name not in inside)
    cimports = "".join(
        f"from {module} cimport {', '.join(sorted(names))}\n" for module, names in sorted(wanted.items()) if names
    )
    declarations = "\n".join(text for each in definitions.values() for text in each.declarations)
    inline = "\n\n\n".join(text for each in definitions.values() for text in each.inline)
    source = f"{HEAD}\nimport cython\n\n\n" + "\n\n\n".join(texts) + "\n"
    return source, f"{HEAD}{cimports}\n{declarations}\n\n\n{inline}\n"


def write_if_changed(path, text):
    """Unchanged files keep their time, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")


def make():
    """Writes both files. JoinError says what stands in the way."""
    for name, text in zip(MADE, joined(), strict=True):
        write_if_changed(ROOT / name, text)


if __name__ == "__main__":
    try:
        make()
    except JoinError as problem:
        sys.exit(str(problem))
