"""Arrays of whole batches that batching rules are given inside of a gradient.

They are arrays of another library, as rules take them (NEP 13, NEP 18): each function of NumPy that
a rule calls is called on the tape around. So the rule's own code need not be recorded.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from zygote_lite._batch.tracers import shown

CallOfWholes = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class Whole(NDArrayOperatorsMixin):
    """The array of a whole batch, and its number on the tape around.

    Attributes:
        value: the array, or an entry of a batch around.
        node: its number.
        call: runs a function of such arrays on the tape around.
    """

    def __init__(self, value: Any, node: Any, call: CallOfWholes) -> None:
        self.value, self.node, self.call = value, node, call

    shape = property(lambda self: np.shape(shown(self.value)))
    ndim = property(lambda self: np.ndim(shown(self.value)))
    size = property(lambda self: np.size(shown(self.value)))
    dtype = property(lambda self: shown(self.value).dtype)
    T = property(lambda self: self.call(np.transpose, (self,), {}))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __bool__(self) -> bool:
        return bool(self.value)

    def __getitem__(self, index: Any) -> Any:
        return self.call(operator.getitem, (self, index), {})

    def astype(self, dtype: Any) -> Any:
        """Return the array in another dtype."""
        return self.call(np.ndarray.astype, (self, dtype), {})

    def conj(self) -> Any:
        """Return the conjugate."""
        return self.call(np.conjugate, (self,), {})

    def __array_ufunc__(self, ufunc: Any, method: str, *xs: Any, **kws: Any) -> Any:
        f = ufunc if method == "__call__" else getattr(ufunc, method)
        return self.call(f, xs, kws)

    def __array_function__(self, f: Any, types: Any, xs: Any, kws: Any) -> Any:
        return self.call(f, xs, kws)
