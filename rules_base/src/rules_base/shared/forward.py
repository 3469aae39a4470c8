"""Forward rules of one pattern: functions that are linear in their arguments."""

from rulescore import RuleSet


def linear_in_first(rule: RuleSet, kind: object, *functions: object):
    """Declare the forward rule of functions that are linear in their first argument.

    Arguments:
        rule: the rule set.
        kind: the type of the first argument.
        functions: functions, or attributes; the other arguments have no derivative.
    """
    for f in functions:
        _declare_first(rule, kind, f)


def _declare_first(rule, kind, f):
    primal = f if callable(f) else f.__get__

    @rule.forward(f)
    def _(x: kind, *others: object, **options):
        def pushforward(dx, *rest):
            return None if dx is None else primal(dx, *others, **options)

        return primal(x, *others, **options), pushforward


def bilinear(rule: RuleSet, kind: object, *functions: object):
    """Declare the forward rule of functions that are linear in each of their two arguments."""
    for f in functions:
        _declare_bilinear(rule, kind, f)


def _declare_bilinear(rule, kind, f):
    @rule.forward(f)
    def _(a: kind, b: kind, *others: object, **options):
        def pushforward(da, db, *rest):
            left = None if da is None else f(da, b, *others, **options)
            right = None if db is None else f(a, db, *others, **options)
            return left if right is None else right if left is None else left + right

        return f(a, b, *others, **options), pushforward
