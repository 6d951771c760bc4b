"""Makes Quetzal for Linux on ARM64 with an x86 machine: the core is cross-compiled, and the program frozen under qemu.

python scripts/arm64.py             all of it: dist/quetzal-VERSION-linux-arm64.tar.gz and .sha256 (`make arm64`)
python scripts/arm64.py run WORD…   the frozen program under qemu, for trying it out
python scripts/arm64.py python …    the ARM64 Python with the core, under qemu

A Python for ARM64 comes from Debian's packages, unpacked into build/arm64/root; nothing of it is installed. A program that
qemu runs cannot start another one for ARM64 without help, so the interpreter calls itself by a script that starts qemu.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from cross import (
    NotMadeError,
    add_freezing_files,
    compile_core,
    dependencies,
    install_programs,
    is_made,
    main,
    pip,
    publish,
    room_for,
    run,
    say,
    sha256,
    tree_state,
)
from freeze import archive, moment, version

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "arm64"
SYSTEM = PLACE / "root"  # the other system's files
PYTHON = PLACE / "python"  # its headers, as setup.py wants them
TREE = PLACE / "tree"
STARTER = SYSTEM / "usr" / "bin" / "python3-qemu"  # qemu with the other Python: a program like any other
TOOLS = PLACE / "bin"  # what PyInstaller calls, for the other machine
NAME = f"quetzal-{version()}-linux-arm64"
PROGRAM = PLACE / "dist" / NAME / "quetzal"
EMULATOR = ("qemu-aarch64", "-L", str(SYSTEM))
RUNNER = TOOLS / "run-frozen"  # stands before the frozen program
ROOM = 1_000_000_000  # bytes

PROGRAMS = {  # and Debian's packages that have them
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "/usr/aarch64-linux-gnu/include/stdlib.h": "libc6-dev-arm64-cross",
    "qemu-aarch64": "qemu-user",
}
PACKAGES = ("python3.11", "libpython3.11-dev", "libpython3.11-stdlib")


def check_machine():
    install_programs(PROGRAMS)
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise NotMadeError("the ARM64 Python comes from Debian's packages: apt-get and dpkg are needed")


def fetch_system():
    """Debian's own tools unpack another architecture's packages beside this system, with lists of their own."""
    stamp = PLACE / "system-made"
    if is_made(stamp, " ".join(PACKAGES)):
        return
    say("fetching Debian's Python for ARM64")
    state = PLACE / "apt"
    for name in ("lists/partial", "archives/partial", "dpkg"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "dpkg" / "status").touch()
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "Dir::State": state,
        "Dir::State::Lists": state / "lists",
        "Dir::State::status": state / "dpkg" / "status",
        "Dir::Cache": state,
        "Dir::Cache::Archives": state / "archives",
        "APT::Sandbox::User": "root",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    run("apt-get", *words, "update", "-qq")
    run("apt-get", *words, "install", "-y", "-qq", "--download-only", "--no-install-recommends", *PACKAGES)
    shutil.rmtree(SYSTEM, ignore_errors=True)
    SYSTEM.mkdir()
    for package in sorted((state / "archives").glob("*.deb")):
        run("dpkg", "-x", package, SYSTEM)
    add_headers()
    stamp.write_text(" ".join(PACKAGES), encoding="utf-8")


def add_headers():
    """Debian's pyconfig.h only says where the one of the architecture lies; here they become one directory."""
    headers = SYSTEM / "usr" / "include"
    shutil.rmtree(PYTHON, ignore_errors=True)
    shutil.copytree(headers / "python3.11", PYTHON / "include")
    shutil.copy(headers / "aarch64-linux-gnu" / "python3.11" / "pyconfig.h", PYTHON / "include" / "pyconfig.h")


