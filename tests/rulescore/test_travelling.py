"""What has a rule refuses to be pickled by value, and is pickled by its name."""

import functools
import pickle
import subprocess
import sys

import numpy as np
import pytest

import rulescore
from rulescore import (
    RuleSet,
    custom_frule,
    custom_rule,
    non_differentiable,
    opt_out,
    scalar_rule,
)

cloudpickle = pytest.importorskip("cloudpickle", reason="joblib and dask bring it")


@scalar_rule(lambda x: 100.0)
def named(x):
    return x * x


def functions():
    """Make functions that pickle does not find by their names, and a rule for each."""

    @scalar_rule(lambda x: 100.0)
    def scalar(x):
        return x * x

    @non_differentiable
    def constant(x):
        return x * 1.0

    @custom_rule
    def reverse(x):
        return x * x, lambda dy: (100 * dy,)

    @custom_frule
    def forward(x):
        return x * x, lambda dx: 100 * dx

    return [scalar, constant, reverse, forward]


@pytest.mark.parametrize("position", range(4))
def test_a_function_with_a_rule_is_refused(position):
    f = functions()[position]
    for held in (f, lambda x: f(x), {"f": [f]}, functools.partial(f, 1.0)):
        with pytest.raises(pickle.PicklingError, match=rf"{f.__name__} has a rule.*\[RC020\]"):
            cloudpickle.dumps(held)


def test_a_rule_set_says_while_it_is_registered_which_functions_are_refused():
    def f(x):
        return x * x

    rule = RuleSet("travelling")
    rule.scalar(f)(lambda x: 100.0)
    assert pickle.loads(cloudpickle.dumps(f))(3.0) == 9.0
    rule.register()
    with pytest.raises(pickle.PicklingError):
        cloudpickle.dumps(f)
    rule.unregister()
    assert pickle.loads(cloudpickle.dumps(f))(3.0) == 9.0
    rule.register()
    with pytest.raises(pickle.PicklingError):
        cloudpickle.dumps(f)
    rule.unregister()


def test_a_class_that_a_rule_is_for_is_refused():
    class Mine(np.ndarray):
        pass

    x = np.ones(2).view(Mine)
    assert type(pickle.loads(cloudpickle.dumps(x))).__name__ == "Mine"
    opt_out(np.mean, Mine)
    with pytest.raises(pickle.PicklingError, match="Mine has a rule"):
        cloudpickle.dumps(x)


def test_what_has_a_name_is_pickled_by_it():
    assert pickle.loads(cloudpickle.dumps(named)) is named

    @functools.wraps(named)
    def wrapper(x):
        return named(x) + 1.0

    wrapper.__qualname__ = "<locals>.wrapper"
    again = pickle.loads(cloudpickle.dumps(wrapper))
    assert again(3.0) == 10.0
    assert rulescore.rrule(named, 3.0)[1](1.0)[1] == 100.0


SCRIPT = """
import concurrent.futures, multiprocessing, pickle
import cloudpickle
from rulescore import rrule, scalar_rule

@scalar_rule(lambda x: 100.0)
def f(x):
    return x * x

def slope(x):
    return rrule(f, x)[1](1.0)[1]

if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        print(pool.submit(slope, 3.0).result())
    try:
        cloudpickle.dumps(slope)
    except pickle.PicklingError as error:
        print(error)
"""


def test_another_process_has_the_rule_or_there_is_an_error(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    slope, refused = run.stdout.splitlines()
    assert float(slope) == 100.0
    assert refused.startswith("f has a rule, which would be lost")
