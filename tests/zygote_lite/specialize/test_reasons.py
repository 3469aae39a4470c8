"""Each soundness condition is provoked by a program, which is not transformed, and answered right.

What specialized code may assume is that none of these conditions occurs. Were a check taken away,
its program would get another answer than Python's, or a second check (or a failure of the code)
would lead it to the tape.
"""

# the code that is differentiated may be odd on purpose

import builtins
import contextlib
import copy
import dataclasses
import math
import os
import re
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import DifferentiationError, hvp, testing, value_and_grad
from zygote_lite._specialize.cache import forget_warnings
from zygote_lite._specialize.typed.reasons import NotSupported, Reason, Unsound

A = np.array
V = A([2.0, 3.0])
PAGE = Path(__file__).parents[3] / "docs" / "assumptions.md"


@dataclasses.dataclass
class Case:
    """A program that is not transformed.

    Attributes:
        wanted: the gradients, or the value of `ask`, if finite differences are not to tell them.
        raises: the error that the program, or the tape, raises instead.
        rules: what is registered meanwhile.
        later: other arguments, of the same types, after those.
        ask: how the derivative is asked for; without it, by the gradient in the first argument.
    """

    reason: Reason
    f: Callable[..., Any]
    xs: tuple[Any, ...]
    wanted: Any = None
    raises: type[Exception] | None = None
    rules: RuleSet | None = None
    ask: Callable[..., Any] | None = None
    later: tuple[Any, ...] | None = None

    def answer(self, xs: tuple[Any, ...]) -> Any:
        """Return the derivative, or the class of the error."""
        xs = copy.deepcopy(xs)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return (self.ask or value_and_grad(self.f))(*xs)
            except (testing.NotTransformed, testing.InternalError):
                raise
            except Exception as error:
                return type(error)


CASES: list[Case] = []


def provokes(reason: Reason, *xs: Any, **more: Any) -> Callable[[Any], Any]:
    """Note a program with its arguments, of which the first is differentiated."""

    def add(f: Any) -> Any:
        CASES.append(Case(reason, f, xs, **more))
        return f

    return add


# -- unsound: writes -------------------------------------------------------------------------------


OUTSIDE = A([1.0, 3.0])
PART_OUTSIDE = OUTSIDE[:1]


@provokes(Unsound.SHARED_WRITE, V)
def writes_to_what_it_reads_from_outside_twice(x):
    OUTSIDE[0] = x[0] * x[1]
    return np.sum(OUTSIDE * x) + PART_OUTSIDE[0]


outside = [1.0, 2.0]


@provokes(Unsound.WRITES_TO_GIVEN, 3.0)
def writes_to_a_list_that_is_no_argument(x):
    outside[:1] = [x * 2.0]
    return outside[0] * x


@provokes(Unsound.SHARED_WRITE, V)
def reads_entries_that_are_there_twice_after_a_write(x):
    y = np.zeros(2)
    twice = np.broadcast_to(y, (2, 2))
    y[0] = x[0] * x[0]
    y[1] = x[1]
    return np.sum(twice * twice * x)


@provokes(Unsound.WRITES_ELSEWHERE, 2.0, 3, later=(0.5, 3))
def writes_an_entry_on_one_path(x, n):
    held = {"a": x, "function": math.sin}
    for i in range(n):
        if i < x:
            held["a"] = x * x
    return held["function"](held["a"])


@provokes(Unsound.CHANGES_WHAT_IT_WALKS, 2.0, raises=RuntimeError)
def grows_a_dict_that_it_walks_over(x):
    entries = {"a": x}
    for key in entries:
        entries[key + "b"] = x
    return entries["a"]


@provokes(Unsound.WRITES_A_RESULT, V)
def writes_some_entries_of_a_result(x):
    w, y = np.array([1.0, 4.0]), np.ones(2)
    np.sqrt(w, out=y, where=w > 2.0, casting="unsafe")
    return np.sum(y * x * x)


@provokes(Unsound.IN_PLACE_KIND, V)
def keeps_the_precision_of_what_it_changes(x):
    n = np.zeros(2, np.int32)
    n += np.array([2, 3])
    assert n.dtype == np.int32
    return np.sum(n * x * x)


