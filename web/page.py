"""Pages that need nothing else: markup, style, scripts and data in one HTML file."""

import base64
import hashlib
import html
import json
import re
from importlib import resources

import chess.svg

_STYLES = ("theme.css",)
_SCRIPTS = ("rules.js", "board.js", "charts.js")


def part(package, name):
    """The text of a file that comes with a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def json_text(data):
    """JSON that may stand in a script element: pure ASCII, and nothing in it begins a tag or a comment."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def pieces():
    """The drawings of python-chess as symbols for boards.

    Attributes take the place of the few styles in them, which a page's policy forbids.
    """

    def as_attributes(style):
        pairs = (pair.split(":") for pair in style[1].split(";") if pair.strip())
        return " ".join(f'{name.strip()}="{value.strip()}"' for name, value in pairs)

    drawings = re.sub(r'style="([^"]*)"', as_attributes, "".join(chess.svg.PIECES.values()))
    return f'<svg class="symbols" aria-hidden="true"><defs>{drawings}</defs></svg>'


def _source(text):
    """How a content policy names the one inline text that it allows."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def assemble(title, body, style, script, data, *, workers=False):
    """One page of a body's markup and the style and script of its own, which follow those that all pages share.

    The script finds the data as JSON in the element `data`. The parts are joined and never searched for marks, so that no
    text in the data can be taken for one; and the page's policy allows nothing but the style and the scripts that are
    in it, so that a hole in what makes the markup would not become a script. With `workers` it may start scripts that lie
    beside it as workers.
    """
    theme = "\n" + part("web", "assets/theme.js")
    style = "\n" + "\n".join([*(part("web", f"assets/{name}") for name in _STYLES), style])
    script = "\n" + "\n".join([*(part("web", f"assets/{name}") for name in _SCRIPTS), script])
    policy = f"default-src 'none'; style-src {_source(style)}; script-src {_source(theme)} {_source(script)}; connect-src 'self'"
    if workers:
        policy += "; worker-src 'self'"
    title = html.escape(title.encode("utf-8", "replace").decode())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
<script>{theme}</script>
</head>
<body>
{pieces()}
{body}
<script id="data" type="application/json">{json_text(data)}</script>
<script>{script}</script>
</body>
</html>
"""
