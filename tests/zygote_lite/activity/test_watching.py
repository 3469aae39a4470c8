"""Effects that are noticed where they run: what does not count as one of the function's."""

import cProfile
import logging
import sys
import threading

import numpy as np
import pytest
import scipy.stats

from zygote_lite import DifferentiationError, checkpoint, gradient, hessian
from zygote_lite._tape.repeats import repeatable

X = np.array([1.0, 2.0, 3.0])
log = logging.getLogger(__name__)


def density(x):
    return np.sum(scipy.stats.norm.logpdf(x))


class Wave:
    verbose = False

    def __call__(self, x):
        if self.verbose:
            print(x)
        return np.sin(x)


def test_what_is_watched_may_hold_what_is_watched():
    nested = checkpoint(checkpoint(density))
    np.testing.assert_allclose(gradient(nested, X)[0], -X)
    np.testing.assert_allclose(hessian(nested)(X), -np.eye(3), atol=1e-12)
    with repeatable(nested, TypeError)((X,)):
        np.testing.assert_allclose(gradient(nested, X)[0], -X)
    wave = Wave()
    inner = checkpoint(lambda x: np.sum(checkpoint(wave)(x) ** 2))
    np.testing.assert_allclose(gradient(inner, X)[0], np.sin(2 * X))
    wave.verbose = True
    with pytest.raises(DifferentiationError, match="`print`"):
        gradient(inner, X)


def test_draws_of_other_threads_are_not_those_of_a_checkpoint():
    drawn, ends = threading.Event(), threading.Event()

    def draw():
        while not ends.is_set():
            np.random.normal()
            drawn.set()

    other = threading.Thread(target=draw, daemon=True)
    other.start()
    try:
        drawn.wait(10.0)
        np.testing.assert_allclose(gradient(checkpoint(density), X)[0], -X)
    finally:
        ends.set()
        other.join()
    told = "draws random numbers|gave another value"  # the latter beside threads of other tests
    with pytest.raises(DifferentiationError, match=told):
        gradient(checkpoint(lambda x: density(x) * scipy.stats.norm.rvs()), X)


def test_text_of_an_array_is_no_effect_and_the_users_own_error_is_raised():
    def failing(x):
        if x[0] > 0:
            raise ValueError(f"too large: {x}, {[x]!r}")
        return density(x)

    def asking(x):
        return density(x) if x[0] < 0 else density(x) * threading.get_ident()

    with pytest.raises(ValueError, match="too large"):
        gradient(checkpoint(failing), X)
    with pytest.raises(DifferentiationError, match="get_ident"):
        gradient(checkpoint(asking), X)


def test_a_profiler_may_run_around_a_checkpoint():
    profile = cProfile.Profile()  # from Python 3.12 on it is not in the way
    profile.enable()
    try:
        np.testing.assert_allclose(gradient(checkpoint(density), X)[0], -X)
    finally:
        profile.disable()
    sys.setprofile(lambda *_: None)
    try:
        found = gradient(checkpoint(density), X)[0]
        with pytest.raises(TypeError, match="profiler"), repeatable(density, TypeError)((X,)):
            density(X)
    finally:
        sys.setprofile(None)
    np.testing.assert_allclose(found, -X)


def test_messages_below_the_level_are_no_effects(caplog):
    def logged(x):
        log.debug("at %s", x)
        return density(x)

    caplog.set_level(logging.INFO)
    for _ in range(2):
        with repeatable(logged, TypeError)((X,)):
            logged(X)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(TypeError, match="logs a message"), repeatable(logged, TypeError)((X,)):
        logged(X)
