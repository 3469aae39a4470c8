"""The moons demo: a small network of plain classes, trained by `pullback` to tell two moons apart.

Nothing here is known to the engine: `Dense` and `Chain` are classes as anyone writes them, and
`Adam` walks over whatever structure the gradient has.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from rulescore import Tangent
from zygote_lite import pullback

Array = np.ndarray[Any, Any]


class DemoError(Exception):
    """Tell what has to be installed before the demo can run."""


class Dense:
    """Apply `activation(X @ W + b)`, one sample per row of `X`."""

    def __init__(
        self, size: tuple[int, int], activation: Callable[[Any], Any], rng: np.random.Generator
    ) -> None:
        self.W = rng.normal(size=size) * np.sqrt(2 / size[0])
        self.b = np.zeros(size[1])
        self.activation = activation

    def __call__(self, X: Array) -> Array:
        """Return the values of the layer, one row for each row of `X`."""
        y: Array = self.activation(X @ self.W + self.b)
        return y


class Chain:
    """Apply layers one after another."""

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        self.layers = list(layers)

    def __call__(self, X: Array) -> Array:
        """Return what the last layer makes of `X`."""
        for layer in self.layers:
            X = layer(X)
        return X


class Adam:
    """Change the arrays of a model by their gradients, each at its own pace (Kingma, Ba 2014)."""

    def __init__(self, rate: float = 0.02, decay: tuple[float, float] = (0.9, 0.999)) -> None:
        self.rate = rate
        self.decay = decay
        self.steps = 0
        self.means: list[Array] = []
        self.squares: list[Array] = []

    def update(self, model: Any, gradient: Any) -> None:
        """Take one step; `gradient` is what `back` returned for `model`."""
        pairs = list(arrays_with_gradients(model, gradient))
        if self.steps == 0:
            self.means = [np.zeros_like(x) for x, _ in pairs]
            self.squares = [np.zeros_like(x) for x, _ in pairs]
        self.steps += 1
        d1, d2 = self.decay
        for (x, dx), m, v in zip(pairs, self.means, self.squares, strict=True):
            m += (1 - d1) * (dx - m)
            v += (1 - d2) * (dx * dx - v)
            step = m / (1 - d1**self.steps) / (np.sqrt(v / (1 - d2**self.steps)) + 1e-8)
            x -= self.rate * step


def arrays_with_gradients(x: Any, dx: Any) -> Iterator[tuple[Array, Array]]:
    """Yield the arrays inside `x`, each with its gradient, in the order of the fields."""
    if isinstance(dx, Tangent):
        for name, entry in dx.items():
            yield from arrays_with_gradients(getattr(x, name), entry)
    elif isinstance(dx, list | tuple):
        for entry, gradient in zip(x, dx, strict=True):
            yield from arrays_with_gradients(entry, gradient)
    elif dx is not None:
        yield x, dx


def two_moons(n: int, noise: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return `n` points, (n, 2), on two interleaved half circles, and their class 0 or 1, (n,)."""
    angle = np.pi * rng.random(n)
    label = np.arange(n) % 2
    x = np.where(label == 0, np.cos(angle), 1 - np.cos(angle))
    y = np.where(label == 0, np.sin(angle), 0.5 - np.sin(angle))
    return np.stack([x, y], axis=1) + noise * rng.normal(size=(n, 2)), label


def accuracy(model: Callable[[Array], Array], X: Array, label: Array) -> float:
    """Return the share of the rows of `X` that `model` gives the right label."""
    return float(np.mean(np.argmax(model(X), axis=1) == label))


def train(
    model: Any,
    X: Array,
    label: Array,
    epochs: int,
    report: Callable[[float, float], None] = lambda loss, accuracy: None,
) -> list[float]:
    """Fit `model` to all rows of `X` at once, `epochs` times, and return the losses.

    Arguments:
        model: an object that maps `X`, (n, 2), to the logits of both classes, (n, 2).
        X, label: points, and their class 0 or 1.
        report: is called with loss and accuracy after each epoch.
    """
    logit_cross_entropy = from_nnlib("logit_cross_entropy")
    target = np.eye(2)[label]
    optimizer = Adam()
    losses: list[float] = []
    for _ in range(epochs):
        loss, back = pullback(lambda m: logit_cross_entropy(m(X), target), model)
        _, gradient = back(1.0)
        optimizer.update(model, gradient)
        losses.append(float(loss))
        report(losses[-1], accuracy(model, X, label))
    return losses


def make_model(rng: np.random.Generator) -> Chain:
    """Return the network 2 -> 16 -> 16 -> 2, with random weights."""
    relu = from_nnlib("relu")
    return Chain(Dense((2, 16), relu, rng), Dense((16, 16), relu, rng), Dense((16, 2), relu, rng))


def from_nnlib(name: str) -> Callable[..., Any]:
    """Return an activation or loss of `rules_nnlib`, which the engine itself does not need."""
    try:
        function: Callable[..., Any] = getattr(import_module("rules_nnlib"), name)
    except (ImportError, AttributeError):
        raise DemoError(
            f"the demo takes {name} from rules_nnlib: pip install rules_nnlib"
        ) from None
    return function


def new_figure() -> Any:
    """Return an empty figure that needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DemoError(
            'the picture is drawn by matplotlib: pip install "zygote_lite[demo]"'
        ) from None
    return Figure(figsize=(10, 4.2), dpi=90, layout="constrained")


def draw(figure: Any, model: Chain, X: Array, label: Array, losses: list[float]) -> None:
    """Draw the decision boundary with the points on the left, the losses on the right."""
    left, right = figure.subplots(1, 2)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    x, y = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
    logits = model(np.stack([x.ravel(), y.ravel()], axis=1))
    probability = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1])).reshape(x.shape)
    left.contourf(x, y, probability, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.7)
    left.contour(x, y, probability, levels=[0.5], colors="black", linewidths=1)
    for k, color in enumerate(["firebrick", "navy"]):
        left.scatter(*X[label == k].T, s=9, color=color, label=f"class {k}")
    left.set(title="decision boundary", xlabel="$x_1$", ylabel="$x_2$")
    left.legend(loc="upper right")
    right.semilogy(range(1, len(losses) + 1), losses)
    right.set(title="loss", xlabel="epoch", ylabel="logit cross entropy")
    right.grid(alpha=0.3)
