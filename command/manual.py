"""`quetzal manual`: the manual page in the language of man, from the same table as the help."""

import re

DESCRIPTION = (
    "Prints the manual page for man. To read it: quetzal manual | man -l -\n"
    "To keep it: quetzal manual > ~/.local/share/man/man1/quetzal.1"
)


def add_arguments(_parser):
    pass


def run(_options):
    from command.table import build_parser

    print("\n".join(page(build_parser())))


def escaped(text):
    """Text that man shows as it is: hyphens that can be copied, and no line that looks like a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def page(parser):
    """The lines of the page."""
    from command.table import COMMANDS, DESCRIPTION, PLAY, SECTIONS, leaves
    from uci_engine import __version__

    parsers = dict(leaves(parser))
    yield f'.TH QUETZAL 1 "" "Quetzal {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "quetzal \\- a UCI chess engine, and what belongs to it"
    yield ".SH SYNOPSIS"
    yield ".B quetzal"
    yield "[\\-h] [\\-v] [\\fICOMMAND\\fR ...]"
    yield ".SH DESCRIPTION"
    yield escaped(f"{DESCRIPTION} {PLAY[1][0].upper()}{PLAY[1][1:]}.")
    yield "\\fBquetzal\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR has the same about one command."
    for section in SECTIONS:
        yield f'.SH "COMMANDS: {section.upper()}"'
        for command in COMMANDS:
            if command.section == section:
                yield from command_lines(command, parsers[command.name])
    yield ".SH EXIT STATUS"
    yield "0 for success, 1 when something was found wrong, 2 for a line that was not understood, 130 after Ctrl\\-C."
    yield ".SH ENVIRONMENT"
    yield ".TP\n.B NO_COLOR\nIf it is set, nothing is coloured."


def command_lines(command, parser):
    yield f'.SS "quetzal {escaped(command.name)}"'
    yield escaped(parser.description)
    for action in parser._actions:
        if action.help == "==SUPPRESS==" or action.dest == "help":
            continue
        names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in action.option_strings)
        operand = action.metavar or ("" if action.nargs == 0 else action.dest.upper() if names else action.dest)
        yield ".TP"
        yield " ".join(part for part in (names, f"\\fI{escaped(str(operand))}\\fR" if operand else "") if part)
        yield escaped(action.help or "")
    yield ".PP"
    yield f"Example: \\fB{escaped(command.example)}\\fR"
    yield ".br"
    yield f"More: {escaped(command.page)}"
