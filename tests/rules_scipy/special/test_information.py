"""Entropies and losses, against differences and at their ends."""

import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_the_ends_of_losses():
    assert rrule(sp.pseudo_huber, 0.0, 0.0)[1](1.0) == (None, 0.0, 0.0)
    assert rrule(sp.pseudo_huber, 0.0, 2.0)[1](1.0) == (None, 2.0, 0.0)
    small = rrule(sp.pseudo_huber, 1.0, 1e-5)[1](1.0)
    assert small[1] == pytest.approx(1e-20 / 4, rel=1e-6)  # where `sqrt(1 + r**2) - 1` cancels
    assert rrule(sp.rel_entr, 0.0, 2.0)[1](1.0)[2] == 0
