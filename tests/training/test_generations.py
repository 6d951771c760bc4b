"""A generation: every step once, in order, restartable; the verdict; the history. The commands are played by a stand-in
that leaves behind what the real ones do, and reads their arguments with the real parser."""

import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import generations as program
import pytest
from support import ROOT

from arena.errors import InputError
from arena.interrupts import Interrupt
from arena.match import MatchSchedule
from arena.openings import START, Supply
from arena.options import parse_sprt
from command.table import build_parser
from eval.network_file import FEATURES, NetworkData, pack_network
from training import network_history, programs
from training.documents import END
from training.files import GameWriter

OPENING = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n"
BETTER, LEVEL, WORSE = (5, 10, 40, 60, 85), (20, 40, 80, 40, 20), (85, 60, 40, 10, 5)  # pairs with 0 to 2 points


class Quetzal:
    """What `quetzal selfplay`, `train` and `match` do, at once. `breaks` maps a command to the status it ends with."""

    def __init__(self):
        self.calls = []
        self.pairs = {"match-nodes": BETTER, "match-time": BETTER}
        self.breaks = {}

    def __call__(self, command, interrupt):
        assert command[:3] == programs.own_quetzal()
        options = build_parser().parse_args(command[3:])
        self.calls.append(options)
        return getattr(self, options.command)(options, self.breaks.pop(options.command, 0))

    @property
    def names(self):
        return [call.command for call in self.calls]

    def selfplay(self, options, broken):
        if broken > 1:
            return broken
        with GameWriter(options.output, {"soft_nodes": options.soft_nodes, "seed": options.seed}) as writer:
            for _ in range(options.games - writer.games - 5 * broken):
                writer.write_payload(b"game")
        return 130 if broken else 0

    def train(self, options, broken):
        assert options.resume == Path(options.checkpoint).exists()
        assert all(Path(path).exists() for path in options.games)
        Path(options.checkpoint).write_text("half", encoding="ascii")
        if broken:
            return broken
        zeros = NetworkData(32, 400, bytes(2 * 32 * FEATURES), bytes(64), bytes(128), (options.seed or 0,), SUMMARY)
        Path(options.output).write_bytes(pack_network(zeros))
        Path(options.checkpoint).unlink()
        return 0

    def match(self, options, broken):
        directory = Path(options.resume or options.dir)
        if options.resume is None:
            assert options.games and options.openings
            directory.mkdir()
            described = {
                "engines": [{"name": name, "control": options.tc} for name in options.names.split(",")],
                "games": options.games,
                "sprt": parse_sprt(options.sprt, options.alpha, options.beta, options.normalized),
            }
            (directory / "run.json").write_text(json.dumps(described), encoding="ascii")
        if broken:
            return broken
        described = json.loads((directory / "run.json").read_text(encoding="ascii"))
        schedule = MatchSchedule(described, Supply([START]))
        schedule.tally.pentanomial = list(self.pairs[directory.name])
        schedule.tally.wins = 2 * sum(self.pairs[directory.name])
        schedule.verdict = schedule.sprt and schedule.sprt.verdict(schedule.tally.pentanomial)
        results = {**described, "summary": schedule.summary()}
        (directory / "results.json").write_text(json.dumps(results), encoding="ascii")
        return 0


SUMMARY = {
    "data": {"files": ["games.qzg"], "games": 20, "positions": 123456, "held_out": 2345, "duplicates": 7},
    "settings": {
        "neurons": 32,
        "epochs": 9,
        "batch": 16384,
        "rate": 0.001,
        "rate_curve": "linear",
        "result_share": "0.1:0.3@0.3",
        "seed": 5,
        "filters": {},
    },
    "losses": [[0.2, 0.3], [0.0125, 0.01375]],
}


@pytest.fixture
def quetzal(monkeypatch):
    fake = Quetzal()
    monkeypatch.setattr(programs, "run_command", fake)
    return fake


@pytest.fixture
def place(tmp_path):
    """A directory with all that a generation needs."""
    (tmp_path / "openings.epd").write_text(OPENING, encoding="ascii")
    (tmp_path / "networks.md").write_text(f"above\n\n{network_history.BEGIN}\nold\n{END}\n\nbelow\n", "ascii")
    return tmp_path


