"""`jvp` over the examples of rules: what it pushes forward is the adjoint of what they pull back.

`check_rrule` holds `frule` to the pullback, where a rule goes forward. Here the engine answers, by
both ways, also by the transpose of pullbacks: `<dy, J dx>` is `<J^T dy, dx>`.
`python -m tests.zygote_lite.fuzz.tangents_of_examples rules_base` runs all examples of a plugin.
"""

import collections
import sys
import warnings

import numpy as np
import scipy

from rulescore import find_frule, find_rule, plugins
from rulescore.testing import check_rrule
from rulescore.testing._leaves import inner, random_direction
from rulescore.testing._memory import drawing_anew
from zygote_lite import DifferentiationError, jvp, pullback, testing

TOLERANCE, COARSE = 1e-6, 1e-3
CALLS = 2


def anew(xs):
    """Return arguments with generators as they were, and start the global ones again."""
    np.random.seed(0)
    return tuple(map(drawing_anew, xs))


def check(f, xs, options, seed=0):
    """Raise where the tangent of a call is not the adjoint of its cotangents.

    Returns how the tangent was found: by a forward rule or transposed; or why there is none.
    """
    direction = options.get("check_direction") or (lambda v: v)
    given = {name: x for name, x in options.items() if not name.startswith("check_")}
    rule = find_rule(f, *xs, ad=check_rrule, **given)
    if rule is None or rule.kind == "constant":
        return "constant"
    text = f"lambda *xs: function_(*xs, {', '.join(f'{name}={name}' for name in given)})"
    if not callable(f):
        text = f"lambda x: x.{getattr(f, 'fget', f).__name__}"
    # options are globals: what a function captures is differentiated
    called = eval(text, {"function_": f, **given})
    generator = np.random.default_rng(seed)
    try:
        y, back = pullback(called, *anew(xs))
        dy = random_direction(y, generator)
        if dy is None:
            return "flat"
        slopes = back(dy)[1:]
        dxs = [None if d is None else direction(random_direction(d, generator)) for d in slopes]
        # an iterator over an array has a gradient, and no form that a tangent could have
        dxs = [None if isinstance(x, np.flatiter) else v for x, v in zip(xs, dxs, strict=True)]
        with testing.recorded_only():
            tangents = [jvp(called, anew(xs), dxs)[1]]
        tangents += [jvp(called, anew(xs), dxs)[1] for _ in range(CALLS)]
    except (DifferentiationError, np.linalg.LinAlgError):
        return "refused"
    expected = sum(inner(d, v) for d, v in zip(slopes, dxs, strict=True) if v is not None)
    single = any(getattr(x, "dtype", None) in (np.float32, np.complex64) for x in (*xs, y))
    least = max(COARSE if single else TOLERANCE, options.get("check_tolerance") or 0.0)
    for tangent in tangents:
        found = inner(dy, tangent)
        np.testing.assert_allclose(found, expected, least, least * (1 + abs(expected)))
    return "transposed" if find_frule(f, *xs, **given) is None else "forward"


def run(plugin):
    """Return how often tangents were found by each way, and what is wrong."""
    counts, wrong = collections.Counter(), []
    for ruleset in plugin.rulesets:
        for number, (f, xs, options) in enumerate(ruleset.examples):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    counts[check(f, xs, options, number)] += 1
                except Exception as error:
                    name = getattr(f, "__qualname__", type(f).__name__)
                    wrong.append(f"{name}, example {number}: {type(error).__name__}: {error}")
    return counts, wrong


if __name__ == "__main__":
    for name in scipy.__all__ if "rules_scipy" in sys.argv[1:] else ():
        getattr(scipy, name)  # which imports the submodule of that name
    for plugin in plugins():
        if plugin.name in sys.argv[1:]:
            counts, wrong = run(plugin)
            print(plugin.name, *wrong, dict(counts), sep="\n")
