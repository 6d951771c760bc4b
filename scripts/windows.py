"""Makes Quetzal for Windows on Linux: what it needs is fetched, the core cross-compiled, and the program frozen under wine.

python scripts/windows.py            all of it: dist/quetzal-VERSION-windows-x86_64.zip, .exe and .sha256 (`make windows`)
python scripts/windows.py run WORD…  the frozen program under wine, for trying it out
python scripts/windows.py python …   the Windows Python with the core, under wine

A Windows Python comes from where Linux can have one: the wheel of panda3d, a game library, carries the original DLL of the
Python Software Foundation and the standard library's compiled modules. Its checksum is known here, and the DLL's signature
is checked. The rest of the standard library is the same on all systems. Everything lies in build/windows, so a second run
does only what has changed.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import zipfile
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
from freeze import archive_zip, moment, version

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "windows"
PYTHON = PLACE / "python"
TREE = PLACE / "tree"
PREFIX = PLACE / "wine"
DRIVE_D = PLACE / "drive_d"  # for trying programs on another drive than %TEMP%'s
NAME = f"quetzal-{version()}-windows-x86_64"

PYTHON_WHEEL = "panda3d==1.10.16"
PYTHON_WHEEL_SHA256 = "37acfb92655c4226879f95c988e2ef1449a53c54486d6c1ebc00e2772429af82"
SIGNER = "O=Python Software Foundation"
BESIDE_PROGRAM = ("python311.dll", "VCRUNTIME140.dll")
SHARED_LIBRARIES = ("libffi-8.dll", "libcrypto-3.dll", "libssl-3.dll", "sqlite3.dll")
NOT_COPIED = (
    "lib-dynload",
    "site-packages",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "lib2to3",
)
# What PyInstaller needs on Windows only, which pip on Linux does not see.
FREEZER = ("pyinstaller>=6.10", "pefile", "pywin32-ctypes", "setuptools>=77")

PROGRAMS = {  # and Debian's packages that have them
    "wine": "wine",
    "wineserver": "wine64",
    "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64",
    "gendef": "mingw-w64-tools",
    "osslsigncode": "osslsigncode",
}
ROOM = 1_500_000_000  # bytes
MOST_ZIP = 35_000_000
STEP_SECONDS = 1200  # for anything under wine
AFTER_END = 5  # seconds for the last output of a program that has ended

LAUNCHER = """#include <wchar.h>
__declspec(dllimport) int Py_Main(int, wchar_t **);
int wmain(int count, wchar_t **words) { return Py_Main(count, words); }
"""


# What is needed


def check_machine():
    if sys.version_info[:2] != (3, 11) or not sys.platform.startswith("linux"):
        raise NotMadeError(
            "make windows needs Python 3.11 on Linux: its standard library becomes that of the Windows program"
        )
    room_for(ROOM)


def fetch_python():
    """The Windows Python's own files, from a wheel whose content is known."""
    stamp = PYTHON / "made"
    state = f"{PYTHON_WHEEL_SHA256} {sys.version} {sha256(Path(__file__))}"
    if is_made(stamp, state):
        return
    say(f"fetching a Windows Python ({PYTHON_WHEEL}, 65 MB)")
    wheels = PLACE / "wheels"
    wanted = ("--platform", "win_amd64", "--python-version", "311", "--only-binary=:all:", "--no-deps")
    pip("download", "--quiet", "--disable-pip-version-check", "--dest", wheels, *wanted, PYTHON_WHEEL)
    wheel = next(wheels.glob("panda3d-*-cp311-*.whl"))
    if sha256(wheel) != PYTHON_WHEEL_SHA256:
        wheel.unlink()
        raise NotMadeError(f"{wheel.name} is not the file that it should be; it was deleted")
    shutil.rmtree(PYTHON, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            folder, _, name = entry.partition("/")
            if folder != "deploy_libs" or not (name.endswith(".pyd") or name in BESIDE_PROGRAM + SHARED_LIBRARIES):
                continue
            target = PYTHON / name if name in BESIDE_PROGRAM else PYTHON / "DLLs" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(entry))
    check_signature(PYTHON / "python311.dll")
    add_standard_library()
    add_development_files()
    stamp.write_text(state, encoding="utf-8")


def check_signature(path):
    """Signed by the Python Software Foundation, and not altered since: the digest in the signature is the file's.

    Whether the certificate is still valid would need the network; the checksum of the wheel stands for that.
    """
    command = ("osslsigncode", "verify", str(path))
    text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace").stdout
    digests = [line.split(":")[1].strip() for line in text.splitlines() if "message digest  " in line.lower()]
    digests += [
        line.split(":")[1].strip() for line in text.splitlines() if line.startswith("Calculated message digest")
    ]
    if SIGNER not in text or len(set(digests)) != 1:
        raise NotMadeError(f"{path.name} has no good signature of the Python Software Foundation")


