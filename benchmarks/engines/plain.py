"""What needs no engine: the function alone, its gradient by hand, and that of another algorithm."""

from benchmarks.engines import Engine, NotAvailableError, as_is


def prepare_primal(workload, arguments):
    return workload.f, workload.primal_arguments(arguments)


def prepare_by_hand(workload, arguments):
    return workload.by_hand, arguments


def prepare_rewritten(workload, arguments):
    if workload.rewritten is None:
        raise NotAvailableError(f"the gradient of {workload.name} by hand is not rewritten")
    return workload.rewritten, arguments


PRIMAL = Engine("primal", prepare_primal, lambda y: (y, []))
BY_HAND = Engine("by hand", prepare_by_hand, as_is)
REWRITTEN = Engine("rewritten", prepare_rewritten, as_is)
