"""Best play in a solved ending: from a won position to mate, or to the capture or pawn move that keeps the win."""

import chess

from book.endgame.retrograde_index import men_of, name_of


def squares_in(board, name):
    """A board's men in our order of an ending, and the side to move; colours changed if White is the second-named side."""
    men = men_of(name)
    found = [(0 if piece.color else 1, piece.symbol().upper(), square) for square, piece in board.piece_map().items()]
    here, is_swapped = name_of([(colour, letter) for colour, letter, _ in found])
    if here != name:
        raise ValueError(f"{board.fen()} is no position of {name}")
    squares = []
    for colour, letter in men:
        man = next(man for man in found if man[:2] == (colour ^ is_swapped, letter))
        found.remove(man)
        squares.append(man[2] ^ 56 if is_swapped else man[2])
    return squares, (0 if board.turn else 1) ^ is_swapped


class BestPlay:
    """Best play from a won position to mate or to the first capture or pawn move that keeps the win."""

    def __init__(self, ending, generator):
        self.ending, self.generator = ending, generator

    def board(self, squares, side):
        """A position of the ending."""
        board = chess.Board(None)
        for (colour, letter), square in zip(men_of(self.ending.name), squares, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter if colour == 0 else letter.lower()))
        board.turn = side == 0
        return board

    def value(self, board):
        """(WDL, DTZ) for the side to move; the distance is None outside of this ending."""
        name, _ = name_of([(0 if piece.color else 1, piece.symbol().upper()) for piece in board.piece_map().values()])
        if name == "KvK":
            return 0, None
        if name == self.ending.name:
            squares, side = squares_in(board, name)
            return self.ending.value(side, squares)
        outcomes = self.generator.outcomes(name)
        squares, side = squares_in(board, name)
        return outcomes.value(side, squares), None

    def moves(self, board):
        """Moves from here to the end of the line."""
        board = board.copy()
        line = []
        while not board.is_game_over():
            wdl, distance = self.value(board)
            move, is_last = self._best(board, wdl, abs(distance))
            line.append(move)
            board.push(move)
            if is_last:
                break
        return line

    def _best(self, board, wdl, distance):
        """The move to play, and whether the line ends with it."""
        zeroing = None
        for move in sorted(board.legal_moves, key=chess.Move.uci):
            is_zeroing = board.is_zeroing(move)
            board.push(move)
            mated = board.is_checkmate()
            there, rest = self.value(board)
            en_passant = board.has_legal_en_passant()
            board.pop()
            if mated:
                return move, True
            if there != -wdl:
                continue
            if is_zeroing:
                zeroing = zeroing or (None if en_passant else move)
            elif abs(rest) == distance - 1:
                return move, False
        return zeroing, True
