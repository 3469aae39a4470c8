"""The fuzzer of transformed code: a few programs of each kind, and what it can find."""

import numpy as np
import pytest

from tests.zygote_lite.constructs import refusals
from tests.zygote_lite.fuzz import specialized_fuzzer
from zygote_lite import testing
from zygote_lite._specialize import entry as _entry


@pytest.mark.sampled(4)
def test_a_few_programs(sample):
    seeds = sample(range(20))
    counts, wrong = specialized_fuzzer.run(len(seeds), 500)
    assert not wrong, wrong[0]
    assert counts["transformed"] >= 1.5 * len(seeds), counts


def test_a_wrong_answer_is_found(monkeypatch):
    compiled = _entry.compile_text

    def off(made, f):
        fast = compiled(made, f)
        return lambda *xs: (lambda y, *ds: (y * (1 + 1e-5), *ds))(*fast(*xs))

    monkeypatch.setattr(_entry, "compile_text", off)
    _, wrong = specialized_fuzzer.run(5, 500)
    assert wrong
    assert "TierMismatch" in wrong[0]
    assert "_value_and_gradient(" in wrong[0]


def test_what_the_tape_refuses_has_no_code():
    """Not even at the first call, before the tape has refused it."""
    assert "bytes" in testing.why_recorded(refusals.through_bytes, np.array([0.5, 0.6]))


@pytest.mark.sampled(4)
def test_programs_in_which_a_branch_decides_whether_an_argument_is_used(sample):
    for seed in sample(range(12)):
        wrong, counts = specialized_fuzzer.examine(specialized_fuzzer.of_branches, seed)
        assert wrong is None, wrong
        assert not any(name.startswith("error") for name in counts), counts


def test_derivatives_that_differ_are_found(monkeypatch):
    kind = specialized_fuzzer.of_branches
    right = specialized_fuzzer.DERIVATIVES[kind]

    def off(f, xs):
        a, *others = right(f, xs)
        return a + 1e-5, *others

    monkeypatch.setitem(specialized_fuzzer.DERIVATIVES, kind, off)
    wrong, _ = specialized_fuzzer.examine(kind, 3)
    assert wrong.startswith("gradient (")


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        (specialized_fuzzer.of_structures, 720415),  # samples of rows of several lengths
        (specialized_fuzzer.of_iterators, 722910),  # an empty list that is sorted by a key
        (specialized_fuzzer.of_writes, 91000650),  # the code was made again without an end
        (specialized_fuzzer.of_numbers, 723639),  # a cotangent in float64 of one in float32
    ],
)
def test_programs_that_were_not_right(kind, seed):
    wrong, counts = specialized_fuzzer.examine(kind, seed)
    assert wrong is None, wrong
    assert counts
