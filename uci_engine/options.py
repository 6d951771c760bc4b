"""The engine's options: one table, from which come the `uci` answer, parsing, the README's table and the tests."""

from typing import NamedTuple


class Option(NamedTuple):
    """`apply` names the Engine method that takes a new value; without one the value is only kept."""

    name: str
    kind: str
    default: object
    help: str
    least: int | None = None
    most: int | None = None
    apply: str | None = None

    def declaration(self):
        """The line that announces the option."""
        parts = ["option name", self.name, "type", self.kind]
        if self.kind == "check":
            parts += ["default", "true" if self.default else "false"]
        elif self.kind == "spin":
            parts += ["default", self.default, "min", self.least, "max", self.most]
        elif self.kind == "string":
            parts += ["default", self.default or "<empty>"]
        return " ".join(str(part) for part in parts)

    def parse(self, text):
        """The value that a GUI's text means; ValueError with the reason when it means none."""
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                raise ValueError(f"{self.name} is true or false, not '{text}'")
            return text.lower() == "true"
        if self.kind == "spin":
            try:
                number = int(text)
            except ValueError:
                raise ValueError(f"{self.name} wants a whole number, not '{text}'") from None
            if not self.least <= number <= self.most:
                raise ValueError(f"{self.name} lies between {self.least} and {self.most}, {number} does not")
            return number
        if self.kind == "button":
            return None
        return "" if text == "<empty>" else text


OPTIONS = (
    Option("Hash", "spin", 16, "Size of the transposition table in MB", 1, 1048576, apply="set_hash"),
    Option("Threads", "spin", 1, "Number of search threads", 1, 256, apply="set_threads"),
    Option("Clear Hash", "button", None, "Forgets everything that was learned", apply="clear"),
    Option("Ponder", "check", False, "Tells GUIs that Quetzal can think on the opponent's time"),
    Option("MultiPV", "spin", 1, "How many best lines to show", 1, 256, apply="set_multipv"),
    Option("Move Overhead", "spin", 10, "Milliseconds per move that the GUI may lose", 0, 5000, apply="set_overhead"),
    Option("UCI_Chess960", "check", False, "Write castling as king takes rook"),
)


def tuning_options():
    """The search's own numbers as options, for a tuner (environment variable QUETZAL_TUNING=1)."""
    from search.parameters import TABLE

    return tuple(
        Option(each.name, "spin", each.default, each.meaning, each.least, each.most, apply="set_parameter")
        for each in TABLE
    )


def by_name(options):
    """Finds options as GUIs write them: any case, and without the blanks if they like."""
    return {option.name.lower().replace(" ", ""): option for option in options}
