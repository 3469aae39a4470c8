"""Checking rules: `check_rrule` proves one call of one rule against the function itself."""

from rulescore.testing._check import check_rrule
from rulescore.testing._leaves import CheckError

__all__ = ["CheckError", "check_rrule"]
