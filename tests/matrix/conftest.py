"""Asking the installed rules whether they answer, by arguments that fit their annotations."""

import sys
from typing import Any

import numpy as np
import pytest

from rulescore import find_batched, find_frule, find_rule

SAMPLES = [
    0.5,
    1,
    np.float64(0.5),
    np.ones(2),
    [1.0, 2.0],
    (1.0, 2.0),
    {"a": 1.0},
    "text",
    np.str_("1.5"),
    np.random.default_rng(0),
    np.ones(2).flat,
    np.add,
    None,
    lambda: None,
    len,
    str.upper,
    int.__add__,
]
DISTRIBUTIONS = ("norm", "poisson", "vonmises", "studentized_range", "pearson3")


def sample(annotation):
    """Return a value that matches the annotation of a rule's parameter."""
    if annotation is Any:
        return SAMPLES[0]
    stats = sys.modules.get("scipy.stats")  # loaded, where a rule asks for its distributions
    known = [] if stats is None else [getattr(stats, name) for name in DISTRIBUTIONS]
    sparse = sys.modules.get("scipy.sparse")
    known += (
        [] if sparse is None else [sparse.eye_array(2, format="csr"), sparse.csr_matrix((2, 2))]
    )
    if sparse is not None and "scipy.sparse.linalg" in sys.modules:
        one = sparse.eye_array(1, format="csc")
        known += [sparse.linalg.splu(one), sparse.linalg.aslinearoperator(one)]
    spatial = sys.modules.get("scipy.spatial")
    known += [] if spatial is None else [spatial.cKDTree(np.ones((2, 2)))]
    jax = sys.modules.get("jax")
    known += [] if jax is None else [jax.jit(abs), jax.numpy.ones(2)]
    torch = sys.modules.get("torch")
    known += [] if torch is None else [torch.ones(2)]
    for value in [*SAMPLES, *known, float]:
        if isinstance(value, annotation):
            return value
    if isinstance(annotation, type) and annotation.__new__ is object.__new__:
        return object.__new__(annotation)  # a class in Python: its type is all that is asked for
    raise LookupError(f"give the tests a sample of {annotation!r}")


@pytest.fixture
def answer():
    """Give a function that returns the rule that answers where the given rule should."""

    def answer(rule):
        xs = [sample(annotation) for annotation in rule.types]
        if rule.varargs is not None:
            xs.append(sample(rule.varargs))
        f = xs.pop(0) if rule.kind == "instance" else rule.function
        if rule.kind == "forward":
            return find_frule(f, *xs)
        if rule.kind == "batched":
            return find_batched(f, *xs)
        return find_rule(f, *xs, ad=lambda f, *xs: None)

    return answer
