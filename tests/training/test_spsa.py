"""SPSA: the optimiser finds the top of a noisy hill, and a tiny real run is kept, resumed and reported."""

import json
import math
import os
import random
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
import spsa as program
from arena_playing import command as scripted_command
from arena_playing import wait_until
from clusters import NEEDS_DASK, local_cluster
from support import DATA, ROOT

from arena.errors import InputError
from search.parameters import TABLE, Parameter
from training import spsa, spsa_run
from training.spsa_run import State

OPENINGS = """rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
"""
TWELVE = [Parameter(f"p{number}", 100 * number, -900, 9000, 1 + 7 * number, "") for number in range(12)]
ITERATIONS, GAMES = 2000, 8


def usual_gains():
    gains = spsa.Gains(a=0.0, A=ITERATIONS / 10, alpha=0.602, gamma=0.101, c=1.0)
    return gains._replace(a=spsa.usual_a(gains, ITERATIONS, GAMES))


def steps_from(optimiser, target):
    """The root mean square of the distances, in steps."""
    squares = [((optimiser.values[each.name] - target[each.name]) / each.step) ** 2 for each in optimiser.parameters]
    return math.sqrt(sum(squares) / len(squares))


@pytest.mark.parametrize("seed", range(3))
def test_the_top_of_a_noisy_hill_is_found(seed):
    """Strength falls with the square of the distance, four steps off at the start; results are as noisy as games."""
    dice = random.Random(seed)
    top = {each.name: each.default + dice.choice((-4, 4)) * each.step for each in TWELVE}
    optimiser = spsa.Optimiser(TWELVE, usual_gains(), seed)

    def strength(side):
        return -0.01 * sum(((side[each.name] - top[each.name]) / each.step) ** 2 for each in TWELVE)

    assert steps_from(optimiser, top) == 4
    for _ in range(ITERATIONS):
        plus, minus = optimiser.pair()
        noise = dice.gauss(0, spsa.NOISE / math.sqrt(GAMES))
        optimiser.learn(strength(plus) - strength(minus) + noise)
    assert steps_from(optimiser, top) < 1


def test_results_that_mean_nothing_lead_about_a_step_astray():
    """What the default gain promises."""
    dice = random.Random(7)
    strayed = []
    for seed in range(4):
        optimiser = spsa.Optimiser(TWELVE, usual_gains(), seed)
        for _ in range(ITERATIONS):
            optimiser.learn(dice.gauss(0, spsa.NOISE / math.sqrt(GAMES)))
        strayed.append(steps_from(optimiser, {each.name: each.default for each in TWELVE}))
    assert 0.7 < sum(strayed) / len(strayed) < 1.4


def test_gains_are_spalls():
    gains = spsa.Gains(a=3.0, A=50.0, alpha=0.602, gamma=0.101, c=2.0)
    assert gains.go(0) == pytest.approx(3 / 51**0.602)
    assert gains.go(49) == pytest.approx(3 / 100**0.602)
    assert gains.look(0) == 2
    assert gains.look(99) == pytest.approx(2 / 100**0.101)


def test_one_iteration_by_hand():
    """Half a step each way, the first side scores 0.4 more per game: 0.5 · 0.4 / (2 · 0.5) = 0.2 steps its way."""
    parameter = Parameter("margin", 100, 0, 200, 10, "")
    optimiser = spsa.Optimiser([parameter], spsa.Gains(a=0.5, A=0.0, alpha=1.0, gamma=0.0, c=0.5), 1)
    plus, minus = optimiser.pair()
    assert {plus["margin"], minus["margin"]} == {95, 105}
    optimiser.learn(0.4)
    assert optimiser.values["margin"] == pytest.approx(102 if plus["margin"] == 105 else 98)
    assert optimiser.iteration == 1


def test_whole_numbers_are_fair_and_stay_in_range():
    """A step of 1 seen from 0.45 steps away is rounded by chance, and in the mean not at all; ends are respected."""
    small = Parameter("small", 5, 4, 6, 1, "")
    optimiser = spsa.Optimiser([small], spsa.Gains(a=1.0, A=0.0, alpha=0.6, gamma=0.0, c=0.45), 1)
    distances = []
    for optimiser.iteration in range(2000):
        plus, minus = optimiser.pair()
        assert {type(plus["small"]), type(minus["small"])} == {int}
        assert 4 <= min(plus["small"], minus["small"]) <= max(plus["small"], minus["small"]) <= 6
        distances.append(abs(plus["small"] - minus["small"]))
    assert sum(distances) / len(distances) == pytest.approx(0.9, abs=0.03)
    for _ in range(50):
        optimiser.learn(1.0)
    assert 4 <= optimiser.values["small"] <= 6


