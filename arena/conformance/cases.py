"""The cases of `quetzal uci-check`: starting, options, commands, and what a dialogue must survive."""

import os
import re
import signal
import subprocess
import time

import chess

from arena.conformance import search_cases
from arena.conformance.check import CaseError, NotApplicableError, expect, must, should
from arena.conformance.search_cases import bestmove, play

RESERVED = {"name", "value", "type", "default", "min", "max", "var"}
TYPES = {"check", "spin", "combo", "button", "string"}
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


@should("UCI: the engine boots and waits for input")
def boots_silently(table):
    """Says nothing before it is asked."""
    with table.start(greet=False) as client:
        expect(client.silent(0.4), f"'{client.lines[-1] if client.lines else ''}' came before 'uci'")


@must("UCI: uci, id, uciok")
def greets(table):
    """Answers 'uci' with id name, id author and uciok."""
    with table.start(greet=False) as client:
        lines = client.ask("uci", until="uciok")
        expect(any(re.match(r"id\s+name\s+\S", line) for line in lines), "no 'id name'")
        expect(any(re.match(r"id\s+author\s+\S", line) for line in lines), "no 'id author'")


@should("UCI: without uciok in a certain time the GUI ends the engine")
def greets_soon(table):
    """Sends uciok within 4 seconds, and nothing but id, option and info before it."""
    with table.start(greet=False) as client:
        lines = client.ask("uci", until="uciok")
        seconds = client.moment - client.started
        strange = [line for line in lines if line.split(" ", 1)[0] not in ("id", "option", "info", "uciok", "")]
        expect(not strange, f"'{strange[0] if strange else ''}' is not UCI")
        expect(seconds <= 4, f"uciok took {seconds:.1f} s")


@should("GUIs that ask again when the engine's settings are opened")
def greets_again(table):
    """Answers a second 'uci' like the first."""
    with table.start(greet=False) as client:
        first = [line for line in client.ask("uci", until="uciok") if line.startswith(("id ", "option "))]
        second = [line for line in client.ask("uci", until="uciok") if line.startswith(("id ", "option "))]
        expect(first == second, "the second answer differs")


@must("UCI: option")
def declares_options(table):
    """Declares its options so that every GUI can read them: known types, defaults, and ranges of numbers."""
    for name, (kind, line) in table.options.items():
        expect(kind in TYPES, f"unknown type in '{line}'")
        written = line.removeprefix("option name ").partition(" type ")[0]
        expect(not RESERVED & set(written.split()), f"the name of '{line}' contains a reserved word")
        if kind == "spin":
            numbers = {word: re.search(rf" {word} (-?\d+)(?: |$)", line) for word in ("default", "min", "max")}
            expect(all(numbers.values()), f"no default, min and max in '{line}'")
            default, least, most = (int(found[1]) for found in numbers.values())
            expect(least <= default <= most, f"the default of {name} is outside the range in '{line}'")
        if kind == "check":
            expect(re.search(r" default (true|false)\s*$", line), f"no default in '{line}'")


@should("UCI: Hash, and <empty> for an empty string; old GUIs froze with long lists")
def declares_options_for_guis(table):
    """Has an option Hash, writes empty defaults as <empty>, and has not more than 100 options."""
    expect("hash" in table.options, "no option Hash")
    expect(len(table.options) <= 100, f"{len(table.options)} options")
    for kind, line in table.options.values():
        if kind == "string":
            expect(re.search(r" default \S", line), f"an empty default must be written <empty>: '{line}'")


@must("UCI: setoption, names in any case")
def takes_options(table):
    """Takes option names in any case, and passes over options that it does not have."""
    with table.start() as client:
        client.send("setoption name hAsH value 2", "setoption name No Such Option value some thing")
        client.ready()
        play(client, "position startpos", "go depth 2")


@should("match runners and lichess-bot, which pass on what a user has written")
def refuses_bad_values(table):
    """Refuses option values that make no sense, and lives on."""
    with table.start() as client:
        client.send("setoption name Hash value pony", "setoption name Hash value -1", "setoption name Hash")
        client.send("setoption name Hash value", "setoption", "setoption name", "setoption value 3")
        client.send("setoption name UCI_Opponent value GM 2800 human A B")
        for name, (kind, _) in table.options.items():
            if kind == "string" and "path" in name:
                client.send(f"setoption name {name} value <empty>", f"setoption name {name} value")
        client.ready()
        play(client, "position startpos", "go depth 2")