# -- unsound: which value it is --------------------------------------------------------------------


@provokes(Unsound.ITERATOR, V)
def walks_twice_over_an_iterator(x):
    pairs = zip(x, x * x, strict=True)
    total = 0.0
    for a, b in pairs:
        total += a * b
    for a, _ in pairs:  # there is nothing left
        total += 100.0 * a
    return total


@provokes(Unsound.IDENTITY, 2.0)
def asks_for_the_identity(x):
    a = [x]
    b = a
    return x * x if a is b else x * 3.0


class Meta(type):
    """Says that everything is an instance."""

    def __instancecheck__(cls, x):
        return True


class Everything(metaclass=Meta):
    """What all is an instance of."""


@provokes(Unsound.CLASS, 2.0)
def asks_a_metaclass(x):
    return x * x if isinstance(x, Everything) else x * 3.0


@provokes(Unsound.KEY, 2.0)
def has_a_key_of_bytes(x):
    entries = {b"a": x * 5.0}
    return entries[b"a"] * x


@provokes(Unsound.UNSET, 1.5, 3)
def assigns_on_one_path(x, n):
    for i in range(n):
        if i >= x:
            g = math.sin
    return g(x)


@provokes(Unsound.UNSET, 0.5, raises=UnboundLocalError)
def has_no_value_on_the_other_path(x):
    if x > 1.0:
        g = math.sin
    return g(x)


class Counts:
    """An attribute that counts how often it is read."""

    reads = 0

    def __get__(self, owner, kind=None):
        Counts.reads += 1
        return 3.0


class Box:
    """An object whose attribute is computed."""

    weight = Counts()


@provokes(Unsound.COMPUTED_ATTRIBUTE, 2.0, Box())
def reads_what_is_computed(x, box):
    return x * x * box.weight


def importing(name, *more):
    """Give a module in which `sin` is the cosine."""
    other = types.ModuleType(name)
    other.sin = math.cos
    return other


def imports(x):
    from math import sin

    return sin(x) * x


imports = types.FunctionType(
    imports.__code__,
    {"__name__": __name__, "__builtins__": {**vars(builtins), "__import__": importing}},
)
provokes(Unsound.REPLACED, 2.0)(imports)

weighted_rule = RuleSet("of a list that may change")


def weighted(x):
    return x * x * WEIGHTS[0]


def slope_of_weighted(x):
    return 2.0 * x * WEIGHTS[0]


WEIGHTS = [3.0, 5.0]
# as if it were a rule of a plugin, whose constants are taken to stay as they are
settled = {**globals(), "__name__": "rules_base.of_a_test"}
weighted_rule.scalar(weighted)(types.FunctionType(slope_of_weighted.__code__, settled))


@provokes(Unsound.MAY_CHANGE, 2.0, rules=weighted_rule)
def has_a_rule_with_a_list(x):
    return weighted(x) * 2.0


# -- unsound: what it does -------------------------------------------------------------------------


@provokes(Unsound.EFFECTS, 2.0)
def asks_the_system(x):
    return x * x + 0.0 * os.getpid()


@provokes(Unsound.RAISES, 2.0, raises=IndexError)
def takes_an_item_that_is_not_there(x):
    return (x, x * x)[5]


own_rule = RuleSet("of one that says something else")


def rounded(x):
    return x * x


own_rule.scalar(rounded)(lambda x: 100.0)
provokes(Unsound.OWN_RULE, 2.0, rules=own_rule, wanted=100.0)(rounded)


ambiguous_rules = RuleSet("of two types")


def bent(x, k):
    return x * k


@ambiguous_rules(bent)
def _(x: float, k: int):
    def pullback(dy):
        return dy * 10.0, None

    return bent(x, k), pullback


@ambiguous_rules(bent)
def _(x: float, k: float):
    def pullback(dy):
        return dy * 20.0, None

    return bent(x, k), pullback


@provokes(Unsound.AMBIGUOUS_RULE, 2.0, 3, rules=ambiguous_rules, wanted=40.0)
def has_a_number_of_two_types(x, n):
    y = 0.0
    for i in range(n):
        k = 2 if i < x else 2.0
        y = y + bent(x, k)
    return y


