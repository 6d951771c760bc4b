"""The cases of `quetzal uci-check` about searching: limits, scores, lines, and positions of every kind."""

import re
import time

import chess

from arena.conformance.check import CaseError, NotApplicableError, expect, must, should

NO_MOVE = ("(none)", "0000", "NULL")

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"
MATED_IN_ONE = "7k/1R6/8/8/8/8/8/R5K1 b - - 0 1"
ONE_REPLY = "k7/8/8/8/8/8/1r6/K7 w - - 0 1"
MATED = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
CASTLING_MATES = "4R3/8/8/8/8/5k1P/7P/4K2R w K - 0 1"
ONLY_PROMOTIONS = "8/7P/8/8/8/1q6/8/K3k3 w - - 0 1"

BAD_FENS = (
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w KQkq - 0 1",
    "rnbqkbnr/ppppp0pp/8/8/8 w - - 0 1",
    "P3k3/8/8/8/8/8/8/4K3 w - - 0 1",
    "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1",
    "some thing else",
)


def bestmove(lines):
    """The move of a closing `bestmove` line."""
    match = re.fullmatch(r"bestmove\s+(\S+)(?:\s+ponder\s+(\S+))?\s*", lines[-1])
    expect(match is not None, f"a malformed line: {lines[-1]!r}")
    return match[1]


def search_lines(lines):
    """The `info` lines with a score, as dicts: depth, nodes, multipv, kind, score, bound, pv."""
    found = []
    for line in lines:
        if not line.startswith("info ") or line.startswith("info string"):
            continue
        words = " ".join(line.split())
        score = re.search(r" score (cp|mate) (-?\d+)( (?:lower|upper)bound)?\b", words)
        if score is None:
            expect(" score " not in words, f"a malformed score: {line!r}")
            continue
        patterns = (r" depth (\d+)", r" nodes (\d+)", r" multipv (\d+)", r" pv (.+)$")
        depth, nodes, number, pv = (re.search(pattern, words) for pattern in patterns)
        found.append(
            {
                "depth": int(depth[1]) if depth else None,
                "nodes": int(nodes[1]) if nodes else None,
                "multipv": int(number[1]) if number else 1,
                "kind": score[1],
                "score": int(score[2]),
                "bound": (score[3] or "").strip(),
                "pv": pv[1].split() if pv else [],
                "line": line,
            }
        )
    return found


def board_of(position):
    """The position of a `position` command, by python-chess."""
    setup, _, moves = position.removeprefix("position ").partition(" moves")
    board = chess.Board() if setup.startswith("startpos") else chess.Board(setup.removeprefix("fen "))
    for move in moves.split():
        board.push_uci(move)
    return board


def check_line(board, pv, line):
    """Every move of a principal variation is legal."""
    board = board.copy()
    for text in pv:
        expect(text == text.lower(), f"capital letters in {line!r}")
        expect(chess.Move.from_uci(text) in board.legal_moves, f"{text} is illegal in {line!r}")
        board.push_uci(text)


def check_end(board, pv, line):
    """A principal variation does not go on behind the end of the game."""
    board = board.copy()
    for text in pv[:-1]:
        board.push_uci(text)
        over = board.outcome(claim_draw=False) is not None or board.is_repetition(3) or board.halfmove_clock >= 100
        expect(not over, f"the line goes on behind the end of the game: {line!r}")


def play(client, position, go, stop_after=None):
    """Searches and examines everything that came: returns the bestmove and the scored lines."""
    client.send(position, go)
    if stop_after is not None:
        time.sleep(stop_after)
        client.send("stop")
    lines = client.until("bestmove")
    board = board_of(position)
    move = bestmove(lines)
    expect(move not in NO_MOVE, f"no move after '{position}' and '{go}'")
    expect(chess.Move.from_uci(move) in board.legal_moves, f"bestmove {move} is illegal after '{position}'")
    scored = search_lines(lines)
    for each in scored:
        check_line(board, each["pv"], each["line"])
    return move, scored


