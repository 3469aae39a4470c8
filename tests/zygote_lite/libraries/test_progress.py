"""Bars of tqdm: drawn as by the plain call, while what they walk over is differentiated."""

import io

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import DifferentiationError, gradient

tqdm = pytest.importorskip("tqdm.auto", reason="tqdm is not installed: `nox -s library` has it")
V = np.array([0.5, 1.5, 2.5])


def bar(stream, *xs, **options):
    form = "{desc}{n_fmt}/{total_fmt}{postfix}"
    return tqdm.tqdm(*xs, file=stream, bar_format=form, mininterval=0, miniters=1, **options)


def tells_the_loss(x, stream):
    with bar(stream, total=3) as shown:
        for _ in range(3):
            x = x * x
            shown.set_postfix(loss=x.sum())
            shown.update()
    return x.sum()


def walks_over_numbers(x, stream):
    total = 0.0
    for i, v in bar(stream, enumerate(x), total=3, desc=f"from {x[0]}"):
        total += v * v * i
    return total + sum(bar(stream, [v * v for v in x])) * sum(w for w in bar(stream, x))


def leaves_early(x, stream):
    for v in (shown := bar(stream, x.tolist())):
        shown.set_description(f"at {v}")
        if v > 1.0:
            break
    return v * v * shown.n


def counts_numbers(x, stream):
    shown = bar(stream, total=10.0)
    shown.update(x[0] * x[1])
    shown.close()
    return shown.n * x[2]


@pytest.mark.parametrize("f", [tells_the_loss, walks_over_numbers, leaves_early, counts_numbers])
def test_what_is_drawn_and_the_gradient(f):
    plain = io.StringIO()
    f(V, plain)
    for _ in range(3):
        drawn = io.StringIO()
        found = gradient(lambda x, drawn=drawn: f(x, drawn), V)
        assert drawn.getvalue() == plain.getvalue()
        assert_slopes(found, lambda x: f(x, io.StringIO()), (V,), 1e-6)


class Lines(list):
    """A stream of the user's, which keeps what it is given."""

    def write(self, text):
        self.append(text)

    def flush(self):
        pass


def test_a_number_that_a_bar_wrote_is_not_read_again():
    def f(x):
        lines = Lines()
        with bar(lines, total=3) as shown:
            shown.set_description_str(f"{x}")
        return float(lines[-1].partition(" ")[0]) * x

    with pytest.raises(DifferentiationError):
        gradient(f, 1.5)
