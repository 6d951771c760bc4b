"""Plots as SVG files, written by hand: lines and bars over an axis. The colours are those of the arena's reports."""

import math
from html import escape
from typing import NamedTuple

COLOURS = ("#0f8f6f", "#d9653b", "#4b7bd1")
WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 44


class Line(NamedTuple):
    """A named line through points (x, y)."""

    name: str
    points: list
    colour: str | None = None  # one of its own


def axis_steps(low, high, wanted=5):
    """Round numbers from low to high, about as many as wanted: multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / wanted or 1
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _number(value):
    return f"{value:,.0f}" if abs(value) >= 10 or value == round(value) else f"{value:.4g}"


def _text(x, y, content, anchor="middle", style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {style}>{escape(content)}</text>'


def _frame(title, x_title, x_of, y_of, x_steps, y_steps):
    """Everything but the data. `x_steps` are pairs of value and label."""
    yield _text(WIDTH / 2, 20, title, style='font-weight="bold"')
    for value in y_steps:
        yield f'<path d="M{LEFT} {y_of(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield _text(LEFT - 6, y_of(value) + 4, _number(value), "end")
    for value, label in x_steps:
        yield _text(x_of(value), HEIGHT - BOTTOM + 16, label)
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_title, style='fill="#666"')


def _scale(low, high, start, end):
    return lambda value: start + (end - start) * (value - low) / ((high - low) or 1)


def line_chart(title, x_title, lines, names_left=False):
    """A panel with lines; the axes take the room that the points need. The names stand at the top, on the right or left."""
    points = [point for line in lines for point in line.points]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    margin = (max(ys) - min(ys) or abs(max(ys)) or 1) * 0.05
    low, high = min(ys) - margin, max(ys) + margin
    x_of = _scale(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    y_of = _scale(low, high, HEIGHT - BOTTOM, TOP)
    x_steps = [(value, _number(value)) for value in axis_steps(min(xs), max(xs), 8) if value == round(value)]
    yield from _frame(title, x_title, x_of, y_of, x_steps, axis_steps(low, high))
    for number, line in enumerate(lines):
        colour = line.colour or COLOURS[number % len(COLOURS)]
        path = "L".join(f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in line.points)
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
        for x, y in line.points:
            yield f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="2.5" fill="{colour}"/>'
        place, anchor = (LEFT + 8, "start") if names_left else (WIDTH - RIGHT - 4, "end")
        yield _text(place, TOP + 12 + 16 * number, line.name, anchor, f'fill="{colour}"')


def bar_chart(title, x_title, bars, every=1):
    """A panel with a bar for each pair of label and value; each `every`th is labelled."""
    high = max([value for _, value in bars] + [1])
    width = (WIDTH - LEFT - RIGHT) / max(1, len(bars))
    y_of = _scale(0, high, HEIGHT - BOTTOM, TOP)

    def middle(place):
        return LEFT + width * (place + 0.5)

    x_steps = [(place, label) for place, (label, _) in enumerate(bars) if place % every == 0]
    yield from _frame(title, x_title, middle, y_of, x_steps, axis_steps(0, high))
    for place, (label, value) in enumerate(bars):
        left, top = LEFT + width * (place + 0.1), y_of(value)
        yield (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width * 0.8:.1f}" height="{HEIGHT - BOTTOM - top:.1f}" '
            f'fill="{COLOURS[0]}"><title>{escape(label)}: {value:,}</title></rect>'
        )


def interval_chart(title, rows):
    """The text of an SVG file: a bar from zero to the right or left for each (label, value, low, high), with its interval."""
    label_width, row_height, top = 300, 20, 56
    low = min([0, *(row[2] for row in rows)])
    high = max([1, *(row[3] for row in rows)])
    x_of = _scale(low, high, label_width, WIDTH - RIGHT)
    height = top + row_height * len(rows) + 12
    found = [_text(WIDTH / 2, 20, title, style='font-weight="bold"')]
    for value in axis_steps(low, high, 6):
        found.append(
            f'<path d="M{x_of(value):.1f} {top - 8}V{height - 10}" stroke="{"#888" if value == 0 else "#ddd"}"/>'
        )
        found.append(_text(x_of(value), top - 14, _number(value)))
    for number, (label, value, least, most) in enumerate(rows):
        middle = top + row_height * (number + 0.5)
        ends = sorted((x_of(0), x_of(value)))
        found.append(_text(label_width - 10 if low >= 0 else x_of(low) - 10, middle + 4, label, "end"))
        found.append(
            f'<rect x="{ends[0]:.1f}" y="{middle - 6:.1f}" width="{ends[1] - ends[0]:.1f}" height="12" '
            f'fill="{COLOURS[0]}"><title>{escape(label)}: {value:+.0f}</title></rect>'
        )
        found.append(
            f'<path d="M{x_of(least):.1f} {middle:.1f}H{x_of(most):.1f}" stroke="{COLOURS[1]}" stroke-width="2"/>'
        )
    return _svg(height, found)


def svg_page(panels):
    """The text of an SVG file with the panels one below the other."""
    panels = [list(panel) for panel in panels]
    rows = []
    for number, panel in enumerate(panels):
        rows += [f'<g transform="translate(0 {HEIGHT * number})">', *panel, "</g>"]
    return _svg(HEIGHT * len(panels), rows)


def _svg(height, rows):
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12" fill="#222">'
    )
    return "\n".join([begin, f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *rows, "</svg>", ""])