def play_strictly(client, position, go, stop_after=None):
    """The same for those who read the lines: the last one is exact and begins with the move, and all end with the game."""
    move, scored = play(client, position, go, stop_after)
    expect(scored, f"no scored info line before the bestmove of '{go}'")
    for each in scored:
        check_end(board_of(position), each["pv"], each["line"])
    first = [each for each in scored if each["multipv"] == 1]
    expect(first and not first[-1]["bound"], f"the last score of '{go}' is only a bound")
    expect(first[-1]["pv"][:1] == [move], f"bestmove {move} is not the first move of the last line of '{go}'")
    return move, scored


def usual_searches(client, search):
    for fen in (KIWIPETE, MATE_IN_TWO, ONLY_PROMOTIONS, CASTLING_MATES, ONE_REPLY):
        search(client, f"position fen {fen}", "go depth 7")
    search(client, "position startpos moves e2e4 e7e5 g1f3", "go movetime 200")
    search(client, "position startpos", "go infinite", stop_after=0.3)


@must("UCI: a legal bestmove for every go, and info with score and pv")
def finds_moves(table):
    """Every search ends with a legal bestmove, and all lines that it shows are legal."""
    with table.start() as client:
        usual_searches(client, play)


@should("fastchess, which warns of each of them")
def shows_what_it_plays(table):
    """The last line of a search is exact and begins with the bestmove; no line goes on behind the end of the game."""
    with table.start() as client:
        usual_searches(client, play_strictly)


TINY = ("go nodes 1", "go movetime 1", "go depth 1", "go nodes 2", "go nodes 1 depth 1")


@must("UCI: go nodes, movetime, depth")
def searches_tiny_limits(table):
    """Even one node or one millisecond gives a legal move."""
    with table.start() as client:
        for go in ("go nodes 1", "go movetime 1", "go depth 1"):
            for position in ("position startpos", f"position fen {KIWIPETE}"):
                play(client, position, go)


@should("match runners, which adjudicate by the score of every move")
def searches_one_ply(table):
    """The first search of all, of one node or one millisecond, still looks one ply ahead and plays what it saw."""
    for go in ("go movetime 1", "go nodes 1"):
        with table.start() as client:
            move, scored = play(client, f"position fen {KIWIPETE}", go)
            seen = [each for each in scored if each["depth"] and each["nodes"] and each["pv"][:1] == [move]]
            expect(seen, f"{move} after '{go}' without a line of at least depth 1 and one node that begins with it")


@should("match runners, which count a score of 0 towards a draw")
def invents_no_scores(table):
    """Every score comes from a search: no line such as 'score cp 0 nodes 0'."""
    with table.start() as client:
        for go, stop_after in (*((go, None) for go in TINY), ("go infinite", 0)):
            for position in ("position startpos", f"position fen {KIWIPETE}"):
                _, scored = play(client, position, go, stop_after=stop_after)
                for each in scored:
                    expect(each["nodes"] != 0, f"a score without a node after '{go}': {each['line']!r}")


@must("UCI: stop, and a bestmove for every go")
def stops_at_once(table):
    """'stop' right behind 'go' gives a legal bestmove."""
    with table.start() as client:
        for _ in range(5):
            play(client, "position startpos", "go infinite", stop_after=0)


@should("GUIs that show or log the line of every move that was played")
def shows_a_line_always(table):
    """Tiny limits and a 'stop' right behind 'go' give an exact line before the bestmove."""
    with table.start() as client:
        for go in TINY:
            play_strictly(client, "position startpos", go)
            play_strictly(client, f"position fen {KIWIPETE}", go)
        for _ in range(5):
            play_strictly(client, "position startpos", "go infinite", stop_after=0)


@must("UCI: go infinite ends with stop, and not before")
def waits_in_infinite(table):
    """Gives no bestmove in 'go infinite' before 'stop', not even with a mate or a single reply."""
    with table.start() as client:
        for fen in (MATE_IN_ONE, ONE_REPLY):
            client.send(f"position fen {fen}", "go infinite")
            expect(client.silent(0.7, "bestmove"), "a bestmove before 'stop'")
            client.ask("stop", until="bestmove")


