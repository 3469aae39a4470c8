"""Gradients by arrays of other libraries, and the table of them; as a script, write it anew.

python -m tests.interop.array_table

It needs all these libraries, which `nox -s interop` installs.
"""

from importlib import import_module
from pathlib import Path

import array_api_compat
import dask.array as da
import jax
import jax.numpy as jnp
import numba
import numpy as np
import pandas as pd
import pint
import sparse
import torch
import xarray

from rulescore import RuleError, Tangent
from tests.interop.operations import OF_STANDARD, OPERATIONS, X, by_standard
from tests.interop.tables import with_table
from zygote_lite import DifferentiationError, gradient

PAGE = Path(__file__).parents[2] / "docs/rules/foreign_arrays.md"
BEGIN = "<!-- python -m tests.interop.array_table writes this table -->\n"
BEGIN_STANDARD = "<!-- python -m tests.interop.array_table writes this table of the standard -->\n"
UNITS = pint.UnitRegistry()
LIBRARIES = {
    "dask": lambda x: da.from_array(x, chunks=2),
    "pydata sparse": sparse.COO.from_numpy,
    "pint, no unit": lambda x: UNITS.Quantity(x, ""),
    "pint, metres": lambda x: UNITS.Quantity(x, "m"),
    "xarray": xarray.DataArray,
    "pandas": pd.DataFrame,
    "PyTorch": torch.from_numpy,
    "JAX": jnp.asarray,
}
STANDARD = {name: LIBRARIES[name] for name in ("PyTorch", "JAX")}


def namespace_of(x):
    """Return what an array says, or what array-api-compat says of a tensor of PyTorch."""
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    return array_api_compat.array_namespace(x)


# functions of pydata sparse that are plain Python here: to compile them takes ten seconds
INDEXING = import_module(sparse.COO.__getitem__.__module__)
for name, f in [*vars(INDEXING).items()]:
    if numba.extending.is_jitted(f):
        setattr(INDEXING, name, f.py_func)


def dense(d):
    """Return a cotangent as an array of NumPy."""
    d = getattr(d, "magnitude", d)
    return d.todense() if isinstance(d, sparse.COO) else np.asarray(d)


def outcome(f, make):
    """Return how a gradient by an array of a library ends: a word for the table.

    Raises `AssertionError` if it is wrong, and what the library raises in the reverse pass.
    """
    with jax.enable_x64(True):
        x = make(X)
        try:
            f(make(X))
        except Exception:  # whatever error this library has
            return "-"
        try:
            (dx,) = gradient(f, x)
        except (DifferentiationError, RuleError, NotImplementedError):
            return "refused"
        except TypeError as error:
            if "[ZL" in str(error):  # it is one of ours
                return "refused"
            raise
        of_object = isinstance(dx, Tangent)  # of what holds the array
        np.testing.assert_allclose(
            dx._variable._data if of_object else dense(dx), gradient(f, X)[0], rtol=1e-12
        )
        assert of_object or type(dx) is (
            np.ndarray if isinstance(x, jax.Array | torch.Tensor) else type(x)
        )
        return "yes"


def table(operations, libraries):
    """Return a table of operations and libraries, in Markdown."""
    lines = [f"| gradient through | {' | '.join(libraries)} |", f"|---{'|---' * len(libraries)}|"]
    for name, f in operations.items():
        cells = (outcome(f, make) for make in libraries.values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def written(text):
    """Return the text of the page with the tables as they are now."""
    text = with_table(text, BEGIN, table(OPERATIONS, LIBRARIES))
    of_standard = {name: by_standard(f, namespace_of) for name, f in OF_STANDARD.items()}
    libraries = {"NumPy": np.copy, **STANDARD}
    return with_table(text, BEGIN_STANDARD, table(of_standard, libraries))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