# -- unsound: gradients ----------------------------------------------------------------------------


@provokes(Unsound.LOST_GRADIENT, 2.0, raises=DifferentiationError)
def gives_an_option_that_depends_on_it(x):
    return np.sum(A([1.0, 2.0]) * x, initial=x * x)


@provokes(Unsound.NO_FLOAT, V, raises=DifferentiationError)
def goes_through_bytes(x):
    return np.sum(np.frombuffer(x.tobytes()))


@provokes(Unsound.NO_FLOAT, V, raises=DifferentiationError)
def stores_in_an_array_of_integers(x):
    y = np.zeros(2, int)
    y[0] = x[0] * x[1]
    return np.sum(y * x)


def cubes(x):
    return np.sum(x**3)


provokes(
    Unsound.COTANGENT_TYPE, V, A([1.0, 2.0], np.float32), ask=hvp(cubes), wanted=A([12.0, 36.0])
)(cubes)


def roots(x):
    return np.sum(np.sqrt(x))


provokes(
    Unsound.NOT_FINITE, A([0.0, 4.0]), A([1.0, 2.0]), ask=hvp(roots), wanted=A([-np.inf, -1 / 16])
)(roots)


# -- what could be transformed, and is not ---------------------------------------------------------


class Callable_:
    """A function that is an object."""

    def __call__(self, x):
        return x * x


@provokes(NotSupported.STATEMENT, 2.0)
def leaves_a_loop_from_finally_inside_a_loop(x):
    y = x
    for _ in range(2):
        try:
            for k in range(3):
                if k == 2:
                    return y
        finally:
            y = y * x
            if y > 100.0:
                break
    return y


@provokes(NotSupported.RECURSION, 2.0, 3, [1.0])
def calls_itself(x, n, items):
    return x * items[0] if n == 0 else x * calls_itself(x, n - 1, items)


@provokes(NotSupported.ARGUMENT_TYPE, 2.0, {1: 3.0, "a": 2.0})
def takes_a_dict_of_other_keys(x, entries):
    return x * x * entries[1]


@provokes(NotSupported.DEPENDS_ON_PATH, 2.5, 4)
def has_a_pair_that_depends_on_the_path(x, n):
    y = 0.0
    for i in range(n):
        pair = (x, x * x) if i > x else (x, 1.0, x)
        y = y + pair[0] * pair[1]
    return y


@provokes(NotSupported.VALUE_TYPE, 2.0)
def goes_through_long_doubles(x):
    return x * float(np.sum(np.arange(int(x + 0.5)).astype(np.longdouble)))


@provokes(NotSupported.CONTAINER, 2.0)
def makes_a_set(x):
    return x * x * len({math.sin, x})


@provokes(NotSupported.TEXT, 2.0)
def makes_a_text(x):
    return x * x * len(f"{WEIGHTS[0] + 1.0}")


@provokes(NotSupported.NAMES, 2.0)
def has_a_parameter_named_math(math):
    return math * math


# -- the tests -------------------------------------------------------------------------------------


HEAD = """# What transformed code may assume

Transformed code is made for the types of its arguments, the rules, and the globals that it has
read. Guards at its entry check that these are unchanged. The code also relies on the absence of the
conditions in the first table. Each of them is checked when the code is made, or while it runs; if
one occurs, the gradient is computed on the tape. The first line of `code_adjoint(f, *xs)`, and
`zygote_lite.testing.why_recorded(f, *xs)`, end with the name of the condition.
`tests/zygote_lite/specialize/test_reasons.py` has a program for each.

The second table lists what could be transformed, but is not implemented yet.
"""


TAIL = """
## Output

What a function writes (by `print`, `logging`, to streams, files, warnings, progress bars) is no
part of its value: the output happens once, in order, and no gradient passes through it. So the tape
refuses to let a call read its own output again. It notices reads from the stream, or from another
stream over the same file; each file that Python opens, under whatever name, also in C and in
threads; mappings of the file into memory; and each process that is started. It uses one of Python's
audit hooks, which is installed when a file is first written to, and stays: `id(...)` takes about
0.2 µs longer from then on. It assumes that

- no process that was started before reads the output and sends something back, and neither does the
  other end of standard output;
- a library in C that opens files without Python (HDF5, say) is not given the name of such a file;
- nobody opens the file that standard output was sent to when Python was started;
- `Console.print` and `Progress.update` of rich, `set_description` and `set_postfix` of tqdm, and
  their like, show what they are given, and keep no more of it than its text.

Read next: [guards and tiers](how/tiers.md).
"""


