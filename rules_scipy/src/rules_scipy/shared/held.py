"""Factorizations that a pullback solves with again."""

import operator


class Held:
    """Hold a factorization, and what it is of.

    Attributes:
        make: the function that factorizes, or returns `None` where SciPy has to answer.
        of: its arguments.
        parts: what it returned, in a list; which is empty until then.
    """

    __slots__ = ("make", "of", "parts")

    def __init__(self, make, of):
        self.make, self.of, self.parts = make, of, []

    def parts_for(self, *of):
        """Return the factorization of these arguments, made anew for others than are held."""
        if not all(map(operator.is_, of, self.of)):
            return self.make(*of)
        if not self.parts:
            self.parts = [self.make(*of)]
        return self.parts[0]


def hold(make, *of):
    """Factorize, and hold the factorization: derivatives pass through its arguments alone."""
    held = Held(make, of)
    held.parts_for(*of)
    return held


def hold_later(make, *of):
    """Hold the factorization that the first pullback makes: SciPy's algorithm leaves none."""
    return Held(make, of)
