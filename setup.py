"""Builds the compiled core. Everything that is not about compiling stands in pyproject.toml.

QUETZAL_PROFILE chooses how:
    release   what is shipped (the default)
    debug     assertions, bounds and overflow checks
    sanitize  debug, with AddressSanitizer and UndefinedBehaviorSanitizer
    thread    debug, with ThreadSanitizer
QUETZAL_GUIDED=1 optimises for what the core is seen to do (scripts/guided_build.py; gcc alone).
QUETZAL_TARGET compiles for another system (scripts/targets.py).
scripts/compilers.py has the compilers' flags, and CC=clang-cl for Windows.
QUETZAL_FOR_TESTS=1 also compiles what only tests need, as the checked profiles do.
QUETZAL_SKIP_CORE=1 compiles nothing: for the Makefile, which installs the command beside a core that it has just built.
"""

import ast
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import tomllib
from pathlib import Path

from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "scripts"))
import guided_build  # noqa: E402
import join_search  # noqa: E402
import record_search  # noqa: E402
from compilers import BASELINE, CLANG_CL, MSVC, PROFILES, SLOWER, choose, kind_of, machines_of  # noqa: E402

TARGET = TARGET_PYTHON = None
if os.environ.get("QUETZAL_TARGET"):
    from targets import wanted

    TARGET, TARGET_PYTHON = wanted()
PROFILE = os.environ.get("QUETZAL_PROFILE", "release")
CHECKED = PROFILE != "release"
GUIDED = os.environ.get("QUETZAL_GUIDED", "").replace("0", "")
# What is built for tests has all modules, what is built for people only theirs.
FOR_TESTS = CHECKED or os.environ.get("QUETZAL_FOR_TESTS") == "1"

# Every module of these packages that has a .pxd of its own and a .py beside it is compiled, unless it only serves as a
# part of another. Two are written before: the search in one module, and once more as a copy that records its tree.
COMPILED_PACKAGES = ("board", "eval", "book", "book/opening", "book/endgame", "search", "training")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHECKOUT_ONLY = PROJECT["tool"]["quetzal"]["checkout-only"]
CHECKOUT_ONLY_FILES = [name.replace(".", "/") + ending for name in CHECKOUT_ONLY for ending in (".py", ".pxd")]

JOINED = [name.replace(".", "/") + ".py" for name in PROJECT["tool"]["quetzal"]["joined"]]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "overflowcheck": CHECKED,
    "cdivision": True,
    "embedsignature": True,
}


def compiled_modules():
    for package in COMPILED_PACKAGES:
        for source in sorted((ROOT / package).glob("*.py")):
            name = source.relative_to(ROOT).as_posix()
            if source.name != "__init__.py" and source.with_suffix(".pxd").exists() and name not in JOINED:
                yield f"{package.replace('/', '.')}.{source.stem}", name


def core_sources():
    """All files that a compiled module may be made from, and that therefore make it stale."""
    files = [path for package in COMPILED_PACKAGES for path in (ROOT / package).glob("*.pxd")]
    files += [path for package in COMPILED_PACKAGES for path in (ROOT / package).glob("*.h")]
    files += [ROOT / source for source in (*JOINED, *(source for _, source in compiled_modules()))]
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def commit():
    """From git in a checkout, and from a note in a source archive."""
    if (ROOT / "COMMIT").exists():
        return (ROOT / "COMMIT").read_text(encoding="utf-8").strip()
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


class SourceArchive(sdist):
    """Adds the note of the commit, which an archive has no other way to know, and what only checkouts compile."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, [*files, *CHECKOUT_ONLY_FILES])
        Path(base_dir, "COMMIT").write_text(commit() + "\n", encoding="utf-8")


class BuildPackages(build_py):
    """Leaves out what only checkouts compile. The checked profiles are built for the tests, and have it."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if FOR_TESTS or f"{package}.{each[1]}" not in CHECKOUT_ONLY]

    def find_data_files(self, package, src_dir):
        found = super().find_data_files(package, src_dir)
        return [each for each in found if FOR_TESTS or Path(each).as_posix() not in CHECKOUT_ONLY_FILES]


