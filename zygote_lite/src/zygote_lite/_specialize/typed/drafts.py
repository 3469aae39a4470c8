"""Drafts of typed code: what is written so far, new names, and marks to go back to."""

import ast
import copy
import dataclasses
import types
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from zygote_lite._specialize.typed.contexts import NOWHERE
from zygote_lite._specialize.typed.facts import Fact
from zygote_lite._specialize.typed.inputs import Inputs, OfWay
from zygote_lite._specialize.typed.naming import is_of_body, is_ours_elsewhere
from zygote_lite._specialize.typed.nodes import Loop, Node, Op, leaves
from zygote_lite._specialize.typed.notes import collected
from zygote_lite._specialize.typed.plugins import is_in_python
from zygote_lite._specialize.typed.reasons import NotSpecializable, Unsound
from zygote_lite._specialize.typed.values import Value, is_same_constant

_OF_ATTEMPTS = (
    "written",
    "uncertain",
    "absent",
    "nullable",
    "moved",
    "iterators",
    "operations",
    "homes",
    "settings",
    "lent",
    "objects",
    "adopted",
    "at_entry",
    "given_away",
)

Env = dict[str, Value]
Tables = dict[Value, dict[str, Value]]
Made = TypeVar("Made")


class End(Env):
    """The variables at an end of an iteration, and the attributes of objects there."""

    def __init__(self, variables: Env, tables: Tables) -> None:
        super().__init__(variables)
        self.tables = tables


@dataclass(eq=False)
class Change:
    """A list, dict or set, and as it was before a change; what its sample held."""

    x: Value
    home: list[Node]
    before: Value
    held: Any

    def undo(self) -> None:
        """Make it what it was."""
        for field in dataclasses.fields(Value):
            setattr(self.x, field.name, getattr(self.before, field.name))
        sample = self.x.sample
        if self.held is None:  # it is an object
            return
        sample.clear()
        (sample.extend if isinstance(sample, list) else sample.update)(self.held)


@dataclass(eq=False)
class Frame:
    """A function whose body is being written.

    Attributes:
        code: its code.
        globals: its globals.
        times: how often it assigns each variable.
        variables: those that have a value at its start.
        given: the identities of the values that these hold.
        wrapper: the function, where a decorator has made several of this code.
    """

    code: types.CodeType
    globals: dict[str, Any]
    times: Counter[str]
    variables: set[str]
    given: set[int]
    wrapper: Any = None


