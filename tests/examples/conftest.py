"""What the tests of the examples share: their folder, a way to import them, and their pictures."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURES = EXAMPLES.parent / "docs" / "pictures"
PNG = b"\x89PNG\r\n\x1a\n"
SIZE = slice(16, 24)  # the bytes of a PNG file that hold its width and height


def coarse(path):
    """Return the means of the colors of a picture, over squares of 16 pixels."""
    colors = imread(path)[..., :3]
    rows, columns = colors.shape[0] // 16, colors.shape[1] // 16
    colors = colors[: 16 * rows, : 16 * columns].reshape(rows, 16, columns, 16, 3)
    return colors.mean(axis=(1, 3))


def assert_is_the_picture_of(name, made, whole=True):
    """Assert that a script has drawn the picture that its page shows.

    Where it ran for fewer steps, no other picture of the same size is as similar.
    """
    size, drawn = Path(made).read_bytes()[SIZE], coarse(made)
    same = [path for path in PICTURES.glob("*.png") if path.read_bytes()[SIZE] == size]
    far = {path.stem: np.mean(np.abs(coarse(path) - drawn)) for path in same}
    assert min(far, key=far.get) == name
    assert not whole or far[name] < 1e-3


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
    for name in ("polynomial_data", "memory", *(module.__name__ for module in loaded)):
        sys.modules.pop(name, None)
