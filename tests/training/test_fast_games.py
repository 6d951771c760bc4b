"""Games inside one process: who wins them, when they are broken off, and who hears of it."""

from arena.openings import Opening
from board import Board
from training.fast_games import Ends, Player, board_of, play
from uci_engine.strength import Handicap


class Scripted:
    """Plays and scores as it is told; afterwards the first legal move with the last score."""

    def __init__(self, moves=(), scores=(0,)):
        self.moves, self.scores = list(moves), list(scores)
        self.games = 0

    def new_game(self):
        self.games += 1

    def move(self, board):
        text = self.moves.pop(0) if self.moves else None
        score = self.scores[0] if len(self.scores) == 1 else self.scores.pop(0)
        return (board.parse_uci(text) if text else board.legal_moves()[0]), score


def shuffling(scores):
    """White's or Black's knight goes to and fro, which the rules end after eight plies as a draw by repetition."""
    return lambda there, back: Scripted([there, back] * 4, scores)


def knights(white_scores, black_scores):
    return shuffling(white_scores)("g1f3", "f3g1"), shuffling(black_scores)("g8f6", "f6g8")


def test_the_rules_end_a_game():
    mate = Scripted(["f2f3", "g2g4"]), Scripted(["e7e5", "d8h4"])
    assert play(*mate, Board()) == 0.0
    assert play(*knights([0], [0]), Board()) == 0.5
    scholar = Scripted(["e2e4", "d1h5", "f1c4", "h5f7"]), Scripted(["e7e5", "b8c6", "g8f6"])
    assert play(*scholar, Board()) == 1.0


def test_both_sides_have_to_see_a_win():
    ends = Ends(win_score=500, win_plies=4)
    heard = []
    players = knights([500], [-500])
    assert play(*players, Board(), ends, lambda board, move, score: heard.append((board.uci(move), score))) == 1.0
    assert heard == [("g1f3", 500), ("g8f6", -500), ("f3g1", 500), ("f6g8", -500)]
    assert [player.games for player in players] == [1, 1]
    assert play(*knights([-500], [500]), Board(), ends) == 0.0
    # A score below the bound, or two sides that both believe to win, end nothing.
    assert play(*knights([500], [-499]), Board(), ends) == 0.5
    assert play(*knights([500], [500]), Board(), ends) == 0.5
    # Seen three times, doubted once, and seen again for three plies more, until the rules say draw.
    assert play(*knights([500], [-500, 0, -500, 0]), Board(), ends) == 0.5
    # Who gives no score has no say.
    assert play(*knights([None], [-900]), Board(), ends) == 1.0


def test_level_scores_and_length_end_a_game():
    plies = []

    def count(board, move, score):
        plies.append(board.ply)

    ends = Ends(draw_score=10, draw_plies=3, draw_from=2)
    assert play(*knights([10], [-10]), Board(), ends, count) == 0.5
    assert plies == [0, 1, 2, 3, 4]
    plies.clear()
    assert play(*knights([11], [-10]), Board(), ends, count) == 0.5
    assert len(plies) == 8
    plies.clear()
    assert play(*knights([99], [-99]), Board(), Ends(most_plies=5), count) == 0.5
    assert len(plies) == 5


def test_one_player_may_play_both_sides():
    both = Scripted(["f2f3", "e7e5", "g2g4", "d8h4"])
    assert play(both, both, board_of(Opening(Board().fen(), (), ""))) == 0.0
    assert both.games == 1


def test_openings_with_moves_are_played_out():
    opening = Opening(Board().fen(), ("e2e4", "e7e5"), "")
    assert board_of(opening).fen().startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w")


def test_a_real_player_finds_a_mate():
    player = Player(Handicap(2000, 1, 0.0))
    try:
        assert play(player, player, Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")) == 1.0
        assert play(player, player, Board("r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1")) == 0.0
    finally:
        player.close()
