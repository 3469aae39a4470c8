"""Dicts from outside that are assigned to and set back, and what is asked of signatures and sets.

So do settings of a library that hold for a `with` statement.
"""

import contextlib
import functools
import inspect
import threading

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import gradient, testing, value_and_grad

X = np.array([1.0, 2.0, 0.5])
SETTINGS = {"scale": 2.0, "skip": False, "name": "plain"}
OTHER = SETTINGS
LOCAL = threading.local()
NAMES = {"plain", "double"}
NUMBERS = frozenset((2, 3, 1))
MARK = object()


def settings():
    if not hasattr(LOCAL, "settings"):
        LOCAL.settings = SETTINGS.copy()
    return LOCAL.settings


def assign(**options):
    now = settings()
    for name, value in options.items():
        if value is not None:
            now[name] = value


@contextlib.contextmanager
def setting(*, skip=None, scale=None, name=None):
    before = settings().copy()
    assign(skip=skip, scale=scale, name=name)
    try:
        yield
    finally:
        assign(**before)


def part(x):
    told = settings()
    factor = 10.0 if told["name"] in NAMES else 1.0
    return np.sum(x * x) * told["scale"] * (3.0 if told["skip"] else 1.0) * factor


def in_with(x):
    with setting(skip=True):
        y = part(x)
        with setting(scale=5.0, name="other"):
            y = y + part(x)
    return y + part(x)


def in_a_branch(x):
    y = part(x)
    if x[0] > 0.5:
        with setting(skip=True):
            y = y * part(x)
    return y + part(x)


def in_a_loop(x):
    y = x[0]
    for k in range(3):
        with setting(name="other" if k else "plain", skip=True):
            y = y + part(x) * 0.1
        if y > 100.0:
            break
    return y + part(x)


def around_a_loop(x):
    with setting(skip=True):
        for k in range(5):
            if k > 2:
                break
            x = x * (1.0 + 0.001 * part(x))
    return np.sum(x) + part(x)


def by_hand(x):
    before = SETTINGS["scale"]
    SETTINGS["scale"] = 0.5
    y = x * SETTINGS["scale"]
    SETTINGS["scale"] = before
    return np.sum(y) * SETTINGS["scale"]


def raises_in_it(x):
    try:
        with setting(skip=True):
            y = part(x)
            if y > 1.0:
                raise ValueError("large")
    except ValueError:
        return part(x)
    return y


GIVEN_BACK = (in_with, in_a_branch, in_a_loop, around_a_loop, by_hand)


@pytest.mark.parametrize("f", [*GIVEN_BACK, raises_in_it], ids=lambda f: f.__name__)
def test_settings_are_as_they_were(f):
    settings()
    with testing.recorded_only():
        want = value_and_grad(f)(X)
    before = dict(settings()), dict(SETTINGS)
    with testing.compared():
        assert_close(value_and_grad(f)(X), want)
        for x in (X * 0.1, X[:2], X):
            value_and_grad(f)(x)
    check_gradient(f, X)
    assert (dict(settings()), dict(SETTINGS)) == before


@pytest.mark.parametrize("f", GIVEN_BACK, ids=lambda f: f.__name__)
def test_it_is_transformed(f):
    settings()
    with testing.transformed_only():
        gradient(f, X)


def test_settings_that_change_between_calls_are_seen():
    settings()
    differentiated = value_and_grad(in_with)
    for _ in range(3):
        differentiated(X)
    for name, value in (("scale", 7.0), ("name", "none"), ("skip", True), ("scale", 3)):
        LOCAL.settings[name] = value
        assert_close(differentiated(X)[0], in_with(X))
    LOCAL.settings["more"] = 1
    assert_close(differentiated(X)[0], in_with(X))
    NAMES.discard("plain")
    try:
        LOCAL.settings["name"] = "plain"
        assert_close(differentiated(X)[0], in_with(X))
    finally:
        NAMES.add("plain")
        del LOCAL.settings


def test_each_thread_has_its_own():
    settings()
    differentiated = value_and_grad(in_with)
    for _ in range(3):
        want = differentiated(X)[0]
    found = []

    def other():
        found.append(differentiated(X)[0])
        settings()["scale"] = 4.0
        found.append((differentiated(X)[0], in_with(X)))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found[0] == want
    assert found[1][0] == found[1][1] != want


