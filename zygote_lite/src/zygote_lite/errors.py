"""The errors that the engine raises, each with the user's file and line."""


class DifferentiationError(Exception):
    """Tell that a gradient cannot be computed, and why, where, and what to do about it."""


class UnsupportedSyntaxError(DifferentiationError, SyntaxError):
    """Tell that a function is written with a construct that cannot be differentiated."""

    def __str__(self) -> str:
        return str(self.msg)


class NoRuleError(DifferentiationError, TypeError):
    """Tell that a function has neither a rule nor Python source, and a gradient passes it."""


def unsupported(filename: str, line: int, name: str, what: str) -> UnsupportedSyntaxError:
    """Return the error for a construct that cannot be differentiated."""
    return UnsupportedSyntaxError(
        f"{filename}:{line}: {what} cannot be differentiated (in {name}); declare a rule for "
        f"{name}, or move this into a function that no gradient passes through"
    )


class GradientCheckError(AssertionError):
    """Tell that a gradient is not what differences of the function say, and where."""
