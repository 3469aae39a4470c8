"""Generators whose frames are recorded on a tape."""

import collections
import dis
import gc
import itertools
import operator
import sys
import types
from collections.abc import Generator
from typing import Any

import numpy as np

from zygote_lite._activity.marks import mark_new
from zygote_lite._activity.walk import reaches_active_at_all
from zygote_lite._cotangents.registry import Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import is_installed, is_library, place_of, where
from zygote_lite.caches import cached
from zygote_lite.errors import DifferentiationError, Fault

_MOST_NEAR, _MOST_HOLDERS = 10_000, 50_000
NODE = "__node__"
"""The attribute of a `StopIteration` that is the number of its value."""


@cached(1024)
def has_handlers(code: types.CodeType) -> bool:
    """Return whether user code has `try` or `with`."""
    if is_library(code.co_filename):
        return False
    return any(i.opname == "PUSH_EXC_INFO" for i in dis.get_instructions(code))


def _is_handled(code: types.CodeType, offset: int) -> bool:
    """Return whether a handler that is written in the code catches what is raised at an offset."""
    instructions: Any = dis.Bytecode(code)
    opnames = {i.offset: i.opname for i in instructions}
    at: int | None = offset
    while at is not None:
        entries = instructions.exception_entries
        at = next((e.target for e in entries if e.start <= at < e.end), None)
        if at is not None and opnames[at] == "PUSH_EXC_INFO":
            return True
    return False


def _count(x: Any) -> int:
    return sys.getrefcount(x)


def _count_of_one() -> int:
    held_once = object()
    return _count(held_once)


# What `_count` adds of its own: its parameter and the argument of `getrefcount`. How many of these
# are references of their own depends on the version of Python, and so it is measured.
_COUNTED_BESIDES = _count_of_one() - 1


def only_the_engine_holds(x: Any, references: int) -> bool:
    """Return whether a generator has no references but those of the engine.

    Python closes a generator, which runs its `finally`, when the last reference to it goes. The
    tape keeps it alive for longer, so it must find out when that would have been.

    Arguments:
        x: the generator.
        references: how many the engine has: `state.active` (by `mark_new`), and one for each local
            variable that holds it, in the caller and above it; not that in `state.generators`.
    """
    references += has_handlers(x.function.__code__)
    return _count(x) - _COUNTED_BESIDES - 1 <= references  # the parameter `x` is one of ours, too


class Generated:
    """A generator whose frame is recorded on a tape."""

    def __init__(self, frame: Any, tape: Any, function: Any, is_active: bool) -> None:
        self.frame = frame
        self.tape = tape
        self.function = function
        self.is_active = is_active  # whether an argument is
        self.started = False
        self.raised = False  # an error, where the iterator in C that it stands for would go on
        self.kind: type = types.GeneratorType  # what it stands for: a generator, `map`, `zip`, ...

    def is_suspended(self) -> bool:
        """Return whether the generator has begun and has not come to its end."""
        return self.started and self.frame.gi_frame is not None

    def ends_with_code(self) -> bool:
        """Return whether it stands where a `finally`, or the like, runs when it is closed."""
        frame = self.frame.gi_frame
        return self.started and frame is not None and _is_handled(frame.f_code, frame.f_lasti)

    def variables(self) -> list[Any]:
        """Return the function, and what its variables hold where the generator stands."""
        names, held = self.function.__code__.co_varnames, self.frame.gi_frame.f_locals
        return [self.function, *(held[name] for name in names if name in held)]

    def step(self, sent: Any = (None, None), throw: tuple[Any, ...] = ()) -> Traced:
        """Run to the next `yield`, sending a value and its number in, or throwing an error."""
        if not self.started and (throw or sent[0] is None):  # else Python raises a `TypeError`
            self.started, sent = True, None
        if self.raised:
            raise Fault.ITERATOR(
                f"{where()}: more is asked of an iterator (of {self.kind.__name__}) after an "
                "error in it, which cannot be followed: write it as a loop, with the `try` inside"
            )
        try:
            done: Traced = self.frame.throw(*throw) if throw else self.frame.send(sent)
            return done
        except StopIteration as stop:
            raise _end_with(*(stop.value or (None, None))) from None
        except BaseException as error:
            if not str(self.function.__module__).startswith("zygote_lite."):
                raise
            self.raised = True
            if isinstance(error, RuntimeError) and isinstance(error.__cause__, StopIteration):
                raise error.__cause__ from None  # what it calls ends the iteration
            raise

    def send(self, value: Any) -> Any:
        """Send a value in (differentiated code calls `step`)."""
        return self.__next__()

    def throw(self, *error: Any) -> Any:
        """Raise an error where the generator stands."""
        return self.step(throw=error)[0]

    def close(self) -> None:
        """End the generator."""
        self.frame.close()

    def let_go(self) -> None:
        """End the generator where Python would, which ignores its errors; ours are raised later."""
        try:
            self.frame.close()
        except DifferentiationError as error:
            state.refusal = state.refusal or error

    def sources(self) -> list[Any]:
        """Return the generators that a new one is given, and those that these are given."""
        found: list[Any] = []
        if not self.started and self.frame.gi_frame is not None:
            for x in self.variables():
                for part in x if type(x) is tuple else (x,):
                    if type(part) is Generated:
                        found += [part, *part.sources()]
        return found

    def __iter__(self) -> "Generated":
        return self

    def __next__(self) -> Any:
        y, node = self.step()
        if node is None and not reaches_active_at_all(y):
            return y
        raise Fault.ITERATOR(
            f"{where()}: code that is not recorded iterates over an iterator (of "
            f"{self.kind.__name__}) through which a gradient passes: make a list of it first"
        )


