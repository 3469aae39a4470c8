"""Imports point one way: rules know no AD, the AD knows no rules, and the core knows neither."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAY_IMPORT = {
    "rulescore": {"plum", "pluggy", "numpy"},
    "rules_base": {"rulescore", "numpy"},
    "rules_nnlib": {"rulescore", "numpy"},
    "rules_scipy": {"rulescore", "numpy", "scipy"},
    "rules_torch": {"rulescore", "numpy", "torch"},
    "rules_jax": {"rulescore", "numpy", "jax"},
    "zygote_lite": {"rulescore", "numpy"},
}
EXTRA = {  # what single modules may import besides
    "zygote_lite/__main__.py": {"rich"},
    "zygote_lite/_interface/code.py": {"rich"},
    "zygote_lite/demo/moons.py": {"rich", "matplotlib"},
    "zygote_lite/demo/cli.py": {"rich"},
    "zygote_lite/_interface/clusters.py": {"cloudpickle", "dask", "distributed"},
    "zygote_lite/distributed.py": {"dask"},
    "rulescore/_command/tables.py": {"rich"},
    "rulescore/_command/examples.py": {"rich"},
    "zygote_lite/_specialize/numba/compile.py": {"numba"},
    "rulescore/interop/_torch.py": {"torch"},
    "rulescore/interop/_jax.py": {"jax"},
    "rulescore/interop/_jax_arrays.py": {"jax"},
    "rulescore/interop/_jax_forward.py": {"jax"},
    "rulescore/interop/_jax_calls.py": {"jax"},
    "rulescore/interop/_jax_forms.py": {"jax"},
    "rulescore/interop/_autograd.py": {"autograd"},
}
HOSTS = ("torch", "jax", "autograd")  # the extras of `rulescore` and `zygote_lite`, of these names
EXTRAS = {"jit": ["numba"], "demo": ["matplotlib", "rich"], "rich": ["rich"]}  # of `zygote_lite`
OPTIONAL = {library for libraries in EXTRAS.values() for library in libraries}
MODULES = sorted(
    (name, path.relative_to(ROOT / name / "src"))
    for name in MAY_IMPORT
    for path in (ROOT / name / "src" / name).rglob("*.py")
)


def read(name):
    """Yield the modules of a distribution, parsed."""
    for owner, path in MODULES:
        if owner == name:
            yield path, ast.parse((ROOT / name / "src" / path).read_text(encoding="utf-8"))


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else node.module.split(".")[0]


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_module_imports_what_its_distribution_may(name):
    for path, tree in read(name):
        found = set(imported(tree)) - set(sys.stdlib_module_names) - {name, "."}
        assert found <= MAY_IMPORT[name] | EXTRA.get(path.as_posix(), set()), path
        check_extras(path, tree)


def check_extras(path, tree):
    """Assert that what an extra brings is imported only inside functions."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and {*imported(node)} & OPTIONAL
    ]
    inside = {
        id(node)
        for outer in ast.walk(tree)
        if found and isinstance(outer, ast.FunctionDef)
        for node in ast.walk(outer)
    }
    for node in found:
        assert id(node) in inside, f"{path}:{node.lineno}"


def test_an_extra_outside_of_a_function_is_found():
    for text in ("import numba", "from matplotlib import pyplot"):
        check_extras("a.py", ast.parse(f"def f():\n    {text}"))
        with pytest.raises(AssertionError, match=r"a\.py:2"):
            check_extras("a.py", ast.parse(f"def f(): pass\n{text}"))


@pytest.mark.parametrize("host", HOSTS)
def test_the_module_of_a_host_is_imported_only_inside_functions(host):
    """It imports its host at the top, and is reached by the function that exports to it."""
    found = []
    for name, path in MODULES:
        text = (ROOT / name / "src" / path).read_text(encoding="utf-8")
        found += [line for line in text.splitlines() if f"interop._{host} import" in line]
    assert found
    assert all(line.startswith("    from ") for line in found)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", ["rulescore", "zygote_lite"])
def test_the_metadata_names_the_hosts(name, host):
    import tomllib

    project = tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"]
    (needed,) = project["optional-dependencies"][host]
    assert needed in (host, f"rulescore[{host}]>=0.1,<0.2")


def test_the_metadata_names_the_extras():
    import tomllib

    for name, expected in (("zygote_lite", EXTRAS), ("rulescore", {"rich": ["rich"]})):
        project = tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"]
        for extra, libraries in expected.items():
            found = project["optional-dependencies"][extra]
            assert [d.split(">")[0] for d in found] == libraries


def test_all_are_looked_at():
    assert {name for name, _ in MODULES} == set(MAY_IMPORT)


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_the_metadata_asks_for_no_more(name):
    import tomllib

    project = tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"]
    asked = {d.split("=")[0].split(">")[0].split("[")[0] for d in project["dependencies"]}
    allowed = {"plum": "plum-dispatch"}
    assert asked <= {allowed.get(d, d) for d in MAY_IMPORT[name]}


def test_no_module_names_a_rule_plugin_but_its_own():
    for name, path in MODULES:
        text = (ROOT / name / "src" / path).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "import_module" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
                given = ast.unparse(node)
                others = [other for other in MAY_IMPORT if other != name]
                assert not any(other in given for other in others), f"{path}: {given}"
