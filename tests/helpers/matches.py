"""A stand-in for `quetzal match`, for tests of programs that let it play."""

import json
from pathlib import Path

from command.table import build_parser


class QuetzalMatch:
    """Writes at once what a match leaves behind; the arguments are read by the real parser and kept in `calls`.

    `pairs` is how many pairs end with 0 to 2 points; multiples of it fill the games that are asked for.
    """

    def __init__(self, pairs):
        self.pairs = pairs
        self.calls = []

    def __call__(self, command, interrupt):
        options = build_parser().parse_args(command[3:])
        self.calls.append(options)
        directory = Path(options.resume or options.dir)
        directory.mkdir(parents=True, exist_ok=True)
        described = {"engines": [{"name": "first", "control": "1+0.01"}], "sprt": None}
        (directory / "run.json").write_text(json.dumps(described), encoding="ascii")
        factor = options.games // (2 * sum(self.pairs))
        lost, _, _, _, won = pairs = [factor * count for count in self.pairs]
        summary = {"games": options.games, "wins": 2 * won, "losses": 2 * lost, "pentanomial": pairs}
        summary["draws"] = options.games - summary["wins"] - summary["losses"]
        (directory / "results.json").write_text(json.dumps({**described, "summary": summary}), encoding="ascii")
        return 0