def _end_with(y: Any, node: Any) -> StopIteration:
    """Return what says that a generator is at its end, with the value that it returns."""
    end = StopIteration(*(() if y is None else (y,)))
    if node is not None:
        setattr(end, NODE, node)
        mark_new(end)
    return end


def let_go_of_sources(sources: list[Any]) -> None:
    """End the generators that a loop has read from, each unless something else holds it."""
    while sources:
        source = sources.pop(0)
        if source.is_suspended() and only_the_engine_holds(source, 2):
            source.let_go()


def refuse_let_go(roots: tuple[Any, ...]) -> None:
    """Refuse where a run has let go of a generator before its end, and its `finally` has not run.

    Python would have run it when the last reference went; the tape has held the generator, and
    does not know when that was. What the user holds still is not ended in Python, either.

    Arguments:
        roots: what the run was given, and its value.
    """
    if state.refusal is not None:
        raise state.refusal
    waiting = [x for x in state.generators if x.ends_with_code()]
    if not waiting:
        return
    held = _held_by((*roots, *[x.function for x in waiting]), {*map(id, waiting)})
    for x in waiting:
        if id(x) not in held or x.is_active or reaches_active_at_all(*x.variables()):
            raise Fault.LIFETIME(
                f"{place_of(x.function)}: the generator {name_of(x.function)} is left before its "
                "end, and what it does when Python lets go of it may change what is computed: "
                "close it (with `close`, or by `contextlib.closing`), or read it to its end"
            )


def _held_by(roots: tuple[Any, ...], wanted: set[int]) -> set[int]:
    """Return which identities are of what values, and the modules of the user's, hold: near ones.

    The walk ends where all that is wanted is found, and where it has met very many objects: what
    is further away counts as let go of, and is refused.
    """
    spaces = []
    for module in [*sys.modules.values()]:
        path = getattr(module, "__file__", None)
        if path and not is_library(path) and not is_installed(path):
            spaces.append(vars(module))
    missing = {*wanted}
    # what the function itself leads to comes before all that large programs have
    for first, most in ((roots, _MOST_NEAR), (spaces, _MOST_HOLDERS)):
        todo, seen = collections.deque[Any]([first]), set[int]()
        while todo and missing and most:
            most -= 1
            for x in gc.get_referents(todo.popleft()):
                if id(x) in seen or not gc.is_tracked(x):
                    continue
                seen.add(id(x))
                if not _is_of_the_engine(x):
                    missing.discard(id(x))
                    todo.append(x)
    return wanted - missing


def _is_of_the_engine(x: Any) -> bool:
    """Return whether a walk must not go through an object, which may lead to all that a run has."""
    kind = type(x)  # what `isinstance` asks of a weak proxy may raise an error
    if kind is types.ModuleType:
        return True
    of = x if issubclass(kind, types.FunctionType | type) else kind
    is_ours = str(getattr(of, "__module__", "")).startswith("zygote_lite.")
    return is_ours and kind is not Generated


def attribute_refusal(x: Generated, name: str) -> Exception:
    """Return the error for an attribute that only the iterator in C has."""
    return Fault.ITERATOR(
        f"{where()}: `{name}` of an iterator (of {x.kind.__name__}) is not known where a gradient "
        "passes through it: ask the list that it iterates over"
    )


