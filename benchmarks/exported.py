"""What an exported rule costs in PyTorch, JAX and autograd, beside a custom function of the host.

Run it as a script: `python -m benchmarks.exported`. One call is the value of a sine of 16 numbers
and its gradient. The custom function is the least that a user of the host would write for it by
hand, with NumPy's `sin` and `cos` inside. From both is taken what the rule, or NumPy, costs alone.
The last column is the ratio of what is left; a ratio over the limit of 1.5 is marked, and with
`--fail` the script exits with 1 then. Times and ratios are the medians of rounds, each of which
measures all four. A host that is missing is left out.
"""

import importlib.util
import statistics
import sys
import time

import numpy as np

from rulescore import rrule
from rulescore.interop import to_autograd, to_jax, to_torch

LIMIT = 1.5
X, ONE = np.linspace(0.1, 1.6, 16), np.ones(16)


def in_torch():
    """Return the calls of PyTorch: exported, and by a custom function."""
    import torch

    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return torch.from_numpy(np.sin(x.detach().numpy()))

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return torch.from_numpy(dy.numpy() * np.cos(x.detach().numpy()))

    torch.set_num_threads(1)
    x, one = torch.from_numpy(X).requires_grad_(), torch.from_numpy(ONE)
    exported = to_torch(np.sin)
    return (
        lambda: torch.autograd.grad(exported(x), x, one),
        lambda: torch.autograd.grad(Sine.apply(x), x, one),
    )


def in_jax():
    """Return the calls of JAX, compiled."""
    import jax

    jax.config.update("jax_enable_x64", True)
    shape = jax.ShapeDtypeStruct(X.shape, X.dtype)

    @jax.custom_vjp
    def sine(x):
        return jax.pure_callback(lambda x: np.sin(np.asarray(x)), shape, x)

    def backward(x, dy):
        def product(x, dy):
            return np.asarray(dy) * np.cos(np.asarray(x))

        return (jax.pure_callback(product, shape, x, dy),)

    sine.defvjp(lambda x: (sine(x), x), backward)
    x = jax.numpy.asarray(X)

    def call_of(f):
        compiled = jax.jit(jax.value_and_grad(lambda x: f(x).sum()))
        return lambda: jax.block_until_ready(compiled(x))

    return call_of(to_jax(np.sin)), call_of(sine)


def in_autograd():
    """Return the calls of autograd."""
    from autograd import make_vjp
    from autograd.extend import defvjp, primitive

    sine = primitive(lambda x: np.sin(x))
    defvjp(sine, lambda y, x: lambda dy: dy * np.cos(x))
    exported = to_autograd(np.sin)
    return [lambda f=f: make_vjp(f)(X)[0](ONE) for f in (exported, sine)]


def by_rule():
    """Call the rule alone."""
    _, back = rrule(np.sin, X)
    back(ONE)


def by_numpy():
    """Call what the custom function calls of NumPy."""
    np.sin(X), ONE * np.cos(X)


def microseconds(calls, number=200, rounds=40):
    """Return the time of one call of each, in rounds that measure them in turns."""
    found = []
    for _ in range(rounds):
        found.append([])
        for call in calls:
            start = time.process_time()
            for _ in range(number):
                call()
            found[-1].append((time.process_time() - start) / number * 1e6)
    return found


def main():
    """Print the table, and return whether a host is over the limit."""
    print(f"{'host':10}{'exported':>10}{'custom':>10}{'rule':>8}{'NumPy':>8}{'ratio':>8}")
    over = False
    for name, calls in (("torch", in_torch), ("jax", in_jax), ("autograd", in_autograd)):
        if importlib.util.find_spec(name) is None:
            continue
        found = microseconds([*calls(), by_rule, by_numpy])
        exported, custom, rule, plain = map(statistics.median, zip(*found, strict=True))
        ratio = statistics.median((e - r) / (c - p) for e, c, r, p in found)
        mark = "  over the limit" if ratio > LIMIT else ""
        over |= ratio > LIMIT
        print(f"{name:10}{exported:10.1f}{custom:10.1f}{rule:8.1f}{plain:8.1f}{ratio:8.2f}{mark}")
    return over


if __name__ == "__main__":
    sys.exit(main() and "--fail" in sys.argv)
