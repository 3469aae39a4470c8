"""What runs when Python lets go of an object is refused by its name, also where C wrote it."""

import functools
import re
import weakref

import numpy as np
import pytest

from zygote_lite import DifferentiationError, gradient


class Box:
    pass


def by_a_method(x):
    seen, box = [x], Box()
    weakref.finalize(box, seen.append, x * x)
    del box
    return seen[-1]


def by_numpy(x):
    seen, box = np.ones(1), Box()
    weakref.finalize(box, np.copyto, seen, x)
    del box
    return seen[0] * x


def by_a_partial(x):
    seen, box = [x], Box()
    weakref.finalize(box, functools.partial(seen.append, x * x))
    del box
    return seen[-1]


@pytest.mark.parametrize(
    ("f", "name"),
    [(by_a_method, "list.append"), (by_numpy, "numpy.copyto"), (by_a_partial, "functools.partial")],
)
def test_what_runs_at_the_end_of_an_object_is_named(f, name):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match=rf"\d: {re.escape(name)} runs when Python"):
            gradient(f, 0.7)
