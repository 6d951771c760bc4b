"""What the fuzzers share: their command line, and inputs that found a problem, kept as files that replay."""

import argparse
import base64
import json
from pathlib import Path

KEEP = "hostile-failures"


def packed(value):
    """Bytes within lists, as JSON can have them."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    return [packed(each) for each in value] if isinstance(value, (list, tuple)) else value


def unpacked(value):
    if isinstance(value, dict):
        return base64.b64decode(value["base64"])
    return [unpacked(each) for each in value] if isinstance(value, list) else value


def keep_failure(directory, name, problem, **values):
    """Writes what is needed to see a problem again."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    kept = {"problem": problem, **{key: packed(value) for key, value in values.items()}}
    (directory / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def kept_failure(path):
    """What was kept, by name."""
    return {key: unpacked(value) for key, value in json.loads(Path(path).read_text(encoding="utf-8")).items()}


def command_line(description, run, replay):
    """`--seed`, `--seconds` and `--keep` for `run`, or `--replay`; prints counts, and returns the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--keep", default=KEEP, metavar="DIR", help="for inputs that find a problem")
    parser.add_argument("--replay", metavar="FILE", help="one of them")
    options = parser.parse_args()
    if options.replay is not None:
        problem = replay(options.replay)
        print(problem or "nothing is wrong")
        return int(problem is not None)
    counts = run(options.seed, options.seconds, options.keep)
    for name, count in counts.items():
        print(f"{name}: {count}")
    return int(counts["problems"] > 0)