def run(place, *arguments, name="g1", begin=True):
    files = ("--history", place / "networks.json", "--document", place / "networks.md")
    first = ("--openings", place / "openings.epd", "--games", 20) if begin else ()
    return program.main([str(word) for word in (place / name, *files, *first, *arguments)])


def history(place):
    return json.loads((place / "networks.json").read_text(encoding="utf-8"))


def state(place, name="g1"):
    return json.loads((place / name / "state.json").read_text(encoding="utf-8"))


def test_a_generation_from_games_to_history(place, quetzal, capsys):
    arguments = ("--nodes", 77, "--seed", 5, "--epochs", 9, "--threads", 3, "-c", 2)
    assert run(place, *arguments) == 0
    selfplay, train, nodes, clock = quetzal.calls
    assert quetzal.names == ["selfplay", "train", "match", "match"]
    assert (selfplay.games, selfplay.soft_nodes, selfplay.seed, selfplay.threads) == (20, 77, 5, 3)
    assert selfplay.eval_file is None
    assert train.games == [selfplay.output]
    assert (train.epochs, train.seed, train.threads) == (9, 5, 3)
    assert (nodes.tc, clock.tc, nodes.concurrency, nodes.games) == ("nodes=5000", "8+0.08", 2, 400)
    assert nodes.option_a == clock.option_a == [f"EvalFile={train.output}"]
    assert nodes.option_b == clock.option_b == []
    assert (nodes.names, nodes.shuffle) == ("g1,built-in", True)
    assert (nodes.first_opening, clock.first_opening) == (1, 201)
    (entry,) = history(place)
    assert (entry["name"], entry["accepted"], entry["reason"]) == ("g1", True, "stronger with a clock")
    assert entry["network"]["training"] == SUMMARY
    network = (place / "g1" / "g1.qnn").read_bytes()
    assert entry["network"]["sha256"] == hashlib.sha256(network).hexdigest()
    assert entry["data"][0]["games"] == 20
    assert str(place) not in json.dumps(history(place)), "no path of one machine belongs in the history"
    text = (place / "networks.md").read_text(encoding="utf-8")
    assert text.startswith("above\n") and text.endswith("\nbelow\n") and "old" not in text
    (row,) = [line for line in text.splitlines() if line.startswith("| **g1**")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert len(cells) == network_history.HEADER[0].count("|") - 1
    assert cells[1] == "20 at 77 nodes by built-in"
    assert cells[2] == (
        "123,456 positions, neurons 32, epochs 9, batch 16384, rate 0.001, rate curve linear, "
        "result share 0.1:0.3@0.3, seed 5"
    )
    assert cells[3] == "training 0.012500, held out 0.013750"
    assert re.fullmatch(r"\+\d+\.\d ± \d+\.\d \(95 %\) in 400 games, nodes=5000", cells[4])
    assert cells[6] == "accepted: stronger with a clock"
    assert "g1 is accepted" in capsys.readouterr().out
    # Nothing is done twice.
    assert run(place, begin=False) == 0
    assert len(quetzal.calls) == 4
    assert len(history(place)) == 1


def test_the_next_generation_meets_the_one_in_use(place, quetzal):
    assert run(place) == 0
    network, games = place / "g1" / "g1.qnn", place / "g1" / "games.qzg"
    assert run(place, "--in-use", network, "--data", games, "--seed", 2, name="g2") == 0
    selfplay, train, nodes, clock = quetzal.calls[4:]
    assert selfplay.eval_file == str(network)
    assert train.games == [selfplay.output, str(games)]
    assert nodes.option_b == clock.option_b == [f"EvalFile={network}"]
    assert nodes.names == "g2,g1"
    entry = history(place)[1]
    digest = hashlib.sha256(network.read_bytes()).hexdigest()
    assert entry["teacher"] == entry["opponent"] == {"name": "g1", "sha256": digest}
    assert [each["games"] for each in entry["data"]] == [20, 20]
    assert [
        line[:8] for line in (place / "networks.md").read_text("utf-8").splitlines() if line.startswith("| **")
    ] == [
        "| **g1**",
        "| **g2**",
    ]


def test_learning_from_other_games_only(place, quetzal):
    assert run(place) == 0
    quetzal.calls.clear()
    assert run(place, "--games", 0, "--data", place / "g1" / "games.qzg", "--seed", 2, name="g2") == 0
    assert quetzal.names == ["train", "match", "match"]
    assert [each["games"] for each in history(place)[1]["data"]] == [20]


@pytest.mark.parametrize(
    ("nodes", "clock", "more", "accepted", "reason"),
    [
        (LEVEL, BETTER, (), True, "stronger with a clock"),
        (BETTER, LEVEL, (), False, "not shown to be stronger with a clock"),
        (BETTER, WORSE, (), False, "weaker with a clock"),
        (WORSE, BETTER, (), False, "weaker at fixed nodes"),
        (BETTER, BETTER, ("--sprt", "0,10"), True, "stronger with a clock"),
        # 200 pairs are too few to tell 0 from 5 Elo, but not to tell who is stronger.
        (BETTER, BETTER, ("--sprt", "0,5"), True, "stronger with a clock"),
        (LEVEL, LEVEL, ("--sprt", "0,10"), False, "not shown to be stronger with a clock"),
        (LEVEL, WORSE, ("--sprt", "0,10"), False, "weaker with a clock"),
        (WORSE, BETTER, ("--sprt", "0,10"), False, "weaker at fixed nodes"),
    ],
)
def test_the_verdict(place, quetzal, nodes, clock, more, accepted, reason):
    quetzal.pairs = {"match-nodes": nodes, "match-time": clock}
    assert run(place, *more) == 0
    (entry,) = history(place)
    assert (entry["accepted"], entry["reason"]) == (accepted, reason)
    # Who has lost at fixed nodes does not play with a clock.
    assert quetzal.names.count("match") == (1 if nodes is WORSE else 2)
    assert ("not played" in (place / "networks.md").read_text(encoding="utf-8")) == (nodes is WORSE)
    if more:
        verdict = {LEVEL: "open", BETTER: "H1", WORSE: "H0"}[nodes] if more[1] == "0,10" else "open"
        assert f"SPRT [{more[1].replace(',', ', ')}]: {verdict}" in (place / "networks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["selfplay", "train", "match"])
def test_an_interrupted_step_goes_on(place, quetzal, capsys, command):
    quetzal.breaks[command] = 1 if command == "selfplay" else 130
    assert run(place, "--seed", 4) == 130
    assert quetzal.names[-1] == command
    assert "the same command goes on" in capsys.readouterr().err
    assert not (place / "networks.json").exists()
    finished = set(state(place)["done"])
    before = len(quetzal.calls)
    assert run(place, begin=False) == 0
    again = quetzal.calls[before]
    assert again.command == command
    if command == "match":
        assert again.resume == str(place / "g1" / "match-nodes")
    if command == "train":
        assert again.resume is True
    assert {"selfplay": "generate", "train": "train", "match": "nodes"}[command] not in finished
    assert quetzal.names.count("selfplay") == (2 if command == "selfplay" else 1)
    assert history(place)[0]["accepted"]


@pytest.mark.parametrize("command", ["selfplay", "train", "match"])
def test_a_failed_step_is_said_and_can_be_repeated(place, quetzal, capsys, command):
    quetzal.breaks[command] = 2
    assert run(place) == 1
    errors = capsys.readouterr().err
    assert f"{command} " in errors and "ended with status 2" in errors
    assert run(place, begin=False) == 0
    assert history(place)[0]["accepted"]


def test_killed_between_history_and_state(place, quetzal):
    assert run(place) == 0
    known = state(place)
    del known["done"]["record"]
    (place / "g1" / "state.json").write_text(json.dumps(known), encoding="utf-8")
    assert run(place, begin=False) == 0
    assert len(history(place)) == 1
    assert len(quetzal.calls) == 4


def test_a_dry_run_prints_what_is_left_and_does_nothing(place, quetzal, capsys):
    assert run(place, "--dry-run") == 0
    *lines, last = capsys.readouterr().out.splitlines()
    parsed = [build_parser().parse_args(shlex.split(line)[3:]) for line in lines]
    assert [each.command for each in parsed] == ["selfplay", "train", "match", "match"]
    assert last.startswith("# record: ")
    assert quetzal.calls == []
    assert not (place / "g1").exists()
    quetzal.breaks["match"] = 130
    assert run(place) == 130
    capsys.readouterr()
    assert run(place, "--dry-run", begin=False) == 0
    assert [" match " in line for line in capsys.readouterr().out.splitlines()] == [True, True, False]


def test_other_settings_and_changed_files_are_refused(place, quetzal, capsys):
    quetzal.breaks["train"] = 130
    assert run(place, "--epochs", 3) == 130
    assert run(place, "--epochs", 4, "--nodes", 9, begin=False) == 2
    assert "g1: was begun with other settings: --nodes, --epochs" in capsys.readouterr().err
    (place / "openings.epd").write_text(2 * OPENING, encoding="ascii")
    assert run(place, begin=False) == 2
    assert "openings.epd: has changed since the generation began" in capsys.readouterr().err
    (place / "openings.epd").write_text(OPENING, encoding="ascii")
    # How many work on it may differ.
    assert run(place, "--threads", 7, "-c", 2, begin=False) == 0
    assert quetzal.calls[-3].threads == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--in-use", "nowhere.qnn"), "nowhere.qnn: there is no such file"),
        (("--openings", "nowhere.epd"), "nowhere.epd: there is no such file"),
        (("--games", 0), "nothing to learn from"),
        (("--match-games", 41), "even number"),
        (("--tc", "soon"), "time control 'soon'"),
        (("--name", "a,b"), "a name has letters"),
        (("--sprt", "5"), "--sprt takes ELO0,ELO1"),
        (("--neurons", 33), "33 neurons, but there must be a multiple of 32"),
        (("--result-share", 1.5), "--result-share lies between 0 and 1"),
        (("--result-share", "0.1:"), "--result-share 0.1:: neither a number X nor a ramp X:Y or X:Y@P"),
        (("--data", __file__), "test_generations.py"),
    ],
)
def test_mistakes_are_said_before_anything_starts(place, quetzal, capsys, arguments, message):
    assert run(place, *arguments) == 2
    assert message in capsys.readouterr().err
    assert quetzal.calls == []
    assert not (place / "g1").exists()