@should("GUIs in endless analysis of a position without moves")
def sleeps_in_infinite(table):
    """Uses no processor time when an infinite search has nothing left to do."""
    with table.start() as client:
        if client.processor_seconds() is None:
            raise NotApplicableError("this system does not tell processor times")
        client.send(f"position fen {MATED}", "go infinite")
        client.silent(0.5)
        before = client.processor_seconds()
        client.silent(1)
        used = client.processor_seconds() - before
        expect(used <= 0.3, f"{used:.2f} s of processor time in one second of waiting")


@must("UCI: go ponder, ponderhit")
def ponders(table):
    """Ponders until 'ponderhit' or 'stop', and then moves within its clock."""
    table.need_option("Ponder")
    clock = "wtime 1000 btime 1000"
    with table.start() as client:
        client.send("position startpos moves e2e4", f"go ponder {clock}")
        expect(client.silent(1.3, "bestmove"), "a bestmove while pondering")
        hit = time.perf_counter()
        client.ask("ponderhit", until="bestmove")
        expect(client.moment - hit < 1.5 * table.soon, "the clock had run out after ponderhit")
        client.send("position startpos moves e2e4", f"go ponder {clock}")
        client.ready()
        client.ask("stop", until="bestmove")
        client.send(f"position fen {MATE_IN_ONE}", f"go ponder {clock} depth 2")
        expect(client.silent(0.5, "bestmove"), "a bestmove while pondering on a short search")
        client.ask("ponderhit", until="bestmove")


@should("board editors and programs that send positions unchecked")
def recovers_from_bad_positions(table):
    """An illegal FEN or move is survived, answered, and forgotten with the next good position."""
    with table.start() as client:
        for position in (*(f"position fen {fen}" for fen in BAD_FENS), "position startpos moves e2e4 e2e4"):
            client.send(position)
            client.ready()
            client.ask("go depth 1", until="bestmove")
            play(client, "position startpos", "go depth 2")


@should("GUIs and EPD files that leave out the counters")
def takes_short_fens(table):
    """Takes FENs without counters, and positions without a history."""
    with table.start() as client:
        play(client, "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", "go depth 3")
        play(client, "position fen 8/8/8/8/8/5k2/8/4Q2K w - - 99 120", "go depth 3")


@should("GUIs that analyse the last position of a game")
def knows_the_end(table):
    """Without legal moves: a score of mate 0 or cp 0, then 'bestmove (none)', in 'go infinite' after 'stop'."""
    with table.start() as client:
        for fen, kind in ((MATED, "mate"), (STALEMATE, "cp")):
            lines = client.ask(f"position fen {fen}", "go depth 3", until="bestmove")
            expect(bestmove(lines) in NO_MOVE, f"'{lines[-1]}' where there is no move")
            scored = search_lines(lines)
            expect(scored and scored[-1]["kind"] == kind and scored[-1]["score"] == 0, f"no 'score {kind} 0'")
            client.send("go infinite")
            expect(client.silent(0.4, "bestmove"), "a bestmove before 'stop' in 'go infinite' without moves")
            lines = client.ask("stop", until="bestmove")
            expect(bestmove(lines) in NO_MOVE, f"'{lines[-1]}' where there is no move")


@must("UCI: moves in long algebraic notation")
def writes_promotions(table):
    """Writes promotions with a small letter, and reads them."""
    with table.start() as client:
        move, _ = play(client, f"position fen {ONLY_PROMOTIONS}", "go depth 4")
        expect(re.fullmatch("h7h8[qrbn]", move), f"'{move}' is no promotion")
        play(client, f"position fen {ONLY_PROMOTIONS} moves h7h8q", "go depth 2")


@should("GUIs that write the piece of a promotion as a capital")
def reads_capitals(table):
    """Reads promotions with a capital letter."""
    with table.start() as client:
        client.send(f"position fen {ONLY_PROMOTIONS} moves h7h8Q", "go depth 2")
        board = board_of(f"position fen {ONLY_PROMOTIONS} moves h7h8q")
        move = bestmove(client.until("bestmove"))
        expect(move not in NO_MOVE and chess.Move.from_uci(move) in board.legal_moves, "h7h8Q was misunderstood")


