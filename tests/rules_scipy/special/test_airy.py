"""Airy functions, against differences and mpmath."""

import mpmath as mp
import pytest
from scipy import special as sp

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def scaled(derivative, sign, f):
    def of(x):
        return f(x, derivative=derivative) * mp.exp(sign * 2 * x * mp.sqrt(x) / 3)

    return of


EACH = [scaled(d, s, f) for f, s in ((mp.airyai, 1), (mp.airybi, -1)) for d in (0, 1)]


def test_far_out():
    from rulescore import rrule

    for x in (1e-6, 2.0, 15.9, 16.1, 50.0, 1e4, 1e6):
        _, back = rrule(sp.airye, x)
        for i, f in enumerate(EACH):
            found = back(tuple(1.0 if i == j else None for j in range(4)))[1]
            with mp.workdps(60):
                expected = mp.diff(f, mp.mpf(x))
                assert abs(found - expected) <= 1e-11 * abs(expected), (x, i)


@pytest.mark.parametrize(
    ("f", "i", "reference"),
    [
        (sp.airy, 2, mp.airybi),
        (sp.ellipj, 0, lambda u, m: mp.ellipfun("sn", u, m=m)),
        (sp.fresnel, 1, mp.fresnelc),
        (sp.sici, 1, mp.ci),
    ],
)
def test_second_derivatives_of_functions_with_several_results(f, i, reference):
    more = (0.3,) if f is sp.ellipj else ()
    (found,) = gradient(lambda x: gradient(lambda x: f(x, *more)[i], x)[0], 0.8)
    assert found == pytest.approx(float(mp.diff(lambda x: reference(x, *more), 0.8, 2)), rel=1e-9)