def add_standard_library():
    def unwanted(folder, names):
        is_top = Path(folder) == library
        return [
            name
            for name in names
            if name == "__pycache__"
            or (is_top and (name in NOT_COPIED or name.startswith(("config-", "_sysconfigdata"))))
        ]

    library = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(library, PYTHON / "Lib", ignore=unwanted)
    (PYTHON / "Lib" / "site-packages").mkdir()


def add_development_files():
    """Headers, an import library, and a python.exe, which the wheel does not have."""
    shutil.copytree(sysconfig.get_path("include"), PYTHON / "include")
    shutil.copy(ROOT / "scripts" / "windows_pyconfig.h", PYTHON / "include" / "pyconfig.h")
    libraries = PYTHON / "libs"
    libraries.mkdir()
    definitions = run("gendef", "-", PYTHON / "python311.dll", stderr=subprocess.DEVNULL)
    (libraries / "python311.def").write_text(definitions, encoding="utf-8")
    run("x86_64-w64-mingw32-dlltool", "-d", libraries / "python311.def", "-D", "python311.dll", "-l", libraries / "libpython311.a")  # fmt: skip
    source = PYTHON / "launcher.c"
    source.write_text(LAUNCHER, encoding="utf-8")
    compiler = ("x86_64-w64-mingw32-gcc", "-O2", "-s", "-municode", "-Wl,--no-insert-timestamp")
    run(*compiler, "-o", PYTHON / "python.exe", source, f"-L{libraries}", "-lpython311")


def fetch_packages():
    """What Quetzal needs to run and PyInstaller, as Windows would install them."""
    needed = dependencies()
    wanted = [*needed, *FREEZER]
    target = PYTHON / "Lib" / "site-packages"
    stamp = target / "made"
    if is_made(stamp, "\n".join(wanted)):
        return
    say(f"fetching {', '.join(wanted)}")
    wheels = PLACE / "wheels"
    # Some are pure Python, but only to be had as source archives: made into wheels here, they serve everywhere.
    pip("wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", wheels, *needed)  # fmt: skip
    shutil.rmtree(target)
    system = ("--platform", "win_amd64", "--python-version", "311", "--implementation", "cp", "--only-binary=:all:")
    pip("install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target", target, *system, "--find-links", wheels, *wanted)  # fmt: skip
    stamp.write_text("\n".join(wanted), encoding="utf-8")


# Under wine


def wine_environment():
    """A Windows of our own, without a screen."""
    unwanted = ("DISPLAY", "PYTHONPATH", "PYTHONHOME")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {
        **environment,
        "WINEPREFIX": str(PREFIX),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree=;mshtml=",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": windows_path(TREE),  # the frozen program does not look at it
        "PYTHONUTF8": "1",
    }


def prepare_wine():
    """The prefix, made once; and its server, which has to be running with no pipe of ours open."""
    environment = wine_environment()
    silent = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "env": environment,
    }
    if not (PREFIX / "made").exists():
        say("setting up wine")
        if PREFIX.exists():  # an interruption has left it
            subprocess.run(["wineserver", "-k"], **silent)
            shutil.rmtree(PREFIX)
        PREFIX.mkdir(parents=True)
        wine_step("wineboot", "--init", **silent)
        wine_step("reg", "add", r"HKEY_CURRENT_USER\Software\Wine", "/v", "Version", "/d", "win10", "/f", **silent)
        # Wine learns of drives when it starts, so it has to end once.
        DRIVE_D.mkdir(exist_ok=True)
        (PREFIX / "dosdevices" / "d:").symlink_to(DRIVE_D)
        subprocess.run(["wineserver", "-k"], **silent)
        (PREFIX / "made").touch()
    subprocess.run(["wineserver", "-p"], **silent)
    wine_step("cmd", "/c", "exit", **silent)


def wine_step(*words, **streams):
    """Runs one of Wine's own programs. NotMadeError if it fails or hangs."""
    try:
        status = subprocess.run(["wine", *words], **streams, timeout=STEP_SECONDS).returncode
    except subprocess.TimeoutExpired:
        raise NotMadeError(f"wine {words[0]}: nothing after {STEP_SECONDS} s") from None
    if status:
        raise NotMadeError(f"wine {words[0]} ended with status {status}")


def windows_path(path):
    """Wine shows the whole Linux file system as drive Z."""
    return "Z:" + str(path).replace("/", "\\")


def read_all(source, pieces, log):
    with open(source, "rb", buffering=0) as file, open(log, "wb", buffering=0) as copy:
        while data := file.read(65536):
            pieces.append(data)
            copy.write(data)


