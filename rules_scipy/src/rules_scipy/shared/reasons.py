"""Why functions of a section have no rule."""


def record(rule, section, reasons):
    """Record why functions have no rule: `python -m rulescore list --missing` shows it.

    Arguments:
        rule: the rule set.
        section: the module of the functions, such as `scipy.linalg`.
        reasons: a dict from a reason to names of functions, with spaces between them.
    """
    for reason, names in reasons.items():
        rule.without_rule(reason, *[f"{section}.{name}" for name in names.split()])
