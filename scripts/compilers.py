"""What setup.py tells each kind of compiler, and what `quetzal --version` says of it afterwards.

gcc, clang and clang-cl compile the vector loops for several levels of x86 processors (board/cpu_levels.h). Microsoft's own
compiler has no such thing: its build is the same engine, only slower. CC=clang-cl takes LLVM's compiler in its place.
"""

import os
import platform
import re
from typing import NamedTuple

GCC, CLANG_CL, MSVC = "gcc", "clang-cl", "msvc"  # clang is told what gcc is told
X86 = ("x86_64", "amd64")
BASELINE = "x86-64-v2"

PROFILES = ("release", "debug", "sanitize", "thread")
GCC_FLAGS = {
    "release": ["-O3", "-DCYTHON_WITHOUT_ASSERTIONS"],
    "debug": ["-O1", "-g", "-UNDEBUG"],
    "sanitize": ["-O1", "-g", "-UNDEBUG", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"],
    "thread": ["-O1", "-g", "-UNDEBUG", "-fno-omit-frame-pointer", "-fsanitize=thread"],
}
SANITIZERS = {"sanitize": ["-fsanitize=address,undefined"], "thread": ["-fsanitize=thread"]}
MSVC_FLAGS = {profile: ["/Od", "/Zi"] for profile in PROFILES} | {"release": ["/O2", "/DCYTHON_WITHOUT_ASSERTIONS"]}

SLOWER = (
    "Microsoft's compiler builds Quetzal without its faster vector loops: the same moves, but slower. "
    "With LLVM installed, CC=clang-cl builds the fast one."
)


class Choice(NamedTuple):
    compile_flags: list
    link_flags: list
    cpu_level: str  # for people


def kind_of(compiler_type):
    """The kind of compiler behind the name that setuptools has for it."""
    if compiler_type != "msvc":
        return GCC
    name = os.path.basename(os.environ.get("CC", "").strip('"'))
    return CLANG_CL if name.lower().removesuffix(".exe") == "clang-cl" else MSVC


def machines_of(command):
    """What a compiler's command compiles for: Python for macOS may be of both kinds at once, by several -arch."""
    named = dict.fromkeys(re.findall(r"-arch (\S+)", " ".join(command)))
    return list(named) or [platform.machine().lower()]


def choose(kind, machines, profile, level=BASELINE):
    """`level` is the compiler's own name for the baseline."""
    x86 = [machine for machine in machines if machine in X86]
    if kind == MSVC:
        return Choice(MSVC_FLAGS[profile], [], f"{machines[0]} default (built by MSVC, therefore slower)")
    if kind == CLANG_CL:
        # It speaks both languages, but some words of the second only after this prefix.
        flags = [*MSVC_FLAGS[profile], "/clang:-fwrapv", "-Wno-unused-function", "-Werror=int-conversion"]
        if profile == "release":
            flags.append("/clang:-O3")
        return Choice([*flags, *([f"-march={level}"] if x86 else [])], [], level_of(machines))
    # -fwrapv: the core relies on two's complement where it wraps. Unused inline functions come with every .pxd. A pointer
    # taken for a number is never meant, though older compilers only warn.
    flags = [*GCC_FLAGS[profile], "-fwrapv", "-Wno-unused-function", "-Werror=int-conversion"]
    if x86:
        # A program of both kinds is compiled twice by one command: the level is for one of them.
        flags += ["-Xarch_x86_64"] * (len(machines) > 1) + [f"-march={level}"]
    return Choice(flags, SANITIZERS.get(profile, []), level_of(machines))


def level_of(machines):
    return " and ".join(BASELINE if machine in X86 else f"{machine} default" for machine in machines)
