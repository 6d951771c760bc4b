"""The workflows for hosted machines, which nobody can run here: what they name exists, nothing that people are given is built
by Microsoft's compiler or leaves untried, and every system that the README offers is there.
"""

import re
import shutil
import subprocess
import tomllib

import pytest
import yaml
from support import ROOT
from targets import OLDEST_MACOS

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yml"))}
RELEASE = WORKFLOWS["release"]["jobs"]
TRIAL = "scripts/try_program.py"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def jobs():
    return [
        pytest.param(job, id=f"{name}-{title}")
        for name, flow in WORKFLOWS.items()
        for title, job in flow["jobs"].items()
    ]


def commands(job):
    """What a job types, and what cibuildwheel types for it."""
    for step in job["steps"]:
        if "run" in step:
            yield step["run"]
        yield from (text for name, text in step.get("env", {}).items() if name.startswith("CIBW_TEST_COMMAND"))


def systems(job):
    matrix = job.get("strategy", {}).get("matrix", {})
    return [each["os"] for each in matrix.get("include", ())] or matrix.get("os") or [job["runs-on"]]


def uploads(job):
    return [step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/upload-artifact@")]


def test_both_are_there_and_start_by_themselves():
    # YAML 1.1 takes the word `on` for a truth value.
    assert WORKFLOWS["release"][True]["push"] == {"tags": ["v*"]}
    assert set(WORKFLOWS["test"][True]) == {"push", "pull_request"}


@pytest.mark.parametrize("job", jobs())
def test_what_a_job_names_exists(job):
    for text in commands(job):
        for script in re.findall(r"\b(?:scripts|\.ci|tests)/[\w./-]+", text):
            assert (ROOT / script).exists(), script
        for target in re.findall(r"(?:^|&&)\s*make ([\w-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v[\d.]+", step["uses"])


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("job", jobs())
def test_the_shell_understands_it(job):
    for text in commands(job):
        plain = re.sub(r"\$\{\{.*?\}\}", "value", text)
        result = subprocess.run(["bash", "-n", "-c", plain], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("job", jobs())
def test_every_value_of_a_matrix_is_given(job):
    """An expression that names nothing is an empty text there, not an error."""
    matrix = job.get("strategy", {}).get("matrix", {})
    rows = matrix.get("include") or [dict.fromkeys(matrix)]
    for name in re.findall(r"\bmatrix\.(\w+)", yaml.safe_dump(job)):
        assert all(name in row for row in rows), name


def test_jobs_wait_for_jobs_that_exist():
    for flow in WORKFLOWS.values():
        for job in flow["jobs"].values():
            assert set(job.get("needs", ())) <= set(flow["jobs"])
    assert set(RELEASE["publish"]["needs"]) == set(RELEASE) - {"publish"}


def test_all_systems_are_built():
    assert [each["name"] for each in RELEASE["frozen"]["strategy"]["matrix"]["include"]] == [
        "linux-x86_64",
        "linux-arm64",
        "macos-x86_64",
        "macos-arm64",
    ]
    assert "make windows" in list(commands(RELEASE["windows"]))
    kinds = {name.split("-")[0] for name in systems(RELEASE["wheels"])}
    assert kinds == {"ubuntu", "windows", "macos"}
    assert len(systems(RELEASE["wheels"])) == 5


def test_everything_for_people_is_tried():
    """By the job that builds it; the Windows programs by a job on Windows, which gets them from the one that built them."""
    for title, job in RELEASE.items():
        if uploads(job) and title not in ("sdist", "windows"):
            assert any(TRIAL in text for text in commands(job)), title
    tried = [text for text in commands(RELEASE["windows-try"]) if TRIAL in text]
    assert [re.search(r"windows-x86_64(.*)", text)[1] for text in tried] == ["/quetzal.exe", ".exe"]
    assert systems(RELEASE["windows-try"]) == ["windows-2022"]
    (given,) = uploads(RELEASE["windows"])
    assert given["name"] in [step.get("with", {}).get("name") for step in RELEASE["windows-try"]["steps"]]
    assert len([text for text in commands(RELEASE["frozen"]) if TRIAL in text]) == 2  # directory and single file


def test_the_trial_has_its_three_parts():
    import try_program

    assert list(try_program.CHECKS) == ["node counts", "uci-check", "match"]


def test_microsofts_compiler_builds_nothing_for_people():
    """Where it would be taken on Windows, LLVM's is asked for, and looked for in the result."""
    builders = [title for title, job in RELEASE.items() if any("windows" in name for name in systems(job))]
    assert builders == ["msvc", "wheels", "windows-try"]
    assert uploads(RELEASE["msvc"]) == uploads(RELEASE["windows-try"]) == []
    assert not any("build_ext" in text or "freeze.py" in text for text in commands(RELEASE["windows-try"]))
    (settings,) = [step["env"] for step in RELEASE["wheels"]["steps"] if "cibuildwheel" in step.get("uses", "")]
    assert settings["CIBW_ENVIRONMENT_WINDOWS"] == "CC=clang-cl"
    assert "'clang' in _build.COMPILER" in settings["CIBW_TEST_COMMAND_WINDOWS"]


def test_what_people_get_is_guided_by_a_profile():
    (settings,) = [step["env"] for step in RELEASE["wheels"]["steps"] if "cibuildwheel" in step.get("uses", "")]
    assert settings["CIBW_ENVIRONMENT_LINUX"] == "QUETZAL_GUIDED=1"
    (build,) = [step for step in RELEASE["frozen"]["steps"] if "build_ext" in step.get("run", "")]
    assert build["env"]["QUETZAL_GUIDED"] == "1"


def test_pip_with_microsofts_compiler_says_that_it_is_slower():
    from compilers import MSVC, choose

    wanted = [re.search(r'grep "(.*)"', text)[1] for text in commands(RELEASE["msvc"]) if "grep" in text]
    assert len(wanted) == 1
    assert wanted[0] in choose(MSVC, ["amd64"], "release").cpu_level


def test_one_oldest_macos():
    assert RELEASE["frozen"]["env"]["MACOSX_DEPLOYMENT_TARGET"] == OLDEST_MACOS
    assert f"MACOSX_DEPLOYMENT_TARGET={OLDEST_MACOS}" in str(RELEASE["wheels"])


def test_wheels_begin_with_the_oldest_python_that_is_supported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=").replace(".", "")
    (settings,) = [step["env"] for step in RELEASE["wheels"]["steps"] if "cibuildwheel" in step.get("uses", "")]
    assert settings["CIBW_BUILD"].split()[0] == f"cp{oldest}-*"


def test_the_readme_offers_what_is_built():
    offered = set(re.findall(r"`quetzal-VERSION-([\w-]+)\.(?:zip|tar\.gz)`", (ROOT / "README.md").read_text("utf-8")))
    built = {each["name"] for each in RELEASE["frozen"]["strategy"]["matrix"]["include"]}
    assert offered == built | {"windows-x86_64"}
