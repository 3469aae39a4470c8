"""Why a function is not transformed: what is not implemented yet, and what would be wrong.

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
        "The function writes to an array, a list or an object that it did not create: other code "
        "may hold it, and the reverse pass would read its later contents."
    )
    SHARED_WRITE = (
        "An array or a list that is written to has a second name (another variable, a view, a "
        "row, an item): the code knows the write under one name only."
    )
    WRITES_ELSEWHERE = (
        "A list or a dict is changed in a branch or a loop, and was made before that: the code "
        "would treat the change as done once, in every run."
    )
    CHANGES_WHAT_IT_WALKS = (
        "A list, a dict or an array is changed by the loop that iterates over it: the number of "
        "iterations, or the entries, were read before."
    )
    WRITES_A_RESULT = (
        "A call writes into one of its arguments (`out=`, `operator.iadd`): the reverse pass "
        "would not know of the write."
    )
    IN_PLACE_KIND = (
        "`x += y` where `x + y` may have another dtype or shape than `x`: the array would get "
        "that dtype or shape, where NumPy casts or raises an error."
    )
    REPEATED_INDEX = (
        "An index may name an entry twice: only the last of the values counts, and sums would "
        "lose the others."
    )
    # -- which value it is --
    ITERATOR = (
        "An iterator gives its items only once: the code holds them as a tuple, and a second loop "
        "would find them again. Make a list of it first."
    )
    IDENTITY = (
        "The result depends on which object a value is, and the code makes objects that are equal, "
        "but not the same."
    )
    CLASS = (
        "The result depends on the class of a value in a way that may change, or on the class of a "
        "nested function, which transformed code does not make."
    )
    KEY = (
        "A key of a dict is computed, or its class defines `==`: two keys that look different may "
        "be one entry."
    )
    UNSET = (
        "A variable may have no value: Python raises an error where it is read, and the code would "
        "go on."
    )
    MAY_CHANGE = (
        "A list, a dict or an array that is not an argument may change between two calls: the code "
        "would use its old contents."
    )
    COMPUTED_ATTRIBUTE = (
        "An attribute is computed where it is read (a descriptor, `__getattr__`): the code would "
        "use its old value."
    )
    REPLACED = (
        "A builtin of Python (`__import__`) has been replaced: the code would do what the original "
        "one does."
    )
    # -- what it does --
    EFFECTS = (
        "A call may have side effects, or give another result each time: making the code runs it "
        "on sample values, and the code may leave it out or run it again."
    )
    RAISES = (
        "The program raises an error with these arguments: the error has to come from your own "
        "code."
    )
    OWN_RULE = "The function has a rule: the rule is its derivative, not what its source says."
    AMBIGUOUS_RULE = (
        "A number may be of several types, which have different rules: one of them would be "
        "applied to all."
    )
    # -- gradients --
    LOST_GRADIENT = (
        "An option or an index depends on a differentiated argument: rules give no gradient for "
        "it, and it would be lost silently."
    )
    NO_FLOAT = (
        "A value that depends on a differentiated argument is not a float (an integer, text, "
        "bytes): the tape finds its gradient, or refuses it; the code would go on with a zero."
    )
    COTANGENT_TYPE = (
        "A gradient may not have the shape and the dtype of its value: it would have those of "
        "another array, or miss the sum that undoes broadcasting."
    )
    NOT_FINITE = (
        "A gradient is infinite or nan: the tape decides which zero times infinity is a zero."
    )
    # -- compiled code --
    COMPILED_NUMBER = (
        "Compiled code would compute with another type of number than Python does: integers that "
        "wrap around, truth values that are not summed, one type where Python has two."
    )


class NotSupported(Reason):
    """What could be transformed, and is not implemented yet."""

    # -- the function and its arguments --
    NO_PYTHON_FUNCTION = "What is differentiated is not a Python function with source code."
    ARGUMENT_TYPE = "An argument has a type that transformed code does not support."
    OUTSIDE_TYPE = (
        "A global or enclosing variable has a type that transformed code does not support."
    )
    KEYS = "A dict has keys that are not text, or too many keys."
    NAMES = "The transformed code needs a name for itself."
    TOO_LONG = "The code, or a container that it handles item by item, is too long."
    ARGNUMS = "The numbers of the differentiated arguments are not in increasing order."
    # -- statements --
    STATEMENT = "A statement or an expression that is not supported."
    RECURSION = (
        "A function calls itself in a way that is not supported, or calls are nested very deep."
    )
    TRUTH = "A branch tests the truth of something that is not a number."
    DEPENDS_ON_PATH = (
        "A variable differs in type after two branches or iterations: a container of another "
        "length or with other keys, another function or object."
    )
    ITERATION = "A loop iterates over something other than a range, array, list or tuple."
    UNKNOWN_LENGTH = "A tuple or a list has a length that is not fixed."
    UNKNOWN_CALLEE = "Which function is called is known only as the code runs."
    # -- values --
    VALUE_TYPE = "A value has a type that transformed code does not support, such as a long double."
    CONTAINER = "A container of a type, or with contents, that is not supported."
    LIST_OPERATION = "An operation on a list that is not supported."
    ITEM = "An item of something other than an array, list, tuple or dict."
    ATTRIBUTE = "An attribute that is not supported."
    METHOD = "A method that is not supported."
    TEXT = "Text is made of a value that is known only as the code runs."
    STORED = "Something other than a number or an array is stored."
    # -- rules --
    NO_RULE = "No rule fits the types: the tape finds whether that is an error."
    RULE_FORM = "A rule is written in a way that cannot be inlined."
    RULE_OPERAND = "A function with a rule gets a container or an object."
    # -- reverse pass --
    STRUCTURE_COTANGENT = "The gradient of a container is needed as a whole."
    LOOP_COTANGENT = "A loop replaces the gradient of an array instead of adding to it."
    SECOND_ORDER = "A second derivative, or a nested one, of code that supports only a first."
    FORWARD = "The tangent of a value (in `jvp`) needs what forward mode does not support."
    # -- compiled code --
    NUMBA = "Numba is not installed, or refuses the code."
    COMPILED_CALL = "A call that compiled code does not support."
    COMPILED_VALUE = "A value of a type that compiled code does not support."
    # -- exported modules --
    EXPORT = "What the code reads or calls cannot be written into a module."
