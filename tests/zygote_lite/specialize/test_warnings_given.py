"""Warnings that programs give: once, in order, from their own lines, with their own filters."""

import warnings

import numpy as np
import pytest

from zygote_lite import grad, jvp, testing, value_and_grad

POINTS = [np.array([k, 1.0]) for k in (0.0, 1.0, 2.0, 3.0, 2.0, 1.0)]


def of_each_kind(x):
    if x[0] > 1.5:
        warnings.warn("large")
    warnings.warn(f"at {x[0]:.1f}", RuntimeWarning)
    for i in range(2):
        warnings.warn("in a loop", DeprecationWarning, stacklevel=1)
        x = x * (i + 1.0)
    return np.sum(x * x)


def raises_later(x):
    warnings.warn("before")
    if x[0] > 2.5:
        raise ValueError("large")
    return np.sum(x * x)


def catches_its_own(x):
    try:
        warnings.warn("caught")
    except UserWarning:
        return np.sum(x)
    return np.sum(x * x)


def keeps_it_quiet(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("quiet")
    return np.sum(x * x)


def of_its_caller(x):
    warnings.warn("from above", stacklevel=2)
    return np.sum(x * x)


def given(call, *actions):
    """Return what calls give, and what they warn of."""
    globals().pop("__warningregistry__", None)
    found = []
    with warnings.catch_warnings(record=True) as told:
        warnings.resetwarnings()
        for action in actions:
            warnings.simplefilter(action)
        for x in POINTS:
            try:
                y = call(x)
            except (ValueError, Warning) as error:
                y = repr(error)
            found.append((y, len(told)))
    return found, [(str(w.message), w.category, w.filename, w.lineno) for w in told]


@pytest.mark.parametrize("actions", [("always",), ("default",), ("once",), ("ignore",), ("error",)])
@pytest.mark.parametrize("f", [of_each_kind, raises_later, catches_its_own, keeps_it_quiet])
def test_warnings_are_those_of_the_function(f, actions):
    want, told = given(f, *actions)
    for ask in (value_and_grad(f), lambda x: jvp(f, (x,), (np.ones(2),))):
        for _ in range(2):
            found, warned = given(ask, *actions)
            assert warned == told
            for (got, count), (y, expected) in zip(found, want, strict=True):
                assert count == expected
                assert got == y if isinstance(y, str) else np.isclose(got[0], y)


@pytest.mark.parametrize("f", [of_each_kind, raises_later, catches_its_own])
def test_code_answers(f):
    testing.forget()
    with testing.observed() as seen:
        given(value_and_grad(f), "always")
    assert seen[-1].tier == "transformed", seen[-1].reason
    slopes = given(grad(f), "always")[0]
    with testing.recorded_only():
        recorded = given(grad(f), "always")[0]
    for (slope, _), (want, _) in zip(slopes, recorded, strict=True):
        assert slope == want if isinstance(want, str) else np.allclose(slope, want)
    with testing.compared(), testing.strict():  # and warns once
        assert given(value_and_grad(f), "always")[1] == given(f, "always")[1]


@pytest.mark.parametrize("f", [keeps_it_quiet, of_its_caller])
def test_the_tape_answers_for_the_others(f):
    assert "warns" in testing.why_recorded(f, POINTS[0])


def test_code_is_left_where_a_warning_is_shown_by_the_program(monkeypatch):
    shown = []
    given(grad(raises_later), "always")
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    with testing.observed() as seen, warnings.catch_warnings():
        warnings.simplefilter("always")
        grad(raises_later)(POINTS[0])
    assert seen[-1].tier == "recorded"
    assert shown == ["before"]