@should("match runners and lichess-bot, with settings made for another machine")
def declines_too_much_hash(table):
    """Survives a Hash size that the machine does not have."""
    table.need_option("Hash")
    most = int(re.search(r" max (\d+)", table.options["hash"][1])[1])
    if most < 1 << 20:
        raise NotApplicableError("its largest table is small")
    with table.start() as client:
        client.send(f"setoption name Hash value {most}")
        client.ready()
        play(client, "position startpos", "go depth 2")


@must("UCI: unknown commands are ignored")
def ignores_unknown_commands(table):
    """Ignores commands that it does not know, and empty lines."""
    with table.start() as client:
        client.send("joho", "joho 1 2", "debug off", "register later", "# comment", "", "   ", "\t")
        client.ready()
        play(client, "position startpos", "go depth 2")


@should("UCI: the rest of a line behind an unknown word is read")
def reads_on_behind_unknown_words(table):
    """Passes over words that it does not know, and reads on behind them."""
    with table.start() as client:
        client.send("joho debug off")
        client.ask("joho isready", until="readyok")


@must("UCI: arbitrary white space between words")
def reads_any_blanks(table):
    """Reads tabs and many blanks between words."""
    with table.start() as client:
        client.send("  position \t startpos   moves  e2e4 \t e7e5 ", "\tgo   depth\t2  ")
        board = chess.Board()
        board.push_uci("e2e4")
        board.push_uci("e7e5")
        expect(chess.Move.from_uci(bestmove(client.until("bestmove"))) in board.legal_moves, "an illegal bestmove")


@should("UCI: line ends of another system, as when GUI and engine run under different ones")
def reads_any_line_end(table):
    """Reads lines that end with CR LF."""
    with table.start() as client:
        client.send_bytes(b"isready\r\n")
        client.until("readyok")
        client.send_bytes(b"position startpos moves e2e4\r\ngo depth 2\r\n")
        board = chess.Board()
        board.push_uci("e2e4")
        expect(chess.Move.from_uci(bestmove(client.until("bestmove"))) in board.legal_moves, "an illegal bestmove")


@should("GUIs that send names and paths in other encodings")
def survives_noise(table):
    """Survives bytes that are no text and lines without sense."""
    with table.start() as client:
        client.send_bytes(b"\xff\xfe\x00\x01\x80 \xc3\x28\n\x00\n" + bytes(range(14, 256)) + b"\n")
        client.send(
            "position", "position fen", "position startpos moves", "position startpos moves \udcff", "position moves"
        )
        client.send("go depth x", "stop")
        client.until("bestmove")
        client.send("go depth", "stop")
        client.until("bestmove")
        client.ready()
        play(client, "position startpos", "go depth 2")


@should("GUIs that split lines at single blanks")
def writes_clean_lines(table):
    """Writes whole lines: single blanks, none at the end, LF only, no fractions."""
    with table.start(greet=False) as client:
        client.ask("uci", until="uciok")
        client.ready()
        client.ask("position startpos", "go depth 6", until="bestmove")
        for line in client.lines:
            expect("\r" not in line, f"a CR in {line!r}")
            expect(line == line.rstrip(), f"a blank at the end of {line!r}")
            if line.startswith(("id ", "option ")) or line.startswith("info string"):
                continue
            expect("  " not in line, f"two blanks in {line!r}")
            expect("\t" not in line, f"a tab in {line!r}")
            expect(not line.startswith("info ") or not re.search(r"\d\.\d", line), f"a fraction in {line!r}")


@must("UCI: commands that are not supposed to come are ignored")
def ignores_idle_stop(table):
    """Ignores 'stop' and 'ponderhit' when it is not searching."""
    with table.start() as client:
        client.send("stop", "ponderhit", "stop")
        expect(client.silent(0.4, "bestmove"), f"'{client.lines[-1]}' without a go")
        client.ready()


