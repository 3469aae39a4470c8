"""Structures that several tests differentiate by: a named tuple, and an object that is called."""

import collections
import dataclasses

import numpy as np

Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Line:
    """One layer of a network: numbers of any kind, and a field that carries no gradient."""

    w: object
    b: float
    name: str = "line"

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b)
