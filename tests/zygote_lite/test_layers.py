"""Folders are stages: imports point down, in no circle, and a gradient walks down the stages."""

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import rules_base
import rules_nnlib
import rules_scipy
import rulescore
import zygote_lite
from zygote_lite import gradient

DISTRIBUTIONS = (rulescore, rules_base, rules_nnlib, rules_scipy, zygote_lite)
PACKAGES = {module.__name__: Path(module.__file__).parent for module in DISTRIBUTIONS}
ROOT = Path(__file__).parents[2]
PACKAGES |= {name: ROOT / name / "src" / name for name in ("rules_torch", "rules_jax")}

# from the top to the bottom; `errors` lies below all, `value` stands for itself
LAYERS = ("_interface", "_batch", "_specialize", "_nested", "_numpy", "_python", "_tape",
          "_activity", "_cotangents", "_ir")  # fmt: skip
STAGES = ("cache", "driver", "derived", "numba", "text", "passes", "reverse", "forward", "infer",
          "normalize", "rules", "typed")  # fmt: skip


def modules_of(package):
    """Return the modules of a package, by their full names."""
    root = PACKAGES[package]
    found = {}
    for path in root.rglob("*.py"):
        parts = (package, *path.relative_to(root).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports_of(package):
    """Return which modules of its package each module imports, inside functions too."""
    modules = modules_of(package)
    graph = defaultdict(dict)
    for name, path in modules.items():
        within = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            found = []
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    above = within.split(".")[: len(within.split(".")) - node.level + 1]
                    base = ".".join([*above, *([node.module] if node.module else [])])
                whole = [f"{base}.{alias.name}" for alias in node.names]
                found = [one if one in modules else base for one in whole]
            for one in found:
                if one in modules and one != name and not is_above(one, name, modules):
                    graph[name].setdefault(one, node.lineno)
    return modules, graph


def is_above(one, name, modules):
    """Return whether a module is the package that another lies in, which is imported anyway."""
    return modules[one].name == "__init__.py" and name.startswith(one + ".")


def circles_in(modules, graph):
    """Return the sets of modules that import each other in a circle (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(name):
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in modules:
        if name not in order:
            visit(name)
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_no_circle(package):
    assert circles_in(*imports_of(package)) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_folder_is_too_wide(package):
    count = defaultdict(int)
    for path in PACKAGES[package].rglob("*.py"):
        count[path.parent] += path.name != "__init__.py"
    assert {str(folder): n for folder, n in count.items() if n > 25} == {}


def layer_of(name):
    """Return the number of a module's layer, from the bottom."""
    folder = name.split(".")[1] if "." in name else ""
    return len(LAYERS) - LAYERS.index(folder) if folder in LAYERS else None


def test_every_folder_of_the_engine_is_a_layer():
    folders = {name.split(".")[1] for name in modules_of("zygote_lite") if name.count(".") > 1}
    assert folders == {*LAYERS, "demo"}  # which uses the engine as anyone does


def test_imports_point_down():
    _, graph = imports_of("zygote_lite")
    up = []
    for name, imported in graph.items():
        for other, line in imported.items():
            here, there = layer_of(name), layer_of(other)
            if here is not None and there is not None and there > here:
                up.append(f"{name}:{line} imports {other}")
    assert up == []


def test_stages_of_specialization_point_down():
    _, graph = imports_of("zygote_lite")
    place = {stage: len(STAGES) - i for i, stage in enumerate(STAGES)}

    def stage_of(name):
        parts = name.split(".")
        return place.get(parts[2]) if parts[1:2] == ["_specialize"] and len(parts) > 2 else None

    up = [
        f"{name}:{line} imports {other}"
        for name, imported in graph.items() if stage_of(name) is not None
        for other, line in imported.items()
        if stage_of(other) is not None and stage_of(other) > stage_of(name)
    ]  # fmt: skip
    assert up == []


def test_folders_say_what_they_are():
    for package in PACKAGES:
        for name, path in modules_of(package).items():
            if path.name == "__init__.py" and name != package:
                text = ast.get_docstring(ast.parse(path.read_text(encoding="utf8")))
                assert text, f"{name} has no docstring"


def test_folders_of_the_engine_name_all_their_modules():
    unnamed = []
    for path in PACKAGES["zygote_lite"].rglob("_*/**/__init__.py"):
        named = set(re.findall(r"`(\w+)`", ast.get_docstring(ast.parse(path.read_text()))))
        inside = {one.stem for one in path.parent.iterdir() if one.suffix in ("", ".py")}
        unnamed += [f"{path.parent}: {one}" for one in sorted(inside - named) if one[0] != "_"]
    assert unnamed == []


def test_no_import_stands_inside_a_function_of_the_engine():
    allowed = {"demo", "_specialize.numba", "__main__"}  # extras, which need not be installed
    allowed.add("_interface.code")  # what highlights code takes a while to import
    allowed |= {"distributed", "_interface.clusters"}  # an extra, too
    inside = []
    for name, path in modules_of("zygote_lite").items():
        if any(name.startswith(f"zygote_lite.{part}") for part in allowed):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                inside += [f"{name}:{n.lineno}" for n in ast.walk(node)
                           if isinstance(n, ast.Import | ast.ImportFrom)]  # fmt: skip
    assert inside == []


def test_a_gradient_visits_the_folders_from_the_top_to_the_bottom():
    """The first call of a gradient goes down the layers, and climbs none on its way in."""
    visited = []

    def note(frame, event, argument):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and layer_of(name) is not None and name.startswith("zygote_lite."):
            folder = name.split(".")[1]
            if folder not in visited:
                visited.append(folder)

    def square(x):
        return x * x

    gradient(lambda x: x * 3.0, 2.0)  # plugins load
    sys.setprofile(note)
    try:
        found = gradient(square, 2.0)
    finally:
        sys.setprofile(None)
    assert found == (4.0,)
    assert visited == [layer for layer in LAYERS if layer in visited]
    assert {"_interface", "_tape", "_ir"} <= {*visited}
