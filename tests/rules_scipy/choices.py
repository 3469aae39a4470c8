"""Numbers at unusual places of a call, against differences: no gradient may be lost there.

    python -m tests.rules_scipy.choices [module ...]

In each example every number moves, one after another: in tuples, lists, dicts and options, too, and
an integer as a float. Then each parameter that the example does not give is given numbers, where
the function takes some. A gradient has to agree with differences, or is refused. What is neither is
printed.
"""

import importlib
import inspect
import sys
import warnings

import numpy as np

from rules_scipy import SECTIONS
from rulescore._naming import name_of
from rulescore.testing._leaves import is_number
from tests.rules_scipy.sweep import OutOfTime, tell, within
from zygote_lite import gradient
from zygote_lite.errors import DifferentiationError

SECONDS = 20.0
QUIET = ("right", "constant", "no value", "refused", "takes none", "uncertain", "out of time")
REFUSALS = (DifferentiationError, NotImplementedError, np.linalg.LinAlgError)


def number(y):
    """Return a number made of all numbers in a value, or in an interpolator at a place."""
    if isinstance(y, str) or y is None:
        return 0.0
    if hasattr(y, "toarray"):
        y = y.toarray()
    if isinstance(y, tuple | list):
        return sum([number(entry) for entry in y], 0.0)
    if isinstance(y, dict):
        return sum([number(entry) for entry in y.values()], 0.0)
    if callable(y):
        return number(y(0.37))
    if hasattr(y, "x"):
        return number(y.x)
    weights = np.cos(1.0 + np.arange(np.size(y))).reshape(np.shape(y))
    total = np.sum(weights * np.real(y))
    if np.iscomplexobj(y):
        total = total + 0.7 * np.sum(weights * np.imag(y))
    return total


def places(x, path=()):
    """Yield the path to each number and array of numbers in a nested value."""
    if is_number(x):
        if np.size(x):
            yield path
    elif isinstance(x, tuple | list):
        for i, entry in enumerate(x):
            yield from places(entry, (*path, i))
    elif isinstance(x, dict):
        for key, entry in x.items():
            yield from places(entry, (*path, key))


def at(x, path):
    """Return what is at a path of a nested value."""
    for key in path:
        x = x[key]
    return x


def put(x, path, new):
    """Return a nested value with something else at a path."""
    if not path:
        return new
    key = path[0]
    if isinstance(x, dict):
        return {k: put(v, path[1:], new) if k == key else v for k, v in x.items()}
    entries = [put(v, path[1:], new) if i == key else v for i, v in enumerate(x)]
    if isinstance(x, list):
        return entries
    return tuple(entries) if type(x) is tuple else type(x)(*entries)


def judge(f, call, path, generator):
    """Return what the gradient by the number at a path of `(xs, options)` is, and about it."""
    x = at(call, path)
    step = generator.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        step = step + 1j * generator.normal(size=np.shape(x))
    size = max(1.0, float(np.max(np.abs(x)))) if np.asarray(x).dtype.kind in "fc" else 1.0
    step = step * 1.0 if isinstance(x, np.ndarray) else np.asarray(step).item()

    def value(t):
        xs, options = put(call, path, x + t * step)
        return number(f(*xs, **options))

    h = 1e-4 * size
    try:
        rows = [(value(k * h) - value(-k * h)) / (2 * k * h) for k in (1, 2, 4)]
        again = value(0.0)
    except Exception as error:
        return "takes none", repr(error)
    if not np.all(np.isfinite(rows)) or value(0.0) != again:
        return "no value", ""
    expected = (4 * rows[0] - rows[1]) / 3
    error = abs(expected - (4 * rows[1] - rows[2]) / 3)
    try:
        found = gradient(value, 0.0)[0]
    except REFUSALS as refusal:
        return "refused", str(refusal)
    except Exception as error:
        return "ERROR", repr(error)
    found = 0.0 if found is None else float(found)
    if abs(found - expected) <= 1e-5 * max(abs(expected), 1e-3) + 3 * error:
        if error > 0.1 * abs(expected) + 1e-9:
            return "uncertain", f"{found}, {expected} +- {error}"
        return "constant" if expected == 0 else "right", ""
    return "WRONG", f"{found}, where differences say {expected} +- {error}"


def candidates(name, default, xs):
    """Yield numbers that a parameter may take, alone, in arrays and in containers."""
    if isinstance(default, bool):
        return
    if isinstance(default, int | float):
        yield float(default) + 0.05
        yield float(default) * 1.1
    if isinstance(default, tuple | list):
        yield type(default)(v + 0.05 if isinstance(v, int | float) else v for v in default)
    yield 0.7
    yield 2.3
    if "window" in name:
        yield ("kaiser", 2.5)
        yield 2.5
    shapes = {np.shape(x) for x in xs if isinstance(x, np.ndarray)}
    for shape in shapes:
        yield np.linspace(0.5, 1.0, int(np.prod(shape))).reshape(shape)
    for n in (1, 2, 3, 4, 5):
        yield np.linspace(0.5, 1.0, n)
    yield (0.3, 0.9)
    yield (0.3, 0.4, 0.9)
    yield [(0.3, 0.9)]
    yield {"alpha": 0.7, "p": 2.3}


def unlisted(f, xs, options):
    """Yield calls with one parameter more, given numbers."""
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return
    try:
        plain = number(f(*xs, **options))
    except Exception:
        return
    named = list(parameters.values())
    for i, p in enumerate(named):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            continue
        if i < len(xs) or p.name in options or p.default is p.empty:
            continue
        for candidate in candidates(p.name, p.default, xs):
            try:
                if number(f(*xs, **options, **{p.name: candidate})) == plain:
                    continue
            except Exception:
                continue
            yield p.name, (tuple(xs), {**options, p.name: candidate})
            break


def calls_of(f, xs, options, seen):
    """Yield the name of the parameter that is added to an example, if one is, and the call."""
    yield None, (tuple(xs), options)
    try:
        with within(SECONDS):
            for name, call in unlisted(f, xs, options):
                key = id(f), name, type(call[1][name])
                if key not in seen:
                    seen.add(key)
                    yield name, call
    except OutOfTime:
        pass


def cases(modules):
    """Yield a function, a call, and the path to each number in it."""
    seen = set()
    for library, names in SECTIONS.items():
        for name in names:
            if modules and not any(part in f"{library}.{name}" for part in modules):
                continue
            rule = importlib.import_module(f"rules_{library}.{name}").rule
            for f, xs, given in rule.examples:
                options = {k: x for k, x in given.items() if not k.startswith("check_")}
                for added, call in list(calls_of(f, xs, options, seen)):
                    for path in places(call):
                        if added is None or path[:2] == (1, added):
                            yield f, call, path


def main(modules):
    generator = np.random.default_rng(0)
    return tell(
        ((f"{name_of(f)} at {path} = {at(call, path)!r}", judge, f, call, path, generator)
         for f, call, path in cases(modules)),
        SECONDS, QUIET,
    )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.exit(main(sys.argv[1:]))
