"""Recursion: one call of user code takes several frames of the engine, so the limit is raised."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FRAMES = 16
"""Frames of the engine for one call of a function of the user's, at most."""

_recursion_lock = threading.Lock()
_running = 0
_own = 0


@contextmanager
def deeper_recursion() -> Iterator[None]:
    """Raise Python's recursion limit while differentiated code runs, in whatever thread."""
    global _running, _own
    with _recursion_lock:
        if not _running:
            _own = sys.getrecursionlimit()
            sys.setrecursionlimit(FRAMES * _own)
        _running += 1
    try:
        yield
    finally:
        with _recursion_lock:
            _running -= 1
            if not _running:
                sys.setrecursionlimit(_own)