class BuildCore(build_ext):
    """Chooses compiler and flags, says how far it is, and leaves a note of how the core was built."""

    def finalize_options(self):
        super().finalize_options()
        self.compiled = 0
        self.counting = threading.Lock()
        if not self.inplace and not FOR_TESTS:
            self.extensions = [each for each in self.extensions if each.name not in CHECKOUT_ONLY]

    def build_extensions(self):
        kind = kind_of(self.compiler.compiler_type)
        if TARGET:
            self.use_cross_compiler()
        elif kind == CLANG_CL:
            self.use_clang_cl()
        elif kind == MSVC:
            print(SLOWER, file=sys.stderr)
        machines = [TARGET.machine] if TARGET else machines_of(getattr(self.compiler, "compiler_so", ()))
        choice = choose(kind, machines, PROFILE, TARGET.level if TARGET else BASELINE)
        self.cpu_level = choice.cpu_level
        guiding = guided_build.flags(self.is_guided and GUIDED)
        for extension in self.extensions:
            extension.extra_compile_args = [*choice.compile_flags, *guiding]
            entry = "PyInit_" + extension.name.rpartition(".")[2]
            own = [flag.format(entry=entry) for flag in TARGET.module_flags] if TARGET else []
            extension.extra_link_args = [*choice.link_flags, *guiding, *own]
        super().build_extensions()

    def be_guided(self):
        """Finds out whether a profile can be had, and has one made. All modules are compiled the same way."""
        program = os.environ.get("CC", "") or sysconfig.get_config_var("CC") or ""
        possible = not CHECKED and TARGET is None and os.name == "posix" and guided_build.is_gcc(program.split()[:1])
        if GUIDED and not possible:
            print(
                "QUETZAL_GUIDED is for release builds by gcc on their own system: this one is plain.", file=sys.stderr
            )
        self.is_guided = bool(GUIDED and possible)
        if self.is_guided:
            self.build_temp = str(guided_build.OBJECTS)
            if GUIDED != guided_build.COUNTING:
                guided_build.watch()

    def use_clang_cl(self):
        """Microsoft's headers, libraries and linker with LLVM's compiler; setuptools knows no way to ask for that."""
        program = shutil.which(os.environ["CC"].strip('"'))
        if program is None:
            sys.exit(f"CC is {os.environ['CC']}, which is not on the PATH")
        if not self.compiler.initialized:
            self.compiler.initialize()
        self.compiler.cc = program

    def use_cross_compiler(self):
        """Nothing of this system's Python goes in: neither its headers nor its flags."""
        # As a Python has it on its own system: its headers have assertions, each of which knows the path of its file.
        compiler = [*TARGET.compiler, "-DNDEBUG", *TARGET.compile_flags]
        linker = [*TARGET.compiler, *(flag.format(python=TARGET_PYTHON) for flag in TARGET.link_flags)]
        # A library that is linked has to come after what needs it.
        libraries = [flag for flag in linker if flag.startswith("-l")]
        linker = [flag for flag in linker if flag not in libraries]
        self.compiler.set_executables(compiler=compiler, compiler_so=compiler, linker_so=linker)
        self.compiler.set_include_dirs([str(TARGET_PYTHON / "include")])
        self.compiler.set_library_dirs([])
        self.compiler.set_libraries([flag.removeprefix("-l") for flag in libraries])

    def get_ext_filename(self, fullname):
        if TARGET is None:
            return super().get_ext_filename(fullname)
        return fullname.replace(".", os.sep) + TARGET.suffix

    def build_extension(self, ext):
        super().build_extension(ext)
        with self.counting:
            self.compiled += 1
            # In the form of Cython's own lines; scripts/build_core.py reads both.
            print(f"[{self.compiled:2}/{len(self.extensions)}] Compiling {ext.name}", flush=True)

    def run(self):
        if self.extensions and TARGET is None:
            refuse_incomplete_system()
        place = ROOT if self.inplace else Path(self.build_lib)
        note = place / "uci_engine" / "_build.py"
        self.is_guided = False
        if self.extensions:
            self.be_guided()
            self.force = self.force or was_guided(note) != self.is_guided
        super().run()
        self.write_build_note(note)

    def write_build_note(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        modules = [extension.name for extension in self.extensions]
        left_out = () if set(CHECKOUT_ONLY) <= set(modules) else CHECKOUT_ONLY_FILES
        sources = [source for source in core_sources() if source not in left_out]
        digest = hashlib.sha256()
        for source in sources:
            digest.update(source.encode() + b"\0" + (ROOT / source).read_bytes())
        path.write_text(
            '"""How this core was built. Written by setup.py."""\n\n'
            f"COMMIT = {commit()!r}\n"
            f"PROFILE = {PROFILE!r}\n"
            f"GUIDED = {self.is_guided!r}\n"
            f"COMPILER = {self.compiler_version()!r}\n"
            f"CPU_LEVEL = {self.cpu_level!r}\n"
            f"MODULES = {modules!r}\n"
            f"SOURCES = {sources!r}\n"
            f"SOURCES_SHA256 = {digest.hexdigest()!r}\n",
            encoding="utf-8",
        )

    def compiler_version(self):
        kind = kind_of(self.compiler.compiler_type)
        if kind == MSVC:
            return platform.python_compiler()
        program = TARGET.compiler if TARGET else [self.compiler.cc] if kind == CLANG_CL else self.compiler.compiler[:1]
        command = [*program, "--version"]
        try:
            with tempfile.TemporaryDirectory() as place:  # zig leaves an empty file
                result = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
            return result.stdout.splitlines()[0].strip()
        except (OSError, subprocess.CalledProcessError, IndexError):
            return " ".join(command)


def was_guided(note):
    """Does the note of an earlier build say so?"""
    try:
        statements = ast.parse(note.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError):
        return False
    values = {each.targets[0].id: each.value for each in statements if isinstance(each, ast.Assign)}
    return "GUIDED" in values and ast.literal_eval(values["GUIDED"])


def refuse_incomplete_system():
    """In one line, before a compiler's log would have to be understood."""
    from check_system import message, missing

    problem = message(missing(builds_environment=False))
    if problem is not None:
        sys.exit(problem)


if PROFILE not in PROFILES:
    sys.exit(f"QUETZAL_PROFILE is '{PROFILE}', but must be one of {', '.join(PROFILES)}")

Options.warning_errors = True
try:
    join_search.make()
    record_search.make()
except (join_search.JoinError, record_search.LabelError) as problem:
    sys.exit(str(problem))


def extensions():
    if os.environ.get("QUETZAL_SKIP_CORE") == "1":
        return []
    headers = [source for source in core_sources() if source.endswith(".h")]
    return cythonize(
        [
            Extension(name, [source], include_dirs=list(COMPILED_PACKAGES), depends=headers)
            for name, source in compiled_modules()
        ],
        build_dir=f"build/{PROFILE}/c",
        compiler_directives=DIRECTIVES,
        nthreads=0 if sys.platform in ("win32", "darwin") else os.cpu_count() or 1,
    )


setup(cmdclass={"build_ext": BuildCore, "build_py": BuildPackages, "sdist": SourceArchive}, ext_modules=extensions())
