"""The differential fuzzer: some 50 programs in each run, and what the fuzzer itself can do."""

import collections
import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.zygote_lite.fuzz import fuzzer
from tests.zygote_lite.fuzz.generate.statements import render

NUMBERS, CHOICES, WITHOUT_FILE = 15, 20, 8  # more of them: `nox -s fuzz`
SETTINGS = {"derandomize": True, "deadline": None, "database": None}


def examine(text, xs, folder, counts):
    """Run one program; return `None`, or what is to be said of it where its gradient is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = fuzzer.examine(text, xs, folder)
    counts[verdict.split(":")[0]] += 1
    return f"{fuzzer.plain(text)}\n# inputs {xs}\n# {verdict}" if "WRONG" in verdict else None


@pytest.mark.sampled(2)
def test_programs_from_a_number(tmp_path, sample):
    """Give each program one number: all of them differ."""
    counts, number = collections.Counter(), len(sample(range(NUMBERS)))

    # a smaller number is no smaller program: the fuzzer's own reduction is what helps
    @settings(max_examples=number, phases=[Phase.generate], **SETTINGS)
    @given(seed=st.integers(0, 2**32 - 1))
    def check(seed):
        text, xs = fuzzer.program(seed), fuzzer.inputs(seed)
        if examine(text, xs, tmp_path, counts):
            small = fuzzer.shrunk(text, xs, tmp_path, seconds=5)
            raise AssertionError(f"# seed {seed}\n{examine(small, xs, tmp_path, counts)}")

    check()
    assert counts["right"] >= 0.8 * number, counts
    assert counts["loud"] <= 0.1 * number, counts


@pytest.mark.sampled(2)
def test_programs_without_a_file(tmp_path, monkeypatch, sample):
    monkeypatch.setattr(fuzzer, "WITHOUT_FILE", True)
    counts, seeds = collections.Counter(), sample(range(WITHOUT_FILE))
    for seed in seeds:
        assert not examine(fuzzer.program(seed), fuzzer.inputs(seed), tmp_path, counts)
    assert counts["right"] >= 0.6 * len(seeds), counts
    # `match`, and jumps out of nested `finally`, are loud
    assert counts["loud"] <= 0.25 * len(seeds), counts


def test_programs_from_choices(tmp_path):
    """Let hypothesis make each choice of the program, so that it can make the program small."""
    counts, texts = collections.Counter(), set()

    @settings(max_examples=CHOICES, **SETTINGS)
    @given(source=st.randoms(use_true_random=False))
    def check(source):
        text, xs = fuzzer.Author(source).module(), fuzzer.arguments(source)
        texts.add(text)
        wrong = examine(text, xs, tmp_path, counts)
        assert not wrong, wrong

    check()
    assert len(texts) >= 0.4 * CHOICES
    assert counts["right"] >= 0.6 * CHOICES, counts
    assert counts["loud"] <= 0.1 * CHOICES, counts


def test_the_programs_have_it_all():
    text = "\n".join(fuzzer.program(seed) for seed in range(300))
    for construct in (
        "while ", "for ", "break", "continue", "return ", "try:", "finally:", "else:", "nonlocal ",
        "lambda ", ".append(", " % 3]", ".sort()", "np.add.at(", "out=", "[::-1]",
        ".reshape(", ".pop(", "def h", "deque(", "heappop(", "accumulate(", "deepcopy(",
        "lru_cache",
        "class C", "super()", ".throw(", "ExitStack", "**", "np.einsum(", "transpose(", "del ",
        "Node(", "_replace(", "setdefault(", "np.argsort(",
    ):  # fmt: skip
        assert construct in text, construct


def test_a_program_is_the_same_each_time():
    assert fuzzer.program(7) == fuzzer.program(7)
    assert fuzzer.program(7) != fuzzer.program(8)


def test_a_wrong_gradient_is_found_and_made_small(monkeypatch, tmp_path):
    lines = ["c = a * b", "if re_(a) > -9:", ["c = c * v[0]"], "return c"]
    text = render(["def f(a, b, v, items, table):", lines])
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


def test_a_program_without_end_is_of_no_use(tmp_path):
    xs = (0.5, 0.6, np.array([0.7, 0.8, 0.9]), [0.1, 0.2], {"p": 0.3, "q": 0.4})
    text = (
        "def f(a, b, v, items, table):\n    for x in items:\n        items.append(x)\n    return a"
    )
    assert fuzzer.examine(text, xs, tmp_path) == "useless: RecursionError"


@pytest.mark.parametrize("seed", [910048, 722304])
def test_programs_whose_rules_have_loops_of_their_own(seed, tmp_path):
    """What the program or a rule has made must not be made again by the loop of another rule."""
    counts = collections.Counter()
    found = examine(fuzzer.program(seed), fuzzer.inputs(seed), tmp_path, counts)
    assert found is None, found
