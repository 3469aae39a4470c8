"""The names of functions as the user knows them."""

import math
import operator

import numpy as np
import pytest
import scipy.special

from zygote_lite._ir.names import name_of

NAMES = {
    "len": len,
    "list.append": list.append,
    "math.sin": math.sin,
    "operator.add": operator.add,
    "numpy.sum": np.sum,
    "numpy.ndarray.sum": np.ndarray.sum,
    "numpy.ndarray.T": np.ndarray.T,
    "numpy.add": np.add,
    "numpy.add.at": np.add.at,
    "scipy.special.erf": scipy.special.erf,
    "tests.zygote_lite.ir.test_places.plain": None,
}


def plain():
    pass


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_function(name):
    assert name_of(NAMES[name] or plain) == name
