"""Second derivatives of the examples of `scipy.special` and `scipy.linalg`, against differences.

    python -m tests.rules_scipy.second [module ...]

For each argument of each example a number is made of all results, and one of its gradient: the
gradient of that is compared with differences. What is not right is printed. A refusal names what
has no second derivative, or an option beside the argument.
"""

import importlib
import sys
import warnings

import numpy as np
from scipy import special

from rules_scipy import SECTIONS
from rulescore._naming import name_of
from rulescore.testing._leaves import leaves
from tests.rules_scipy.sweep import tell
from zygote_lite import gradient
from zygote_lite.errors import DifferentiationError

# SciPy's search for it ends where its equation holds to 1e-5, so that differences are not better
INEXACT = {special.ncfdtrinc: 2e-3}
LIBRARIES = ("scipy.linalg", "scipy.special")
SECONDS = 30.0


def inexact(x):
    """Return the arrays of real and complex numbers in a value."""
    return [np.asarray(y) for _, y in leaves(x) if np.asarray(y).dtype.kind in "fc"]


def total(y):
    """Return a number that depends on all that a value holds, and is not linear in it."""
    if isinstance(y, tuple | list):
        return sum([total(entry) for entry in y if inexact(entry)], 0.0)
    weights = np.cos(1.0 + np.arange(np.size(y))).reshape(np.shape(y))
    number = np.sum(weights * np.real(y) + 0.2 * np.real(y) ** 2)
    if np.iscomplexobj(y):
        number = number + np.sum(0.7 * weights * np.imag(y) + 0.2 * np.imag(y) ** 2)
    return number


def written_out(f, xs, options, i):
    """Return the total of a call as a function of one argument: in a tuple all would be active."""
    names = [f"a{j}" for j in range(len(xs))]
    call = ", ".join([*("x" if j == i else name for j, name in enumerate(names)), "**options"])
    made = eval(f"lambda f, total, options, {', '.join(names)}: lambda x: total(f({call}))")
    return made(f, total, options, *xs)


def judge(f, xs, options, i, step):
    """Return whether the second derivative by an argument is right along a step, and its values."""
    x, of_argument = xs[i], written_out(f, xs, options, i)

    def slope(x):
        found = gradient(of_argument, x)[0]
        return 0.0 if found is None else total(found)

    def difference(h):
        ends = [x + s * h * step for s in (1, -1)]
        ends = ends if isinstance(x, np.ndarray) else [end.item() for end in ends]
        return (slope(ends[0]) - slope(ends[1])) / (2 * h)

    second = gradient(slope, x)[0]
    found = 0.0 if second is None else np.sum(np.real(np.conj(second) * step))
    wide, near = difference(1e-4), difference(5e-5)
    expected, error = (4 * near - wide) / 3, abs(near - wide)
    tolerance = INEXACT.get(f, 1e-5) * max(abs(expected), 1e-3)
    right = abs(found - expected) <= tolerance + 3 * error
    return "right" if right else "WRONG", f"{found}, where differences say {expected} +- {error}"


def cases(modules):
    """Yield each argument of each example that is a number or an array, of double precision."""
    generator = np.random.default_rng(0)
    for library in LIBRARIES:
        for name in SECTIONS[library]:
            if modules and name not in modules:
                continue
            rule = importlib.import_module(f"rules_{library}.{name}").rule
            for f, xs, given in rule.examples:
                options = {k: x for k, x in given.items() if not k.startswith("check_")}
                if any(x.dtype.char in "fF" for x in inexact(xs)):
                    continue
                for i, x in enumerate(xs):
                    if isinstance(x, tuple | list) or not inexact(x):
                        continue
                    step = generator.normal(size=np.shape(x))
                    if np.iscomplexobj(x):
                        step = step + 1j * generator.normal(size=np.shape(x))
                    step = given.get("check_direction", lambda v: v)(step)
                    yield f, xs, options, i, step


def judge_or_refuse(*case):
    """Return the verdict on a second derivative, which may be refused."""
    try:
        return judge(*case)
    except (DifferentiationError, NotImplementedError, np.linalg.LinAlgError) as error:
        return "refused", str(error)


def main(modules):
    return tell(
        ((f"{name_of(f)} by argument {i}", judge_or_refuse, f, xs, options, i, step)
         for f, xs, options, i, step in cases(modules)),
        SECONDS,
    )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.exit(main(sys.argv[1:]))
