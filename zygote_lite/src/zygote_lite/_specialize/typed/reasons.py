"""Why a function is not specialized: what nobody wrote yet, and what would be wrong.

`Unsound` is the list of soundness conditions: what specialized code may assume is that none of
them occurs. Each has a program that provokes it in `tests/zygote_lite/specialize/test_reasons.py`.
`NotSupported` is the list of what could be specialized, and is not.

A reason is called with the details to make the error: `raise Unsound.UNSET("y has no value")`.
"""

import ast
import enum
from typing import Any

LEFT = "left to the tape"  # the error that leaves code


class NotSpecializable(Exception):  # noqa: N818 - no error: the tape takes over
    """Tell that a function cannot be specialized, or that specialized code was left, and why.

    Attributes:
        reason: a member of `Unsound` or `NotSupported`.
        details: what stands in the way, in words.
        origin: the user's syntax node that it is about, where that is known.
        raises: the class of the error that Python raises here in every run, where that is known.
        code: of a function that calls itself, its code.
        after_all: whether all that was written before is run, and then that error is raised.
        unless_held: whether it stands in the way only where containers are structures.
    """

    origin: ast.AST | None = None
    raises: type[BaseException] | None = None
    code: Any = None
    after_all: bool = False
    unless_held: bool = False

    def __init__(self, reason: "Reason", details: str) -> None:
        super().__init__(reason, details)
        self.reason, self.details = reason, details

    def __str__(self) -> str:
        return f"{self.details} [{self.reason.label}]"

    def always(self, kind: type[BaseException]) -> "NotSpecializable":
        """Note that Python raises an error of a class here, in every run, and nothing before."""
        self.raises = kind
        return self

    def after_what_is_written(self) -> "NotSpecializable":
        """Note that what was written before this error is all that is run before it."""
        self.after_all = True
        return self


class Unreached(Exception):  # noqa: N818 - no error: what follows is not reached
    """Tell that the code is left here, or that a function raises an error on all of its paths."""


class Reason(enum.Enum):
    """A named reason, whose value says in a sentence what it stands for."""

    @property
    def label(self) -> str:
        """The name as messages show it, with the kind of the reason before it."""
        kind = "unsound" if type(self) is Unsound else "not supported"
        return f"{kind}: {self.name.lower().replace('_', '-')}"

    def __call__(self, details: str) -> NotSpecializable:
        """Return the error that has this reason."""
        return NotSpecializable(self, details)


class Unsound(Reason):
    """What specialized code would answer differently, or wrongly: the soundness conditions."""

    # -- writes --
    WRITES_TO_GIVEN = (
        "The function writes to an array, a list or an object that is neither its own nor an "
        "argument: others may hold it, and the reverse pass would read what stands in it later."
    )
    SHARED_WRITE = (
        "A write to an array or a list would be seen under a second name (another variable, a "
        "view, a row, an item): the code knows the write under one name only."
    )
    WRITES_ELSEWHERE = (
        "A list or a dict is changed in another block (a branch, a loop) than the one that made "
        "it: the code would hold the change as done once, and always."
    )
    CHANGES_WHAT_IT_WALKS = (
        "A list, a dict or an array is changed by the loop that walks over it: the number of its "
        "iterations, or its entries, were read before."
    )
    WRITES_A_RESULT = (
        "A call writes into an array that it is given (`out=`, `operator.iadd`): the reverse pass "
        "would not know of the write."
    )
    IN_PLACE_KIND = (
        "`x += y` where `x + y` may have another dtype or shape than `x`: the array would change "
        "its kind, where Python casts or raises."
    )
    REPEATED_INDEX = (
        "An index may name one entry twice: only the last of the values counts, and sums would "
        "lose all others."
    )
    # -- which value it is --
    ITERATOR = (
        "An iterator can be walked over only once, and what is left of it depends on who did: the "
        "code knows it as the items that it gives, so a second walk would find them again."
    )
    IDENTITY = (
        "The answer depends on which object a value is, and the code makes objects that are equal, "
        "not the same."
    )
    CLASS = (
        "The answer depends on a class in a way that may change, or that the code's own stand-ins "
        "for functions would answer for themselves."
    )
    KEY = (
        "A key of a dict is computed, or has an equality of its own: two keys that look different "
        "may be one entry."
    )
    UNSET = (
        "A variable may have no value: Python raises an error where it is read, the code goes on."
    )
    MAY_CHANGE = (
        "A list, a dict or an array that is not an argument may be changed between two calls: its "
        "contents would be those at the time when the code was made."
    )
    COMPUTED_ATTRIBUTE = (
        "An attribute is computed where it is read (a descriptor, `__getattr__`): its value would "
        "be the one at the time when the code was made."
    )
    REPLACED = (
        "A name of Python's own (`__import__`) stands for something else by now: the code would "
        "do what the usual one does."
    )
    # -- what it does --
    EFFECTS = (
        "A call may have effects (or answer differently each time): making the code runs it on "
        "samples, and the code may leave it out or run it again."
    )
    RAISES = (
        "The program raises an error with these arguments: the error has to come from the user's "
        "own code."
    )
    OWN_RULE = "The function has a rule: the rule is its derivative, not what its source says."
    AMBIGUOUS_RULE = (
        "A number may be of one of several types, which take different rules: one of them would be "
        "applied to all."
    )
    # -- gradients --
    LOST_GRADIENT = (
        "An option or an index depends on a differentiated argument: rules give no gradient for "
        "it, and it would be lost without a word."
    )
    NO_FLOAT = (
        "What depends on a differentiated argument is no float (an integer, text, bytes): the tape "
        "says what its gradient is, or refuses it; the code would go on with a zero."
    )
    COTANGENT_TYPE = (
        "A cotangent is not known to have the shape and the dtype of its primal: the gradient "
        "would have those of another array, or miss the sum that undoes broadcasting."
    )
    NOT_FINITE = (
        "A gradient is not finite: which zero meets an infinity, and wins, is for the tape to say."
    )
    # -- compiled code --
    COMPILED_NUMBER = (
        "Compiled code would compute with another type of number than Python does: integers that "
        "wrap around, truth values that are not summed, one type where Python has two."
    )