def left_changed(x):
    SETTINGS["scale"] = SETTINGS["scale"] + 1.0
    return np.sum(x) * SETTINGS["scale"]


def left_changed_on_a_path(x):
    if x[0] > 0.0:
        SETTINGS["skip"] = not SETTINGS["skip"]
    return np.sum(x) * (2.0 if SETTINGS["skip"] else 1.0)


def left_by_break(x):
    y = x[0]
    for k in range(3):
        before, SETTINGS["scale"] = SETTINGS["scale"], 9.0
        y = y * SETTINGS["scale"]
        if k > 0:
            break
        SETTINGS["scale"] = before
    return y * SETTINGS["scale"]


def by_two_names(x):
    before, SETTINGS["scale"] = SETTINGS["scale"], 9.0
    y = np.sum(x) * OTHER["scale"]
    SETTINGS["scale"] = before
    return y


@pytest.mark.parametrize(
    "f",
    [left_changed, left_changed_on_a_path, left_by_break, by_two_names],
    ids=lambda f: f.__name__,
)
def test_what_stays_changed_is_changed_once_in_each_call(f):
    before = dict(SETTINGS)
    try:
        for _ in range(4):
            now = dict(SETTINGS)
            found = value_and_grad(f)(X)[0]
            after = dict(SETTINGS)
            SETTINGS.update(now)
            assert_close(found, f(X))
            assert after == SETTINGS
    finally:
        SETTINGS.update(before)


def checked(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        params = inspect.signature(f).bind(*args, **kwargs)
        params.apply_defaults()
        ignored = [p.name for p in inspect.signature(f).parameters.values()
                   if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]  # fmt: skip
        ignored += ["self"]
        for name, value in params.arguments.items():
            if name not in ignored and name == "n" and value not in (1, 2):
                raise ValueError(name)
        return f(*args, **kwargs) * len(params.arguments)

    return wrapper


@checked
def weighed(x, n=1, *more, scale=2.0, **options):
    return np.sum(x) * n * scale + len(more) * x[0] + len(options)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: weighed(x),
        lambda x: weighed(x, 2, 5.0, scale=x[1]),
        lambda x: weighed(x, n=2, other=1),
        lambda x: weighed(x, 3),
    ],
    ids=["plain", "more", "names", "raises"],
)
def test_arguments_that_are_bound_to_a_signature(call):
    if "3" in inspect.getsource(call).partition("[")[0] and call.__code__.co_consts[-1] == 3:
        with pytest.raises(ValueError, match="n"):
            gradient(call, X)
        return
    with testing.transformed_only():
        found = value_and_grad(call)(X)
    with testing.recorded_only():
        assert_close(found, value_and_grad(call)(X))


def asked(x):
    found = inspect.getattr_static(x, "__nothing__", MARK)
    y = 2.0 if found is MARK and not hasattr(x, "columns") and hasattr(x, "shape") else 1.0
    y = y + hasattr(None, "__len__") + hasattr(x.dtype, "kind") + (["a"] == "a") + ("a" in ["b"])
    for n in NUMBERS:
        y = y * n + 1.0
    return np.sum(x) * y * len({len(x), x.shape[0]}) * (len(NAMES) + ("double" in NAMES))


def test_what_is_asked_of_classes_and_sets():
    with testing.recorded_only():
        want = value_and_grad(asked)(X)
    with testing.transformed_only():
        assert_close(value_and_grad(asked)(X), want)
    NAMES.add("third")
    try:
        assert_close(value_and_grad(asked)(X)[0], asked(X))
    finally:
        NAMES.discard("third")


calls = []


@functools.cache
def found_once():
    calls.append(1)
    return 3.0


@functools.cache
def found_with(n=2.0):
    calls.append(n)
    return n


def kept(x):
    y = np.sum(x)
    if x[0] > 0.0:
        y = y * found_once()
    if x[0] > 10.0:
        y = y * found_with()
    return y


def test_what_a_cache_keeps_is_not_computed_again():
    found_once.cache_clear()
    found_with.cache_clear()
    found_with(5.0)
    calls.clear()
    differentiated = value_and_grad(kept)
    for _ in range(4):
        assert_close(differentiated(X)[0], 3.0 * np.sum(X))
    assert calls == [1]
    found_once.cache_clear()
    assert_close(differentiated(-X)[0], -np.sum(X))
    assert calls == [1]
    assert_close(differentiated(X)[0], 3.0 * np.sum(X))
    assert calls == [1, 1]