def test_a_resumed_run_equals_a_whole_one(tmp_path):
    def results(optimiser):
        return random.Random(optimiser.iteration).uniform(-1, 1)

    whole = spsa.Optimiser(TWELVE, usual_gains(), 3)
    cut = spsa.Optimiser(TWELVE, usual_gains(), 3)
    for _ in range(9):
        whole.learn(results(whole))
    for _ in range(4):
        cut.learn(results(cut))
    state = State(tmp_path / "state.json", {}, cut)
    state.save()
    again = State(tmp_path / "state.json", {}, spsa.Optimiser(TWELVE, usual_gains(), 3))
    again.load(json.loads((tmp_path / "state.json").read_text(encoding="utf-8")))
    assert again.optimiser.pair() == cut.pair()
    for _ in range(5):
        again.optimiser.learn(results(again.optimiser))
    assert again.optimiser.values == whole.values


def test_names_and_groups():
    table = {each.name: each for each in TABLE}
    assert [each.name for each in spsa.choose(["futility_base", "aspiration"])] == [
        "aspiration_depth",
        "aspiration_window",
        "futility_base",
    ]
    reductions = {each.name for each in spsa.choose(["reduction"])}
    assert "reduction_base" in reductions and "capture_reduction_base" not in reductions
    assert 10 <= len(spsa.choose([])) <= 20
    assert {each.name for each in spsa.choose([])} == set(spsa.USUAL) <= set(table)
    assert f"{len(spsa.USUAL)} margins and reductions" in (ROOT / "docs" / "networks.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="'use_threats' is a switch"):
        spsa.choose(["use_threats"])
    with pytest.raises(InputError, match="'magic' is no parameter"):
        spsa.choose(["magic"])


def arguments_of(tmp_path, *arguments):
    openings = tmp_path / "openings.epd"
    openings.write_text(OPENINGS, encoding="utf-8")
    script = [sys.executable, ROOT / "scripts" / "spsa.py", "--openings", openings, "--state", tmp_path / "state.json"]
    return [str(argument) for argument in (*script, *arguments)]


def run(tmp_path, *arguments):
    command = arguments_of(tmp_path, *arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=DATA)


def read_state(tmp_path):
    return json.loads((tmp_path / "state.json").read_text(encoding="utf-8"))


SMALL = ("futility_base", "reduction_base", "--nodes", 40, "--pairs", 1, "--max-moves", 15, "--no-pin")


def test_a_tiny_run_is_kept_resumed_and_reported(tmp_path):
    first = run(tmp_path, *SMALL, "--iterations", 2)
    assert first.returncode == 0, first.stderr
    state = read_state(tmp_path)
    assert (state["iteration"], sum(state["results"]), state["points"]) == (2, 4, {})
    default = {each.name: each.default for each in TABLE}
    assert first.stdout.splitlines()[0].split()[:3] == ["futility_base", str(default["futility_base"]), "->"]
    line = rf"^reduction_base +{default['reduction_base']} -> \d+ +\([+-]\d+\.\d\d steps\)$"
    assert re.search(line, first.stdout, re.MULTILINE)
    # A third iteration, of which one game had been finished before an interruption.
    state["points"] = {"4": 1.0}
    state["results"][0] += 1
    (tmp_path / "state.json").write_text(json.dumps(state), encoding="utf-8")
    second = run(tmp_path, *SMALL, "--iterations", 3)
    assert second.returncode == 0, second.stderr
    more = read_state(tmp_path)
    assert (more["iteration"], sum(more["results"]), more["points"]) == (3, 6, {})
    assert more["description"] == state["description"]


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_an_interrupt_keeps_every_game(tmp_path):
    command = arguments_of(tmp_path, *SMALL, "--iterations", 100_000)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=DATA)
    try:
        path = tmp_path / "state.json"
        assert wait_until(lambda: path.exists() and sum(read_state(tmp_path)["results"]) >= 3)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, errors
    assert "the same command goes on" in errors
    assert output.startswith("futility_base")
    state = read_state(tmp_path)
    assert sum(state["results"]) == 2 * state["iteration"] + len(state["points"]) >= 3


