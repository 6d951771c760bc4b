"""What a run shows while it goes on: a table that redraws itself on a terminal, plain lines anywhere else."""

import os
import sys
import time

from arena.duration import duration
from arena.figures import elo_text, los_text, normalized_text, rating_text
from arena.standings import points_text
from arena.statistics import estimate

_REDRAW_SECONDS = 0.25
_PLAIN_SECONDS = 15.0
_NO_REDIRECTION = {"redirect_stdout": False, "redirect_stderr": False}  # other lines first clear the table


def rate_text(run, done, total):
    text = f"{60 * run.rate():.1f} games/min"
    if total is not None and run.played and done < total:
        text += f", {duration((total - done) / run.rate())} left"
    return text


def failure_lines(failures):
    return [f"  {name}: {count} games lost: {kind}" for (name, kind), count in sorted(failures.items())]


def note_lines(schedule):
    return [f"  note   {note}" for note in schedule.notes()]


def match_lines(run):
    """The table of a match."""
    schedule = run.schedule
    tally = schedule.tally
    known = estimate(tally.pentanomial)
    of_total = "" if schedule.total is None else f" of {schedule.total}"
    score = f"   {100 * (tally.wins + tally.draws / 2) / tally.games:.1f} %" if tally.games else ""
    lines = [
        f"{schedule.names[0]} - {schedule.names[1]}",
        f"  games  {tally.games}{of_total}   +{tally.wins} -{tally.losses} ={tally.draws}{score}",
        f"  pairs  {tally.pentanomial}  (0, ½, 1, 1½, 2 points)",
        f"  Elo    {elo_text(known)}",
    ]
    if known.normalized_elo is not None:
        lines.append(f"  nElo   {normalized_text(known)}   LOS {los_text(known)}")
    if schedule.sprt is not None:
        sprt = schedule.sprt
        model = "normalised" if sprt.normalized else "logistic"
        verdict = {None: "", "H0": f": {sprt.elo0:g} accepted", "H1": f": {sprt.elo1:g} accepted"}[schedule.verdict]
        lines.append(
            f"  SPRT   LLR {sprt.llr(tally.pentanomial):.2f} ({sprt.lower:.2f}, {sprt.upper:.2f})"
            f" [{sprt.elo0:g}, {sprt.elo1:g}] {model}{verdict}"
        )
    lines.append(
        f"  runner {tally.mean_overhead():.3f} ms per move between the clocks, at worst {tally.worst_overhead:.1f} ms"
    )
    return lines + note_lines(schedule) + failure_lines(tally.failures)


def match_line(run):
    """The same in one line."""
    schedule = run.schedule
    tally = schedule.tally
    known = estimate(tally.pentanomial)
    of_total = "" if schedule.total is None else f"/{schedule.total}"
    text = f"{tally.games}{of_total} games +{tally.wins} -{tally.losses} ={tally.draws}, Elo {elo_text(known)}"
    if schedule.sprt is not None:
        text += f", LLR {schedule.sprt.llr(tally.pentanomial):.2f}"
    return f"{text}, {rate_text(run, tally.games, schedule.total)}"


def tournament_lines(run):
    """Standings with the tie-breaks of the format, and the cross-table."""
    schedule = run.schedule
    rows, ratings = schedule.current_table()
    width = max(6, *(len(name) for name in schedule.names))
    anchored = any(rating.is_anchor for rating in ratings)
    lines = [
        f"{schedule.description['name']}: {schedule.kind}, round {schedule.round} of {schedule.rounds},"
        f" {schedule.done} of {schedule.total} games",
        f"  #  {'engine':{width}}  points  games    +    -    =  {tie_break_titles(schedule.kind)}"
        f"  {'rating' if anchored else 'Elo'} ± 95 %",
    ]
    for place, row in enumerate(rows, 1):
        rating = rating_text(ratings[row.player], anchored)
        lines.append(
            f"{place:3}  {row.name:{width}}  {points_text(row.points):>6}  {row.games:5}  {row.wins:3}  {row.losses:3}  {row.draws:3}"
            f"  {tie_breaks(schedule.kind, row)}  {rating}"
        )
    lines += ["", *cross_table(rows, width)]
    failed = [f"{row.name} {row.failures}" for row in rows if row.failures]
    if failed:
        lines.append(f"  games lost by failures: {', '.join(failed)}")
    summary = schedule.summary()
    lines += note_lines(schedule)
    lines.append(
        f"  runner {summary['overhead_ms']:.3f} ms per move between the clocks, at worst"
        f" {summary['worst_overhead_ms']:.1f} ms"
    )
    return lines


