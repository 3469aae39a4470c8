"""The command `python -m rulescore`: which rules there are, which one answers, and are they right.

python -m rulescore list [plugin]            the rules by plugin
python -m rulescore list --missing numpy     the functions that nobody can differentiate
python -m rulescore why numpy.sin float      the rule that answers, and those that lost
python -m rulescore why ndarray.T ndarray    of a method or an attribute, or of calling an object
python -m rulescore check [plugin]           check every example of every rule
python -m rulescore new rules_mylib --for mylib    write a plugin, with a rule and tests that pass
python -m rulescore error [RC001]            the page about a kind of error; without it all codes
"""

import argparse
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from rulescore._command.endings import plain_function
from rulescore._command.examples import run_examples, shown_progress
from rulescore._command.lookup import called
from rulescore._command.scaffold import is_there, write_plugin
from rulescore._command.survey import ending, missing, reasons
from rulescore._command.tables import print_table
from rulescore._errors import Fault, RuleError
from rulescore._naming import name_of
from rulescore._plugins.loading import plugins
from rulescore._plugins.plugin import Plugin
from rulescore._table.resolution import find_rule
from rulescore._table.table import rules_of
from rulescore._why import unbound, why
from rulescore.faults import an, counted, print_page, run_command


def main(arguments: list[str] | None = None) -> int:
    """Run the command, and return its exit status: 0 where nothing is wrong or missing."""
    parser = argparse.ArgumentParser("python -m rulescore", description="Look at derivative rules.")
    commands = parser.add_subparsers(required=True, metavar="command")
    listing = commands.add_parser("list", help="show the rules by plugin")
    listing.add_argument("plugin", nargs="?", help="show those of one plugin")
    listing.add_argument("--missing", metavar="LIBRARY", help="show the functions without a rule")
    listing.set_defaults(run=_list)
    why = commands.add_parser("why", help="show the rule that answers a call")
    why.add_argument("function", help="such as numpy.sin")
    why.add_argument("types", nargs="*", help="types of the arguments (float), options (axis=)")
    why.set_defaults(run=_why)
    check = commands.add_parser("check", help="check the examples of all rules")
    check.add_argument("plugin", nargs="?", help="check those of one plugin")
    check.set_defaults(run=_check)
    new = commands.add_parser("new", help="write a plugin, with a rule and tests that pass")
    new.add_argument("name", help="of the distribution and its module, such as rules_mylib")
    new.add_argument("--for", dest="library", required=True, help="the module that it is for")
    new.add_argument("--in", dest="folder", type=Path, default=Path(), help="where it is written")
    new.set_defaults(run=_new)
    error = commands.add_parser("error", help="print the page about a kind of error")
    error.add_argument("code", nargs="?", help="such as RC001; without it all codes are listed")
    error.set_defaults(run=_error)
    given = parser.parse_args(arguments)
    try:
        status: int = given.run(given)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    return status


def _list(given: argparse.Namespace) -> int:
    if given.missing:
        found = missing(given.missing)
        for name, reason in found.items():
            print(f"{name}: {reason}" if reason else name)
        unexplained = sum(not reason for reason in found.values())
        print(
            f"{_count(list(found), 'function')} of {given.missing} without a rule or Python "
            f"source, {unexplained} of them without a reason"
        )
        ends, why = ending(given.missing), reasons()
        for name, compiled in ends.items():
            reason = f"; {why[name]}" if name in why else ""
            print(f"{name}: its source calls {', '.join(compiled)}{reason}")
        print(
            f"{_count(list(ends), 'function')} of {given.missing} with Python source that calls "
            "compiled code without a rule"
        )
        return 1 if unexplained else 0
    for plugin in _chosen(given.plugin):
        rules = [rule for ruleset in plugin.rulesets for rule in ruleset.rules]
        lines = [
            (rule.signature, rule.kind, f"{rule.file}:{rule.line}")
            for rule in sorted(rules, key=lambda rule: rule.signature)
        ]
        title = f"{_title(plugin)}: {_count(rules, 'rule')}"
        print_table(title, ("rule", "kind", "place"), lines)
    return 0


