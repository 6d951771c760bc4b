"""Makes what people download: Quetzal with its own Python inside, for machines that have neither Python nor a compiler.

python scripts/freeze.py                   both forms, an archive of the first, and their SHA-256 sums, in dist/
python scripts/freeze.py --directory-only  only dist/quetzal-VERSION-PLATFORM/
python scripts/freeze.py --single-only     only the single file

The directory is the main product: it starts as one process, quickly, and leaves nothing behind. The single file unpacks
itself into a temporary directory whenever it starts. What goes in is found in pyproject.toml and in the sources; nothing
has to be listed here when a package, a compiled module or a data file is added.
"""

import argparse
import ast
import contextlib
import gzip
import hashlib
import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

from check_signature import QUICK_DEPTH, difference

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 30_000_000  # of the directory

# Drawn in by corners of the standard library that Quetzal never enters: nothing of ours may import these.
NEVER_USED = [
    "_hashlib", "_ssl", "_tkinter", "curses", "distutils", "doctest", "lib2to3", "multiprocessing", "pdb", "pydoc",
    "sqlite3", "ssl", "test", "tkinter", "unittest",
]  # fmt: skip

# Installed beside it for development, for what it only offers where they are installed, or for corners of rich that
# Quetzal never enters: coloured source code and Markdown.
NOT_SHIPPED = [
    "Cython", "PyInstaller", "_pytest", "build", "dask", "distributed", "hypothesis", "markdown_it", "matplotlib", "mdurl",
    "numpy", "pandas", "pip", "pygments", "pyximport", "pytest", "ruff", "setuptools", "tornado", "torch", "wheel",
    "zstandard",
]  # fmt: skip

EXCLUDED = NEVER_USED + NOT_SHIPPED

# PyInstaller runs these before the program. They make packages introspectable, which takes a third of the start.
UNWANTED_HOOKS = ("pyi_rth_inspect", "pyi_rth_pkgutil", "pyi_rth_pkgres", "pyi_rth_setuptools")

SOURCE_PATTERNS = ("*.pxd", "*.h")  # package data for other people's Cython, of no use without a compiler


def pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def settings():
    return pyproject()["tool"]["setuptools"]


def checkout_only():
    """Modules that only tests and scripts need."""
    return set(pyproject()["tool"]["quetzal"]["checkout-only"])


def left_out():
    """These, and modules that are parts of another one."""
    return checkout_only() | set(pyproject()["tool"]["quetzal"]["joined"])


def version():
    text = (ROOT / "uci_engine" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'__version__ = "(.+)"', text)[1]


def platform_name():
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{system}-{ {'amd64': 'x86_64', 'aarch64': 'arm64'}.get(machine, machine) }"


def directory_name():
    return f"quetzal-{version()}-{platform_name()}"


# What goes in


def sources():
    """Every module of the packages that are shipped: its name and its file."""
    for package in settings()["packages"]:
        for path in sorted(ROOT.joinpath(*package.split(".")).glob("*.py")):
            name = package if path.stem == "__init__" else f"{package}.{path.stem}"
            if name not in left_out():
                yield name, path


