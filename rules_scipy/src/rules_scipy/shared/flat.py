"""Cotangents of any structure as vectors, so that they can be integrated together."""

import numpy as np

from rulescore import Tangent, accumulate


class LaterPartError(Exception):
    """Tell that a cotangent has a part that those before had not."""


class Flat:
    """Write the cotangents of a value as vectors, and a vector as a cotangent.

    A part may be `None` in one cotangent and numbers in another, as where a branch decides: its
    entries are zero where it is `None`. A part that is met later makes vectors longer: what is
    computed from them begins anew (`settled`).
    """

    def __init__(self):
        self.like = None  # a cotangent with all parts that were met
        self.places = {}  # by the way to a part, by names and indices: slice and shape
        self.size = 0
        self.is_begun = False  # whether vectors are given out

    def vector(self, d):
        """Return a cotangent as a vector."""
        found = dict(leaves(d, ()))
        before = self.size
        if not found.keys() <= self.places.keys():
            self.like = joined(self.like, d)
            for way in found.keys() - self.places.keys():
                size = np.size(found[way])
                self.places[way] = slice(self.size, self.size + size), np.shape(found[way])
                self.size += size
        if self.size > before and self.is_begun:
            raise LaterPartError
        self.is_begun = True
        flat = np.zeros(self.size, np.result_type(0.0, *found.values()))
        for way, x in found.items():
            flat[self.places[way][0]] = np.ravel(x)
        return flat

    def settled(self, run):
        """Return the vector that a function computes, once it knows all parts."""
        while True:
            try:
                return run()
            except LaterPartError:
                continue

    def cotangent(self, flat):
        """Return a vector as a cotangent."""
        return self._part(flat, self.like, ())

    def _part(self, flat, like, way):
        if isinstance(like, tuple | list):
            parts = [self._part(flat, d, (*way, i)) for i, d in enumerate(like)]
            return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
        if isinstance(like, dict | Tangent):
            parts = {name: self._part(flat, d, (*way, name)) for name, d in like.items()}
            return Tangent(like._primal, **parts) if isinstance(like, Tangent) else parts
        if way not in self.places:
            return None
        place, shape = self.places[way]
        return flat[place].reshape(shape)[()]


def joined(like, d):
    """Return a cotangent with the parts of two, of which one may have more entries."""
    if isinstance(like, tuple) and isinstance(d, tuple):
        longest = max(len(like), len(d))
        pairs = zip(*[(*x, *[None] * (longest - len(x))) for x in (like, d)], strict=True)
        return tuple([joined(a, b) for a, b in pairs])
    return accumulate(like, d)


def leaves(d, way):
    """Yield the numbers and arrays of a cotangent, each with the way to it."""
    if isinstance(d, tuple | list):
        for i, x in enumerate(d):
            yield from leaves(x, (*way, i))
    elif isinstance(d, dict | Tangent):
        for name, x in d.items():
            yield from leaves(x, (*way, name))
    elif d is not None:
        yield way, d