@pytest.mark.parametrize("option", ["--selfplay-arguments", "--train-arguments", "--match-arguments"])
def test_arguments_that_a_command_does_not_know(place, quetzal, capsys, option):
    with pytest.raises(SystemExit) as ended:
        run(place, f"{option}=--magic 1")
    assert ended.value.code == 2
    assert "--magic" in capsys.readouterr().err
    assert quetzal.calls == []


def test_openings_are_needed(place, quetzal, capsys):
    assert run(place, begin=False) == 2
    assert "--openings is needed" in capsys.readouterr().err


def test_a_damaged_network_is_not_played_against(place, quetzal, capsys):
    (place / "bad.qnn").write_bytes(b"QZNN but no network")
    assert run(place, "--in-use", place / "bad.qnn") == 2
    assert "bad.qnn" in capsys.readouterr().err
    assert quetzal.calls == []


def test_names_are_not_used_twice(place, quetzal, capsys):
    assert run(place) == 0
    assert run(place, "--name", "g1", "--seed", 2, name="other") == 2
    assert "has another network 'g1'" in capsys.readouterr().err
    assert len(quetzal.calls) == 4


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (("networks.md", "no place here\n"), "networks.md: has no place for the table"),
        (("networks.json", "{}{"), "networks.json: is no history of networks"),
        (("networks.json", '[{"nam": 1}]'), "networks.json: is no history of networks"),
        (("networks.json", "[" * 100_000), "networks.json: is no history of networks"),
        (("networks.json", '[{"name": "a", "network": {"sha256": "b"}}]'), "networks.json: is no history of networks"),
        (("networks.json", '[{"name": "a", "network": []}]'), "networks.json: is no history of networks"),
    ],
)
def test_a_history_that_cannot_be_written_is_said_first(place, quetzal, capsys, damage, message):
    (place / damage[0]).write_text(damage[1], encoding="ascii")
    assert run(place) == 2
    assert message in capsys.readouterr().err
    assert quetzal.calls == []