def test_the_table_and_the_options():
    one, two = Parameter("margin", 100, 0, 200, 10, ""), Parameter("depth", 8, 1, 20, 1, "")
    lines = list(spsa.table_lines([one, two], {"margin": 112.6, "depth": 8.4}))
    assert [line.split() for line in lines] == [
        ["margin", "100", "->", "113", "(+1.26", "steps)"],
        ["depth", "8", "->", "8", "(+0.40", "steps)"],
        ["values:", "margin=113"],
        ["options:", "--option-a", "margin=113"],
    ]
    assert list(spsa.table_lines([two], {"depth": 7.9}))[1:] == ["no parameter has moved to another whole number"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("time_share",), "time_share: without a clock this makes no difference"),
        (("--tc", "soon"), "time control 'soon'"),
        (("--option", "EvalFile=nowhere.qnn"), "nowhere.qnn"),
        (("--engine", "nowhere/quetzal"), "there is no program"),
        (("--openings", "nowhere.epd"), "there is no such file"),
        (("--c", "0"), "--a and --c are more than 0"),
        (("--a", "0"), "--a and --c are more than 0"),
    ],
)
def test_mistakes_are_said(tmp_path, capsys, arguments, message):
    assert program.main([*arguments_of(tmp_path)[2:], *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "state.json").exists()


def test_an_engine_without_the_options_is_refused(tmp_path):
    refused = run(tmp_path, "--option", "Magic=1")
    assert refused.returncode == 2
    assert "quetzal has no option Magic" in refused.stderr
    assert "Traceback" not in refused.stderr
    other = run(tmp_path, "futility_base", "--engine", scripted_command("plain"))
    assert other.returncode == 2
    assert "the engine has no option" in other.stderr
    assert not (tmp_path / "state.json").exists()


def test_another_run_is_not_continued(tmp_path):
    path = tmp_path / "state.json"

    def options(*more):
        return program.build_parser().parse_args([*arguments_of(tmp_path)[2:], "futility", *more])

    program.state_from(options("--c", "0.5")).save()
    assert program.state_from(options("--iterations", "5000")).description["gains"]["c"] == 0.5
    for change, name in ((("--seed", "2"), "openings, seed"), (("--nodes", "70"), "engine"), (("--c", "1"), "c")):
        with pytest.raises(InputError, match=rf"state\.json: was begun with other settings: {name}$"):
            program.state_from(options(*change))
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is no state of this program"):
        program.state_from(options())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("[" * 100_000, "no state of this program: brackets within brackets"),
        ("[]", r"no state of this program: this is \[\], not an object"),
        ({"trace": None}, "no state of this program: trace is None, not a list"),
        ({"points": [1]}, r"no state of this program: points is \[1\], not an object"),
        ({"values": {"futility_base": 100}}, "damaged: values are not those of the parameters"),
        ({"points": {"8": 1.0}}, "damaged: game 8 is not one of iteration 1"),
        ({"points": {"0": 0.7}}, "damaged: game 0 has 0.7 points"),
        ({"points": {"x": 1}}, "damaged: invalid literal"),
        ({"results": [1, 2]}, r"damaged: results are \[1, 2\]"),
        ({"iteration": -1}, "damaged: iteration is -1"),
        ({"trace": [[0]]}, "damaged: trace has rows of another length"),
    ],
)
def test_a_damaged_state_is_refused_and_stays(tmp_path, change, reason):
    path = tmp_path / "state.json"
    options = program.build_parser().parse_args([*arguments_of(tmp_path)[2:], "futility"])
    program.state_from(options).save()
    text = change if isinstance(change, str) else json.dumps({**read_state(tmp_path), **change})
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"state\.json: (is )?{reason}"):
        program.state_from(options)
    assert path.read_text(encoding="utf-8") == text


def test_a_state_without_a_part_is_refused(tmp_path):
    path = tmp_path / "state.json"
    options = program.build_parser().parse_args([*arguments_of(tmp_path)[2:], "futility"])
    program.state_from(options).save()
    whole = read_state(tmp_path)
    for name in whole:
        path.write_text(json.dumps({each: whole[each] for each in whole if each != name}), encoding="utf-8")
        with pytest.raises(InputError, match=f"is no state of this program: {name} is missing"):
            program.state_from(options)


def test_clocks_mean_the_same_after_resuming_on_another_machine(tmp_path, monkeypatch):
    """As in matches: the speed of the first machine is kept with the run."""
    references = []

    class Recorded:
        def __init__(self, cluster, work):
            references.append(work.reference)

        def check(self):
            pass

        def close(self):
            pass

    monkeypatch.setattr(spsa_run, "ClusterPool", Recorded)
    monkeypatch.setattr(spsa_run, "check_engine", lambda *arguments: None)
    monkeypatch.setattr(spsa_run.Games, "play", lambda *arguments: False)
    monkeypatch.setattr(spsa_run.os, "environ", {})
    progress = SimpleNamespace(resume_at=lambda games: None, finish=lambda text: None, clear=lambda: None)
    options = program.build_parser().parse_args([*arguments_of(tmp_path)[2:], "futility", "--tc", "1+0.01"])
    for speed in (1000.4, 2000.0):
        monkeypatch.setattr(spsa_run, "measure_speed", lambda speed=speed: speed)
        assert not spsa_run.play_on(program.state_from(options), 1, progress, cluster=object())
    assert references == [1000, 1000]
    known = read_state(tmp_path)
    assert known["reference_speed"] == 1000
    assert "reference_speed" not in known["description"]
    (tmp_path / "state.json").write_text(json.dumps({**known, "reference_speed": 0}), encoding="utf-8")
    with pytest.raises(InputError, match="damaged: reference_speed is not more than 0"):
        program.state_from(options)


@pytest.mark.skipif(any(mark.args[0] for mark in NEEDS_DASK), reason="needs Dask, and signals of Unix")
def test_a_run_on_a_cluster_learns_the_same(tmp_path):
    """At fixed nodes every game is the same wherever it is played."""
    places = tmp_path / "here", tmp_path / "there"
    for place in places:
        place.mkdir()
    assert run(places[0], *SMALL, "--iterations", 3).returncode == 0
    with local_cluster() as workers:
        result = run(places[1], *SMALL, "--iterations", 3, "--cluster", workers.address)
    assert result.returncode == 0, result.stderr
    here, there = map(read_state, places)
    assert (there["values"], there["results"], there["trace"]) == (here["values"], here["results"], here["trace"])
