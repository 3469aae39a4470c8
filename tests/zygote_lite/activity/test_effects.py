"""Effects that are told from code: those of what a function uses, and not of all that is there."""

import contextvars
import datetime
import functools
import importlib.util
import logging
import os
import random
import secrets
import shutil
import sys
import tempfile
import time
import uuid

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.stats

from zygote_lite import DifferentiationError, checkpoint, grad
from zygote_lite._activity.effects import effect_of
from zygote_lite._tape.repeats import repeatable

log = logging.getLogger(__name__)


def spline(x):
    return scipy.interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], x)(1.3)


def decay(x):
    solved = scipy.integrate.solve_ivp(lambda t, y: -x[0] * y, (0.0, 1.0), x[1:], rtol=1e-8)
    return np.sum(solved.y[:, -1])


def log_density(x):
    return np.sum(scipy.stats.norm.logpdf(x, x[0], 2.0))


@pytest.mark.parametrize("f", [spline, decay, log_density])
def test_libraries_have_effects_that_are_not_used(f):
    assert effect_of(f)[0] is None
    x = np.array([0.3, 1.0, 0.5, 2.0])
    np.testing.assert_allclose(grad(lambda x: checkpoint(f)(x))(x), grad(f)(x), rtol=1e-12)


def test_effects_that_are_used_are_found(caplog):
    class Noisy:
        def apply(self, x):
            log.info("applied")
            return x

    noisy, x = Noisy(), np.linspace(0.0, 1.0, 5)
    for f, found in (
        (lambda x: noisy.apply(x), "logs a message"),
        (lambda x: x + scipy.stats.norm.rvs(), "draws random numbers"),
        (lambda x: scipy.interpolate.BarycentricInterpolator(x, x)(x), "random"),
        (lambda x: scipy.integrate.romb(x, show=True), "calls `print`"),
    ):
        caplog.set_level(logging.INFO)
        assert effect_of(f).is_open
        with pytest.raises(TypeError, match=found), repeatable(f, TypeError)(None):
            f(x)


class Countdown:
    """An iterator that the user has written: what it changes is seen where it is run."""

    def __init__(self):
        self.left = 3

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        return self.left


class Asked:
    """An object that notes which attributes are asked for that it does not have."""

    def __init__(self):
        vars(self)["asked"] = []

    def __getattr__(self, name):
        self.asked.append(name)
        raise AttributeError(name)


NOW, LEVEL = datetime.datetime.now, contextvars.ContextVar("LEVEL", default=1.0)
COUNTDOWN, ASKED, NUMBERS = Countdown(), Asked(), iter([1.0, 2.0])
ACTING = {
    "os.urandom": lambda x: x * os.urandom(1)[0],
    "os.system": lambda x: x + os.system("true"),
    "uuid": lambda x: x * len(str(uuid.uuid4())),
    "shutil": lambda x: shutil.copy("a", "b"),
    "time": lambda x: x * time.perf_counter(),
    "datetime.now": lambda x: x * datetime.datetime.now().microsecond,
    "datetime.now of a zone": lambda x: x * datetime.datetime.now(datetime.UTC).microsecond,
    "datetime.today": lambda x: x * datetime.datetime.today().microsecond,
    "date.today": lambda x: x * datetime.date.today().day,
    "a method of a clock": lambda x: x * NOW().microsecond,
    "datetime64": lambda x: x * float(np.datetime64("now").astype(int)),
    "context variable": lambda x: x * LEVEL.get(),
    "os.listdir": lambda x: x * len(os.listdir(".")),
    "os.chdir": lambda x: (os.chdir("."), x)[1],
    "np.seterr": lambda x: (np.seterr(all="ignore"), x)[1],
    "np.loadtxt": lambda x: x * np.loadtxt("a.txt"),
    "np.load": lambda x: x * np.load("a.npy"),
    "secrets": lambda x: x * secrets.randbelow(3),
    "tempfile": lambda x: x * len(tempfile.mkdtemp()),
    "iterator in C": lambda x: x * next(NUMBERS),
}


@pytest.mark.parametrize("name", ACTING)
def test_what_acts_on_the_system_or_asks_it_is_an_effect(name):
    assert effect_of(ACTING[name])[0] is not None


def test_dates_and_paths_that_ask_nothing_are_no_effects():
    start = datetime.datetime(2020, 1, 1)
    assert effect_of(lambda x: x * (start - datetime.datetime(2019, 1, 1)).days)[0] is None
    assert effect_of(lambda x: x * datetime.date.fromisoformat("2020-01-02").day)[0] is None
    assert effect_of(lambda x: x * np.datetime64("2020-01-02").astype(int))[0] is None
    assert effect_of(lambda x: x * len(os.fspath("a")))[0] is None


