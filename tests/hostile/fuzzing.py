"""What the fuzzers share: their command line, and inputs that found a problem, kept as files that replay."""

import argparse
import base64
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "helpers"))  # pytest has it there, too

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


def cases(name, seed, seconds, keep, most=None, prefix=""):
    """Names the cases until the time is over, or so many.

    Each is a seed of its own. The one in work is noted in a file, with the prefix: should it end the process, the note
    stays and replays.
    """
    note = Path(keep) / f"{name}-unfinished-{seed}.json"
    note.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + seconds
    number = 0
    with note.open("wb", 0) as file:
        while time.monotonic() < deadline and (most is None or number < most):
            case = f"{seed}-{number}"
            file.seek(0)
            file.write(json.dumps({"problem": "the process ended", "case": prefix + case}).encode().ljust(120) + b"\n")
            yield case
            number += 1
    note.unlink()


def damage_bytes(data, rng):
    """As disks and editors do it."""
    how = rng.randrange(7)
    place = rng.randrange(len(data) + 1)
    if how == 0:
        return data[:place]
    if how == 1:
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    if how == 2:
        return data[:place] + data[place + rng.randrange(20) :]
    if how == 3:
        return (
            data[:place]
            + rng.choice((b"[" * 20_000, b'{"a":' * 20_000, b"\x00" * 512, b"\n", b"\r\n", b"\xff"))
            + data[place:]
        )
    if how == 4:
        return data[:place] + bytes(len(data) - place)
    if how == 5:
        return data + data[place:]
    return b"\xef\xbb\xbf" + data


def command_line(description, run, replay):
    """`--seed`, `--seconds` and `--keep` for `run`, or `--replay`; prints counts, and returns the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--most", type=int, metavar="N", help="cases (of each kind) before the time is over")
    parser.add_argument("--keep", default=KEEP, metavar="DIR", help="for inputs that find a problem")
    parser.add_argument("--replay", metavar="FILE", help="one of them")
    options = parser.parse_args()
    if options.replay is not None:
        problem = replay(options.replay)
        print(problem or "nothing is wrong")
        return int(problem is not None)
    counts = run(options.seed, options.seconds, options.keep, options.most)
    for name, count in counts.items():
        print(f"{name}: {count}")
    return int(counts["problems"] > 0)
