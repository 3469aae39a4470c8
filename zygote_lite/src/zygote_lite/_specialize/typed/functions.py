"""Functions that are looked up in tables, and those that read an attribute of an array."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._ir.traits import declare


@dataclass(eq=False)
class Attribute:
    """The function that reads an attribute of an array."""

    name: str

    @property
    def descriptor(self) -> Any:
        """Return what a rule for the attribute is declared for."""
        return getattr(np.ndarray, self.name)

    def __call__(self, x: Any) -> Any:
        return getattr(x, self.name)


_attributes: dict[str, Attribute] = {}


def attribute_of(name: str) -> Attribute:
    """Return the function that reads an attribute, the same each time."""
    return _attributes.setdefault(name, Attribute(name))


declare(attribute_of("T"), attribute_of("mT"), view=True)


def is_hashable(f: Any) -> bool:
    """Return whether a function can be looked up in a table."""
    try:
        hash(f)
    except TypeError:
        return False
    return True
