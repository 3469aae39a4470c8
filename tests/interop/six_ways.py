"""One rule, six users: their gradients, and the table of them; as a script, write it anew.

python -m tests.interop.six_ways

It needs PyTorch, JAX, autograd and dask, which `nox -s interop` installs.
"""

import math
from contextlib import contextmanager
from pathlib import Path

import autograd
import dask.array as da
import jax
import numpy as np
import torch

from rulescore import RuleSet, rrule
from rulescore.interop import to_autograd, to_jax, to_torch
from tests.interop.tables import with_table
from zygote_lite import gradient
from zygote_lite.value import Value, apply

jax.config.update("jax_enable_x64", True)
PAGE = Path(__file__).parents[2] / "docs/howto/other_hosts.md"
BEGIN = "<!-- python -m tests.interop.six_ways writes this table -->\n"
rule = RuleSet("six_ways")


def softsign(x):
    return x / (1.0 + abs(x))


def dose(x, k):
    return x**2 / (k + x**2)


rule.scalar(softsign)(lambda x: 1.0 / (1.0 + abs(x)) ** 2)
rule.scalar(dose)(lambda x, k: (2 * x * k / (k + x**2) ** 2, -(x**2) / (k + x**2) ** 2))
CALLS = {
    "softsign(0.7)": (softsign, (0.7,)),
    "dose(1.3, 0.6)": (dose, (1.3, 0.6)),
    "math.sin(0.4)": (math.sin, (0.4,)),
    "np.exp(0.3)": (np.exp, (0.3,)),
    "np.hypot(0.3, 0.4)": (np.hypot, (0.3, 0.4)),
    "np.logaddexp(0.2, 0.5)": (np.logaddexp, (0.2, 0.5)),
}


def by_zygote(f, xs):
    return gradient(f, *xs)


def by_value(f, xs):
    given = [Value(x) for x in xs]
    apply(f, *given).backward()
    return [x.grad for x in given]


def by_torch(f, xs):
    given = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in xs]
    to_torch(f)(*given).backward()
    return [float(x.grad) for x in given]


def by_jax(f, xs):
    exported = to_jax(f)
    exported(*map(jax.numpy.float64, xs))  # so that the shapes are known
    return jax.jit(jax.grad(exported, argnums=tuple(range(len(xs)))))(*xs)


def by_autograd(f, xs):
    return autograd.grad(to_autograd(f), argnum=list(range(len(xs))))(*xs)


def by_dask(f, xs):
    given = [da.from_array(np.full(4, x), chunks=2) for x in xs]
    y, back = rrule(f, *given)
    return [float(dx.compute()[0]) for dx in back(da.ones_like(y))[1:]]


USERS = {
    "zygote_lite": by_zygote,
    "`Value`": by_value,
    "PyTorch": by_torch,
    "JAX": by_jax,
    "autograd": by_autograd,
    "dask": by_dask,
}


@contextmanager
def registered():
    """Have the two rules of this module for a while."""
    rule.register()
    try:
        yield
    finally:
        rule.unregister()


def gradients(f, xs):
    """Return the gradient that each user finds by the rule of `f`: a list by its name."""
    return {
        name: [float(dx) for dx in user(f, xs)]
        for name, user in USERS.items()
        if name != "dask" or f is not math.sin  # which is for one number
    }


def table():
    """Return the table of all calls and users, in Markdown."""
    lines = [f"| gradient of | {' | '.join(USERS)} |", f"|---{'|---' * len(USERS)}|"]
    with registered():
        for call, (f, xs) in CALLS.items():
            found = gradients(f, xs)
            cells = (", ".join(f"{dx:.6f}" for dx in found.get(name, ())) for name in USERS)
            lines.append(f"| `{call}` | {' | '.join(cell or '-' for cell in cells)} |")
    return "\n".join(lines) + "\n"


def written(text):
    """Return the text of the page with the table as it is now."""
    return with_table(text, BEGIN, table())


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
