"""What the tests of the examples share: their folder, a way to import them, how pictures begin."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def example(monkeypatch):
    """Import an example as its script does, and leave neither its module nor its rules behind."""
    monkeypatch.syspath_prepend(EXAMPLES)
    loaded = []

    def load(name):
        loaded.append(import_module(name))
        return loaded[-1]

    yield load
    for module in loaded:
        if hasattr(module, "rule"):
            module.rule.unregister()
    for name in ("polynomial_data", *(module.__name__ for module in loaded)):
        sys.modules.pop(name, None)
