"""Keys of dicts: which of the keys of a dict is meant, and what no key may hold."""

from typing import Any

import numpy as np

from zygote_lite._activity.marks import is_private
from zygote_lite._activity.walk import finds_active, reaches_active
from zygote_lite._cotangents.kinds import FUNCTION, VALUE, carries_nothing, kind_of, type_in_c
from zygote_lite._cotangents.registry import TupleNode
from zygote_lite._cotangents.run import state
from zygote_lite._ir.places import where
from zygote_lite.errors import Fault

# The cotangent of an entry is filed under the key object that the dict holds. In the reverse pass a
# later but equal key object may already have lost its fields, because its construction is undone
# first; so it can no longer be compared.


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
    if _holds_active_number(key, flag):
        raise Fault.NO_PLACE(
            f"{where()}: a key of a dict carries no gradient, and this one depends on what is "
            "differentiated; keep the number among the values"
        )


def _holds_active_number(key: Any, flag: Any) -> bool:
    """Return whether a key is an active number but an integer, or a tuple that holds one."""
    if flag and type(key) is tuple:
        flags = flag if isinstance(flag, TupleNode) else (flag,) * len(key)
        return any(map(_holds_active_number, key, flags))
    return bool(flag) and kind_of(key) == VALUE and not isinstance(key, int | np.integer)


def refuse_kept(x: Any, key: Any, flag: Any, y: Any) -> None:
    """Refuse an entry that an earlier call kept under a key that depends on what is differentiated.

    Arguments:
        x, key, y: the dict, the key by which it is read, and the entry.
        flag: whether the key is active.
    """
    if carries_nothing(y) or isinstance(y, int | np.integer) or kind_of(y) == FUNCTION:
        return
    if is_private(x) or any(x is given for given in state.given) or not _key_depends(key, flag):
        return
    known = _Sought.in_dict(x, key) if _is_compared_in_c(key) else stored_key(x, key)
    if (known is not key or kind_of(key) == VALUE) and not finds_active(known):
        raise Fault.CACHE(
            f"{where()}: what is looked up by a key that depends on what is differentiated was "
            "kept by an earlier call, so that its gradient would be lost: clear the dict before "
            "the gradient, or compute the value anew"
        )


def _key_depends(key: Any, flag: Any) -> bool:
    """Return whether a key is, holds or was made of what is differentiated; integers are names."""
    if isinstance(key, tuple):
        flags = flag if isinstance(flag, TupleNode) else (flag,) * len(key)
        return any(map(_key_depends, key, flags))
    return _holds_active_number(key, flag) or (kind_of(key) != VALUE and reaches_active(key))


class _Sought:
    """A key that tells which of the keys of a dict is equal to it."""

    def __init__(self, key: Any) -> None:
        self.key = self.known = key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, known: object) -> bool:
        found = bool(known is self.key or known == self.key)
        if found:
            self.known = known
        return found

    @classmethod
    def in_dict(cls, x: Any, key: Any) -> Any:
        """Return the key of a dict that is equal to another, which may be of Python's own types."""
        sought = cls(key)
        dict.__contains__(x, sought)
        return sought.known