def imports_of(path):
    """The modules that a source imports, anywhere in it. Cython's own names are gone when it is compiled."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] not in ("cython", "__future__"))


def hidden_imports():
    """All of our modules, and all that the compiled ones import: PyInstaller cannot look into those."""
    from uci_engine import _build

    found = set()
    for name, path in sources():
        found.add(name)
        imported = set(imports_of(path))
        wrong = {each for each in imported if each.split(".")[0] in NEVER_USED}
        if wrong:
            sys.exit(f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}, which is kept out of frozen builds")
        if name in _build.MODULES:
            found |= {each for each in imported if each.split(".")[0] not in NOT_SHIPPED}
    return sorted(found)


def data_files():
    """Package data as pairs of file and directory inside the frozen program."""
    patterns = settings().get("package-data", {})
    pairs = []
    for package in settings()["packages"]:
        folder = ROOT.joinpath(*package.split("."))
        for pattern in (*patterns.get("*", ()), *patterns.get(package, ())):
            if pattern not in SOURCE_PATTERNS:
                pairs += [(str(path), str(path.parent.relative_to(ROOT))) for path in sorted(folder.glob(pattern))]
    return pairs


def runtime_distributions():
    """The names of all that is packed in, because the program or something that it needs needs it."""
    found, waiting = set(), list(pyproject()["project"]["dependencies"])
    while waiting:
        requirement, _, condition = waiting.pop().partition(";")
        name = re.match(r"[\w.-]+", requirement.strip())[0].lower()
        if name not in found and "extra" not in condition:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # only needed on other systems
                waiting += importlib.metadata.requires(name) or ()
                found.add(name)
    return {name for name in found if name.removesuffix("-py").replace("-", "_") not in NOT_SHIPPED}


def licences():
    """Pairs of name and text: ours and those of what is packed in."""
    yield "LICENSE", (ROOT / "LICENSE").read_text(encoding="utf-8")
    for path in (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt"):
        if path.exists():
            yield "LICENSE-Python.txt", path.read_text(encoding="utf-8")
            break
    for name in (*sorted(runtime_distributions()), "pyinstaller"):
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or ():
            # An old pip installs from source without the licence, and lists it all the same.
            if re.match(r"(licen[cs]e|copying)", file.name, re.IGNORECASE) and Path(file.locate()).is_file():
                yield f"LICENSE-{name}.txt", file.read_text(encoding="utf-8")
                break
        else:
            if name == "chess":  # the same licence as ours
                yield "LICENSE-chess.txt", (ROOT / "LICENSE").read_text(encoding="utf-8")


def version_resource():
    """What Windows shows as the program's properties."""
    from PyInstaller.utils.win32 import versioninfo as info

    numbers = tuple(int(part) for part in (*version().split("."), "0", "0")[:4])
    texts = {
        "FileDescription": "Quetzal, a UCI chess engine",
        "ProductName": "Quetzal",
        "FileVersion": version(),
        "ProductVersion": version(),
        "OriginalFilename": "quetzal.exe",
        "LegalCopyright": "The Quetzal authors; GNU General Public License, version 3 or later",
    }
    english_unicode = 0x0409, 1200
    table = info.StringTable("040904B0", [info.StringStruct(name, text) for name, text in texts.items()])
    return info.VSVersionInfo(
        ffi=info.FixedFileInfo(filevers=numbers, prodvers=numbers),
        kids=[
            info.StringFileInfo([table]),
            info.VarFileInfo([info.VarStruct("Translation", list(english_unicode))]),
        ],
    )


# What comes out


def newest_glibc(directory):
    """The newest version of the C library whose symbols any file in the directory asks for, as text; None without any."""
    found = set()
    for path in directory.rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if data.startswith(b"\x7fELF"):
                found |= {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", data)}
    return "{}.{}".format(*max(found)) if found else None


def started(program):
    """The command of a frozen program. Another machine's needs an emulator before it, which scripts/arm64.py names."""
    return [*shlex.split(os.environ.get("QUETZAL_EMULATOR", "")), str(program)]


def size_of(directory):
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file() and not path.is_symlink())


