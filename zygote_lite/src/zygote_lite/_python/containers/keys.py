"""Keys of dicts: the cotangent of an entry is filed under the key object that the dict holds.

In the reverse pass a later but equal key object may already have lost its fields, because its
construction is undone first; so it can no longer be compared.
"""

from typing import Any

import numpy as np

from zygote_lite._activity.activity import reaches_active
from zygote_lite._cotangents.kinds import FUNCTION, VALUE, kind_of, type_in_c
from zygote_lite._ir.places import where
from zygote_lite.errors import DifferentiationError


def stored_key(x: Any, key: Any) -> Any:
    """Return the key under which a dict holds the entry of an equal one, or this one."""
    if _is_compared_in_c(key) or not dict.__contains__(x, key) or not reaches_active(key):
        return key
    keys = list(type_in_c(x).__iter__(x))
    for known in keys:
        if known is key:
            return key
    h = hash(key)  # keys that differ in it may refuse to be compared
    return next((known for known in keys if hash(known) == h and known == key), key)


def _is_compared_in_c(key: Any) -> bool:
    if isinstance(key, tuple):
        return all(map(_is_compared_in_c, key))
    by_address: Any = object.__hash__
    return kind_of(key) <= FUNCTION or type(key).__hash__ is by_address


def refuse_active_key(key: Any, flag: Any) -> None:
    """Refuse a key that a gradient would have to pass through; integers are names, not numbers."""
    if flag and kind_of(key) == VALUE and not isinstance(key, int | np.integer):
        raise DifferentiationError(
            f"{where()}: a key of a dict carries no gradient, and this one depends on what is "
            "differentiated; keep the number among the values"
        )
