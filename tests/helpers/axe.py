"""axe-core, which looks for what keeps people with screen readers, keyboards or weak eyes from using a page."""

import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from support import ROOT

NPM = shutil.which("npm")
VERSION = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]["axe-core"]
_PLACE = ROOT / "build" / f"axe-core-{VERSION}.js"


@functools.cache  # npm takes a minute to find out that there is no network: one such minute is enough
def source():
    """The text of the checker and None, or None and why there is none. Fetched once and kept in build/."""
    if _PLACE.exists():
        return _PLACE.read_text(encoding="utf-8"), None
    if NPM is None:
        return None, "needs npm, which fetches axe-core (Debian: npm)"
    with tempfile.TemporaryDirectory() as place:
        command = [
            NPM,
            "install",
            "--prefix",
            place,
            "--no-save",
            "--no-package-lock",
            "--ignore-scripts",
            "--loglevel=error",
            "--fetch-retries=1",
            "--fetch-retry-mintimeout=1000",
            "--fetch-retry-maxtimeout=2000",
        ]
        result = subprocess.run([*command, f"axe-core@{VERSION}"], capture_output=True, text=True)
        file = Path(place, "node_modules", "axe-core", "axe.min.js")
        if result.returncode != 0 or not file.exists():
            return None, f"npm could not fetch axe-core: {result.stderr.strip()[-200:]}"
        _PLACE.parent.mkdir(exist_ok=True)
        unfinished = Path(tempfile.mkstemp(dir=_PLACE.parent)[1])
        shutil.copy(file, unfinished)
        unfinished.replace(_PLACE)  # at once: tests run beside each other
    return _PLACE.read_text(encoding="utf-8"), None


def problems(window):
    """What is wrong with the page in a browser, as texts."""
    text, _ = source()
    window.run(f"{text}; window.axe = axe;")
    found = window.run_async(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then((result) => done(result.violations), (error) => done(String(error)))"
    )
    assert isinstance(found, list), found
    return [
        f"{rule['id']}: {rule['help']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in found
        for node in rule["nodes"]
    ]
