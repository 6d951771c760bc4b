"""Loads the weights of the classical evaluation from the weights file into the compiled tables.

The tuner writes the file. Names and lengths must be those of the layout below, which says where the compiled code looks.
"""

import pkgutil

import cython
from cython.cimports.board.types import KING

from board.files import read_text
from eval.weights_file import WeightsError, read_weights

# Name, first weight, number of weights.
LAYOUT = (
    ("material", MATERIAL, 5),
    ("squares_pawn", SQUARES, 64),
    ("squares_knight", SQUARES + 64, 64),
    ("squares_bishop", SQUARES + 128, 64),
    ("squares_rook", SQUARES + 192, 64),
    ("squares_queen", SQUARES + 256, 64),
    ("squares_king", SQUARES + 320, 32),
    ("enemy_squares_pawn", ENEMY_SQUARES, 64),
    ("enemy_squares_knight", ENEMY_SQUARES + 64, 64),
    ("enemy_squares_bishop", ENEMY_SQUARES + 128, 64),
    ("enemy_squares_rook", ENEMY_SQUARES + 192, 64),
    ("enemy_squares_queen", ENEMY_SQUARES + 256, 64),
    ("knight_mobility", KNIGHT_MOBILITY, 9),
    ("bishop_mobility", BISHOP_MOBILITY, 14),
    ("rook_mobility", ROOK_MOBILITY, 15),
    ("queen_mobility", QUEEN_MOBILITY, 28),
    ("isolated", ISOLATED, 2),
    ("doubled", DOUBLED, 1),
    ("backward", BACKWARD, 2),
    ("phalanx", PHALANX, 8),
    ("supported", SUPPORTED, 8),
    ("candidate", CANDIDATE, 8),
    ("passed", PASSED, 8),
    ("passed_own_king", PASSED_OWN_KING, 8),
    ("passed_enemy_king", PASSED_ENEMY_KING, 8),
    ("passed_blocked", PASSED_BLOCKED, 8),
    ("passed_safe_step", PASSED_SAFE_STEP, 8),
    ("passed_free_path", PASSED_FREE_PATH, 8),
    ("passed_unstoppable", PASSED_UNSTOPPABLE, 1),
    ("shelter", SHELTER, 32),
    ("storm", STORM, 16),
    ("king_attacker", KING_ATTACKER, 4),
    ("king_ring", KING_RING, 4),
    ("safe_check", SAFE_CHECK, 4),
    ("king_danger", KING_DANGER, 48),
    ("pawn_threat", PAWN_THREAT, 4),
    ("minor_threat", MINOR_THREAT, 5),
    ("rook_threat", ROOK_THREAT, 5),
    ("king_threat", KING_THREAT, 1),
    ("hanging", HANGING, 5),
    ("push_threat", PUSH_THREAT, 1),
    ("bishop_pair", BISHOP_PAIR, 1),
    ("bad_bishop", BAD_BISHOP, 1),
    ("knight_outpost", KNIGHT_OUTPOST, 1),
    ("bishop_outpost", BISHOP_OUTPOST, 1),
    ("outpost_in_reach", OUTPOST_IN_REACH, 1),
    ("minor_behind_pawn", MINOR_BEHIND_PAWN, 1),
    ("rook_open_file", ROOK_OPEN_FILE, 1),
    ("rook_half_open_file", ROOK_HALF_OPEN_FILE, 1),
    ("rook_on_seventh", ROOK_ON_SEVENTH, 1),
    ("rook_behind_passer", ROOK_BEHIND_PASSER, 2),
    ("space", SPACE, 2),
    ("tempo", TEMPO, 1),
)


def set_weights(middlegame, endgame):
    """Fills the compiled tables. Not while any thread evaluates."""
    global _are_bundled
    feature: cython.int
    kind: cython.int
    square: cython.int
    differ: cython.int
    if len(middlegame) != FEATURE_COUNT or len(endgame) != FEATURE_COUNT:
        raise WeightsError(f"{len(middlegame)} and {len(endgame)} weights instead of {FEATURE_COUNT}")
    _are_bundled = False
    for feature in range(FEATURE_COUNT):
        WEIGHTS[feature] = packed(middlegame[feature], endgame[feature])
    for differ in range(2):
        for kind in range(6):
            for square in range(64):
                SQUARE_VALUES[differ][kind][square] = WEIGHTS[own_square_feature(kind, square)]
                if kind != KING:
                    SQUARE_VALUES[differ][kind][square] += (
                        WEIGHTS[MATERIAL + kind] + WEIGHTS[enemy_square_feature(kind, square ^ 7 * differ)]
                    )


def load_weights(path=None):
    """Reads a weights file, the shipped one unless another is named, and evaluates with it from now on."""
    global FEATURES, _are_bundled
    if path is None:
        # Package data wherever the package lies; importlib.resources would cost half of this module's start.
        source, text = "eval/weights.json", pkgutil.get_data("eval", "weights.json").decode()
    else:
        source = str(path)
        try:
            text = read_text(path)
        except UnicodeDecodeError as error:
            raise WeightsError(f"{source}: no weights file, but bytes that are no text") from error
    features, middlegame, endgame = read_weights(text, LAYOUT, source)
    set_weights(middlegame, endgame)
    FEATURES = features
    _are_bundled = path is None


def restore_weights():
    """The shipped weights again, if there are others in the tables."""
    if not _are_bundled:
        load_weights()


def current_weights():
    """The middlegame and endgame values in use, as two lists in the order of the layout."""
    middlegame = [middlegame_part(WEIGHTS[feature]) for feature in range(FEATURE_COUNT)]
    endgame = [endgame_part(WEIGHTS[feature]) for feature in range(FEATURE_COUNT)]
    return middlegame, endgame


FEATURES = []
_are_bundled = False
load_weights()