def test_random_bytes_are_not_drawn_again():
    """What is run again would have the gradient of other bytes."""
    with pytest.raises(DifferentiationError, match="urandom"):
        grad(lambda x: checkpoint(ACTING["os.urandom"])(x * x))(2.0)


def test_objects_of_the_user_are_no_effects_and_are_asked_nothing():
    assert effect_of(lambda x: x * next(COUNTDOWN))[0] is None
    assert effect_of(lambda x: x * len(ASKED.asked))[0] is None
    assert not set(ASKED.asked) & {"__self__", "__module__", "__name__"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return an installed module whose class acts where code does not name a method."""
    path = tmp_path_factory.mktemp("site-packages") / "acting.py"
    path.write_text(
        "import random\n"
        "class Acting:\n"
        "    def __getitem__(self, i): return random.random()\n"
        "    def __iter__(self): yield random.random()\n"
        "    def __enter__(self): return random.random()\n"
        "    def __exit__(self, *error): pass\n"
        "    def __repr__(self): return str(random.random())\n"
        "class Other:\n"
        "    def __init__(self, call=None): self.call = call\n"
        "    @property\n"
        "    def computed(self): return random.random()\n"
        "    @staticmethod\n"
        "    def static(): return random.random()\n"
        "    @classmethod\n"
        "    def of_class(cls): return random.random()\n"
        "    def named(self): return random.random()\n"
        "    def run(self, x): return self.call(x)\n"
        "class Quiet:\n"
        "    def __repr__(self): return str(random.random())\n"
        "    def __len__(self): return 2\n"
    )
    spec = importlib.util.spec_from_file_location("acting", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "acting", module)
        spec.loader.exec_module(module)
        yield module


def test_effects_of_libraries_that_syntax_calls_are_found(library):
    """The pullback of a checkpoint did them again, and said nothing where the value is the same."""
    acting, other, quiet = library.Acting(), library.Other(), library.Quiet()
    later = library.Other(lambda x: x * other.named())  # which is met before its name is

    def entered(x):
        with acting as y:
            return x * y

    for f in (
        lambda x: x * acting[0],
        lambda x: x * sum(acting),
        entered,
        lambda x: x * other.computed,
        lambda x: x * other.static(),
        lambda x: x * other.of_class(),
        lambda x: later.run(x) + id(other),
    ):
        with pytest.raises(TypeError, match="random"), repeatable(f, TypeError)(None):
            f(1.0)
    for f in (lambda x: x * len(quiet), lambda x: x * acting.__class__.__name__.count("A")):
        with repeatable(f, TypeError)(None):
            f(1.0)


def test_effects_of_what_a_partial_holds_by_name_are_found():
    held = functools.partial(lambda x, draw: x * draw(), draw=random.random)
    assert "random" in effect_of(held)[0]


def test_effects_of_what_a_function_imports_itself_are_found():
    def drawn(x):
        from random import random

        return x * random()

    def timed(x):
        import time

        return x * time.time()

    def quiet(x):
        import math

        return math.sin(x)

    assert "random" in effect_of(drawn)[0]
    assert "time" in effect_of(timed)[0]
    assert effect_of(quiet)[0] is None


def test_a_module_that_nobody_has_imported_yet_is_watched_where_it_runs():
    def draws(x):
        import wsgiref.drawing as library  # which does not exist, and so is never imported

        return x * library.draw()

    found = effect_of(draws)
    assert found.effect is None
    assert found.is_open


def test_modules_that_a_closure_or_an_object_holds_are_looked_into():
    """What is run again had the gradient of another draw."""

    def drawn_by(held):
        return lambda x: x * held.uniform(1.0, 2.0)

    class Drawing:
        def __init__(self, held):
            self.held = held

        def by(self, x):
            return x * self.held.uniform(1.0, 2.0)

    for f in (drawn_by(random), drawn_by(np.random), Drawing(random).by, Drawing(np.random).by):
        assert "uniform" in effect_of(f)[0]
        with pytest.raises(DifferentiationError, match="uniform"):
            grad(lambda x, f=f: checkpoint(f)(x * x))(2.0)
    quiet = Drawing(np)
    assert effect_of(lambda x: quiet.held.sin(x))[0] is None


def test_variables_that_a_call_reads_are_those_of_what_it_holds_too():
    class Base:
        level = np.ones(2)

    class Held(Base):
        def __init__(self):
            self.own = np.ones(2)

        def by(self, x):
            return x * self.own * self.level

    held, array = Held(), np.ones(2)
    bound = functools.partial(np.multiply, array)
    for f, read in (
        (held.by, (held, Base.level)),
        (bound, (array,)),
        (functools.partial(np.add, x2=array), (array,)),
        (array.__mul__, (array,)),
        (lambda x: x * Held.level, (Base.level,)),
    ):
        found = effect_of(f)[1]
        assert all(any(x is y for y in found) for x in read)
