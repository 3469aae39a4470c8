"""The table of constructs of the language: small functions, each with inputs to try it at.

Each module is a group of the table; each function of it is a case, declared by `works` or, where
a clear error is what the user gets, by `refused`.
"""

from tests.zygote_lite.constructs import (
    attributes,
    calls,
    higher_order,
    instances,
    iteration,
    library,
    order,
    refusals,
    state,
    statements,
    writes,
)

GROUPS = {
    "Statements": statements,
    "Calls and classes": calls,
    "Making instances": instances,
    "Attributes": attributes,
    "Iteration": iteration,
    "Lists, dicts, objects, variables": state,
    "Arrays written in place": writes,
    "Order of evaluation": order,
    "Library code": library,
    "Higher order": higher_order,
    "Refused": refusals,
}
CASES = {
    f"{module.__name__.split('.')[-1]}:{case.function.__name__}": case
    for module in GROUPS.values()
    for case in vars(module)["CASES"]
}


def table_of_constructs():
    """Return the page of the documentation that says what works and what is a clear error."""
    lines = [
        "# Constructs",
        "",
        "What the engine does with the constructs of the language. Each line is a case of the "
        "tests (`tests/zygote_lite/constructs`): *works* is a gradient equal to finite "
        "differences, with the value, the arguments and the side effects of the plain call; "
        "*clear error* is an error that names the user's file and line.",
    ]
    for title, module in GROUPS.items():
        lines += ["", f"## {title}", "", "| construct | gradient |", "|---|---|"]
        seen = {}
        for case in vars(module)["CASES"]:
            seen.setdefault(case.construct, case.verdict)
            assert seen[case.construct] == case.verdict, case.construct
        lines += [
            f"| {construct.replace('|', '&#124;')} | {verdict} |"
            for construct, verdict in seen.items()
        ]
    return "\n".join(lines) + "\n"
