"""joblib hands what `grad` and its kin make to its workers, which are other processes."""

import numpy as np
import pytest

from rulescore import Tangent
from zygote_lite import grad, jit, tree_map, value_and_grad, vmap

joblib = pytest.importorskip("joblib", reason="joblib is not installed: `nox -s library` has it")
X = np.array([0.5, -1.0, 2.0])


class Model:
    def __init__(self, w):
        self.w = w


def cube(x):
    return x**3


def of_model(model, x):
    return model.w * x**2


def descended(model, d):
    assert isinstance(d, Tangent)
    return tree_map(lambda x, dx: x - dx, model, d)


MADE = {
    "a gradient": (grad(cube), [1.5, -0.5]),
    "value and gradient": (value_and_grad(cube), [1.5, -0.5]),
    "compiled": (jit(cube), [1.5, -0.5]),
    "batches": (vmap(grad(cube)), [X, 2 * X]),
}


@pytest.mark.parametrize("name", MADE)
def test_workers_give_what_this_process_gives(name):
    made, xs = MADE[name]
    found = joblib.Parallel(2)(joblib.delayed(made)(x) for x in xs)
    np.testing.assert_equal(found, [made(x) for x in xs])


def test_lambdas_closures_and_tangents():
    k = 3.0
    slope = grad(lambda x: k * x**2)
    assert joblib.Parallel(2)(joblib.delayed(slope)(x) for x in (1.0, 2.0)) == [6.0, 12.0]
    (found,) = joblib.Parallel(2)([joblib.delayed(grad(of_model))(Model(2.0), 3.0)])
    assert found.w == 9.0
    (again,) = joblib.Parallel(2)([joblib.delayed(descended)(Model(2.0), found)])
    assert again.w == 2.0 - 9.0
