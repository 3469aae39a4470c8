"""Running many programs in parts, on all processors."""

import functools
import multiprocessing


def in_parts(run, count, first=0, size=250):
    """Call `run(number, first)` for parts of `count` programs; yield what each returns, in order.

    A process is given four parts, as what is compiled grows. `ProcessPoolExecutor` has such a
    limit too, with which it hangs on Python 3.11.
    """
    parts = [
        (min(size, first + count - start), start) for start in range(first, first + count, size)
    ]
    with multiprocessing.get_context("spawn").Pool(maxtasksperchild=4) as pool:
        yield from pool.imap(functools.partial(_call, run), parts)


def _call(run, part):
    return run(*part)