class NotSupported(Reason):
    """What could be specialized, and is not: nobody wrote it."""

    # -- the function and its arguments --
    NO_PYTHON_FUNCTION = "What is differentiated is not a Python function with source code."
    ARGUMENT_TYPE = "An argument is of a type that the code has no facts for."
    OUTSIDE_TYPE = "What is read from outside is of a type that the code has no facts for."
    KEYS = "A dict has keys that are not text, or too many of them."
    NAMES = "A name is taken by what the code uses it for."
    TOO_LONG = "The code, or a structure that it would take item by item, grows too long."
    ARGNUMS = "The numbers of the differentiated arguments are not in their order."
    # -- statements --
    STATEMENT = "A kind of statement or expression that is not run backwards from a structure."
    RECURSION = "A function calls itself in a way that is not followed, or calls go very deep."
    TRUTH = "A branch asks for the truth of something that is no number."
    DEPENDS_ON_PATH = (
        "A variable is of different kinds on two paths, or in two iterations: a structure of "
        "another length or with other keys, another function or object."
    )
    ITERATION = "A loop walks over something that is no range, array, list or tuple."
    UNKNOWN_LENGTH = "A structure is needed whose length is not known."
    UNKNOWN_CALLEE = "What is called is not known when the code is made."
    # -- values --
    VALUE_TYPE = "A value is of a type that the code has no facts for, such as a long double."
    CONTAINER = "A container of a kind, or of contents, that is not followed."
    LIST_OPERATION = "An operation on a list of any length that is not written."
    ITEM = "An item of something that is no array, list, tuple or dict."
    ATTRIBUTE = "An attribute of something whose attributes are not followed."
    METHOD = "A method of something whose methods are not followed."
    TEXT = "A text is made of something that is not known when the code is made."
    STORED = "Something that is no number or array is stored."
    # -- rules --
    NO_RULE = "No rule fits the types: the tape says whether that is an error."
    RULE_FORM = "A rule is written in a form that is not inlined."
    RULE_OPERAND = "A function with a rule is given a structure or an object."
    # -- reverse pass --
    STRUCTURE_COTANGENT = "The cotangent of a structure is needed as a whole."
    LOOP_COTANGENT = "A loop replaces the cotangent of an array instead of adding to it."
    SECOND_ORDER = "A second derivative needs what is done in the first derivative only."
    FORWARD = "The tangent of a value (of `jvp`) needs what is not written forward."
    # -- compiled code --
    NUMBA = "Numba is not installed, or refuses the code."
    COMPILED_CALL = "A call that is not written for compiled code."
    COMPILED_VALUE = "A value of a type that compiled code is not given."
    # -- exported modules --
    EXPORT = "What the code reads or calls cannot be written into a module."