def moment():
    """The time of the commit, in seconds, which stands for that of the build: the same commit makes the same bytes."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return int(time.time())  # a source archive


def run_pyinstaller(output, forms):
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(output), "--workpath", str(ROOT / "build" / "freeze")]
    # Python writes sets in the order of its hashes, and PyInstaller the time.
    same = {"PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": str(moment())}
    environment = {**os.environ, **same, "QUETZAL_FREEZE": " ".join(forms)}
    subprocess.run([*command, str(ROOT / "scripts" / "quetzal.spec")], cwd=ROOT, env=environment, check=True)


def add_papers(directory, program, glibc):
    """What a person finds beside the program."""
    for name, text in licences():
        (directory / name).write_text(text, encoding="utf-8")
    for name in ("quetzal.bmp", "quetzal.png"):
        shutil.copy(ROOT / "docs" / "logo" / name, directory / name)
    manual = subprocess.run([*started(program), "manual"], capture_output=True, check=True).stdout
    (directory / "quetzal.1").write_bytes(manual)
    program = program.name
    needs = f"It needs Linux with glibc {glibc} or newer. " if glibc else ""
    (directory / "README.txt").write_text(
        f"Quetzal {version()}, a UCI chess engine.\n\n"
        f"Load '{program}' of this directory into your chess GUI as a UCI engine; leave it beside '_internal'.\n"
        f"{needs}Nothing has to be installed, and no other file is written or read unless you ask for it.\n"
        f"In a terminal, '{program} --help' lists what else it can do; 'quetzal.bmp' is a logo for GUIs that show one.\n\n"
        "Quetzal is free software under the GNU General Public License, version 3 or later: see LICENSE. Its source\n"
        "code comes with it wherever it is offered. Python and the libraries inside have licences of their own, beside this file.\n",
        encoding="utf-8",
    )


def check(path, program):
    """The promises that can be kept at once: small, and the same engine as ever. Returns the size."""
    size = size_of(path) if path.is_dir() else path.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{path.name} has {size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f}")
    problem = difference(started(program), QUICK_DEPTH)
    if problem is not None:
        sys.exit(problem)
    return size


def archive(directory):
    """Packs the directory with itself as the top, as people expect it: the same bytes for the same content."""
    if sys.platform == "win32":
        return archive_zip(directory)
    made = moment()

    def belongs_to_nobody(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = made
        return entry

    target = directory.with_name(directory.name + ".tar.gz")
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=made) as packed,
        tarfile.open(fileobj=packed, mode="w") as pack,
    ):
        pack.add(directory, directory.name, filter=belongs_to_nobody)
    return target


def archive_zip(directory):
    """The same bytes for the same content: sorted, and without the time of the build."""
    target = directory.with_name(directory.name + ".zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as pack:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(directory.parent).as_posix())
                entry.external_attr = 0o644 << 16
                pack.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


def write_sums(files):
    """As `sha256sum -c` reads them."""
    target = files[0].with_name("SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    target.write_text("".join(lines), encoding="utf-8")
    return target


def step_teller(steps):
    """A function that announces one step after the other, with the time since the first."""
    started, numbers = time.monotonic(), iter(range(1, steps + 1))

    def say(text):
        print(f"[{next(numbers)}/{steps}] {time.monotonic() - started:5.1f} s  {text} ...", flush=True)

    return say


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--directory-only", action="store_true", help="no archive and no single file")
    form.add_argument("--single-only", action="store_true", help="no directory and no archive")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist", metavar="DIR", help="(default: dist)")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    try:
        import PyInstaller  # noqa: F401
    except ImportError:
        sys.exit("PyInstaller is missing: pip install 'quetzal-chess[freeze]', or 'make freeze' in the checkout")
    from uci_engine.build import core_problem

    problem = core_problem()
    if problem is not None:
        sys.exit(problem)
    from uci_engine import _build

    if _build.PROFILE != "release":
        sys.exit(f"the core was built with the profile '{_build.PROFILE}'; only 'release' is for other people")

    output = options.output.resolve()
    suffix = ".exe" if sys.platform == "win32" else ""
    directory, single = output / directory_name(), output / f"quetzal{suffix}"
    forms = ["directory"] * (not options.single_only) + ["single"] * (not options.directory_only)
    say = step_teller(2 * len(forms))
    say("packing Quetzal, its libraries and Python, about a minute")
    run_pyinstaller(output, forms)
    say("comparing its node counts with the signature of the search")
    if "directory" in forms:
        glibc, program = newest_glibc(directory), directory / f"quetzal{suffix}"
        add_papers(directory, program, glibc)
        size = check(directory, program)
        print(f"{directory}: {size / 1e6:.1f} MB" + (f", needs glibc {glibc} or newer" if glibc else ""))
    if "single" in forms:
        print(f"{single}: {check(single, single) / 1e6:.1f} MB")
    if len(forms) == 2:
        say("making the archive")
        files = [archive(directory), single]
        say("taking the SHA-256 sums")
        for path in (*files, write_sums(files)):
            print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
