"""The wheel and the source archive, as pip users get them. Building them compiles everything twice, so most of this is
the long profile: `QUETZAL_LONG=1 pytest tests/test_packages.py`.
"""

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest
from check_signature import SIGNATURE, closing_nodes
from frozen import freeze
from support import ROOT

from uci_engine import __version__, _build

IS_LONG = os.environ.get("QUETZAL_LONG", "0") != "0"
LONG = pytest.mark.skipif(not IS_LONG, reason="compiles everything; QUETZAL_LONG=1 asks for it")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_package_directory_is_shipped():
    """A new package that pyproject.toml forgets would be missing from the wheel and from the frozen program."""
    shipped = set(freeze().settings()["packages"])
    tops = [path.parent for path in ROOT.glob("*/__init__.py")]
    folders = {path.parent.relative_to(ROOT) for top in tops for path in top.rglob("__init__.py")}
    present = {".".join(folder.parts) for folder in folders}
    assert shipped == present


def test_what_is_shipped_is_under_version_control():
    """A file that the list of ignored ones hides is there on the machine where it was made, and nowhere else."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    hidden = subprocess.run(
        ["git", "ls-files", "--others", "--ignored", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    ).stdout.splitlines()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    for package, patterns in settings["package-data"].items():
        if package != "*":  # those of the compiled modules, some of which the build writes
            files = {
                path.relative_to(ROOT).as_posix()
                for each in patterns
                for path in (ROOT / package.replace(".", "/")).glob(each)
            }
            assert files
            assert not files & set(hidden)


def test_the_licence_is_said_once_and_right():
    assert PROJECT["license"] == "GPL-3.0-or-later"
    assert PROJECT["license-files"] == ["LICENSE"]
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").split()[:3] == ["GNU", "GENERAL", "PUBLIC"]
    # Package indexes refuse a licence that is given as an expression and as a classifier.
    assert not [line for line in PROJECT["classifiers"] if line.startswith("License ::")]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """`python -m build`: first the source archive, then the wheel from what is in that."""
    pytest.importorskip("build", reason="the program 'build' is not installed")
    target = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "build", "--outdir", str(target), str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    (wheel,) = target.glob("*.whl")
    (sdist,) = target.glob("*.tar.gz")
    return wheel, sdist


@LONG
def test_the_wheel_is_complete(packages):
    with zipfile.ZipFile(packages[0]) as pack:
        names = set(pack.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        fields = email.message_from_bytes(pack.read(metadata))
    checkout_only = freeze().checkout_only()
    assert not [name for name in names if name.split(".")[0].replace("/", ".") in checkout_only]
    for module in set(_build.MODULES) - checkout_only:
        assert any(re.match(module.replace(".", "/") + r"\..*\.(so|pyd)$", name) for name in names), module
    for path, folder in freeze().data_files():
        assert f"{folder}/{os.path.basename(path)}" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert (fields["Name"], fields["Version"]) == ("quetzal-chess", __version__)
    assert fields["License-Expression"] == "GPL-3.0-or-later"
    required = [line.split()[0] for line in fields.get_all("Requires-Dist") if "extra ==" not in line]
    assert sorted(required) == sorted(PROJECT["dependencies"])
    assert "# Quetzal" in fields.get_payload()


@LONG
def test_the_source_archive_is_complete(packages):
    with tarfile.open(packages[1]) as pack:
        names = {name.partition("/")[2] for name in pack.getnames()}
    assert {"setup.py", "pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "docs/gui.md"} <= names
    assert set(_build.SOURCES) <= names  # with those of the tests' modules
    assert not [name for name in names if name.endswith((".so", ".c"))]


@LONG
def test_twine_accepts_both(packages):
    pytest.importorskip("twine", reason="twine is not installed")
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, packages)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@LONG
def test_the_wheel_works_in_a_clean_environment_without_a_compiler(packages, tmp_path):
    place = tmp_path / "clean"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    folder = place / ("Scripts" if sys.platform == "win32" else "bin")
    environment = {**os.environ, "PATH": str(folder), "CC": "no-compiler-here"}
    pip = [str(folder / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(packages[0])], env=environment, check=True, cwd=tmp_path)
    program = str(folder / "quetzal")

    def run(*arguments):
        return subprocess.run(
            [program, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert f"Quetzal {__version__}" in run("--version")
    assert closing_nodes(run("bench")) == SIGNATURE[max(SIGNATURE)]
    assert " 0 failed, " in run("uci-check", program)


@LONG
def test_the_source_archive_builds(packages, tmp_path):
    """As pip does it: in an environment with nothing but what pyproject.toml asks for."""
    place = tmp_path / "clean"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    folder = place / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [str(folder / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(packages[1])], check=True, cwd=tmp_path)
    result = subprocess.run(
        [str(folder / "quetzal"), "perft", "4"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "Nodes searched: 197281" in result.stdout
