"""Checking rules: `check_rrule` proves one call of one rule against the function itself.

`check_batched` compares its batching rule with a loop.
"""

from rulescore.testing._batches import check_batched
from rulescore.testing._check import check_rrule
from rulescore.testing._leaves import CheckError

__all__ = ["CheckError", "check_batched", "check_rrule"]
