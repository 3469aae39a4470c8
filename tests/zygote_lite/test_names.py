"""One name per idea: no name of the engine's modules stands for two things."""

import ast
from collections import defaultdict
from pathlib import Path

import zygote_lite

ROOT = Path(zygote_lite.__file__).parent
STANDS_APART = {"value.py"}  # an engine of its own, to be read alone
MAY_STAND_TWICE = {
    "handlers": "what each module of handlers declares, as `rule` does in each module of rules",
    "value_and_grad": "that of `distributed` takes data in batches, and adds up over them",
}


def names_in(tree):
    """Yield the names that a module binds: functions, classes, and variables, in blocks too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, ast.AugAssign | ast.expr) or isinstance(node, ast.Tuple):
            yield from names_in(node)


def test_no_name_stands_in_two_modules():
    found = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        if path.name in STANDS_APART or path.name == "__init__.py":
            continue
        for name in names_in(ast.parse(path.read_text(encoding="utf8"))):
            found[name].add(str(path.relative_to(ROOT)))
    twice = {name: sorted(places) for name, places in found.items() if len(places) > 1}
    twice.pop("_", None)  # handlers and rules have no names
    twice.pop("__all__", None)  # the names that are public
    assert {name: places for name, places in twice.items() if name not in MAY_STAND_TWICE} == {}
    assert twice.keys() >= MAY_STAND_TWICE.keys()  # no exception that is not needed
    assert len(MAY_STAND_TWICE) <= 10
