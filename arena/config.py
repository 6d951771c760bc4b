"""The TOML file that describes a tournament. Every mistake is said with its line.

The standard library reads TOML without telling lines, so a second, simple look at the text finds the line of each key.
"""

from pathlib import Path

from arena.errors import InputError
from arena.toml_file import read_toml

_NUMBER = (int, float)

# Key: the types that it may have.
TOP = {
    "name": str,
    "format": str,
    "rounds": int,
    "games": int,
    "challengers": int,
    "extra_pairs": int,
    "concurrency": int,
    "pin": bool,
    "seed": int,
    "chess960": bool,
    "tc": str,
    "ponder": bool,
    "restart": bool,
    "options": dict,
    "openings": dict,
    "adjudication": dict,
    "timeouts": dict,
    "engine": list,
}
OPENINGS = {"file": str, "plies": int, "shuffle": bool, "first": int}
ADJUDICATION = {"resign": str, "draw": str, "max_moves": int, "syzygy": str}
TIMEOUTS = {"startup": _NUMBER, "ping": _NUMBER, "move": _NUMBER, "margin_ms": _NUMBER}
ENGINE = {
    "name": str,
    "command": str,
    "tc": str,
    "options": dict,
    "ponder": bool,
    "restart": bool,
    "directory": str,
    "rating": _NUMBER,
}


def header_of(line):
    """The name in a table's header and whether it is one of several, [[name]]; or None."""
    text = line.partition("#")[0].strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    return text.strip("[] \t").strip("\"' "), text.startswith("[[")


def key_of(line):
    """The key that a line gives a value to, or its first part; or None."""
    text = line.strip()
    if text[:1] in ('"', "'"):
        name, quote, rest = text[1:].partition(text[0])
        return name if quote and "=" in rest else None
    name, equals, _ = text.partition("=")
    name = name.partition(".")[0].strip()
    return name if equals and name else None


def key_lines(text):
    """Lines of keys and table headers: {(table, index or None, key or None): line}."""
    lines = {}
    table, index = "", None
    counts = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = header_of(line)
        if header is not None:
            table, is_one_of_several = header
            if is_one_of_several:
                index = counts.get(table, 0)
                counts[table] = index + 1
            else:
                # [engine.options] belongs to the last [[engine]].
                index = counts[table.split(".")[0]] - 1 if table.split(".")[0] in counts else None
            lines.setdefault((table, index, None), number)
            continue
        key = key_of(line)
        if key is not None:
            lines.setdefault((table, index, key), number)
    return lines


class Config:
    """A file that was read, and where its parts stand."""

    def __init__(self, path):
        self.path = Path(path)
        try:
            self.values, text = read_toml(self.path)
        except FileNotFoundError:
            raise InputError("there is no such file", path) from None
        self.lines = key_lines(text)
        self.check(self.values, TOP, "", None)
        for table, known in (("openings", OPENINGS), ("adjudication", ADJUDICATION), ("timeouts", TIMEOUTS)):
            self.check(self.values.get(table, {}), known, table, None)
        for index, engine in enumerate(self.values.get("engine", [])):
            if not isinstance(engine, dict):
                raise InputError("engines are tables: [[engine]]", path, self.line("", None, "engine"))
            self.check(engine, ENGINE, "engine", index)
            if "command" not in engine:
                raise InputError("this engine has no command", path, self.line("engine", index, None))

    def line(self, table, index, key):
        """The line of a key, or at least of its table."""
        for place in ((table, index, key), (f"{table}.{key}", index, None), (key, None, None), (table, index, None)):
            if place in self.lines:
                return self.lines[place]
        return 1

    def check(self, values, known, table, index):
        for key, value in values.items():
            line = self.line(table, index, key)
            if key not in known:
                where = f" in [{table}]" if table else ""
                raise InputError(f"unknown key '{key}'{where}; known are {', '.join(known)}", self.path, line)
            wanted = known[key]
            is_bool = isinstance(value, bool)
            if not isinstance(value, wanted) or (is_bool and wanted is not bool):
                names = {str: "text", int: "a whole number", bool: "true or false", dict: "a table", list: "tables"}
                raise InputError(f"'{key}' must be {names.get(wanted, 'a number')}", self.path, line)

    def at(self, table, index, key):
        """Turns a mistake that is found while a value is used into one that names its line."""
        return _Place(self, table, index, key)

    def relative(self, text):
        """Paths in the file start from its own directory."""
        return self.path.parent / text


class _Place:
    def __init__(self, config, table, index, key):
        self.config, self.place = config, (table, index, key)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, (ValueError, OSError)):
            text = str(error)
            if str(self.config.path) + ":" in text:
                return False
            raise InputError(text, self.config.path, self.config.line(*self.place)) from None
        return False
