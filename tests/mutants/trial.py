"""One trial: the tests that are near, in a process of its own, over a copy of the sources."""

import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = ("rulescore", "rules_base", "rules_nnlib", "rules_scipy", "zygote_lite")
PRELOADED = ("numpy", "scipy.special", "scipy.stats", "numba", "plum", "rich")
MEMORY = 16 << 30  # bytes of addresses, most of which are never used
NOTHING_RAN = 5


class Chosen:
    """Runs the chosen tests of those that were collected, in the order in which they are given."""

    def __init__(self, tests):
        self.order = {test: k for k, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items):
        kept = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(kept, key=lambda item: self.order[item.nodeid])


class Copy:
    """A copy of the sources, in which one module at a time is another one."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.written = 0
        for name in DISTRIBUTIONS:
            shutil.copytree(ROOT / name / "src", self.path / name / "src")
        self.sources = [str(self.path / name / "src") for name in DISTRIBUTIONS]

    def write(self, distribution, module, source):
        """Write a module; each text has a time of its own, which no compiled file shares."""
        path = self.path / distribution / "src" / module
        path.write_text(source)
        self.written += 1
        os.utime(path, (self.written, self.written))

    def remove(self):
        """Remove the copy."""
        shutil.rmtree(self.path, ignore_errors=True)


def preload(distribution):
    """Import what is heavy and does not change, once for all trials: forks of this process."""
    for name in PRELOADED:
        __import__(name)
    if distribution == "zygote_lite":
        __import__("rules_base")
    assert distribution not in sys.modules


def run_tests(copy, tests, seconds):
    """Run tests, or all where `tests` is `None`; return (what came of it, the end of the output).

    That is "passed", "failed", "too long" or "no test".
    """
    log = copy.path / "log"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os._exit(in_the_child(copy, tests, log))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    code = wait(child, seconds)
    if code is None:
        return "too long", ""
    said = {0: "passed", NOTHING_RAN: "no test"}.get(code, "failed")
    return said, log.read_text(errors="replace")[-2000:]


def in_the_child(copy, tests, log):
    """Run pytest where the copied sources are imported."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(ROOT)
    sys.path[:0] = copy.sources
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(copy.path / "compiled")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ["PYTHONPATH"] = os.pathsep.join([*copy.sources, os.environ.get("PYTHONPATH", "")])
    files = [] if tests is None else sorted({test.split("::")[0] for test in tests})
    files = [file for file in files if (ROOT / file).exists()]
    if tests is not None and not files:
        return NOTHING_RAN
    options = ["-x", "-q", "--no-header", "-p", "no:randomly", "-p", "no:cacheprovider"]
    plugins = [] if tests is None else [Chosen(tests)]
    return int(pytest.main([*options, *files], plugins=plugins))


def wait(child, seconds):
    """Return the exit status of a process, or `None` where it took too long and was ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
