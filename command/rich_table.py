"""A table on stdout: as wide as the terminal, or as wide as it likes where there is none."""

import sys

from arena.text import visible

_WIDE = 200  # columns in a file or a pipe


def print_table(heads, rows, left=1, stream=None):
    """The first `left` columns stand on the left, the others, numbers, on the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    stream = stream or sys.stdout
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if place < left else "right", no_wrap=place >= left)
    for cells in rows:
        table.add_row(*(Text(visible(cell)) for cell in cells))
    console = Console(file=stream, width=None if stream.isatty() else _WIDE, soft_wrap=False)
    console.print(table)