def test_a_damaged_state_is_said(place, quetzal, capsys):
    assert run(place) == 0
    path = place / "g1" / "state.json"
    whole = state(place)
    record, nodes = whole["done"]["record"], whole["done"]["nodes"]
    for damaged in (
        {"format": 1},
        [],
        {**whole, "inputs": None},
        {**whole, "done": {**whole["done"], "train": {}}},
        {**whole, "done": {**whole["done"], "nodes": {**nodes, "verdict": "H2"}}},
        {**whole, "done": {**whole["done"], "record": {**record, "matches": {"nodes": {}}}}},
        {**whole, "settings": {**whole["settings"], "data": 7}},
        {**whole, "settings": {**whole["settings"], "more": 7}},
    ):
        path.write_text(json.dumps(damaged), encoding="ascii")
        assert run(place, begin=False) == 2
        assert "state.json: is no state of a generation" in capsys.readouterr().err
        assert json.loads(path.read_text(encoding="ascii")) == damaged
    path.write_text("[" * 100_000, encoding="ascii")
    assert run(place, begin=False) == 2
    assert "brackets within brackets" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{}", "[" * 100_000, '{"summary": [], "engines": [], "sprt": null}', "7"])
def test_damaged_results_of_a_match_are_said(tmp_path, text):
    (tmp_path / "results.json").write_text(text, encoding="ascii")
    with pytest.raises(InputError, match=r"results\.json: damaged: "):
        network_history.describe_match(tmp_path)


def test_games_tell_who_played_them():
    """By the name given, by the checksum of a network in the history, or else by the file's name."""
    games = {
        "games": 1200,
        "by": None,
        "settings": {"soft_nodes": 330, "eval_file": "default.qnn", "eval_sha256": "aa"},
    }
    assert network_history.games_text([games], {"aa": "g7"}) == "1,200 at 330 nodes by g7"
    assert network_history.games_text([games], {"bb": "g7"}) == "1,200 at 330 nodes by default"
    assert network_history.games_text([games | {"by": "me"}], {"aa": "g7"}) == "1,200 at 330 nodes by me"


def test_the_shipped_table_is_made_from_the_shipped_history():
    document = ROOT / "docs" / "networks.md"
    text = document.read_text(encoding="utf-8")
    history = network_history.read_history(ROOT / "docs" / "networks.json")
    assert network_history.with_table(text, history, document) == text


def test_commands_are_run_and_their_status_is_told():
    assert programs.run_command([sys.executable, "-c", "raise SystemExit(3)"], Interrupt()) == 3


def test_a_request_between_two_steps_keeps_the_finished_one(place, quetzal, monkeypatch, capsys):
    """The command had ended by itself when the request came."""

    def late(command, interrupt):
        if "train" in command:
            interrupt.signal = signal.SIGTERM
        return quetzal(command, interrupt)

    with monkeypatch.context() as patch:
        patch.setattr(programs, "run_command", late)
        assert run(place) == 130
    assert "interrupted before nodes; the same command goes on" in capsys.readouterr().err
    assert set(state(place)["done"]) == {"generate", "train"}
    assert run(place, begin=False) == 0
    assert quetzal.names == ["selfplay", "train", "match", "match"]


CHILD = """import sys, time
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("kept")
    sys.exit(130)
"""
PARENT = """import sys
from arena.interrupts import Interrupt
from training.programs import run_command
with Interrupt() as interrupt:
    print(run_command([sys.executable, "-c", sys.argv[1]], interrupt))
"""


@pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX's")
def test_an_interrupt_gives_the_command_time_to_keep_its_work():
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert output == "kept\n130\n"


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_a_request_to_this_process_alone_is_handed_on():
    process = subprocess.Popen([sys.executable, "-c", PARENT, CHILD], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert output == f"{-signal.SIGTERM}\n"
