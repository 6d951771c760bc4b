"""Writes search/recorded.py and search/recorded.pxd: the search once more, as a copy that records its tree.

python scripts/record_search.py    (setup.py does it before every build)

The copy is made from the sources of the search, so it is the same search by construction, and the search itself pays
nothing for it: what has to be recorded stands there in comments. `# recorded: WORDS` at the end of a line names
- the kind of node, where a node is entered;
- the purpose of a search, where one is called;
- why a node ends, at its returns (each must have one, unless it hands over to the quiescence search);
- why a move is not searched, at a `continue`, or where `is_pruned` says so;
- a cut-off, at a `break`.
The words are numbered as they come; `WORDS` of the copy has them.
"""

import re
import sys
from pathlib import Path

from join_search import write_if_changed

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("search/tree.py", "search/quiescence.py", "search/iterate.py")
DEFINITIONS = ("search/tree.pxd", "search/quiescence.pxd", "search/iterate.pxd", "search/selectivity.pxd")
MADE = ("search/recorded.py", "search/recorded.pxd")
NODES = ("search_node", "search_quiet")  # functions that are a node: every return of theirs is recorded

JOINED = "|".join(sorted({Path(name).stem for name in SOURCES + DEFINITIONS}))
DOCSTRING = re.compile(r'\A""".*?"""\n', re.DOTALL)
CIMPORT = re.compile(
    rf"^from (?:cython\.cimports\.search\.(?:{JOINED}) import|search\.(?:{JOINED}) cimport) (?:\([^)]*\)|[^(\n]*)\n",
    re.MULTILINE,
)
FUNCTION = re.compile(r"(?:def|cdef inline \w+) (\w+)\(")
LABELLED = re.compile(r"( *)(.*?)  # recorded: (.+)")

HEAD_SOURCE = '''"""The search with its tree recorded. Written by scripts/record_search.py: change the sources, not this file."""

import cython
from cython.cimports.search.recording import record_cutoff, record_enter, record_end, record_purpose, record_skip

WORDS = {words!r}

'''
HEAD_DEFINITION = '''"""The search with its tree recorded. Written by scripts/record_search.py: change the sources, not this file."""
from search.recording cimport record_reason

'''


class LabelError(Exception):
    """A line whose label has no meaning, or that lacks one."""


class Copyist:
    """Rewrites labelled lines. Numbers the words in the order in which they are met; 0 is a search without a label."""

    def __init__(self):
        self.words = ["search"]

    def number(self, words):
        if words not in self.words:
            self.words.append(words)
        return self.words.index(words)

    def statement(self, text, words, function):
        """The statements that take a labelled one's place; None if the label makes no sense there."""
        number = self.number(words)
        if "enter_node(" in text:
            depth = "depth, cut_node" if function == "search_node" else "0, False"
            return [f"record_enter(worker, frame, alpha, beta, {depth}, {number})", text]
        if re.search(r"\bsearch_(node|quiet)\(worker,", text):
            return [re.sub(r"\b(search_node|search_quiet)\(worker,", rf"\1(record_purpose(worker, {number}),", text)]
        if text == "return True" and function == "is_pruned":
            return [f"return record_reason({number})"]
        if text.startswith("return ") and function in NODES:
            return [f"return record_end(worker, frame, {number}, {text.removeprefix('return ')})"]
        if text == "continue":
            return [f"record_skip(frame, move, {number})", text]
        if text == "break":
            return ["record_cutoff(frame)", text]
        return None

    def copy(self, name):
        """A file without its docstring and the cimports that joining makes needless, and with what is labelled recorded."""
        whole = (ROOT / name).read_text(encoding="utf-8")
        function = None
        lines = []
        for number, line in enumerate(whole.splitlines(), 1):
            named = FUNCTION.match(line)
            if named:
                function = named[1]
            labelled = LABELLED.fullmatch(line)
            if labelled:
                statements = self.statement(labelled[2], labelled[3], function)
                if statements is None:
                    raise LabelError(f"{name}:{number}: nothing can be recorded here")
                lines += [labelled[1] + statement for statement in statements]
                continue
            if function in NODES and re.match(r" +return (?!search_quiet\()", line):
                raise LabelError(f"{name}:{number}: a node ends here; '# recorded: …' must say why")
            lines.append(line)
        text = DOCSTRING.sub("", "\n".join(lines) + "\n")
        return CIMPORT.sub("", text).replace("import cython\n", "", 1)


def make():
    """Writes both files. LabelError says where a label is missing or wrong."""
    copyist = Copyist()
    sources = "\n\n".join(copyist.copy(name).strip("\n") for name in SOURCES) + "\n"
    definitions = "\n\n".join(copyist.copy(name).strip("\n") for name in DEFINITIONS) + "\n"
    head = HEAD_SOURCE.format(words=tuple(copyist.words))
    write_if_changed(ROOT / MADE[0], head + sources)
    write_if_changed(ROOT / MADE[1], HEAD_DEFINITION + definitions)


if __name__ == "__main__":
    try:
        make()
    except LabelError as problem:
        sys.exit(str(problem))
