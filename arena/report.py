"""The report page: all figures and games of a run in one HTML file that needs nothing else."""

from arena.engine import centipawns
from arena.figures import elo_text
from arena.openings import DEFAULT
from arena.statistics import estimate, finite
from board import Board
from web.page import assemble, part

GAMES_WITH_MOVES = 2_000  # the newest; a page with more would take long to open
_TRACE_POINTS = 400
_OF_MOVES = ("m", "a", "e", "d", "u", "c", "x", "v")  # what only games with moves have


def compact(record, chess960, *, with_moves=True):
    """A game with short names: it is there thousands of times."""
    game = {
        "g": record["game"] + 1,  # people count from one
        "q": record["pair"],
        "r": record["round"],
        "p": record["players"],
        "s": record["points"],
        "t": record["reason"],
        "f": record["failure"],
        "o": record["opening"],
        "l": record["plies"] if "plies" in record else len(record["moves"]),
        "n": record["fen"],
        "b": record["book_plies"],
        "w": record["began"][:10],
    }
    if not with_moves:
        return game
    board = Board(record["fen"], chess960=chess960)
    sans, scores = [], []
    for index, text in enumerate(record["moves"]):
        move = board.parse_uci(text)
        if index >= record["book_plies"]:
            score = centipawns(record["thoughts"][index - record["book_plies"]])
            scores.append(score if score is None or board.turn == 0 else -score)
        sans.append(board.san(move))
        board.push(move)
    thoughts = record["thoughts"]
    return {
        **game,
        "m": " ".join(record["moves"]),
        "a": " ".join(sans),
        "e": scores,
        "d": [thought.get("depth") for thought in thoughts],
        "u": [thought["time"] for thought in thoughts],
        "c": [thought.get("left") for thought in thoughts],
        "x": [thought.get("nodes") for thought in thoughts],
        "v": [thought.get("pv") for thought in thoughts],
    }


def without_moves(game):
    return {name: value for name, value in game.items() if name not in _OF_MOVES}


def table_of_match(schedule, records):
    """Standings of two, so that a match has the same table as a tournament."""
    tally = schedule.tally
    pairs = tally.pentanomial
    ratings = [estimate(pairs), estimate(pairs[::-1])]  # of the one and the other, each against the other
    failures = dict.fromkeys(schedule.names, 0)
    for (name, _), count in tally.failures.items():
        failures[name] += count
    rows = []
    for player, (wins, losses) in enumerate(((tally.wins, tally.losses), (tally.losses, tally.wins))):
        against = [record["points"] if record["players"][0] == player else 1 - record["points"] for record in records]
        rows.append(
            {
                "engine": schedule.names[player],
                "points": wins + tally.draws / 2,
                "games": tally.games,
                "wins": wins,
                "draws": tally.draws,
                "losses": losses,
                "failures": failures[schedule.names[player]],
                "rating": finite(ratings[player].elo),
                "rating_low": finite(ratings[player].elo_low),
                "rating_high": finite(ratings[player].elo_high),
                "rating_is_bounded": False,
                "rating_text": elo_text(ratings[player]) if tally.games else "",
                "anchor": False,
                "against": {schedule.names[1 - player]: against} if against else {},
            }
        )
    return sorted(rows, key=lambda row: -row["points"])


def rating_ends(row):
    """The interval of a rating; without a known error there is nothing to draw."""
    error = row["rating_error"]
    if error is None:
        return {"rating": None, "rating_low": None, "rating_high": None}
    return {"rating_low": row["rating"] - error, "rating_high": row["rating"] + error}


def llr_trace(schedule, records):
    """The test's ratio after so many pairs."""
    pairs, pentanomial, order = {}, [0] * 5, []
    for record in records:
        if record["game"] in schedule.tally.repeats.games:
            continue
        own = record["points"] if record["players"][0] == 0 else 1 - record["points"]
        if record["pair"] in pairs:
            order.append(pairs[record["pair"]] + own)
        else:
            pairs[record["pair"]] = own
    step = max(1, len(order) // _TRACE_POINTS)
    trace = []
    for number, points in enumerate(order, 1):
        pentanomial[round(2 * points)] += 1
        if number % step == 0 or number == len(order):
            trace.append([number, round(schedule.sprt.llr(pentanomial), 3)])
    return trace


def overview(run):
    """Everything on the page but the games themselves."""
    schedule, description = run.schedule, run.journal.description
    summary = schedule.summary()
    records = run.journal.records
    if description["kind"] == "match":
        table = table_of_match(schedule, records)
        if schedule.sprt is not None:
            summary["llr_trace"] = llr_trace(schedule, records)
    else:
        anchors = {engine["name"] for engine in description["engines"] if engine["rating"] is not None}
        table = [{**row, **rating_ends(row), "anchor": row["engine"] in anchors} for row in summary["standings"]]
    repeats = schedule.tally.repeats if description["kind"] == "match" else schedule.repeats
    repeated = [number + 1 for number in sorted(repeats.games)]
    return {"summary": summary, "table": table, "total": schedule.total, "repeated": repeated}


def openings_text(path):
    if path is None:
        return None
    if path == DEFAULT:
        return "default openings"
    return f"openings from {path.replace(chr(92), '/').rsplit('/', 1)[-1]}"


def frame(run):
    """What does not change while games are played."""
    description = run.journal.description
    return {
        "kind": description["kind"],
        "name": description["name"],
        "format": description.get("format", "match"),
        "engines": [{"name": engine["name"], "control": engine["control"]} for engine in description["engines"]],
        "openings": openings_text(description["openings"]["path"]),
        "sprt": description.get("sprt"),
        "chess960": description["rules"]["chess960"],
    }


def compact_games(journal):
    """All games for the page, the newest with their moves."""
    chess960 = journal.description["rules"]["chess960"]
    first = len(journal.records) - GAMES_WITH_MOVES
    return [compact(record, chess960, with_moves=index >= first) for index, record in enumerate(journal.full_records())]


def page_data(run):
    """All data of a finished run."""
    games = compact_games(run.journal)
    return {**frame(run), **overview(run), "games": games, "running": [], "live": False, "over": True}


def page(data):
    """The page as text."""
    own = (part("arena", f"page/{name}.js") for name in ("overview", "games", "viewer", "live"))
    script = "\n".join([part("web", "assets/walk.js"), *own])
    return assemble(data["name"], part("arena", "page/body.html"), part("arena", "page/page.css"), script, data)
