"""What random programs use: a class, generators and a context manager, for any kind of number."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Pair:
    """Hold two numbers, which methods, properties and operators write."""

    def __init__(self, u, v):
        self.u, self.v = u, v

    def move(self, z):
        self.u, self.v = self.v, 0.5 * self.u + z
        return self.u

    @property
    def both(self):
        return self.u * 0.5 + self.v

    @both.setter
    def both(self, z):
        self.u, self.v = z, self.u * 0.5

    def __add__(self, z):
        return type(self)(self.u + z, self.v)

    def __iadd__(self, z):
        self.v = self.v + z
        return self

    def __rmul__(self, z):
        return z * self.u

    def __getitem__(self, i):
        return self.v if i % 2 else self.u

    def __setitem__(self, i, z):
        setattr(self, "v" if i % 2 else "u", z)

    def __iter__(self):
        yield self.u
        yield self.v

    def __call__(self, z):
        self.u = self.u * 0.5 + z
        return self.v


class Counted(Pair):
    """Count the moves too."""

    moves = 0

    def move(self, z):
        self.moves += 1
        return super().move(z) * self.moves


def steps(x, n):
    """Yield a number on its way."""
    for i in range(n):
        sent = yield x
        x = 0.5 * x + 0.1 * i if sent is None else sent
    return x


def running(xs):
    """Yield sums so far."""
    total = 0.0
    for x in xs:
        total = total + x
        yield total
    yield from steps(total, 2)


@contextmanager
def kept(pair):
    """Give one number of a pair back at the end, in the place of the other."""
    u = pair.u
    try:
        yield pair
    except ValueError:
        pair.u = 0.5 * u
    finally:
        pair.v = u


class Point(NamedTuple):
    """A tuple with names."""

    p: Any
    q: Any = 0.5


@dataclass
class Item:
    """Hold a number and a list that it has to itself."""

    z: Any
    past: list = field(default_factory=list)

    def put(self, z, *more):
        self.past.append(self.z)
        self.z = z
        for one in more:
            self.z = 0.5 * self.z + one
        return self

    def back(self):
        self.z = self.past.pop() if self.past else 0.5 * self.z
        return self.z


class Node:
    """A list of numbers, each linked to the next."""

    def __init__(self, z, after=None):
        self.z, self.after = z, after

    def __iter__(self):
        node = self
        while node is not None:
            yield node
            node = node.after
