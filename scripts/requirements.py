"""Prints requirements that pyproject.toml names, so that the Makefile does not repeat them.

python scripts/requirements.py build run dev
"""

import argparse
import tomllib
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+", help="build, run, or an optional group such as dev")
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    groups = {
        "build": project["build-system"]["requires"],
        "run": project["project"]["dependencies"],
        **project["project"]["optional-dependencies"],
    }
    for name in parser.parse_args().groups:
        if name not in groups:
            parser.error(f"no group '{name}'; there are {', '.join(groups)}")
        print("\n".join(groups[name]))


if __name__ == "__main__":
    main()
