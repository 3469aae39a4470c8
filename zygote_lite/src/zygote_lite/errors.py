"""The errors that the engine raises, each with the user's file and line, and each of one kind.

A message ends with the code of its kind, such as `[ZL001]`. `pages/ZL001.md` tells of it, with an
example: `python -m zygote_lite error ZL001` prints that page.
"""

from rulescore.faults import CodedFault, code_in

__all__ = [
    "DifferentiationError",
    "UnsupportedSyntaxError",
    "NoRuleError",
    "NoSourceError",
    "GradientCheckError",
    "Fault",
]


class DifferentiationError(Exception):
    """Say that a gradient cannot be computed, where, why, and what to do about it."""

    @property
    def code(self) -> str:
        """The code of the kind of error, such as `ZL001`; empty where it has none."""
        return code_in(str(self))


class UnsupportedSyntaxError(DifferentiationError, SyntaxError):
    """Say that a function has a construct that cannot be differentiated."""

    def __str__(self) -> str:
        return str(self.msg)


class NoRuleError(DifferentiationError, TypeError):
    """Say that a gradient passes through a function that has neither a rule nor Python source."""


class NoSourceError(DifferentiationError, OSError):
    """Say that the source text of a function cannot be found."""


class GradientCheckError(AssertionError):
    """Say that a gradient differs from differences of the function, and where."""


class Fault(CodedFault):
    """What went wrong, one kind for each thing to do about it; called with a text, the error."""

    NO_RULE = "ZL001", NoRuleError, "A function has neither a rule nor Python source"
    MISSING_PLUGIN = "ZL002", NoRuleError, "The rules for a library are not installed"
    OPTION = "ZL003", NoRuleError, "A rule does not take an option"
    UNKNOWN_DERIVATIVE = "ZL004", NoRuleError, "A rule refuses a call"
    ACTIVE_OPTION = "ZL005", NoRuleError, "An option of a rule is differentiated"
    HOLDER = "ZL006", NoRuleError, "A holder of numbers carries no gradient"
    TEXT = "ZL007", NoRuleError, "A number is read from a text"
    DTYPE = "ZL008", DifferentiationError, "An array of this dtype carries no gradient"
    KNOWN_AS_A_WHOLE = "ZL009", NoRuleError, "A part of a value that is known by rule"
    RULE_FAILED = "ZL010", NoRuleError, "A rule raised an error"
    SYNTAX = "ZL011", UnsupportedSyntaxError, "A construct that cannot be differentiated"
    NO_SOURCE = "ZL012", NoSourceError, "The code of a function cannot be read"
    SOURCE_CHANGED = "ZL013", NoSourceError, "The source text is not what was compiled"
    FRAMES = "ZL014", DifferentiationError, "A function looks at the frames of running code"
    SHARED_ARGUMENTS = "ZL015", DifferentiationError, "Two arguments are one object"
    OVERWRITTEN = "ZL016", DifferentiationError, "What a pullback needs has been changed"
    MEMORY = "ZL017", DifferentiationError, "Memory that cannot be followed"
    NO_PLACE = "ZL018", DifferentiationError, "A gradient has no place"
    ATTRIBUTE = "ZL019", DifferentiationError, "An attribute that cannot be followed"
    CLASS = "ZL020", DifferentiationError, "A class is made of differentiated values"
    GLOBAL = "ZL021", DifferentiationError, "A global variable is assigned a differentiated value"
    CALLBACK = "ZL022", DifferentiationError, "Compiled code calls Python code with effects"
    LIFETIME = "ZL023", DifferentiationError, "Code runs when Python lets go of an object"
    THREAD = "ZL024", DifferentiationError, "A differentiated value goes to another thread"
    OUTPUT = "ZL025", DifferentiationError, "A differentiated value is written out and read again"
    CACHE = "ZL026", DifferentiationError, "A cache keeps differentiated values"
    ITERATOR = "ZL027", DifferentiationError, "An iterator that cannot be followed"
    CHECKPOINT = "ZL028", DifferentiationError, "A checkpointed function has effects"
    NESTED = "ZL029", DifferentiationError, "A limit of gradients inside gradients"
    HANDED_TO_RULE = "ZL030", DifferentiationError, "A function given to a rule changes state"
    TANGENT = "ZL031", TypeError, "A tangent does not fit"
    EXPORT = "ZL032", DifferentiationError, "A gradient cannot be written as a module"
    NOT_REAL = "ZL033", TypeError, "The value is not a real number"
    COTANGENT = "ZL034", TypeError, "A cotangent does not fit the value"
    ARGNUMS = "ZL035", TypeError, "`argnums` name no argument"
    NOT_CALLABLE = "ZL036", TypeError, "What is differentiated is no function"
    BATCH = "ZL037", ValueError, "Batches do not fit"
    TREE = "ZL038", ValueError, "Trees or vectors do not fit"
    GRADIENT_CHECK = "ZL039", GradientCheckError, "A gradient differs from finite differences"

    OTHER_TYPES = "ZL040", NoRuleError, "A rule is for other types"
    ARGUMENT = "ZL041", TypeError, "An argument cannot have a gradient"
    OPTION_VALUE = "ZL042", ValueError, "An option does not take this value"
    PICKLED = "ZL043", TypeError, "A pullback cannot be pickled"
    NOT_LINEAR = "ZL044", DifferentiationError, "A pullback is not linear"

    def __init__(self, code: str, error: type[Exception], title: str) -> None:
        self.code, self.error, self.title = code, error, title

    def __call__(self, text: str, error: type[Exception] | None = None) -> Exception:
        """Return the error with a text, of the usual class or of another.

        The text may be that of another error, which has its code.
        """
        return (error or self.error)(self.message(text))


def unsupported(filename: str, line: int, name: str, what: str, instead: str = "") -> Exception:
    """Return the error for a construct that cannot be differentiated.

    Arguments:
        filename, line, name: of the function that has it.
        what: the construct.
        instead: what to write in its place, where that is known.
    """
    usual = (
        f"declare a rule for {name}, or move this into a function that no gradient passes through"
    )
    return Fault.SYNTAX(
        f"{filename}:{line}: {what} cannot be differentiated (in {name}); {instead or usual}"
    )
