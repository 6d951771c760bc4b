"""The page that runs Quetzal in the browser itself: what is to be served beside Pyodide and the compiled core.

Nothing compiled is imported here: scripts/wasm.py makes the page on systems that the core is not built for.
"""

from uci_engine import __version__
from web.page import assemble, part

_SCRIPTS = ("words", "game", "browser")


def page_text(megabytes):
    """The page; `megabytes` is what it loads before the first game."""
    script = "\n".join([part("web", "assets/interactive.js"), *(part("play", f"page/{name}.js") for name in _SCRIPTS)])
    data = {"version": __version__, "megabytes": megabytes}
    body, style = part("play", "page/browser.html"), part("play", "page/page.css")
    return assemble("Quetzal", body, style, script, data, workers=True)


def worker_text():
    """The script of the worker, which the page expects beside itself as worker.js."""
    return part("play", "page/browser_worker.js")
