"""zygote_lite with `compile=True`: scalars and loops, through Numba."""

import importlib.util

from benchmarks.engines import Engine, NotAvailableError, as_is
from zygote_lite import value_and_grad


def compiled(f, argnums):
    try:
        return value_and_grad(f, argnums=argnums, compile=True)
    except TypeError as error:
        raise NotAvailableError(f"value_and_grad has no compile=True yet ({error})") from error


def start():
    if importlib.util.find_spec("numba") is None:
        raise NotAvailableError("Numba is not installed")
    compiled(lambda x: x * x, 0)(3.0)


def prepare(workload, arguments):
    if not workload.compiles:
        raise NotAvailableError(f"{workload.name} is array code, which is not compiled")
    return compiled(workload.f, workload.argnums), arguments


ENGINE = Engine("compiled", prepare, as_is)