def page_of_reasons():
    """Return the text of the page that lists all reasons."""
    titles = {Unsound: "Soundness conditions", NotSupported: "Not supported"}
    text = HEAD
    for kind, title in titles.items():
        text += f"\n## {title}\n\n| `[...]` | |\n| --- | --- |\n"
        text += "".join(f"| `{reason.label}` | {reason.value} |\n" for reason in kind)
    return text + TAIL


def name_of(case):
    return f"{case.f.__name__}({case.xs[0]}), {case.reason.label}"


@contextlib.contextmanager
def registered(rules):
    if rules is not None:
        rules.register()
    try:
        yield
    finally:
        if rules is not None:
            rules.unregister()


def wanted(case, xs):
    if case.wanted is not None:
        return case.wanted
    first, *others = xs
    ((_, slope, _),) = slopes(lambda x: case.f(x, *copy.deepcopy(others)), (first,))
    return slope


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_program_is_not_transformed_and_says_why(case):
    with registered(case.rules):
        testing.forget(case.f)
        with testing.transformed_only(), pytest.raises(testing.NotTransformed) as told:
            case.answer(case.xs)
    assert told.value.reason.endswith(f"[{case.reason.label}]"), told.value.reason


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_its_gradient_is_right_at_each_call(case):
    with registered(case.rules):
        testing.forget(case.f)
        with testing.observed() as answers:
            for xs in [case.xs] * 5 + ([case.later] if case.later else []):
                answer = case.answer(xs)
                if case.raises is not None:
                    assert isinstance(answer, type), answer
                    assert issubclass(answer, case.raises), answer
                    continue
                found = answer if case.ask is not None else answer[1]
                np.testing.assert_allclose(found, wanted(case, xs), rtol=1e-6)
    assert not any(answer.is_transformed for answer in answers)


def negates_a_truth(x):
    return x * -(x > 0.0)


def assigns_an_entry_twice(x):
    y = np.zeros(3)
    y[np.array([0, 0, 1])] = np.array([2.0, 3.0, 5.0]) * x
    return np.sum(y * y) - 38.0 * x


COMPILED = {Unsound.COMPILED_NUMBER: (negates_a_truth, (-2.0, -1.0)),
            Unsound.REPEATED_INDEX: (assigns_an_entry_twice, (60.0, 98.0))}  # fmt: skip


@pytest.mark.parametrize("reason", COMPILED)
def test_compiled_code_leaves_what_it_would_compute_otherwise(reason):
    pytest.importorskip("numba")
    forget_warnings()
    f, expected = COMPILED[reason]
    run = value_and_grad(f, compile=True)
    with pytest.warns(RuntimeWarning, match=re.escape(f"[{reason.label}]")):
        assert run(2.0) == expected
    for _ in range(4):
        assert run(2.0) == expected


def test_each_soundness_condition_has_a_program_that_provokes_it():
    provoked = {case.reason for case in CASES} | {*COMPILED}
    assert [reason.name for reason in Unsound if reason not in provoked] == []


@pytest.mark.parametrize("kind", [Unsound, NotSupported])
def test_reasons_are_sentences_with_names_of_their_own(kind):
    for reason in kind:
        assert reason.value.endswith(".")
        assert reason.value[0].isupper() or reason.value.startswith("`")
    assert len(kind.__members__) == len(kind), "two names for one reason"
    error = kind(next(iter(kind)).value)("it stands in the way")
    assert str(error) == f"it stands in the way [{error.reason.label}]"


def test_the_page_lists_all_reasons():
    assert PAGE.read_text() == page_of_reasons(), (
        "write it anew: python -c 'from tests.zygote_lite.specialize.test_reasons import *; "
        "PAGE.write_text(page_of_reasons())'"
    )


def test_the_two_kinds_share_no_name():
    assert not Unsound.__members__.keys() & NotSupported.__members__.keys()
