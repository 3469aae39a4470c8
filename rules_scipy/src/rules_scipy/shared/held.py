"""Factorizations that a pullback solves with again."""

import operator


class Held:
    """Hold a factorization, and what it is of.

    Attributes:
        make: the function that factorizes, or returns `None` where SciPy has to answer.
        of: its arguments.
        parts: what it returned.
    """

    __slots__ = ("make", "of", "parts")

    def __init__(self, make, of):
        self.make, self.of, self.parts = make, of, make(*of)

    def parts_for(self, *of):
        """Return the factorization of these arguments, made anew for others than are held."""
        return self.parts if all(map(operator.is_, of, self.of)) else self.make(*of)


def hold(make, *of):
    """Factorize, and hold the factorization: derivatives pass through its arguments alone."""
    return Held(make, of)