def under_wine(*words, timeout=STEP_SECONDS, log=os.devnull):
    """The output of a Windows program, which also goes to the file `log` as it comes, for those who wait.

    Its streams are pipes: wine's Python does not start with files.
    """
    with subprocess.Popen(
        ["wine", *(str(word) for word in words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=wine_environment(),
        cwd=TREE,
    ) as process:
        pieces = []
        # A descriptor of its own, which stays when the program's is closed.
        reader = threading.Thread(target=read_all, args=(os.dup(process.stdout.fileno()), pieces, log), daemon=True)
        reader.start()
        process.stdin.close()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise NotMadeError(f"{' '.join(str(word) for word in words)}: nothing after {timeout} s") from None
        # The pipe need not end with the program: services that wine starts meanwhile inherit it, and stay.
        reader.join(AFTER_END)
        output = b"".join(pieces).decode("utf-8", "replace").replace("\r\n", "\n")
    if process.returncode:
        raise NotMadeError(f"{output}\nunder wine, {words[0]} ended with status {process.returncode}")
    return output


def freeze():
    """Both forms, one after the other, into build/windows/dist, unless they lie there already."""
    made = (PYTHON / "made", PYTHON / "Lib" / "site-packages" / "made")
    target, state = PLACE / "dist", tree_state(TREE, *(path.read_text(encoding="utf-8") for path in made))
    if is_made(target / "made", state):
        return target
    shutil.rmtree(target, ignore_errors=True)
    for form, words in (("the directory", ("--directory-only",)), ("the single file", ("--single-only",))):
        say(f"freezing {form} under wine")
        script = windows_path(TREE / "scripts" / "freeze.py")
        output = under_wine(PYTHON / "python.exe", script, "--output", windows_path(target), *words)
        for line in output.splitlines():
            if " MB" in line:
                say(line)
    (target / "quetzal.exe").rename(target / f"{NAME}.exe")
    (target / "made").write_text(state, encoding="utf-8")
    return target


def pack(frozen):
    """Files that are the same whenever they are made from the same content; put into dist/ when all is done."""
    files = [archive_zip(frozen / NAME), frozen / f"{NAME}.exe"]
    if files[0].stat().st_size > MOST_ZIP:
        raise NotMadeError(f"{files[0].name} has {files[0].stat().st_size / 1e6:.1f} MB")
    sums = frozen / f"{NAME}.sha256"
    sums.write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files), encoding="utf-8")
    publish((*files, sums))


def add_test_tools():
    """For the tests under wine's Python: the tools, the tests themselves, and what they read."""
    stamp = PYTHON / "Lib" / "site-packages" / "tools-made"
    if not stamp.exists():
        system = ("--platform", "win_amd64", "--python-version", "311", "--implementation", "cp", "--only-binary=:all:")
        tools = ("pytest>=8", "hypothesis>=6.100", "colorama")
        pip(
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
            "--target",
            stamp.parent,
            *system,
            *tools,
        )
        stamp.touch()
    for name in ("tests", "docs"):
        shutil.rmtree(TREE / name)
        shutil.copytree(ROOT / name, TREE / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, TREE / path.name)


def make():
    check_machine()
    install_programs(PROGRAMS)
    PLACE.mkdir(parents=True, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = str(moment())  # there is no git under the emulator
    fetch_python()
    fetch_packages()
    compile_core("windows-x86_64", PYTHON, PLACE)  # scripts/freeze.py takes only what is for people
    add_freezing_files(TREE)
    prepare_wine()
    pack(freeze())


def start(program, words):
    """Runs a Windows program with our streams, through pipes: wine's Python does not start with files."""
    prepare_wine()
    with subprocess.Popen(
        ["wine", str(program), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=wine_environment(),
    ) as process:
        ends = ((process.stdout.fileno(), 1), (process.stderr.fileno(), 2))
        relays = [threading.Thread(target=relay, args=end) for end in ends]
        threading.Thread(target=relay, args=(0, process.stdin.fileno(), process.stdin.close), daemon=True).start()
        for each in relays:
            each.start()
        for each in relays:
            each.join()
        return process.wait()


def relay(source, sink, close=lambda: None):
    """Copies until the end, at once."""
    with contextlib.suppress(OSError):
        while data := os.read(source, 65536):
            os.write(sink, data)
        close()


def run_program(words):
    return start(PLACE / "dist" / NAME / "quetzal.exe", words)


def run_python(words):
    os.chdir(TREE)
    return start(PYTHON / "python.exe", words)


if __name__ == "__main__":
    sys.exit(main(make, sys.argv[1:], {"run": run_program, "python": run_python}, __doc__))
