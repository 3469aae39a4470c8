"""Generators whose frames are recorded on a tape."""

import types
from typing import Any

from zygote_lite._activity import mark_active, reaches_active
from zygote_lite._tables import Node, Recorded


class Returned(StopIteration):
    """The end of a generator: the value that it returned, and the value's number."""

    def __init__(self, value: Any, node: Node) -> None:
        super().__init__(*(() if value is None else (value,)))
        self.node = node


class Generated:
    """A generator whose frame is recorded on a tape."""

    def __init__(self, frame: Any, tape: Any) -> None:
        self.frame = frame
        self.tape = tape
        self.started = False
        self.kind: type = types.GeneratorType  # what it stands for: a generator, `map`, `zip`, ...

    def step(self, sent: Any = (None, None), throw: tuple[Any, ...] = ()) -> Recorded:
        """Run to the next `yield`, sending a value and its number in, or throwing an error."""
        if not self.started:
            self.started, sent = True, None
        try:
            done: Recorded = self.frame.throw(*throw) if throw else self.frame.send(sent)
            return done
        except StopIteration as stop:
            y, node = stop.value or (None, None)
            end = Returned(y, node)
            if node is not None:
                mark_active(end)
            raise end from None

    def send(self, value: Any) -> Any:
        """Send a value in (differentiated code calls `step`)."""
        return self.__next__()

    def throw(self, *error: Any) -> Any:
        """Raise an error where the generator stands."""
        return self.step(throw=error)[0]

    def close(self) -> None:
        """End the generator."""
        self.frame.close()

    def __iter__(self) -> "Generated":
        return self

    def __next__(self) -> Any:
        y, node = self.step()
        if node is None and not reaches_active(y):
            return y
        raise RuntimeError("a generator through which a gradient passes was iterated from outside")
