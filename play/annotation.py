"""Writes a review into a game, and takes nothing away that its annotator put there."""

import chess
import chess.engine

JUDGEMENTS = frozenset(range(1, 7))  # ! ? !! ?? !? ?!


def annotate(game, review):
    """Adds evaluations as [%eval], glyphs and better lines to the tree of a chess.pgn.Game.

    A move that has one of the glyphs $1 to $6 keeps it and gets no other, and a better move that is in the game already
    as a variation is not added again. Of what was there only an [%eval] is replaced.
    """
    for node, verdict in zip(game.mainline(), review.verdicts, strict=True):
        node.set_eval(pov_score(verdict.after))
        if verdict.nag is not None and not JUDGEMENTS & node.nags:
            node.nags.add(verdict.nag)
        if verdict.is_error:
            add_line(node.parent, verdict)


def pov_score(evaluation):
    """python-chess's form of an evaluation; None for a position that is mate, where nothing is left to evaluate."""
    if evaluation.is_mate and evaluation.score == 0:
        return None
    score = chess.engine.Mate(evaluation.score) if evaluation.is_mate else chess.engine.Cp(evaluation.score)
    return chess.engine.PovScore(score, chess.WHITE)


def add_line(parent, verdict):
    """The better line as a variation, its evaluation behind its first move."""
    moves = [chess.Move.from_uci(text) for text in verdict.best_uci]
    if not moves or parent.has_variation(moves[0]):
        return
    first = parent.add_variation(moves[0])
    first.set_eval(pov_score(verdict.before))
    node = first
    for move in moves[1:]:
        node = node.add_variation(move)