@must("UCI: castling as e1g1, and by UCI_Chess960 as king takes rook")
def writes_castling(table):
    """Writes castling as e1g1, and as king takes rook with UCI_Chess960; reads both."""
    with table.start() as client:
        lines = client.ask(f"position fen {CASTLING_MATES}", "go depth 6", until="bestmove")
        expect(bestmove(lines) == "e1g1", f"'{lines[-1]}' instead of e1g1, which mates")
        play(client, "position startpos moves e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1", "go depth 2")
        if "uci_chess960" in table.options:
            client.send("setoption name UCI_Chess960 value true", "ucinewgame")
            client.ready()
            lines = client.ask(f"position fen {CASTLING_MATES}", "go depth 6", until="bestmove")
            expect(bestmove(lines) == "e1h1", f"'{lines[-1]}' instead of e1h1 with UCI_Chess960")


@must("UCI: score mate in moves, not plies")
def counts_mates(table):
    """Gives mates in moves, from the side to move."""
    with table.start() as client:
        for fen, wanted in ((MATE_IN_ONE, 1), (MATE_IN_TWO, 2), (MATED_IN_ONE, -1)):
            _, scored = play(client, f"position fen {fen}", "go depth 25")
            last = [each for each in scored if each["multipv"] == 1][-1]
            expect((last["kind"], last["score"]) == ("mate", wanted), f"mate {wanted} expected, not '{last['line']}'")


@should("GUIs that draw every line")
def spares_the_gui(table):
    """Does not flood the GUI with the depths of a mate."""
    with table.start() as client:
        client.send(f"position fen {MATE_IN_ONE}", "go infinite")
        time.sleep(1)
        lines = client.ask("stop", until="bestmove")
        expect(len(lines) <= 150, f"{len(lines)} lines in a second")


def keeps(table, clocks):
    with table.start() as client:
        client.send("position startpos")
        for clock in clocks:
            sent = time.perf_counter()
            client.ask(f"go {clock}", until="bestmove")
            # A margin for machines that do other things: what is wanted is that the clock is obeyed at all.
            expect(client.moment - sent < table.soon, f"'go {clock}' took {client.moment - sent:.2f} s")


@must("UCI: go wtime, btime, winc, binc, movestogo, movetime")
def keeps_the_clock(table):
    """Moves in time with every clock, also with one millisecond or one move to go."""
    keeps(
        table,
        (
            "wtime 1 btime 1 winc 0 binc 0",
            "wtime 500 btime 500",
            "wtime 500 btime 500 movestogo 1",
            "wtime 500 btime 500 winc 10 binc 10",
            "movetime 1",
            "movetime 100",
        ),
    )


@should("GUIs that let clocks run on below zero, or send fields without a meaning")
def keeps_odd_clocks(table):
    """Moves in time with clocks at or below zero, no moves to go, and a huge increment."""
    keeps(
        table,
        (
            "wtime 0 btime 0",
            "wtime -100 btime -100",
            "wtime 500 btime 0",
            "wtime 500 btime 500 movestogo 0",
            "wtime 500 btime 500 movestogo -3",
            "wtime 500 btime 500 winc 100000 binc 100000",
            "movetime 0",
            "movetime -5",
        ),
    )


@must("UCI: go mate, and several limits in one go")
def takes_limits_together(table):
    """Takes 'go mate', and several limits at once."""
    with table.start() as client:
        play(client, f"position fen {MATE_IN_TWO}", "go mate 2")
        play(client, "position startpos", "go wtime 60000 btime 60000 winc 100 binc 100 depth 2 nodes 100000")
        play(client, "position startpos", "go depth 99 movetime 50")


@should("users and scripts, and GUIs without a limit on what can be entered")
def takes_odd_limits(table):
    """Takes depth 0, no nodes, and huge numbers."""
    with table.start() as client:
        for go in (
            "go depth 0",
            "go depth 1 nodes 99999999999999999999",
            "go movetime 50 depth 999999999999",
            "go nodes 0",
            "go wtime 9999999999999 btime 9999999999999 depth 2",
        ):
            client.ask("position startpos", go, until="bestmove")


