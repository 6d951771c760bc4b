"""TOML files: what tomllib lets pass or takes too long for, with file and line."""

import time
import tomllib

import pytest

from arena.errors import InputError
from arena.toml_file import MOST_BYTES, MOST_PARTS, read_toml

DOTS = ".".join(["a"] * 200)
LONGEST = ".".join(["a"] * MOST_PARTS)


def written(tmp_path, text):
    path = tmp_path / "a.toml"
    path.write_bytes(text.encode())
    return path


LEGAL = [
    f"{LONGEST} = 1",
    f"[{LONGEST}]\n{LONGEST} = {{ {LONGEST} = 1.5 }}",
    f'a = \'{DOTS}\'\n"{DOTS}" = "{DOTS}\\"{DOTS}"',
    f"# {DOTS}\na = 1 # {DOTS}",
    f'a = """\n{DOTS}\n{DOTS} = \\""" " {DOTS}\n"""',
    f"a = '''\n{DOTS}\n[{DOTS}]\n\\'''",
    f'a = ["""b"""", """c""""", """\n{DOTS} = 1\n"""]',
    f"a = ['''b'''', '''c''''', '''\n{DOTS} = 1\n''']",
    f'a = """ \\\\"""\nb = ["", \'\', "{DOTS}"]',
    "a = [" + "1.5, " * 500 + "]\nb = [" + "1.5,\n" * 500 + "]",
    "\n".join(f"a.b{number} = 1979-05-27T07:32:00.5" for number in range(500)),
    "a = 9223372036854775807\nb = 0x7fffffffffffffff\nc = [-9223372036854775808]",
]


@pytest.mark.parametrize("text", LEGAL)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_legal_files_are_read(tmp_path, text, end):
    text = text.replace("\n", end)
    assert read_toml(written(tmp_path, text))[0] == tomllib.loads(text)


@pytest.mark.parametrize("key", [DOTS, " . ".join(["a"] * 200), ".".join(["'a.b'"] * 40), ".".join(['"=\\""'] * 40)])
@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "[[{}]]", "a = {{ {} = 1 }}", "a = {{ b = 1, {} = 1 }}", "{}"])
def test_keys_of_many_parts_are_refused_with_their_line(tmp_path, key, line):
    path = written(tmp_path, f'b = """\n\n"""\n{line.format(key)}\n')
    with pytest.raises(InputError, match="a key of more than") as refusal:
        read_toml(path)
    assert str(refusal.value).startswith(f"{path}:4: ")


@pytest.mark.parametrize(
    "text",
    [
        "[[" + "a." * 50_000 + "b]]",
        "a." * 500_000 + "b = 1",
        '"""\\' * 250_000,
        '""' * 500_000,
        "'''' " * 200_000,
        'a = """' + "\\" * 1_000_001,
        "a" * 1_000_000,
        "\\" * 1_000_000,
    ],
)
def test_a_file_takes_no_time(tmp_path, text):
    """tomllib takes 26 seconds for a header of 50,000 parts."""
    path = written(tmp_path, text)
    begun = time.process_time()
    with pytest.raises(InputError):
        read_toml(path)
    assert time.process_time() - begun < 3


def test_the_size_is_bounded(tmp_path):
    assert read_toml(written(tmp_path, "a = 1\n" + "#" * (MOST_BYTES - 6)))[0] == {"a": 1}
    with pytest.raises(InputError, match="larger than 1 MB"):
        read_toml(written(tmp_path, "a = 1\n" + "#" * (MOST_BYTES - 5)))


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "9223372036854775808", "0b1" + "0" * 63])
def test_numbers_have_64_bits(tmp_path, number):
    path = written(tmp_path, f"a = 1\nb = [{number}]\n")
    with pytest.raises(InputError, match="a whole number has at most 64 bits") as refusal:
        read_toml(path)
    assert str(refusal.value).startswith(f"{path}:2: ")
