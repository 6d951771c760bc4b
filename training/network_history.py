"""The history of the networks: what games, training and matches left behind, the verdict, and the table of them all."""

from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from arena.errors import InputError
from arena.figures import elo_text
from arena.formats import check_shape, demand
from arena.journal import damage
from arena.openings import fingerprint
from arena.statistics import Sprt, estimate
from board.files import parse_json, read_bytes, read_text
from eval.network_file import unpack_network
from training.documents import with_section
from training.files import GameReader

BEGIN = "<!-- written by scripts/generations.py: begin -->"
HEADER = (
    "| network | games | training | loss | at fixed nodes | with a clock | verdict |",
    "|---|---|---|---|---|---|---|",
)


# What a generation is made of


def games_in(path):
    """The number of games in a file, and what it says about how they were played."""
    with GameReader(path) as reader:
        return sum(1 for _ in reader), reader.metadata


def describe_games(path, by=None):
    count, metadata = games_in(path)
    return {"file": Path(path).name, "by": by, "games": count, "sha256": fingerprint(path), "settings": metadata}


def describe_network(path):
    network = unpack_network(read_bytes(path), str(path))
    return {
        "bytes": path.stat().st_size,
        "sha256": fingerprint(path),
        "neurons": network.neurons,
        "outputs": network.outputs,
        "king_buckets": network.king_buckets,
        "training": network.training,
    }


class Match(TypedDict):
    """What is kept of a match, and used again."""

    control: str
    sprt: Sprt | None
    games: int
    pentanomial: list[int]
    verdict: NotRequired[Literal["H0", "H1"] | None]


def check_match(match):
    """ValueError unless a match can be judged by it."""
    check_shape(match, Match)
    pairs = match["pentanomial"]
    demand(len(pairs) == 5 and min(pairs) >= 0, f"pentanomial is {pairs}")
    demand(match["sprt"] is None or "verdict" in match, "verdict is missing")


def describe_match(directory):
    path = directory / "results.json"
    wanted = ("games", "wins", "draws", "losses", "pentanomial", "elo", "elo_low", "elo_high", "llr", "verdict")
    try:
        results = parse_json(read_text(path))
        summary = results["summary"]
        match = {
            "control": results["engines"][0]["control"],
            "sprt": results["sprt"],
            **{name: summary[name] for name in wanted if name in summary},
        }
        check_match(match)
    except (ValueError, LookupError, TypeError) as error:
        raise damage(repr(error), path) from None
    return match


def outcome(match):
    """'better', 'worse' or 'open', from the side of the new network: by the test, or by the interval if games ran out."""
    if match.get("verdict") is not None:
        return {"H1": "better", "H0": "worse"}[match["verdict"]]
    known = estimate(match["pentanomial"])
    if known.elo_low is None:
        return "open"
    return "better" if known.elo_low > 0 else "worse" if known.elo_high < 0 else "open"


def decide(matches):
    """Whether the new network takes the place of the one in use, and why."""
    if outcome(matches["nodes"]) == "worse":
        return False, "weaker at fixed nodes"
    with_clock = outcome(matches["time"])
    if with_clock == "better":
        return True, "stronger with a clock"
    return False, "weaker with a clock" if with_clock == "worse" else "not shown to be stronger with a clock"


# The history


def read_history(path):
    if not path.exists():
        return []
    try:
        history = parse_json(read_text(path))
        if not all(isinstance(entry["name"], str) and entry["network"]["sha256"] for entry in history):
            raise ValueError("an entry without name or network")
        table(history)  # it will have to be written again
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"is no history of networks: {error!r}", path) from None
    return history


def losses_text(training):
    """The losses after the last epoch."""
    if not training.get("losses"):
        return ""
    return "training {:.6f}, held out {:.6f}".format(*training["losses"][-1])


def games_text(data, names):
    """Whose games they are. `names` knows networks by their checksum: most play under the name of Quetzal's own."""
    parts = []
    for each in data:
        text = f"{each['games']:,}"
        if "soft_nodes" in each["settings"]:
            text += f" at {each['settings']['soft_nodes']:,} nodes"
        known = names.get(each["settings"].get("eval_sha256"))
        by = each["by"] or known or Path(each["settings"].get("eval_file", "")).stem
        parts.append(text + (f" by {by}" if by else " made before"))
    return " + ".join(parts)


def training_text(training):
    """What the trainer says of its data and settings in the network's file."""
    parts = []
    if "data" in training:
        parts.append(f"{training['data']['positions']:,} positions")
    for name in ("neurons", "outputs", "king_buckets", "epochs", "batch", "rate", "rate_curve", "result_share", "seed"):
        if name in training.get("settings", {}):
            value = training["settings"][name]
            parts.append(f"{name.replace('_', ' ')} {value if isinstance(value, str) else f'{value:g}'}")
    later = training.get("settings", {}).get("filters", {}).get("later_share")
    if later:
        parts.append(f"later share {later:g}")
    if training.get("start"):
        parts.append(f"from {training['start']}")
    return ", ".join(parts)


def match_text(match):
    if match is None:
        return "not played"
    text = f"{elo_text(estimate(match['pentanomial']))} in {match['games']} games, {match['control']}"
    if match["sprt"] is not None:
        text += f"; SPRT [{match['sprt']['elo0']:g}, {match['sprt']['elo1']:g}]: {match['verdict'] or 'open'}"
    return text


def row(entry, names):
    name = (
        f"**{entry['name']}** ({entry['date']}, `{entry['network']['sha256'][:8]}`) against {entry['opponent']['name']}"
    )
    verdict = ("accepted: " if entry["accepted"] else "rejected: ") + entry["reason"]
    cells = (
        name,
        games_text(entry["data"], names),
        training_text(entry["network"]["training"]),
        losses_text(entry["network"]["training"]),
        match_text(entry["matches"].get("nodes")),
        match_text(entry["matches"].get("time")),
        verdict,
    )
    return "| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in cells) + " |"


def table(history):
    names = {entry["network"]["sha256"]: entry["name"] for entry in history}
    return "\n".join((*HEADER, *(row(entry, names) for entry in history)))


def with_table(text, history, path):
    """The document with its table written anew."""
    return with_section(text, BEGIN, table(history), path)