@must("UCI: go searchmoves")
def searches_only_wanted_moves(table):
    """Obeys 'searchmoves'."""
    with table.start() as client:
        move, _ = play(client, "position startpos", "go depth 4 searchmoves a2a3 h2h3")
        expect(move in ("a2a3", "h2h3"), f"'go depth 4 searchmoves a2a3 h2h3' gave {move}")


@should("GUIs that put the list first, or send it for another position")
def takes_any_list_of_moves(table):
    """Takes 'searchmoves' before other words, and answers a list without a legal move."""
    with table.start() as client:
        move, _ = play(client, "position startpos", "go searchmoves a2a3 h2h3 depth 4")
        expect(move in ("a2a3", "h2h3"), f"'go searchmoves a2a3 h2h3 depth 4' gave {move}")
        client.ask("go depth 2 searchmoves e7e5", until="bestmove")
        client.ask("go depth 2 searchmoves 0000", until="bestmove")
        client.ready()


@must("UCI: MultiPV, and info with the number of the line")
def shows_several_lines(table):
    """MultiPV: all lines of a depth together, best first, not more than there are moves."""
    table.need_option("MultiPV")
    with table.start() as client:
        client.send("setoption name MultiPV value 4")
        _, scored = play(client, f"position fen {KIWIPETE}", "go depth 5")
        deepest = [each for each in scored if each["depth"] == scored[-1]["depth"]][-4:]
        expect([each["multipv"] for each in deepest] == [1, 2, 3, 4], "not four lines at the end")
        expect(len({each["pv"][0] for each in deepest}) == 4, "a move stands in two lines")
        _, scored = play(client, f"position fen {ONE_REPLY}", "go depth 3")
        expect(max(each["multipv"] for each in scored) == 1, "more lines than moves")


@should("GUIs that draw the chances, such as Nibbler")
def shows_chances(table):
    """UCI_ShowWDL: win, draw and loss sum to 1000."""
    table.need_option("UCI_ShowWDL")
    with table.start() as client:
        client.send("setoption name UCI_ShowWDL value true")
        for fen in (KIWIPETE, MATE_IN_ONE, MATED_IN_ONE):
            _, scored = play(client, f"position fen {fen}", "go depth 5")
            for each in scored:
                match = re.search(r" wdl (\d+) (\d+) (\d+)\b", each["line"])
                expect(match is not None, f"no wdl in {each['line']!r}")
                expect(sum(map(int, match.groups())) == 1000, f"wdl does not sum to 1000: {each['line']!r}")


@must("UCI: UCI_LimitStrength, UCI_Elo")
def limits_its_strength(table):
    """UCI_LimitStrength with UCI_Elo works, also with MultiPV and a clock."""
    table.need_option("UCI_LimitStrength")
    table.need_option("UCI_Elo")
    least = re.search(r" min (\d+)", table.options["uci_elo"][1])
    if least is None:
        raise CaseError("UCI_Elo has no range")
    with table.start() as client:
        client.send("setoption name UCI_LimitStrength value true", f"setoption name UCI_Elo value {least[1]}")
        for lines in (1, 3):
            if "multipv" in table.options:
                client.send(f"setoption name MultiPV value {lines}")
            for go in ("go depth 4", "go wtime 1000 btime 1000", "go movetime 50"):
                client.ask("position startpos", go, until="bestmove")


CASES = (
    finds_moves,
    shows_what_it_plays,
    searches_tiny_limits,
    searches_one_ply,
    invents_no_scores,
    stops_at_once,
    shows_a_line_always,
    waits_in_infinite,
    sleeps_in_infinite,
    ponders,
    recovers_from_bad_positions,
    takes_short_fens,
    knows_the_end,
    writes_promotions,
    reads_capitals,
    writes_castling,
    counts_mates,
    spares_the_gui,
    keeps_the_clock,
    keeps_odd_clocks,
    takes_limits_together,
    takes_odd_limits,
    searches_only_wanted_moves,
    takes_any_list_of_moves,
    shows_several_lines,
    shows_chances,
    limits_its_strength,
)