def _why(given: argparse.Namespace) -> int:
    options: dict[str, Any] = {t.partition("=")[0]: None for t in given.types if "=" in t}
    types = [t for t in given.types if "=" not in t]
    f, xs = called(given.function, types)
    is_attribute = inspect.isdatadescriptor(f)
    if isinstance(f, ModuleType) or not (callable(f) or rules_of(f) or is_attribute):
        raise LookupError(f"{given.function} is no function, but {an(type(f).__name__)}")
    call = f"{given.function}({', '.join([*types, *(f'{name}=' for name in options)])})"
    asked, (f, xs, options) = options, unbound(f, xs, options)
    known = why(f, *xs, **options)
    lines = [
        (said, rule.signature, rule.kind, rule.plugin, f"{rule.file}:{rule.line}")
        for said, rule in known
    ]
    if known:
        print_table(call, ("", "rule", "kind", "plugin", "place"), lines)
    answering = [rule for said, rule in known if said == "answers"]
    if answering:
        about = inspect.getdoc(answering[0].body) if answering[0].kind == "general" else None
        if about:
            print(about)
        return 0
    reason = "" if known else reasons().get(name_of(f), "")
    try:
        find_rule(f, *xs, **options)
    except RuleError as error:
        reason = str(error)
    if known and asked and not reason and find_rule(f, *xs) is not None:
        reason = f"no rule takes the options {', '.join(asked)}"
    if not known and not reason and plain_function(f) is not None:
        reason = "an AD differentiates its source"
    print(f"no rule answers {call}" + (f": {reason}" if reason else ""))
    return 1


def _check(given: argparse.Namespace) -> int:
    heads = "plugin", "examples", "failed", "rules without an example", "constants"
    lines = []
    with shown_progress() as progress_of:
        chosen = _chosen(given.plugin)
        reports = [run_examples(plugin, progress_of(plugin)) for plugin in chosen]
    for report in reports:
        failed, gaps = len(report.failures), len(report.gaps)
        counts = (report.checked, failed, gaps, report.constants)
        lines.append((report.plugin, *map(str, counts)))
        for call, what in report.failures:
            print(f"failed: {call}: {what}")
        for rule in report.gaps:
            print(f"no example: {rule.signature} ({rule.place})")
    for plugin in chosen:
        if plugin.waiting:
            print(f"not checked: {_title(plugin)}")
    print_table("", heads, lines)
    return 1 if any(report.failures for report in reports) else 0


def _new(given: argparse.Namespace) -> int:
    for path in write_plugin(given.name, given.library, given.folder):
        print(path)
    if not is_there(given.library.partition(".")[0]):
        print(f"note: {given.library} is not installed here, and the tests do not need it yet")
    print(f'next: cd {given.folder / given.name} && pip install -e ".[tests]" && pytest')
    return 0


def _error(given: argparse.Namespace) -> int:
    print_page(Fault, given.code)
    return 0


def _chosen(name: str | None) -> list[Plugin]:
    installed = plugins(all_sections=True)
    found = [plugin for plugin in installed if name in (None, plugin.name, plugin.distribution)]
    if name is not None and not found:
        known = ", ".join(plugin.name for plugin in installed) or "none"
        raise LookupError(f"no rule plugin named {name} is installed; installed are: {known}")
    return found


def _title(plugin: Plugin) -> str:
    if plugin.disabled:
        return f"{plugin.name} (switched off)"
    if plugin.error is not None:
        return f"{plugin.name} (broken: {plugin.error})"
    waiting = sorted({name for section in plugin.waiting for name in section.modules})
    absent = f", without those for {', '.join(waiting)}, not installed" if waiting else ""
    return f"{plugin.name} {plugin.version}{absent}"


def _count(things: list[Any], name: str) -> str:
    return counted(len(things), name)


if __name__ == "__main__":
    sys.exit(run_command(main))
