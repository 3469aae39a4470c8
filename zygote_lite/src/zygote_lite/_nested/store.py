"""The store of a nested run: the shadows of written arrays are written on the outer tape."""

from typing import Any

from rulescore import accumulate
from zygote_lite._cotangents.kinds import owner_of
from zygote_lite._cotangents.store import Store
from zygote_lite._ir.places import where
from zygote_lite._nested.cotangents import Box
from zygote_lite._numpy.writes import add_at, read_copy, write_array
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault


class NestedStore(Store):
    """A store whose shadows are arrays that are written on the outer tape."""

    def __init__(self, outer: Tape) -> None:
        super().__init__()
        self.outer = outer

    def add_to_shadow(self, x: Any, dx: Any) -> None:
        """Add to the cotangent of an array that is written in place."""
        if self.overlaps(x):
            raise Fault.NESTED(
                f"{where()}: an array whose entries share memory (as after broadcasting) is read "
                "where it is written, inside a gradient that is itself differentiated; copy it"
            )
        view = self.shadow_view(x, make=True)
        self.outer.write((None, None, None, dx.node), add_at, view, Ellipsis, dx.value)

    def written_cotangent(self, x: Any, index: Any, forget: bool) -> Any:
        """Return the cotangent of a part of an array that is written in place."""
        view = self.shadow_view(x)
        if view is None:
            return None
        d = Box(*self.outer.call((None, None, None), read_copy, view, index), self.outer)
        if forget:
            self.outer.write((None,) * 4, write_array, view, index, 0.0)
        return d

    def take_shadow(self, x: Any) -> Any:
        """Return the cotangent of an array that is written in place at its creation."""
        return self.written_cotangent(x, Ellipsis, forget=True)

    def _with_shadow(self, x: Any, dx: Any) -> Any:
        owner = owner_of(x)
        if id(owner) not in self.shadows or id(owner) in self.aliases:
            return dx
        return accumulate(dx, self.written_cotangent(x, Ellipsis, forget=self.taking))
