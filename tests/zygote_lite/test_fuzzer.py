"""The differential fuzzer: 300 programs in each run, and what the fuzzer itself can do."""

import numpy as np
import pytest

from tests.zygote_lite import fuzzer

BLOCK = 30


@pytest.mark.parametrize("block", range(10))
def test_programs(block):
    counts, wrong = fuzzer.run(BLOCK, start=block * BLOCK, report=None)
    assert not wrong, "\n\n".join(f"# seed {s}\n{fuzzer.plain(t)}\n{v}" for s, t, v in wrong)
    assert counts["right"] >= 0.8 * BLOCK, counts
    assert counts["loud"] <= 0.1 * BLOCK, counts


def test_the_programs_have_it_all():
    text = "\n".join(fuzzer.program(seed) for seed in range(300))
    for construct in (
        "while ", "for ", "break", "continue", "return ", "try:", "finally:", "else:", "nonlocal ",
        "lambda ", ".append(", ".sort()", "np.add.at(", "out=", "[::-1]",
        ".reshape(", ".pop(", "def h",
    ):  # fmt: skip
        assert construct in text, construct


def test_a_program_is_the_same_each_time():
    assert fuzzer.program(7) == fuzzer.program(7)
    assert fuzzer.program(7) != fuzzer.program(8)


def test_a_wrong_gradient_is_found_and_made_small(monkeypatch, tmp_path):
    lines = ["c = a * b", "if re_(a) > -9:", ["c = c * v[0]"], "return c"]
    text = fuzzer.render(["def f(a, b, v, items, table):", lines])
    xs = (0.5, 0.6, np.array([0.7, 0.8, 0.9]), [0.1, 0.2], {"p": 0.3, "q": 0.4})
    assert fuzzer.examine(text, xs, tmp_path) == "right"

    def halved(f, *xs):
        y, back = fuzzer_pullback(f, *xs)
        return y, lambda dy: tuple(d if not isinstance(d, float) else d / 2 for d in back(dy))

    fuzzer_pullback = fuzzer.pullback
    monkeypatch.setattr(fuzzer, "pullback", halved)
    assert fuzzer.examine(text, xs, tmp_path).startswith("WRONG: gradient")
    assert "if" not in fuzzer.shrunk(text, xs, tmp_path, seconds=3)


def test_a_kink_is_no_error(tmp_path):
    xs = (0.0, 0.6, np.array([0.7, 0.8, 0.9]), [0.1, 0.2], {"p": 0.3, "q": 0.4})
    text = "def f(a, b, v, items, table):\n    return max(a, -1.0 * a) * b"
    assert fuzzer.examine(text, xs, tmp_path) == "kink"
