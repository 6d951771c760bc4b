"""What the words mean that a recorded search tree uses, in a sentence each."""

# Why a node was searched.
PURPOSES = {
    "search": "",
    "iteration": "one iteration of iterative deepening, with an aspiration window",
    "reduced": "late-move reduction: searched less deep, with a null window",
    "null window": "null window: is it better than the best so far?",
    "full window": "full window: the first move of a PV node, or one that turned out better",
    "null move": "null move: the side to move passes",
    "verification": "verification: the null move's cut-off again, without passing",
    "ProbCut": "ProbCut: does a capture beat beta by a margin in a shallower search?",
    "singular": "singular search: all moves but the hash move, half as deep",
    "razoring": "razoring: the quiescence search is asked whether captures can help",
}

# Why a node ended. What becomes of a node whose moves were searched depends on its window.
ENDS = {
    "cut-off": "beta cut-off: this move is good enough, the opponent will not allow the position",
    "all": "all moves were searched, none reaches alpha",
    "exact": "all moves were searched, the best lies inside the window",
    "maximum": "all moves were searched, the best one counts",
    "quiet cut-off": "beta cut-off by a capture, promotion or evasion",
    "quiet": "nothing more to capture with profit",
    "transposition table": "transposition table: an earlier search of this position answers",
    "endgame table": "endgame table: the result is known",
    "draw": "draw",
    "insufficient material": "draw: neither side can mate",
    "fifty-move rule": "draw: fifty moves without capture or pawn move",
    "repetition": "draw: the position is repeated",
    "repetition in reach": "the side to move can repeat a position, so it has at least a draw",
    "mate distance": "mate-distance pruning: a shorter mate is known already",
    "line too long": "the line is as long as lines may grow",
    "razoring": "razoring: so far below alpha that even captures do not help",
    "reverse futility": "reverse futility pruning: so far above beta that a margin for the remaining depth leaves it there",
    "null move": "null move: even passing fails high",
    "ProbCut": "ProbCut: a capture beats beta by a margin in a shallower search",
    "multi-cut": "multi-cut: several moves reach beta",
    "no other move": "there is no move but the excluded one",
    "checkmate": "checkmate",
    "stalemate": "stalemate",
    "stand pat": "stand pat: the static evaluation is good enough without a capture",
    "static evaluation": "a leaf: the static evaluation",
    "stopped": "the search was stopped",
}

# Why a move was not searched.
SKIPS = {
    "late move": "late-move pruning: at this depth the tail of the quiet moves is left out",
    "futility": "futility pruning: a quiet move will not lift so low an evaluation to alpha",
    "history": "history pruning: the move has failed too often",
    "static exchange": "static exchange: it loses more than the remaining depth can win back",
    "excluded": "excluded: the hash move, while the search asks what there is beside it",
    "delta pruning": "delta pruning: even winning this piece for nothing does not reach alpha",
    "losing exchange": "a capture that wins nothing, where winning something is needed",
    "evasion found": "one evasion holds, so it is no mate: quiet ones are left out",
    "not needed": "not needed: an earlier move cuts off",
}