@must("UCI: go infinite ends with stop, and not before")
def has_no_stale_stop(table):
    """A 'stop' that comes too late does not end the next search."""
    with table.start() as client:
        client.ask("position startpos", "go depth 1", until="bestmove")
        client.send("stop", "go infinite")
        expect(client.silent(0.5, "bestmove"), "the next 'go infinite' was ended by an old stop")
        client.ask("stop", until="bestmove")


@must("UCI: a bestmove for every go")
def keeps_the_order(table):
    """'stop', 'position' and 'go' at once: one bestmove for each search, in order."""
    with table.start() as client:
        client.send("position startpos moves e2e4 e7e5", "go infinite")
        client.ready()
        client.send("stop", "position startpos moves e2e4", "go depth 2")
        first = bestmove(client.until("bestmove"))
        second = bestmove(client.until("bestmove"))
        white = chess.Board("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
        black = chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")
        expect(chess.Move.from_uci(first) in white.legal_moves, f"{first} does not belong to the first search")
        expect(chess.Move.from_uci(second) in black.legal_moves, f"{second} does not belong to the second search")
        expect(client.silent(0.3, "bestmove"), "a third bestmove came")


@must("UCI: isready is answered at once, also during a search")
def answers_while_searching(table):
    """Answers 'isready' during a search, and searches on."""
    with table.start() as client:
        client.send("position startpos", "go infinite")
        time.sleep(0.1)
        sent = time.perf_counter()
        lines = client.ready()
        expect(client.moment - sent < table.soon, f"readyok took {client.moment - sent:.1f} s")
        expect(not any(line.startswith("bestmove") for line in lines), "'isready' ended the search")
        expect(client.silent(0.3, "bestmove"), "the search ended after 'isready'")
        client.ask("stop", until="bestmove")


@must("UCI: isready is always answered with readyok")
def writes_whole_lines_from_all_threads(table):
    """Never mixes the lines of two threads: 300 answers during a search."""
    with table.start() as client:
        client.send("position startpos", "go infinite")
        client.send(*["isready"] * 300)
        count = 0
        while count < 300:
            lines = client.until("readyok")
            count += 1
            for line in lines:
                good = line == "readyok" or line.startswith("info ")
                expect(good and "readyok" not in line[7:], f"a mixed line: {line!r}")
        client.ask("stop", until="bestmove")


@should("GUIs that change options during an analysis")
def queues_options(table):
    """'setoption' during a search neither blocks nor loses the bestmove."""
    table.need_option("Hash")
    with table.start() as client:
        client.send("position startpos", "go infinite")
        time.sleep(0.1)
        client.send("setoption name Hash value 4", "isready", "stop")
        client.until("bestmove")
        client.ready()
        play(client, "position startpos", "go depth 2")


@should("GUIs that send the next position before the stop")
def queues_positions(table):
    """'position' during a search does not touch that search."""
    with table.start() as client:
        client.send("position startpos", "go infinite")
        time.sleep(0.1)
        client.send("position startpos moves e2e4", "stop")
        move = bestmove(client.until("bestmove"))
        expect(chess.Move.from_uci(move) in chess.Board().legal_moves, f"{move} does not belong to the search")


def ends(table, *, searching, by_quit):
    """The exit status of an engine that is told to end."""
    with table.start() as client:
        client.send("position startpos")
        if searching:
            client.send("go infinite")
            time.sleep(0.1)
        if by_quit:
            client.send("quit")
        else:
            client.close_input()
        try:
            client.process.wait(3 * table.soon)
        except subprocess.TimeoutExpired:
            raise CaseError(f"the process is still there after {3 * table.soon:g} s") from None
        return client.process.returncode


@must("UCI: quit")
def quits_idle(table):
    """'quit' ends it."""
    ends(table, searching=False, by_quit=True)


@must("UCI: quit")
def quits_in_search(table):
    """'quit' ends it during a search."""
    ends(table, searching=True, by_quit=True)


@should("match runners and scripts, which take another status for a crash")
def quits_without_complaint(table):
    """'quit' ends it with exit status 0, also during a search."""
    for searching in (False, True):
        status = ends(table, searching=searching, by_quit=True)
        expect(status == 0, f"exit status {status}")


@should("GUIs that crash or close the pipe: no engine is left behind")
def ends_with_its_input(table):
    """The end of its input ends it, with exit status 0."""
    status = ends(table, searching=False, by_quit=False)
    expect(status == 0, f"exit status {status}")


@should("GUIs that crash or close the pipe: no engine is left behind")
def ends_with_its_input_in_search(table):
    """The end of its input ends it during a search, with exit status 0."""
    status = ends(table, searching=True, by_quit=False)
    expect(status == 0, f"exit status {status}")


@should("match runners on a terminal, and services that end with SIGTERM")
def keeps_a_signal_away(table):
    """Ctrl-C in the GUI's terminal does not end it; SIGTERM does, with status 0."""
    if os.name != "posix":
        raise NotApplicableError("no such signals here")
    with table.start() as client:
        os.kill(client.process.pid, signal.SIGINT)
        time.sleep(0.2)
        expect(client.process.poll() is None, "SIGINT ended it")
        client.ready()
        os.kill(client.process.pid, signal.SIGTERM)
        try:
            client.process.wait(3 * table.soon)
        except subprocess.TimeoutExpired:
            raise CaseError("SIGTERM does not end it") from None
        expect(client.process.returncode == 0, f"exit status {client.process.returncode} after SIGTERM")


@should("GUIs that keep several engines loaded")
def waits_without_working(table):
    """Uses no processor time while it waits for a command."""
    with table.start() as client:
        if client.processor_seconds() is None:
            raise NotApplicableError("this system does not tell processor times")
        time.sleep(0.3)
        before = client.processor_seconds()
        time.sleep(1)
        used = client.processor_seconds() - before
        expect(used <= 0.1, f"{used:.2f} s of processor time in one idle second")


@should("GUIs that do not read while they draw")
def does_not_wait_for_the_reader(table):
    """A GUI that does not read for a while gets everything later: answers, and one bestmove."""
    with table.start() as client:
        client.may_read.clear()
        client.send(*["uci"] * 150, "position startpos", "go movetime 100")
        time.sleep(1)
        client.may_read.set()
        for _ in range(150):
            client.until("uciok")
        client.until("bestmove")
        expect(client.silent(0.3, "bestmove"), "more than one bestmove")


@should("GUIs and services that start engines from their own directory")
def runs_anywhere(table):
    """Needs neither a home directory nor a search path nor a special working directory."""
    if not os.path.isabs(table.command[0]):
        raise NotApplicableError("the command has no absolute path")
    # Programs that are scripts may want their interpreter's own settings, so only the usual suspects are taken away.
    env = {name: value for name, value in os.environ.items() if name not in ("HOME", "PATH", "TMPDIR", "TEMP")}
    with table.start(env=env, cwd=os.path.abspath(os.sep)) as client:
        play(client, "position startpos", "go depth 2")


def replays(table, plies):
    moves = [SHUFFLE[ply % 4] for ply in range(plies)]
    with table.start() as client:
        client.send(f"position startpos moves {' '.join(moves)}")
        client.ready()
        client.send("go depth 2")
        lines = client.until("bestmove")
        expect(chess.Move.from_uci(bestmove(lines)) in chess.Board().legal_moves, "an illegal bestmove")


@must("UCI: position with all moves of the game")
def replays_games(table):
    """Takes a game of 600 plies in one line, longer than the longest between masters."""
    replays(table, 600)


@should("match runners without a limit on the length of games")
def replays_long_games(table):
    """Takes a game of 1,200 plies in one line."""
    replays(table, 1200)


CASES = (
    boots_silently,
    greets,
    greets_soon,
    greets_again,
    declares_options,
    declares_options_for_guis,
    takes_options,
    refuses_bad_values,
    declines_too_much_hash,
    ignores_unknown_commands,
    reads_on_behind_unknown_words,
    reads_any_blanks,
    reads_any_line_end,
    survives_noise,
    writes_clean_lines,
    ignores_idle_stop,
    has_no_stale_stop,
    keeps_the_order,
    answers_while_searching,
    writes_whole_lines_from_all_threads,
    queues_options,
    queues_positions,
    quits_idle,
    quits_in_search,
    quits_without_complaint,
    ends_with_its_input,
    ends_with_its_input_in_search,
    keeps_a_signal_away,
    waits_without_working,
    does_not_wait_for_the_reader,
    runs_anywhere,
    replays_games,
    replays_long_games,
    *search_cases.CASES,
)
