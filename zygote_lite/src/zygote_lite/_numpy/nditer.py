"""`np.nditer`, in Python that means the same: its elements are views, and can be written through.

NumPy's own iterator returns views of memory that it owns itself. Its other features (buffers,
casts, external loops) are left to it, and refused if the operands are active.
"""

from typing import Any

import numpy as np

from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.places import where
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()

_FLAGS = {"multi_index", "c_index", "f_index", "refs_ok", "zerosize_ok"}


class Iterated:
    """The replacement of an `np.nditer`."""

    def __init__(
        self, op: Any, made: Any, writable: Any, places: Any, shape: Any, order: Any
    ) -> None:
        given = op if isinstance(op, list | tuple) else [op]
        operands, views = [], []
        for i, x in enumerate(given):
            x = made[i] if x is None else np.asarray(x)
            operands.append(x)
            views.append(x if writable[i] else np.broadcast_to(x, shape))
        self.operands = tuple(operands)
        self.views = views
        self.places = places
        self.shape = shape
        self.order = order
        self.iterindex = 0
        self.started = False
        self.nop = len(operands)
        self.ndim = len(shape)
        self.itersize = len(places)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: `nditer` has no buffer here to write back."""

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.started:
            self.iterindex += 1
        self.started = True
        if self.iterindex >= self.itersize:
            raise StopIteration
        return self.value

    def iternext(self) -> bool:
        """Go to the next element; return whether there is one."""
        self.iterindex += 1
        return self.iterindex < self.itersize

    def reset(self) -> None:
        """Go to the first element."""
        self.iterindex = 0
        self.started = False

    @property
    def finished(self) -> bool:
        """Whether the last element is past."""
        return self.iterindex >= self.itersize

    @property
    def multi_index(self) -> Any:
        """The place of the element, one number for each axis."""
        return self.places[self.iterindex]

    @property
    def index(self) -> Any:
        """The place of the element, counted in C or Fortran order."""
        return int(np.ravel_multi_index(self.multi_index, self.shape, order=self.order))

    @property
    def value(self) -> Any:
        """The element of each operand, as a view."""
        found = [self[i] for i in range(self.nop)]
        return found[0] if self.nop == 1 else tuple(found)

    def __getitem__(self, i: int) -> Any:
        return self.views[i][(*self.places[self.iterindex], ...)]

    def __setitem__(self, i: int, value: Any) -> None:
        self.views[i][(*self.places[self.iterindex], ...)] = value


@handlers.desugared(np.nditer, always=True)
def _(
    tape: Tape,
    nodes: Nodes,
    op: Any,
    flags: Any = None,
    op_flags: Any = None,
    op_dtypes: Any = None,
    order: str = "K",
    **rest: Any,
) -> Traced:
    native: Any = np.nditer
    flags = [] if flags is None else [*flags]
    given = [*op] if isinstance(op, list | tuple) else [op]
    arrays = [None if x is None else np.asarray(x) for x in given]
    options = {"op_flags": op_flags, "op_dtypes": op_dtypes, "order": order, **rest}
    options = {name: value for name, value in options.items() if value is not None}
    simple = {*flags} <= _FLAGS and not rest and op_dtypes is None
    own = native(arrays, [*flags, *(["multi_index"] if simple else [])], **options)
    each = [[]] * len(given) if op_flags is None else op_flags
    each = [each] * len(given) if each and isinstance(each[0], str) else each
    writable = [
        x is None or bool({"readwrite", "writeonly"} & {*names})
        for x, names in zip(arrays, each, strict=True)
    ]
    fits = all(
        not w or x is None or x.shape == own.shape for x, w in zip(arrays, writable, strict=True)
    )
    if not simple or not fits:
        if any(nodes) or any(writable):
            raise Fault.MEMORY(
                f"{where()}: `np.nditer` with these flags and operands cannot be differentiated: "
                "use `multi_index`, `c_index`, `f_index` at most, and write into operands of the "
                "full shape"
            )
        return native(op, flags, **options), None
    made = [
        np.zeros_like(y) if x is None else None for x, y in zip(arrays, own.operands, strict=True)
    ]
    shape = own.shape  # not to be had from an iterator that is past the end
    places = []
    while not own.finished:
        places.append(own.multi_index)
        own.iternext()
    arguments = (op, made, writable, places, shape, "F" if "f_index" in flags else "C")
    return tape.call((None, nodes[1], *(None,) * 5), Iterated, *arguments)