_CONTAINERS: tuple[Any, ...] = (
    list, tuple, collections.OrderedDict, dict, set, frozenset, collections.deque, np.ndarray,
    type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip


def class_of_iterator(f: Any, xs: tuple[Any, ...]) -> type:
    """Return the class of the iterator that a function in C gives: of `iter([])`, say."""
    if f is iter and len(xs) > 1:
        return type(iter(int, 1))
    if f is iter or f is reversed:
        name = "__iter__" if f is iter else "__reversed__"
        kind = next((kind for kind in _CONTAINERS if isinstance(xs[0], kind)), type(xs[0]))
        if kind in _CONTAINERS and hasattr(kind, name):
            return type(getattr(kind, name)(xs[0]))
        return _SEQUENCE_ITERATOR if f is iter else reversed
    return f if isinstance(f, type) else types.GeneratorType


_SEQUENCE_ITERATOR = type(iter(np.ones(1)))  # of what has `__getitem__` only


def values_of(x: Any) -> Any:
    """Return what code without a gradient iterates over: a plain generator for a recorded one."""
    return _plain_generator(x) if type(x) is Generated else x


def _plain_generator(generated: Generated) -> Generator[Any, Any, Any]:
    sent: Any = None
    while True:
        try:
            y, _ = generated.step((sent, None))
        except StopIteration as stop:
            return stop.value
        sent = yield y


_BY_ELEMENTS = {
    operator.contains, operator.countOf, operator.indexOf, operator.length_hint,
    operator.setitem, operator.iadd, operator.iconcat, np.fromiter,
}  # fmt: skip
_EMPTY: tuple[Any, ...] = (
    iter, lambda _: iter([]), lambda _: iter({}), lambda _: iter({}.values()),
    lambda _: iter({}.items()), lambda _: iter(set()), lambda _: iter(np.ones(1)),
    lambda _: iter(collections.deque()), lambda _: iter(int, 0), lambda _: reversed([]),
    lambda _: reversed(np.ones(1)), lambda _: reversed({}), lambda none: (x for x in none),
    lambda none: map(abs, none), lambda none: filter(None, none), enumerate, zip,
    itertools.chain, lambda _: itertools.count(), itertools.repeat, itertools.product,
    itertools.cycle, itertools.accumulate, lambda none: itertools.starmap(abs, none),
    lambda none: itertools.islice(none, 0), itertools.pairwise,
    lambda none: itertools.tee(none)[0], lambda none: itertools.combinations(none, 0),
    itertools.permutations, itertools.zip_longest, lambda none: itertools.compress(none, none),
    lambda none: itertools.takewhile(abs, none), lambda none: itertools.dropwhile(abs, none),
    itertools.groupby, lambda none: itertools.filterfalse(abs, none),
)  # fmt: skip
_OF_NOTHING: dict[type, Any] = {type(make(())): make for make in _EMPTY}


def refuse_whole_iterators(f: Any, xs: tuple[Any, ...]) -> None:
    """Refuse iterators as operands of operators and of NumPy, which do not ask for the elements.

    Python's own error is raised, where there is one.
    """
    owner = getattr(f, "__objclass__", f)
    of_numpy = type(f) is np.ufunc or str(getattr(owner, "__module__", "")).startswith("numpy")
    is_operator = getattr(f, "__module__", None) in ("_operator", "operator")
    given = [x for x in xs if type(x) is Generated]
    if not given or not (of_numpy or is_operator) or f in _BY_ELEMENTS:
        return
    if all(x.kind in _OF_NOTHING for x in given):
        f(*(_OF_NOTHING[x.kind](()) if type(x) is Generated else x for x in xs))
    if f is np.sum and all(x.kind is types.GeneratorType for x in given):
        return  # an older NumPy calls `sum`
    raise Fault.ITERATOR(
        f"{where()}: {name_of(f)} is given an iterator (of {given[0].kind.__name__}), of which it "
        "does not take the elements: make a list of it first"
    )


def refuse_iterator(f: Any, y: Any) -> None:
    """Refuse an iterator as the value of a function that is differentiated."""
    if isinstance(y, Generated):
        at = f"{place_of(f)}: " if hasattr(f, "__code__") else ""
        raise Fault.ITERATOR(
            f"{at}{name_of(f)} returns an iterator, whose elements would come after the "
            "call: return a list or a tuple"
        )
