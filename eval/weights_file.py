"""The weights file: JSON, a list of features, each with its name, group, one-line meaning and its two rows of weights.

Plain Python, and independent of the compiled layout, which the caller passes in.
"""

import json
from typing import NamedTuple

from board.files import parse_json
from eval.network_file import shown

FORMAT = 1
GROUPS = ("material", "squares", "mobility", "pawns", "passed", "king", "threats", "pieces", "space", "tempo")
MOST_WEIGHT = 3000  # keeps the packed sums of the wildest positions within their 16 bits


class WeightsError(ValueError):
    """The weights file does not fit the compiled evaluation. The message says where."""


class Feature(NamedTuple):
    """One named feature: its place in the weight vector, and what the file says about it."""

    name: str
    start: int
    size: int
    group: str
    meaning: str


def read_weights(text, layout, source):
    """A weights file's features, middlegame values and endgame values, the latter two in the order of the layout.

    `layout` names each feature with its first place and its length; `source` is the file's name for messages. Raises
    WeightsError where the file does not fit.
    """
    try:
        document = parse_json(text)
    except ValueError as error:
        raise WeightsError(f"{source}: no weights file: {shown(error)}") from error
    try:
        if document["format"] != FORMAT:
            raise WeightsError(f"{source}: format {shown(document['format'])} instead of {FORMAT}")
        entries = {entry["name"]: entry for entry in document["features"]}
        features, middlegame, endgame = [], [], []
        for name, start, size in layout:
            if name not in entries:
                raise WeightsError(f"{source}: feature '{name}' is missing")
            entry = entries.pop(name)
            if entry["group"] not in GROUPS:
                raise WeightsError(f"{source}: feature '{name}' is in an unknown group {shown(entry['group'])}")
            for phase, values in (("mg", middlegame), ("eg", endgame)):
                if len(entry[phase]) != size:
                    raise WeightsError(
                        f"{source}: feature '{name}' has {len(entry[phase])} '{phase}' values, not {size}"
                    )
                if not all(isinstance(value, int) and abs(value) <= MOST_WEIGHT for value in entry[phase]):
                    raise WeightsError(
                        f"{source}: feature '{name}' has a value that is no whole number to {MOST_WEIGHT}"
                    )
                values.extend(entry[phase])
            features.append(Feature(name, start, size, entry["group"], entry["meaning"]))
    except (KeyError, TypeError) as error:
        raise WeightsError(f"{source}: no weights file: {shown(error)}") from error
    if entries:
        raise WeightsError(f"{source}: unknown feature {shown(next(iter(entries)))}")
    return features, middlegame, endgame


def format_weights(features, middlegame, endgame, origin):
    """The text of a weights file: one feature after the other, long tables in rows as they stand on the board."""

    def numbers(values):
        width = {64: 8, 32: 8, 16: 8, 48: 12}.get(len(values), len(values))
        rows = [", ".join(str(value) for value in values[at : at + width]) for at in range(0, len(values), width)]
        return "[" + rows[0] + "]" if len(rows) == 1 else "[\n     " + ",\n     ".join(rows) + "]"

    parts = []
    for feature in features:
        part = slice(feature.start, feature.start + feature.size)
        parts.append(
            f'  {{"name": {json.dumps(feature.name)}, "group": {json.dumps(feature.group)},\n'
            f'   "meaning": {json.dumps(feature.meaning)},\n'
            f'   "mg": {numbers(middlegame[part])},\n   "eg": {numbers(endgame[part])}}}'
        )
    return f'{{"format": {FORMAT},\n "origin": {json.dumps(origin)},\n "features": [\n' + ",\n".join(parts) + "\n ]}\n"
