"""`quetzal book show`."""

import sys

from book.opening.polyglot import open_book, shares
from book.opening.verify import plural
from command.arguments import add_fen, board_of, positive


def add_arguments(parser):
    parser.add_argument("book", nargs="?", help="(default: the bundled book)")
    add_fen(parser)
    parser.add_argument("--depth", type=positive, metavar="PLIES", help="a tree so deep (default: 1; at the start 3)")
    parser.add_argument(
        "--least",
        type=float,
        default=5.0,
        metavar="PERCENT",
        help="share of a move to be shown in the tree (default: 5)",
    )


def run(options):
    board = board_of(options)
    depth = options.depth or (1 if options.fen else 3)
    with open_book(options.book) as book:
        for warning in book.warnings:
            print(f"{book.path}: {warning}", file=sys.stderr)
        print(f"{book.name}: {plural(len(book), 'entry', 'entries')}")
        moves = book.moves(board)
        if not moves:
            print("nothing about this position")
            return
        print()
        print("move      weight    share")
        for each, share in zip(moves, shares(moves), strict=True):
            print(f"{board.san(each.move):8} {each.weight:7,} {share:8.1%}")
        if depth > 1:
            print()
            for line in tree_lines(book, board, depth, options.least / 100):
                print(line)


def tree_lines(book, board, depth, least, indent=""):
    """The book as a tree: a move per line, its share behind it; what lies behind a move is indented."""
    moves = book.moves(board)
    rare = 0
    for each, share in zip(moves, shares(moves), strict=True):
        if share < least:
            rare += 1
            continue
        number = f"{board.fullmove_number}{'.' if board.turn == 0 else '...'}"
        yield f"{indent}{number} {board.san(each.move)}  {share:.0%}"
        if depth > 1:
            board.push(each.move)
            yield from tree_lines(book, board, depth - 1, least, indent + "   ")
            board.pop()
    if rare:
        yield f"{indent}… {plural(rare, 'rarer move')}"
