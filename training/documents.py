"""Documents with a section that a script writes: what stands between two comments is its own, the rest is people's."""

from arena.errors import InputError

END = "<!-- end -->"


def with_section(text, begin, section, path):
    """The document with what stands between `begin` and the end replaced; `path` is for the message."""
    before, mark, rest = text.partition(begin)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise InputError(f"has no place for the table, between '{begin}' and '{END}'", path)
    return f"{before}{begin}\n{section}\n{END}{after}"
