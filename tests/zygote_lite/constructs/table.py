"""The table of constructs of the language: small functions, each with inputs to try it at.

Each module is a group of the table; each function of it is a case, declared by `works` or, where
a clear error is what the user gets, by `refused`.

    python -m tests.zygote_lite.constructs.table

writes the page of the documentation anew, and prints why cases are recorded.
"""

import copy
import warnings
from collections import Counter, defaultdict
from pathlib import Path

from tests.zygote_lite.constructs import (
    attributes,
    calls,
    higher_order,
    instances,
    iteration,
    library,
    order,
    output,
    refusals,
    state,
    statements,
    writes,
)
from tests.zygote_lite.constructs.remedies import INSTEAD
from zygote_lite import testing
from zygote_lite._ir.decompile.functions import definition
from zygote_lite._ir.decompile.instructions import NotFollowedError

PAGE = Path(__file__).parents[3] / "docs" / "constructs.md"
TRANSFORMED, WITH_ISLAND, RECORDED = "transformed", "with an island", "recorded"
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
    "Output": output,
    "Higher order": higher_order,
    "Refused": refusals,
}


def name_of(module, case):
    """Return the name of a case: its group, and its function."""
    return f"{module.__name__.split('.')[-1]}:{case.function.__name__}"


CASES = {
    name_of(module, case): case for module in GROUPS.values() for case in vars(module)["CASES"]
}


def why_recorded(case):
    """Return why the tape answers the gradient of a case, for each of its inputs that it does.

    An island in its transformed code, where the tape answers a call, is a reason, too.
    """
    testing.forget(case.function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.function(*copy.deepcopy(case.inputs[0]))  # globals are as each call leaves them
        found = [testing.why_recorded(case.function, *copy.deepcopy(xs)) for xs in case.inputs]
    islands = [WITH_ISLAND for text in testing.programs(case.function) if "island(" in text]
    return [reason for reason in found if reason is not None] + islands


def is_decompiled(case):
    """Return whether the function of a case is understood without its source text."""
    try:
        definition(case.function.__code__)
    except NotFollowedError:
        return False
    return True


def reasons_of_cases():
    """Return why cases that work are recorded: by their names, nothing for those transformed."""
    return {name: why_recorded(case) for name, case in CASES.items() if case.message is None}


def listed(reasons):
    """Return the reasons why cases are recorded: how often each kind occurs, and each of them."""
    kinds = Counter(
        why.rpartition(" [")[2].rstrip("]") for found in reasons.values() for why in found
    )
    count = sum(not found for found in reasons.values())
    lines = [f"{count} of {len(reasons)} cases that work are transformed"]
    lines += [f"{n:5} {kind}" for kind, n in kinds.most_common()]
    lines += [f"{name}: {why}" for name, found in reasons.items() for why in dict.fromkeys(found)]
    return "\n".join(lines)


def tier_of(reasons):
    """Return by what the gradient of cases is answered, from the reasons why some are recorded."""
    if not reasons:
        return TRANSFORMED
    return WITH_ISLAND if {*reasons} == {WITH_ISLAND} else RECORDED


def without_source():
    """Return what the page says of code without source text."""
    working = [case for case in CASES.values() if case.message is None]
    refused = [case.construct for case in working if not is_decompiled(case)]
    return (
        f"{len(working) - len(refused)} of {len(working)} cases that work do so without source "
        "text, too (`exec`, `eval`, the prompt); the others are a clear error there: "
        f"{'; '.join(dict.fromkeys(refused))}. Not followed there are also `async` functions, "
        "functions and classes with type parameters (`def f[T]`), classes whose bases are given by "
        "`*`, and a `break` in a branch of a `finally` that a `return` comes to. The error names "
        "the instruction, or what it belongs to, and the line."
    )


def row(construct, module, case, tier):
    """Return the line of a construct: its first case, and what answers, or what to write."""
    path = f"../tests/zygote_lite/constructs/{Path(module.__file__).name}#{case.function.__name__}"
    if case.verdict != "works":
        code, instead = INSTEAD[construct]
        tier = f"instead: {instead} ([{code}](errors/zygote_lite/{code}.md))"
    return f"| [{construct.replace('|', '&#124;')}]({path}) | {case.verdict} | {tier} |"


def table_of_constructs(reasons):
    """Return the page of the documentation that says what works and what is a clear error.

    Arguments:
        reasons: why cases are recorded (`reasons_of_cases`).
    """
    lines = [
        "# Constructs",
        "",
        "What the engine does with the constructs of the language. Each line is one case of the "
        "tests, or several, and leads to the first: a function, with arguments.",
        "",
        "- *works*: the gradient is that of finite differences; value, arguments and side effects "
        "are those of the plain call.",
        "- *clear error*: an error names your file and line. The table says what to write instead, "
        "and links to the page of the error.",
        "- *transformed*: for all cases and arguments, the code that is made for their types "
        "answers. *With an island*: a call inside is left to the tape. *Recorded*: one of them is "
        "answered by the tape. `explain` says why for a function of yours.",
        "",
        without_source(),
    ]
    for title, module in GROUPS.items():
        lines += ["", f"## {title}", "", "| construct | gradient | by |", "|---|---|---|"]
        first, reasons_of = {}, defaultdict(list)
        for case in vars(module)["CASES"]:
            first.setdefault(case.construct, case)
            assert first[case.construct].verdict == case.verdict, case.construct
            reasons_of[case.construct] += reasons.get(name_of(module, case), ())
        for construct, case in first.items():
            lines.append(row(construct, module, case, tier_of(reasons_of[construct])))
    lines += ["", "Read next: [errors and their remedies](errors/index.md)."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = reasons_of_cases()
    PAGE.write_text(table_of_constructs(found))
    print(listed(found))
