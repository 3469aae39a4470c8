"""The process that measures: one core, one thread, and what to say about it."""

import datetime
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

ONE_THREAD = {
    **dict.fromkeys(
        (
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "BLIS_NUM_THREADS",
            "VECLIB_MAXIMUM_THREADS",
            "NUMEXPR_NUM_THREADS",
            "NUMBA_NUM_THREADS",
        ),
        "1",
    ),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    "CUDA_VISIBLE_DEVICES": "",
}


def use_one_core():
    """Pin the process to one core and limit all libraries to one thread; call it before NumPy."""
    if "numpy" in sys.modules:
        raise RuntimeError("the number of threads is read when NumPy is imported: call this before")
    os.environ.update(ONE_THREAD)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def cpu_model():
    """Return what the processor calls itself."""
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def circumstances(packages):
    """Return one line: the date, the processor, and the versions of Python and the packages."""
    found = [f"Python {platform.python_version()}"]
    for name in packages:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return f"{datetime.date.today()}, one core of {cpu_model()}; {', '.join(found)}"
