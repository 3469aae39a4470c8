"""All engines must give what the gradient by hand gives."""

import inspect

import numpy as np

# of the largest entry of the gradient
TOLERANCES = {"float64": 1e-9, "float32": 1e-4}


class DisagreementError(Exception):
    """Name the engine, the workload and the argument whose gradient differs."""


def check(workload, engine_name, found, expected):
    """Compare value and gradients with those by hand; raise `DisagreementError`."""
    (value, gradients), (value_by_hand, gradients_by_hand) = found, expected
    where = f"{engine_name}, {workload.name}"
    if len(gradients) != len(gradients_by_hand):
        raise DisagreementError(
            f"{where}: {len(gradients)} gradients, and by hand {len(gradients_by_hand)}"
        )
    if value is not None and value_by_hand is not None:
        compare(f"{where}, the value", value, value_by_hand)
    names = list(inspect.signature(workload.f).parameters)
    for number, ours, by_hand in zip(workload.argnums, gradients, gradients_by_hand):
        what = "the Hessian-vector product" if workload.hvp else f"the gradient of {names[number]}"
        compare(f"{where}, {what}", ours, by_hand)


def compare(what, found, expected):
    """Compare two numbers, arrays, or lists of numbers, and objects by their fields."""
    if found is None:
        raise DisagreementError(f"{what}: is missing")
    if isinstance(expected, dict):
        for name, part in expected.items():
            compare(f"{what}, {name}", found[name], part)
        return
    if isinstance(expected, list) and isinstance(expected[0], dict):
        for i, (ours, by_hand) in enumerate(zip(found, expected, strict=True)):
            compare(f"{what}, {i}", ours, by_hand)
        return
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        raise DisagreementError(
            f"{what}: is {found.dtype}{found.shape}, and by hand {expected.dtype}{expected.shape}"
        )
    scale = np.max(np.abs(expected))
    error = np.max(np.abs(found - expected))
    if not error <= TOLERANCES[expected.dtype.name] * scale:  # NaN is not
        raise DisagreementError(
            f"{what}: differs by {error:.3g}, where the largest entry is {scale:.3g}"
        )
