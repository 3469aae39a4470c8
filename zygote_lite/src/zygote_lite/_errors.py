"""What can go wrong, each error with the user's file and line."""


class DifferentiationError(Exception):
    """Tell that a gradient cannot be computed, and why, where, and what to do about it."""


class UnsupportedSyntaxError(DifferentiationError, SyntaxError):
    """Tell that a function is written with a construct that cannot be differentiated."""

    def __str__(self) -> str:
        return str(self.msg)


class NoRuleError(DifferentiationError, TypeError):
    """Tell that a function has neither a rule nor Python source, and a gradient passes it."""
