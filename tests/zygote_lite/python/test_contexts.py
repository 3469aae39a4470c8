"""Copies of a context that hold what is active: read by the variable, or refused."""

import contextvars

import pytest

from zygote_lite import DifferentiationError, gradient

LEVEL = contextvars.ContextVar("LEVEL")


@pytest.mark.parametrize(
    "read",
    [
        lambda context: dict(context)[LEVEL],
        lambda context: next(value for key, value in context.items() if key is LEVEL),
        lambda context: sum(value for value in context.values() if type(value) is float),
    ],
    ids=["dict", "items", "values"],
)
def test_walking_over_a_copy_of_a_context_is_refused(read):
    def f(x):
        token = LEVEL.set(x * x)
        y = read(contextvars.copy_context())
        LEVEL.reset(token)
        return y

    with pytest.raises(DifferentiationError, match="Context"):
        gradient(f, 2.0)


def test_a_copy_of_a_context_holds_what_was_reset_since():
    def f(x):
        token = LEVEL.set(x * x)
        context = contextvars.copy_context()
        LEVEL.reset(token)
        return context[LEVEL]

    with pytest.raises(DifferentiationError, match="the context variable `LEVEL` was set"):
        gradient(f, 2.0)
