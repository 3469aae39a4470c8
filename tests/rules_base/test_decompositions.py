"""Decompositions against finite differences."""

import pytest

from rules_base import _decompositions

EXAMPLES = [
    pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(_decompositions.rule.examples)
]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)
