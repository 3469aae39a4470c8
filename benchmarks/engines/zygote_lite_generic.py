"""zygote_lite, given the user's function as it is."""

from benchmarks.engines import Engine, as_is
from zygote_lite import hvp, value_and_grad


def start():
    value_and_grad(lambda x: x * x)(3.0)


def prepare(workload, arguments):
    if workload.hvp:
        return hvp(workload.f), arguments
    return value_and_grad(workload.f, argnums=workload.argnums), arguments


def unpack(result):
    return as_is(result) if isinstance(result, tuple) else (None, [result])


ENGINE = Engine("zygote_lite", prepare, unpack)
