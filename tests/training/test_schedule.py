"""Learning rate and result share take the values that their descriptions promise."""

import pytest

from training.schedule import Ramp, rate_at


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1", [0.1, 0.1, 0.1, 0.1, 0.1]),
        ("0.1:0.3", [0.1, 0.15, 0.2, 0.25, 0.3]),
        ("0.1:0.3@0.5", [0.1, 0.1, 0.1, 0.2, 0.3]),
        ("1:0@0.75", [1, 1, 1, 1, 0]),
        ("1e-1:5e-1", [0.1, 0.2, 0.3, 0.4, 0.5]),
    ],
)
def test_ramps(text, values):
    ramp = Ramp.parse(text)
    assert [ramp.at(quarters / 4) for quarters in range(5)] == pytest.approx(values)
    assert Ramp.parse(str(ramp)) == ramp
    assert ramp.is_share()


@pytest.mark.parametrize("text", ["", "a", "0.1:", ":0.1", "0.1@0.2", "0.1:0.2:0.3", "-0.1", "0.1:0.3@", "nan", "0.1 "])
def test_what_is_no_ramp(text):
    with pytest.raises(ValueError):
        Ramp.parse(text)


@pytest.mark.parametrize("text", ["1.1", "0:1.1", "0.1:0.3@1"])
def test_what_is_no_share(text):
    assert not Ramp.parse(text).is_share()


@pytest.mark.parametrize(
    ("curve", "rates"),
    [
        ("linear", [8, 6.25, 4.5, 2.75, 1]),
        ("cosine", [8, 4.5 + 3.5 * 0.5**0.5, 4.5, 4.5 - 3.5 * 0.5**0.5, 1]),
        ("step:4", [8, 4, 2, 1, 1]),
        ("step:2", [8, 8, 1, 1, 1]),
    ],
)
def test_rates_from_8_to_1(curve, rates):
    assert [rate_at(curve, 8, 1, quarters / 4) for quarters in range(5)] == pytest.approx(rates)


@pytest.mark.parametrize("curve", ["", "sine", "step", "step:", "step:1", "step:-2", "linear:2"])
def test_what_is_no_curve(curve):
    with pytest.raises(ValueError, match="step:N"):
        rate_at(curve, 8, 1, 0.5)
