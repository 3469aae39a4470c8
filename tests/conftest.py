"""What all tests share: cores, samples of cases, states of the rule sets, a foreign array type."""

import collections
import gc
import os
import sys
import zlib

os.environ.setdefault("ZYGOTE_LITE_STRICT", "1")  # before the engine is imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # all cores run tests; matrices are small
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process that a test starts compiles all

import numpy as np
import pytest

from rulescore import plugins

sys.dont_write_bytecode = False
pytest.register_assert_rewrite("tests.zygote_lite.checks")
plugins(all_sections=True)  # tests ask for the rules of a plugin: none is to come later

STATES = {
    "none": set(),
    "base": {"rules_base"},
    "nnlib": {"rules_nnlib"},
    "both": {"rules_base", "rules_nnlib"},
    "scipy": {"rules_scipy"},
}


def pytest_addoption(parser):
    """Add the option by which the whole suite runs all cases."""
    help = "run all cases of tests that are marked `sampled`, also with the whole suite"
    parser.addoption("--every-case", action="store_true", help=help)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Run the whole suite on all cores, where pytest-xdist is installed; `-n 0` asks for one.

    A file, a folder, or tests chosen by name run in this process: to start others takes longer.
    They run with all of their cases, the whole suite with a sample of those of some tests.
    """
    option = config.option
    if hasattr(config, "workerinput"):
        return  # the options are those of the process that started this one
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    option.every_case |= not is_whole or bool(option.keyword)
    if not is_whole or option.keyword or option.collectonly or option.usepdb:
        return
    if getattr(option, "numprocesses", 0) is not None:  # given, or pytest-xdist is not here
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cores > 1:
        option.numprocesses = min(cores, 8)
        option.dist = "worksteal"


def pytest_collection_modifyitems(config, items):
    """Leave out cases of tests with the mark `sampled(n)`: one in n stays, always the same."""
    if config.option.every_case:
        return
    cases = collections.defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0], *mark.args].append(item)
    out = set()
    for (_, n), found in cases.items():
        # not each n-th: where parameters are combined, that could be the same one throughout
        found.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        out.update(found[-(-len(found) // n) :])
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    items[:] = [item for item in items if item not in out]


@pytest.fixture
def sample(request):
    """Give a function that takes one in n of a sequence, or all if all cases are to run.

    The test has the mark `sampled(n)`. It is for a test that goes through its cases itself.
    """
    (n,) = request.node.get_closest_marker("sampled").args
    return lambda cases: cases if request.config.option.every_case else cases[::n]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Take what is collected out of the garbage collector's walks: it stays until the end.

    The collector is not switched off meanwhile: dask, which is imported here, would take that for
    the state to return to, and leave it off for the rest of the tests.
    """
    gc.set_threshold(0)
    try:
        return (yield)
    finally:
        gc.set_threshold(10_000, 10, 20)  # by Python's own, a sixth of the time goes there
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def collector_stays_on():
    """Fail where a test has left the garbage collector off: all after it would slow down."""
    yield
    assert gc.isenabled()


@pytest.fixture(params=STATES)
def rule_sets(request):
    """Switch all plugins off but those of one state; the test gets the names of these."""
    kept = STATES[request.param]
    rulesets = [(p.name, ruleset) for p in plugins() for ruleset in p.rulesets]
    off = [ruleset for name, ruleset in rulesets if name not in kept]
    for ruleset in off:
        ruleset.unregister()
    yield kept
    for ruleset in off:
        ruleset.register()


class Foreign(np.lib.mixins.NDArrayOperatorsMixin):
    """An array type of another library (NEP 13 and 18), which never turns into NumPy's own."""

    def __init__(self, data):
        self.data = np.asarray(data)

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)
    real = property(lambda self: Foreign(self.data.real))
    imag = property(lambda self: Foreign(self.data.imag))
    T = property(lambda self: Foreign(self.data.T))

    def astype(self, dtype):
        return Foreign(self.data.astype(dtype))

    def __getitem__(self, index):
        return Foreign(self.data[unwrap(index)])

    def __array__(self, *args, **kwargs):
        raise AssertionError("a foreign array was turned into a NumPy array")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return wrap(getattr(ufunc, method)(*unwrap(inputs), **unwrap(kwargs)))

    def __array_function__(self, function, types, args, kwargs):
        return wrap(function(*unwrap(args), **unwrap(kwargs)))


def unwrap(x):
    if isinstance(x, Foreign):
        return x.data
    if isinstance(x, tuple | list):
        return type(x)(unwrap(entry) for entry in x)
    if isinstance(x, dict):
        return {name: unwrap(entry) for name, entry in x.items()}
    return x


def wrap(x):
    if isinstance(x, np.ndarray | np.generic) and not isinstance(x, np.bool_):
        return Foreign(x)
    if isinstance(x, tuple | list):
        parts = [wrap(entry) for entry in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return x


@pytest.fixture
def foreign():
    """Give the foreign array type; `foreign(data).data` is the NumPy array inside."""
    return Foreign