class Draft:
    """Typed code that is being written for one specialization.

    Attributes:
        inputs: what the code is given, besides the user's arguments, and what is guarded.
        out: the nodes of the block that is being written.
        loop: the loop that it is in.
        written: the arrays that are written in place.
        reverse: whether it is the reverse pass that is being written.
    """

    uniform, held, guesses = OfWay(), OfWay(), OfWay()

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.out: list[Node] = []
        self.loop: Loop | None = None
        self.written: dict[Value, int] = {}
        self.used: set[str] = set()
        self.added_to: set[Value] = set()  # cotangents that were changed after they were computed
        self.next = 1  # the temporaries before this one are taken
        self.frames: list[Frame] = []  # the functions whose bodies are being written
        self.reverse = False
        self.known: dict[Any, Value] = {}
        self.definitions: dict[Value, Op] = {}
        self.origin: ast.AST = ast.Pass()
        self.breaks: list[tuple[Env, list[Env], Tables]] = []  # of loops: carried, ends, objects
        self.poles = False  # whether the reverse pass may meet a pole of a rule
        self.recording = False  # of the reverse pass, to differentiate it again
        self.twice = False  # whether that is to come
        self.severed: set[Value] = set()  # values that the program lets no gradient through to
        self.unwritten: frozenset[Value] = frozenset()  # what a function without gradient is given
        self.strong = False  # whether a zero cotangent stays a zero where it meets an infinity
        self.compiled = False  # whether the code is for Numba
        self.distinct = False  # whether arrays that are equal are still made one by one
        self.has_islands = False  # whether the tape may answer calls inside
        self.inner = False  # whether it is the code of a gradient inside, to be interpreted again
        self.only_derives = False  # whether it is a derivative by its arguments, and nothing else
        self.differentiate: Any = None  # what writes the gradients that are taken inside
        self.uncertain: set[Value] = set()  # variables that may have no value
        self.truths: dict[Value, bool] = {}  # of variables that paths join, where it is known
        self.absent: set[Value] = set()  # those of the engine's own, which nobody reads too early
        self.nullable: set[Value] = set()  # numbers that may be `None`
        self.operations = 0
        self.homes: dict[Value, list[Node]] = {}  # of lists, the block that they are made in
        self.titles: dict[Value, str] = {}  # of lists, the variables that they are assigned to
        self.shapes: dict[Any, Value] = {}
        self.unified: list[Value] = []
        self.changed: list[Value] = []  # arrays and lists of which a write tells something new
        self.uniform = False  # whether lists are taken as lists of any length
        self.grown: list[dict[Value, int]] = []  # for each loop, lists before what it appends
        self.walked: list[Value] = []  # what a loop walks over
        self.moved: set[Value] = set()  # values that another variable takes on some path
        self.iterators: dict[Value, list[Value]] = {}  # they are gone through once: over what
        self.changes: list[Change] = []  # of lists and the like whose items are known
        self.generators = 0  # how many were written into loops
        self.running: list[Value] = []  # those that are being written so
        self.objects: list[Value] = []  # those that the function makes
        self.making: list[Value] = []  # those whose `__init__` is being written
        self.assigned: set[Value] = set()  # those that are assigned to after that
        self.unsettled: set[Value] = set()  # those that the paths assign to which are joined now
        self.numbers: dict[Value, int] = {}  # of these, for names of their attributes
        self.of_each_array: set[Value] = set()  # cotangents of lists of arrays, one for each array
        self.context = NOWHERE  # what `with` has set
        self.settings: dict[Any, Any] = {}  # of globals: what they held, and what they hold
        # of dicts from outside that are assigned to until they are given back: what they held
        self.lent: dict[Value, list[Value]] = {}
        self.lent_before: list[dict[Value, list[Value]]] = []  # as each loop began
        self.met: dict[Value, list[Value]] = {}  # of all of these, what they held at entry
        self.rehearsed = False  # whether a function that calls itself is written without that
        self.handlers = False  # whether errors reach the handlers of the program
        self.protected = 0  # how many attempts are being written, one in the other
        self.thrown: dict[Node, Any] = {}  # the errors that nodes raise
        self.states: dict[Node, Any] = {}  # of objects, lists and dicts, where operations may raise
        self.own: frozenset[Hashable] = frozenset()  # the origins of arrays that are written
        self.wanted: set[Hashable] = set()  # those that are to be, and are not among them
        self.origins: dict[Value, Hashable] = {}  # of arguments and of variables of several paths
        self.copies: dict[str, Value] = {}  # of arguments and outer arrays that are written
        self.captured: dict[Any, types.CellType] = {}  # of code and names, the last that was read
        self.may_own = False  # whether it may have copies of arrays from outside, to write to
        self.guesses = 0  # how many branches may be taken for those that the samples take
        self.unjoined = Counter[Hashable]()  # how often only one path of a branch could be written
        self.held = False  # whether containers are made as the code runs
        self.shadows: Value | None = None  # their cotangents, in the reverse pass
        self.held_from: list[list[Node]] = []  # the block in which containers come to be held
        self.displayed: dict[Op, Value] = {}  # of operations that make them, the items
        self.rewritten: list[Any] = []  # the contents of containers that are changed
        self.keyed: list[Value] = []  # dicts whose keys a loop walks over
        self.unordered: set[Value] = set()  # objects that paths give their attributes in two orders
        self.leaves = 0  # how often the code is left, for certain, where it reads an item
        self.sizes: list[tuple[Value, Value]] = []  # of dicts that are walked over
        # of containers that are given, what holds them, and the expression for that argument
        self.given_as: dict[Value, tuple[Value, str]] = {}
        self.adopted: dict[str, Value] = {}  # given objects that are assigned to
        self.at_entry: Tables = {}  # of these, the attributes that they have at entry
        self.given_away: set[Value] = set()  # lists and dicts that are put into those from outside
        self.earlier: list[Tables] = []  # what `tables` has returned
        self.top: list[Node] = self.out  # the block of the function itself
        self.resized: list[Any] = []  # of those that get another length
        self.searched: set[Op] = set()  # calls whose source was looked at for effects
        self.plain = False  # in the body of a rule, through which no gradient passes

    @property
    def follows(self) -> bool:
        """Whether what depends on a differentiated argument is to be run backwards."""
        return self.recording or not (self.plain or self.reverse)

    # -- blocks --------------------------------------------------------------------------------

    def nested(self, work: Callable[[], Made]) -> tuple[list[Node], Made]:
        """Write a block of its own, and return it with what `work` returned."""
        outer, self.out = self.out, []
        known, mark, lent = dict(self.known), len(self.unified), self.lent
        try:
            found = work()
            if found is not None:
                self.refuse_lent(lent)
            return self.out, found
        except NotSpecializable as reason:
            reason.raises = None  # a path or an iteration may raise, and may not be run
            raise
        finally:
            self.out, self.known = outer, known
            self.give_back(lent)
            while len(self.unified) > mark:  # known only where the block has been run
                self.unified.pop().shaped = None

    def lend(self, x: Value, items: list[Value]) -> None:
        """Note what a dict from outside holds until it is given back."""
        self.met.setdefault(x, x.items or [])
        self.give_back({**self.lent, x: items})

    def give_back(self, lent: dict[Value, list[Value]]) -> None:
        """Have dicts from outside hold what they held."""
        self.lent = lent
        for x, items in self.met.items():
            x.items = lent.get(x, items)
            x.sample.clear()
            pairs = zip(x.items[::2], x.items[1::2], strict=True)
            x.sample.update({key.sample: part.sample for key, part in pairs})

    def refuse_lent(self, lent: dict[Value, list[Value]]) -> None:
        """Refuse where a dict from outside does not hold what it held."""
        for x, before in self.met.items():
            pairs = zip(lent.get(x, before), x.items or [], strict=True)
            if not all(a is b or is_same_constant(a, b) for a, b in pairs):
                if x in self.inputs.outside and not (self.compiled or self.inner or self.twice):
                    self.wanted.add(collected(self.inputs.outside[x]))
                raise Unsound.WRITES_ELSEWHERE(
                    "it assigns an entry of a dict that it did not create, and does not set it back"
                )

    def tables(self) -> Tables:
        """Return the attributes that the objects made inside have now."""
        self.earlier.append({x: x.fields for x in self.objects if x.fields is not None})
        return self.earlier[-1]

    def adopt(self, x: Value, fields: dict[str, Value]) -> None:
        """Follow the attributes of a given object, which had these wherever it was not met yet."""
        x.fields = self.at_entry[x] = fields
        self.objects.append(x)
        for tables in self.earlier:
            tables[x] = fields

    def go_back_to(self, tables: Tables) -> None:
        """Give objects the attributes back that they had."""
        for x, fields in tables.items():
            if x.contents is None:  # a container that holds it has its attributes since then
                x.fields = fields

    def places(self, objects: Iterable[Value]) -> Env:
        """Return the attributes of objects as variables, each under a name of its own."""
        found: Env = {}
        for x in objects:
            number = self.numbers.setdefault(x, len(self.numbers))
            found |= {f"{number}.{name}": value for name, value in (x.fields or {}).items()}
        return found

    def places_changed(self, tables: Tables) -> Env:
        """Return the attributes that are not what they were in the tables."""
        return {
            place: value
            for x, fields in tables.items()
            for place, value in self.places([x]).items()
            if (fields or {}).get(place.partition(".")[2]) is not value
        }

    def put_in_places(self, objects: Iterable[Value], places: Env) -> None:
        """Give objects the attributes that variables of theirs stand for."""
        of = {str(self.numbers[x]): x for x in objects if x.contents is None}
        for x in of.values():
            x.fields = {}
        for place, value in places.items():
            number, _, name = place.partition(".")
            if name and number in of:
                x = of[number]
                x.fields = {**(x.fields or {}), name: value}

    def mark(self) -> Any:
        """Return what `back_to` needs to forget what is written from here on."""
        return len(self.out), set(self.used), dict(self.known), dict(self.shapes)

    def back_to(self, mark: Any) -> None:
        """Forget what was written since the mark was made."""
        length, used, known, shapes = mark
        self.known, self.shapes = dict(known), dict(shapes)
        self.free_names(set(used))
        del self.out[length:]

    def changing(self, x: Value) -> None:
        """Note that a list, dict or set whose items are known is about to change."""
        if x in self.given_away:
            raise Unsound.SHARED_WRITE(
                "it changes a list or a dict after it was put into one that it did not create"
            )
        before = dataclasses.replace(x, items=copy.copy(x.items))
        home = self.homes.get(x, self.top)  # of what is given, the block that names it
        held = copy.copy(x.sample) if isinstance(x.sample, list | dict | set) else None
        self.changes.append(Change(x, home, before, held))

    def attempt(self) -> Any:
        """Return what `give_up` needs to forget an attempt to write the body of a function."""
        kept = {name: copy.copy(getattr(self, name)) for name in _OF_ATTEMPTS}
        kept["origin"] = self.origin  # itself: a copy would be another place in the text
        lengths = len(self.unified), len(self.changed), len(self.walked), len(self.changes)
        return self.mark(), lengths, kept, self.inputs.attempt()

    def give_up(self, attempt: Any) -> None:
        """Forget what was written since an attempt began."""
        mark, (unified, changed, walked, changes), kept, inputs = attempt
        self.back_to(mark)
        while len(self.changes) > changes:
            change = self.changes.pop()
            if change.home is self.out:  # of another block the code stands that was written there
                change.undo()
                self.definitions.pop(change.x, None)
        self.inputs.give_up(inputs)
        while len(self.unified) > unified:
            self.unified.pop().shaped = None
        del self.changed[changed:], self.walked[walked:]
        for name, value in kept.items():
            setattr(self, name, value if name == "origin" else copy.copy(value))
        self.give_back(self.lent)
        for tables in self.earlier:
            for x in tables.keys() - self.objects:
                del tables[x]

    def settle_home(self, x: Value) -> None:
        """Note that a list or a dict is made here: it may be changed in this block."""
        self.homes[x], x.scope = self.out, self.loop

    def note_moved(self, values: list[Value]) -> None:
        """Note that another variable may hold what these variables hold."""
        self.moved.update(leaf for x in values for leaf in leaves(x) if leaf.is_array)

    def is_ours(self, name: str) -> bool:
        """Return whether a variable of the function being written is the engine's own."""
        if "@" in name:
            return is_ours_elsewhere(name)
        code = self.frames[-1].code
        if is_in_python(self.frames[-1].globals):
            return True
        return name not in (*code.co_varnames, *code.co_cellvars) and not is_of_body(name)

    # -- names ---------------------------------------------------------------------------------

    def name(self, stem: str) -> str:
        """Return a name that is not taken yet, and take it."""
        name, n = stem, 0
        while name in self.used or name in self.inputs.names:
            n += 1
            name = f"{stem}_{n}" if stem[-1:].isdigit() else f"{stem}{n}"
        self.used.add(name)
        return name

    def free_names(self, used: set[str]) -> None:
        """Free the names that were taken since these alone were."""
        self.used, self.next = used, 1

    def temporary(self) -> str:
        """Return the name of a new value that the user has no name for."""
        while f"t{self.next}" in self.used or f"t{self.next}" in self.inputs.names:
            self.next += 1
        return self.name(f"t{self.next}")

    def value(self, fact: Fact, sample: Any, stem: str = "") -> Value:
        """Return a new value, in the scope of the loop that is being written."""
        name = self.name(stem) if stem else self.temporary()
        value = Value(fact, sample, name)
        value.scope = self.loop
        value.reverse = self.reverse
        return value
