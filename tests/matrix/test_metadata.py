"""What the distributions say of themselves: who wrote them, for what, and what they need."""

import ast
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
HOSTS = {"rules_torch": "torch", "rules_jax": "jax"}  # libraries that are large
NAMES = ["rulescore", "rules_base", "rules_nnlib", "rules_scipy", *HOSTS, "zygote_lite"]


def project(name):
    return tomllib.loads((ROOT / name / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version(name):
    tree = ast.parse((ROOT / name / "src" / name / "__init__.py").read_text(encoding="utf-8"))
    (found,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__version__"
    )
    return ast.literal_eval(found)


@pytest.mark.parametrize("name", NAMES)
def test_each_has_its_license_authors_and_links(name):
    found = project(name)
    assert found["license-files"] == ["LICENSE"]
    assert (ROOT / name / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert found["authors"] == project("rulescore")["authors"]
    assert found["authors"][0]["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} == {*found["urls"]}
    assert found["urls"]["Source"].endswith(f"/{name}")
    assert "automatic differentiation" in found["keywords"]
    assert "Typing :: Typed" in found["classifiers"]
    assert (ROOT / name / "src" / name / "py.typed").exists()


def test_versions_are_equal_and_written_once():
    assert len({version(name) for name in NAMES}) == 1
    assert all(project(name)["dynamic"] == ["version"] for name in NAMES)


@pytest.mark.parametrize("name", NAMES[1:])
def test_each_takes_older_and_newer_patches_of_the_core(name):
    (core,) = (r for r in map(Requirement, project(name)["dependencies"]) if r.name == "rulescore")
    major, minor, _ = map(int, version("rulescore").split("."))
    assert all(f"{major}.{minor}.{patch}" in core.specifier for patch in (0, 1, 99))
    assert f"{major}.{minor + 1}.0" not in core.specifier


def test_the_extra_brings_every_plugin():
    found = {Requirement(r).name for r in project("zygote_lite")["optional-dependencies"]["all"]}
    plugins = {name for name in NAMES if "rulescore" in project(name).get("entry-points", {})}
    assert found == plugins


@pytest.mark.parametrize("name", HOSTS)
def test_the_extra_brings_no_large_library(name):
    """The rules wait until their library is imported, and an extra brings that."""
    needed = {Requirement(r).name for r in project(name)["dependencies"]}
    assert needed == {"rulescore", "numpy"}
    (brought,) = project(name)["optional-dependencies"][HOSTS[name]]
    assert Requirement(brought).name == HOSTS[name]
    tree = ast.parse((ROOT / name / "src" / name / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {getattr(node, "module", "") for node in imports} == {"typing", "rulescore"}
