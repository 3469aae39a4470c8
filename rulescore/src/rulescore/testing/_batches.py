"""`check_batched`: a batching rule gives what a loop over the entries of the batch gives."""

from typing import Any

import numpy as np

from rulescore._rule import Rule
from rulescore._table.resolution import find_batched
from rulescore.testing._leaves import CheckError, is_number, leaves, like, rebuild

_SCALES = (1.0, 0.9, 0.8)  # which stay within the domains of nearly all functions
_TOLERANCE = {8: 1e-10, 4: 1e-4, 2: 1e-2}


def check_batched(f: Any, /, *xs: Any, **options: Any) -> Rule | None:
    """Check the batching rule that answers `find_batched(f, *xs, **options)`, and return it.

    Arguments:
        f: the function.
        xs: its arguments. Batches are made from each that may be one, and from all together.
        options: keyword arguments of `f`.

    Returns `None` if there is no rule, or if the rule returns `NotImplemented`. Raises `CheckError`
    if the value differs from the stacked values of `f` for the entries.
    """
    rule = find_batched(f, *xs, **options)
    if rule is None:
        return None
    places = [i for i, x in enumerate(xs) if rule.takes_batch(i) and _can_be_batch(x)]
    known = False
    for batched in [places, *([i] for i in places if len(places) > 1)]:
        if batched:
            known |= _agrees(rule, f, xs, options, batched)
    return rule if known else None


def _agrees(
    rule: Rule, f: Any, xs: tuple[Any, ...], options: dict[str, Any], batched: list[int]
) -> bool:
    """Return whether a rule gives what a loop gives; `False` where it does not know."""
    entries = [
        [_scaled(x, scale) if i in batched else x for i, x in enumerate(xs)] for scale in _SCALES
    ]
    expected = [rule.primal(*each, **options) for each in entries]
    operands = [*xs]
    for i, x in enumerate(xs):
        if i in batched:
            operands[i] = _stacked([each[i] for each in entries])
        elif rule.takes_batch(i):
            operands[i] = _same_for_all(x)
    found = rule.body(*operands, **options)
    if found is NotImplemented:
        return False
    problem = _difference(found, expected, "")
    if problem:
        raise CheckError(
            f"the batching rule {rule.signature} ({rule.place}), for batches of the arguments "
            f"{[i + 1 for i in batched]}: {problem}"
        )
    return True


def _can_be_batch(x: Any) -> bool:
    """Return whether a value holds something but Python's integers, which choose and count."""
    return any(not isinstance(leaf, int) for _, leaf in leaves(x))


def _scaled(x: Any, scale: float) -> Any:
    if isinstance(x, list | tuple):
        return rebuild(x, lambda entry: _scaled(entry, scale))
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc":
        return np.multiply(x, scale, dtype=x.dtype)
    return np.multiply(x, scale) if isinstance(x, complex | float) else x


def _stacked(entries: list[Any]) -> Any:
    first = entries[0]
    if isinstance(first, list | tuple):
        return like(first, [_stacked([*each]) for each in zip(*entries, strict=True)])
    return np.stack(entries) if isinstance(first, np.ndarray | np.generic) else first


def _same_for_all(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return rebuild(x, _same_for_all)
    return x[None] if isinstance(x, np.ndarray) else x


def _difference(found: Any, expected: list[Any], path: str) -> str:
    """Tell where a value of a batch differs from those of its entries, or return nothing."""
    first = expected[0]
    if isinstance(first, list | tuple):
        if type(found) is not type(first) or len(found) != len(first):
            return f"the value{path} is {type(found).__name__}, and that of an entry is not"
        each = [(found[i], [y[i] for y in expected], f"{path}[{i}]") for i in range(len(first))]
        return next(filter(None, (_difference(*parts) for parts in each)), "")
    is_same_for_all = bool(path) and type(found) in (bool, int, str)
    is_numeric = is_number(first) or isinstance(first, np.ndarray | np.bool_ | bool)
    if is_same_for_all or not is_numeric:
        return "" if all(found == y for y in expected) else f"the value{path} differs"
    due = np.stack(expected)
    if np.shape(found) != due.shape or found.dtype != due.dtype:
        given = f"{getattr(found, 'dtype', type(found).__name__)}{list(np.shape(found))}"
        return f"the value{path} is {given}, and the stacked ones {due.dtype}{list(due.shape)}"
    bound = _TOLERANCE[min(8, due.real.dtype.itemsize)] if due.dtype.kind in "fc" else 0.0
    scale = float(np.max(np.abs(due[np.isfinite(due)]), initial=1.0)) if bound else 0.0
    if not np.allclose(found, due, rtol=bound, atol=bound * scale, equal_nan=True):
        return f"the value{path} is {found}, and the stacked ones are {due}"
    return ""
