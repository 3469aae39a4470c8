"""The free variables of specialized code, and the guards under which they are constants."""

import copy
import math
import re
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.facts import NUMBERS, Fact
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant, made_class

# what the code is made for, which stays when it is made once more
_ASKED = ("recursive", "define", "guesses", "_is_long", "has_aux", "_by_rows", "has_rows",
          "optional", "meets_none", "plain", "most_steps", "varying", "read_of_way")  # fmt: skip
OutsidePlace = tuple[
    int | str, str
]  # where something is read: the object that the path begins at, and the path
_FOR_GOOD = ("steps", "f", "bound", "names", "functions", "named", *_ASKED)


class OfWay:
    """An attribute that says in which way the code is made, and notes that this was read.

    Another way that differs in nothing that was read ends in the same.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.held_as = name, f"_{name}"

    def __get__(self, instance: Any, owner: type) -> Any:
        getattr(instance, "inputs", instance).read_of_way.add(self.name)
        return getattr(instance, self.held_as)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self.held_as, value)


class Inputs:
    """The free variables of specialized code (globals, closure, defaults), and their guards.

    Specialized code treats them as constants; a guard at entry tests that they still are.

    Attributes:
        bound: objects that the expressions of the guards name.
        guards: expressions that must be true, in their order, and each once.
        has_numbers: whether there are numbers among what the guards demand to be as it is.
        given: values that are read when the code is entered, with the expressions for them.
        constants: the numbers, texts and tuples that the guards demand, by the expressions.
        facts: what the code assumes of numbers and arrays that it is given, by the expressions.
        varying: the places of ints that are read at entry, because they have changed between calls.
        lists: whether there are any lists.
        steps: how many statements were interpreted, of which there may be `most_steps`.
        lends: the dicts from outside that are assigned to, and given back as they were.
        places: whether items of lists are replaced.
        differentiated: expressions for what has one gradient: the lists and dicts in objects that
            are differentiated, and the attributes of these objects.
        objects: the variables that hold objects which are not differentiated.
        names: those of the values that are read: they are taken for good.
        containers: the variables that hold lists and dicts that are read.
        holders: the variables that hold objects and structures, by the expressions for them.
        classes: those of what these variables hold.
        structures: those that are read, by the expressions for them.
        wholes: the variables that hold values which rule sets know as a whole.
        by_rows: whether long lists and tuples from outside are rows of data.
        has_rows: whether there are such lists and tuples.
        mutable_rows: whether rows of data, or arrays in them, can be changed.
        taken: how many items structures from outside have been taken apart into.
        islands: the functions that the tape runs, with the reasons.
        as_they_are: those that are called as they are, with the reasons.
        cached: for functions under `lru_cache`, the types of what they are called with.
        recursive: the code of functions that call themselves, which become functions of their own.
        functions: these functions, in the order of the text.
        named: objects that their text names.
        define: writes one of them.
        caught: the names of the classes of exceptions that the program catches.
        guesses: why there is no code for all paths, if branches whose paths cannot be joined are
            taken as the samples take them.
        within_cached: the functions under `lru_cache` whose calls are being read.
        asks_caches: whether one is asked at entry that reads more than constants from around it.
        has_cached_arrays: whether a function under `lru_cache` gives arrays as the code runs.
        effects: what holds the effects of a run, where it has any that can be seen from outside.
        drawn: expressions for the random generators from outside that the code draws from.
        changing: expressions for the containers from outside that the code changes.
        assigned: the variables that hold objects from outside to which the code assigns.
        attributes: those that are read of objects that are differentiated, with these objects.
        sources: the random generators from outside, with expressions for them.
        is_long: whether all branches are taken so, outside of loops.
        has_aux: whether the value is a pair, of which only the first is differentiated.
        optional: whether variables may be numbers or `None`.
        meets_none: whether a variable is `None` on some path, and a number on another.
        asks: whether the code is left where such a variable is `None`.
        tells_time: whether the code asks a clock, so that no two runs need agree.
        compares_texts: whether the code asks whether two texts are one object.
        plain: whether the code is to be read as it is before the passes, with its types.
        outside: the lists and dicts that are read, with what they are outside.
        collectors: the containers from outside that the code puts into, by their variables.
        captured: expressions for the cells of variables that functions capture.
        assigned_cells: the variables that hold cells from outside to which the code assigns.
        variables: the variables outside to which it does.
        owned: the arrays from outside that the code writes to, and its copies of them.
        puts_arrays: whether it puts arrays into these.
        unfinished: generators that were taken from, and come to a `finally` if they are given up.
        read_of_way: the names of what was read of the way in which the code is made.
    """

    is_long, by_rows = OfWay(), OfWay()

    def __init__(self, f: Any) -> None:
        self.f = f
        self.read_of_way: set[str] = set()
        self.lists = self.places = self.compares_texts = False
        self.lends: dict[str, None] = {}
        self.steps, self.most_steps = 0, math.inf
        self.differentiated: dict[str, None] = {}
        self.objects: dict[str, None] = {}
        self.names: set[str] = set()
        self.containers: dict[str, None] = {}
        self.holders: dict[str, str] = {}
        self.classes: dict[str, type] = {}
        self.structures: dict[str, Value] = {}
        self.wholes: dict[Value, str] = {}
        self.by_rows = self.has_rows = self.mutable_rows = False
        self.taken = 0
        self.islands: dict[str, str] = {}
        self.as_they_are: dict[str, str] = {}
        self.cached: dict[Any, Any] = {}
        self.recursive: set[Any] = set()
        self.functions: list[Any] = []
        self.named: dict[str, Any] = {}
        self.define: Any = None
        self.guesses: NotSpecializable | None = None
        self.is_long = self.has_aux = self.asks = False
        self.optional = self.meets_none = self.plain = self.tells_time = False
        self.caught: set[str] = set()
        self.bound: dict[str, Any] = {}
        self.guards: dict[str, None] = {}
        self.has_numbers = False
        self.given: dict[str, tuple[Value, str]] = {}
        self.within_cached: set[Any] = set()
        self.asks_caches = self.has_cached_arrays = False
        self.constants: dict[str, Any] = {}
        self.facts: dict[str, Fact] = {}
        self.varying: frozenset[OutsidePlace] = frozenset()
        self.effects: Value | None = None
        self.drawn: dict[str, None] = {}
        self.changing: dict[str, None] = {}
        self.sources: dict[Value, str] = {}
        self.assigned: dict[str, None] = {}
        self.attributes: list[tuple[Value, str]] = []
        self.unfinished: list[Value] = []
        self.outside: dict[Value, Any] = {}
        self.collectors: dict[str, Value] = {}
        self.captured: dict[str, None] = {}
        self.assigned_cells: dict[str, None] = {}
        self.variables: dict[Any, Any] = {}
        self.owned: dict[int, tuple[Value, Value]] = {}
        self.puts_arrays = False

    def begin_again(self) -> None:
        """Forget everything: the code is made once more."""
        fresh = {name: x for name, x in vars(Inputs(self.f)).items() if name not in _ASKED}
        vars(self).update(fresh)

    def attempt(self) -> dict[str, Any]:
        """Return what `give_up` needs to forget what is read and demanded from here on."""
        return {name: copy.copy(x) for name, x in vars(self).items() if name not in _FOR_GOOD}

    def give_up(self, attempt: dict[str, Any]) -> None:
        """Forget what was read and demanded since an attempt began."""
        for x, name in self.attributes[len(attempt["attributes"]) :]:
            assert x.read is not None
            del x.read[name]
        vars(self).update({name: copy.copy(x) for name, x in attempt.items()})

    def name_for(self, x: Any, stem: str) -> str:
        """Return the name under which an object is bound for the guards."""
        for name, known in self.bound.items():
            if known is x:
                return name
        if isinstance(x, type) and made_class(x) is not None:
            raise NotSupported.CONTAINER(
                f"it depends on the class {x.__name__}, which it defines itself"
            )
        name = f"{stem}{len(self.bound)}"
        self.bound[name] = x
        return name

    def give(self, value: Value, expression: str, text: str = "") -> Value:
        """Note a value that the code is given: what an expression reads, or a `text` for that."""
        self.names.add(value.name)
        self.given[expression] = (value, text or expression)
        return value

    def is_varying(self, x: Any, expression: str) -> bool:
        """Return whether an expression reads an int that is another from call to call."""
        if type(x) is not int or not self.varying:
            return False
        holders = {name: holder for holder, name in self.holders.items()}
        return outside_place(expression, self.bound, holders) in self.varying

    def holder(self, kind: type, expression: str) -> str:
        """Return the variable for what an expression reads, and demand that it is of a class."""
        if expression not in self.holders:
            name = self.holders[expression] = f"v{len(self.holders)}"
            self.classes[name] = kind
            self.guards[f"type({name} := {expression}) is {self.name_for(kind, 'o')}"] = None
        return self.holders[expression]

    def guard(self, expression: str, x: Any) -> None:
        """Demand that an expression is the object that it is now."""
        self.has_numbers |= isinstance(x, (*NUMBERS, tuple))
        self.guards[f"{expression} is {self.name_for(x, 'o')}"] = None

    def allow_equal(self, expression: str, x: Any) -> None:
        """Demand of a text that an expression equals it, where nobody asks which object it is."""
        if type(x) is str and not self.compares_texts:
            self.guards.pop(f"{expression} is {self.name_for(x, 'o')}", None)
            self.guards[f"type({expression}) is str and {expression} == {x!r}"] = None

    def guard_type(self, expression: str, x: Any) -> None:
        """Demand that an expression is of the type that it is now, as the tape is to read it."""
        self.has_numbers |= isinstance(x, (*NUMBERS,))
        self.guards[f"type({expression}) is {self.name_for(type(x), 'o')}"] = None

    def guard_function(self, f: Any) -> None:
        """Demand that a function whose body is taken over still has this body."""
        name = self.name_for(f, "f")
        self.guards[f"{name}.__code__ is {self.name_for(f.__code__, 'c')}"] = None

    def default_of(self, f: Any, name: str) -> str:
        """Return the expression for the default of a parameter."""
        at = "f" if f is self.f else self.name_for(f, "f")
        if name in (f.__kwdefaults__ or {}):
            return f"{at}.__kwdefaults__[{name!r}]"
        names = f.__code__.co_varnames[: f.__code__.co_argcount]
        return f"{at}.__defaults__[{names.index(name) - len(names)}]"

    def fixed(self, x: Any, path: str) -> Value:
        """Return a value that does not change."""
        if isinstance(x, np.ndarray | list | dict):
            raise Unsound.MAY_CHANGE(f"{path} is not a constant: it can be changed in place")
        return constant(x)


def outside_place(expression: str, bound: dict[str, Any], holders: dict[str, str]) -> OutsidePlace:
    """Return where an expression reads, whatever names it has for that.

    Arguments:
        expression: an expression of the guards.
        bound: what its names mean.
        holders: the expressions for what else it names.
    """
    while True:
        head, path = re.match(r"(\w+)(.*)", expression, re.DOTALL).groups()  # type: ignore[union-attr]
        if head not in holders:
            return (id(bound[head]) if head in bound else head), path
        expression = holders[head] + path


def defaults_of(f: Any) -> dict[str, Any]:
    """Return the parameters of a function that have defaults, with these."""
    given = f.__defaults__ or ()
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    found = dict(zip(names[len(names) - len(given) :], given, strict=True))
    return found | (f.__kwdefaults__ or {})