def tie_break_titles(kind):
    return {
        "round-robin": "direct       SB",
        "swiss": "Buchholz       SB",
        "knockout": "rounds",
        "gauntlet": "score %",
    }[kind]


def tie_breaks(kind, row):
    if kind == "round-robin":
        return f"{row.direct:6.1f}  {row.sonneborn:7.2f}"
    if kind == "swiss":
        return f"{row.buchholz:8.1f}  {row.sonneborn:7.2f}"
    return f"{row.stage:6}" if kind == "knockout" else f"{100 * row.share:7.1f}"


def cross_table(rows, width):
    """Points of each against each."""
    cells = [
        [points_text(sum(row.against[other.player])) if other.player in row.against else "·" for other in rows]
        for row in rows
    ]
    cell = max(3, *(len(text) for line in cells for text in line))
    head = " ".join(f"{place:>{cell}}" for place in range(1, len(rows) + 1))
    return [f"     {'':{width}}  {head}"] + [
        f"{place:3}  {row.name:{width}}  "
        + " ".join(f"{'×' if index + 1 == place else text:>{cell}}" for index, text in enumerate(line))  # noqa: RUF001
        for place, (row, line) in enumerate(zip(rows, cells, strict=True), 1)
    ]


def tournament_line(run):
    schedule = run.schedule
    rows, _ = schedule.current_table()
    leader = f"{rows[0].name} leads with {points_text(rows[0].points)}" if schedule.done else ""
    return f"{schedule.done}/{schedule.total} games, {leader}, {rate_text(run, schedule.done, schedule.total)}"


class Display:
    """Shows a run. `lines` makes the table, `line` its short form."""

    def __init__(self, lines, line, stream=None, resume_hint=""):
        self.lines = lines
        self.line = line
        self.stream = sys.stdout if stream is None else stream
        self.resume_hint = resume_hint
        self.is_terminal = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.live = None  # what is drawn on a terminal
        self.shown = 0.0
        self.is_dirty = True

    def begin(self, run):
        if run.before:
            self.say(f"continuing after {run.before} games")
        self.shown = time.monotonic()

    def warning(self, text):
        self.clear()
        print(f"warning: {text}", file=sys.stderr, flush=True)

    def game(self, run, record):
        self.is_dirty = True
        if record["failure"] is not None:
            self.clear()
            self.say(
                f"game {record['game'] + 1}: {record['white']} - {record['black']} {record['result']}, "
                f"{record['reason']}; dialogue in {record.get('log')}"
            )

    def update(self, run):
        now = time.monotonic()
        if self.is_terminal:
            if now - self.shown >= _REDRAW_SECONDS:
                self.shown = now
                self.draw(run)
        elif self.is_dirty and now - self.shown >= _PLAIN_SECONDS:
            self.shown = now
            self.is_dirty = False
            self.say(self.line(run))

    def draw(self, run):
        """The table and a bar below it, redrawn in place. rich is loaded only here."""
        if self.live is None:
            from rich.console import Console
            from rich.live import Live

            self.live = Live(console=Console(file=self.stream), auto_refresh=False, transient=True, **_NO_REDIRECTION)
            self.live.start()
        self.live.update(self.picture(run), refresh=True)

    def picture(self, run):
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        title, *lines = self.lines(run)
        table = [Text(title, "bold", no_wrap=True), *(Text(line, no_wrap=True) for line in lines)]
        done, total = run.schedule.done, run.schedule.total
        rate = Text(rate_text(run, done, total))
        foot = Table.grid(padding=(0, 2))
        if total:
            share = Text(f"{100 * done // total} %")
            foot.add_row("", ProgressBar(total, done, width=40), share, rate)
        else:
            foot.add_row("", rate)
        return Group(*table, foot)

    def clear(self):
        """Takes the table away, whatever happens next."""
        if self.live is not None:
            self.live.stop()
            self.live = None

    def say(self, text):
        print(text, file=self.stream, flush=True)

    def end(self, run, complete):
        self.clear()
        for line in self.lines(run):
            self.say(line)
        self.say(f"  {run.played} games in {duration(run.seconds)}, results in {run.journal.directory}")
        if not complete:
            self.say(f"stopped; {self.resume_hint} goes on")