def write_script(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    path.chmod(0o755)


def write_scripts():
    """The interpreter with the name of this script, by which it starts itself; and tools that know the other machine."""
    qemu = shlex.join(EMULATOR)
    interpreter = SYSTEM / "usr" / "bin" / "python3.11"
    places = f'export PYTHONPATH="{TREE}:{PLACE / "packages"}" PYTHONDONTWRITEBYTECODE=1'
    # The packages of a checkout that it is started in are not for this machine.
    safe = 'export PYTHONSAFEPATH="${PYTHONSAFEPATH-1}"'
    write_script(STARTER, places, safe, f'exec {qemu} -0 "{STARTER}" "{interpreter}" "$@"')
    loader = SYSTEM / "lib" / "ld-linux-aarch64.so.1"
    write_script(TOOLS / "ldd", f'{qemu} "{loader}" --list "$1" | grep "=>"')
    write_script(TOOLS / "ldconfig", "exit 0")  # this machine's libraries are of no use
    # The boot loader names the directory of its libraries and starts itself again; here it hears that it has done so.
    folder = '"$(dirname "$program")/_internal"'
    variables = f'export _PYI_ARCHIVE_FILE="$program" _PYI_PARENT_PROCESS_LEVEL=0 _PYI_APPLICATION_HOME_DIR={folder}'
    libraries = f"-E LD_LIBRARY_PATH={folder}"
    write_script(RUNNER, 'program=$(realpath "$1")', "shift", variables, f'exec {qemu} {libraries} "$program" "$@"')
    for name in ("objcopy", "strip"):
        write_script(TOOLS / name, f'exec aarch64-linux-gnu-{name} "$@"')


def fetch_packages():
    """All but PyInstaller are pure Python: the machine makes no difference."""
    target = PLACE / "packages"
    wanted = (*dependencies(), "pytest>=8", "hypothesis>=6.100", "pyinstaller>=6.10")
    if is_made(target / "made", " ".join(wanted)):
        return
    say(f"fetching {', '.join(wanted)}")
    shutil.rmtree(target, ignore_errors=True)
    wheels = PLACE / "wheels"
    # Some are only to be had as source archives: made into wheels here, they serve everywhere.
    pip("wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", wheels, *dependencies())
    system = ("--platform", "manylinux2014_aarch64", "--python-version", "311", "--only-binary=:all:")
    pip("install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target", target, *system, "--find-links", wheels, *wanted)  # fmt: skip
    (target / "made").write_text(" ".join(wanted), encoding="utf-8")


def freeze():
    """The directory, in build/arm64/dist. The single file would have to start itself, which it cannot do under qemu."""
    target = PLACE / "dist"
    state = tree_state(TREE, (PLACE / "packages" / "made").read_text(encoding="utf-8"))
    if is_made(target / "made", state):
        return target
    shutil.rmtree(target, ignore_errors=True)
    say("freezing the directory under qemu")
    variables = {"PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}", "QUETZAL_EMULATOR": shlex.quote(str(RUNNER))}
    variables["PYTHONSAFEPATH"] = ""  # scripts import each other
    script = TREE / "scripts" / "freeze.py"
    output = run(STARTER, script, "--directory-only", "--output", target, cwd=TREE, env={**os.environ, **variables})
    for line in output.splitlines():
        if " MB" in line:
            say(line)
    (target / "made").write_text(state, encoding="utf-8")
    return target


def pack(frozen):
    file = archive(frozen / NAME)
    sums = frozen / f"{NAME}.sha256"
    sums.write_text(f"{sha256(file)}  {file.name}\n", encoding="utf-8")
    publish((file, sums))


def make():
    room_for(ROOM)
    check_machine()
    PLACE.mkdir(parents=True, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = str(moment())  # there is no git under the emulator
    fetch_system()
    fetch_packages()
    compile_core("linux-arm64", PYTHON, PLACE)
    add_freezing_files(TREE)
    write_scripts()
    pack(freeze())


def run_program(words):
    return subprocess.run([RUNNER, PROGRAM, *words]).returncode


def run_python(words):
    return subprocess.run([STARTER, *words]).returncode


if __name__ == "__main__":
    sys.exit(main(make, sys.argv[1:], {"run": run_program, "python": run_python}, __doc__))
