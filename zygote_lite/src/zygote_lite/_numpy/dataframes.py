"""Constant data of pandas in products that give arrays or numbers: their arrays are multiplied.

`np.dot(table, w)` and `w @ series` give what NumPy's arrays give, and their rules answer. Where
pandas gives a `Series` or a `DataFrame`, the call is refused: a plain array in its place would mean
something else to the code that follows (its standard deviation, its index).
"""

import operator
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import is_of_pandas
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._tape.tape import Tape

handlers = Handlers()


def _is_series(kind: type) -> bool:
    return is_of_pandas(kind) and kind.__name__ == "Series"


def _by_arrays(f: Any, tape: Tape, nodes: Nodes, x: Any, y: Any) -> Traced | None:
    """Multiply arrays in place of what is constant and of pandas, if it holds numbers."""
    given = [x, y]
    for i, z in enumerate((x, y)):
        if not is_of_pandas(type(z)):
            continue
        if nodes[i + 1] is not None:
            return None
        given[i] = np.asarray(z)
        if given[i].dtype.kind not in "biufc":
            return None
    return tape.call(nodes, f, *given)


handlers.desugared(np.dot, np.vdot, np.inner, np.ndarray.dot, of=is_of_pandas, given=True)(
    _by_arrays
)
handlers.desugared(np.matmul, operator.matmul, of=_is_series, given=True)(_by_arrays)
