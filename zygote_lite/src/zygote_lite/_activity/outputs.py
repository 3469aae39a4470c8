"""Output: streams and files that a run gave what depends on a differentiated argument.

Nothing comes back from what is only written. Where it is read again, the number that it was made of
would be lost: so the streams are marked, like containers that hold something active, and so are
the files below them, which any code may open again, under any name. An audit hook of Python's sees
where that happens. It is installed when the first file is marked, and stays.
"""

import _io
import contextlib
import gc
import os
import stat
import sys
import types
from collections.abc import Iterator
from itertools import islice
from typing import Any

if sys.platform != "win32":
    import fcntl

from zygote_lite._activity.marks import mark_active, note_outside
from zygote_lite._activity.named import reached_by_name
from zygote_lite._cotangents.kinds import within
from zygote_lite._cotangents.run import state
from zygote_lite._ir.places import where
from zygote_lite.errors import Fault

STREAM: type = _io._IOBase
File = tuple[int, int]  # its device, and its number there


class Written:
    """The files that a run has written, and what was refused while code read one in C."""

    def __init__(self) -> None:
        self.files: set[File] = set()
        self.names = False  # whether the name of a file depends on what is differentiated
        self.refusal: Exception | None = None


_readers_refused: dict[File, list[Written]] = {}
_LAYERS = ("buffer", "raw")
_MOST_WITHIN = 2000


def is_stream(x: Any) -> bool:
    """Return whether a value is a stream, of Python's own or of a class that inherits from it."""
    return issubclass(type(x), STREAM)


def layers(stream: Any) -> Iterator[Any]:
    """Yield a stream and those that it writes to, down to files and buffers in memory.

    A stream of a class in Python may hold them anywhere, as `SpooledTemporaryFile` does.
    """
    seen, stack = dict[int, Any](), [stream]
    while stack:
        x = stack.pop()
        if id(x) in seen or not is_stream(x):
            continue
        seen[id(x)] = x
        yield x
        for name in _LAYERS:
            with contextlib.suppress(AttributeError, ValueError):  # it has none, or gave it away
                stack.append(object.__getattribute__(x, name))
                break
        stack += gc.get_referents(x)  # those in C hold others that they give no name
        if type(x).__module__ != "_io":
            stack += [y for y in islice(within(x), _MOST_WITHIN) if is_stream(y)]


def is_output(x: Any) -> bool:
    """Return whether a value is a stream that this run has written to, or its file."""
    if state.written_files is None or not is_stream(x):
        return False
    active: Any = state.active
    files = state.written_files.files
    return any(id(part) in active or file_below(part) in files for part in layers(x))


def note_output(stream: Any) -> None:
    """Note that a stream is given what depends on what is differentiated, or refuse it."""
    if state.active is None:
        return
    state.written_files = state.written_files or Written()
    _refuse_pipe(stream)
    for part in layers(stream):
        if issubclass(type(part), _io.BufferedRWPair):
            raise Fault.OUTPUT(
                f"{where()}: what depends on what is differentiated is written into a "
                "BufferedRWPair, which does not tell what it writes to: write into that stream"
            )
        mark_active(part)
        file = file_below(part)
        if file is not None:
            _note_file(file)


def note_name() -> None:
    """Note that the name of a file depends on what is differentiated."""
    if state.active is not None:
        state.written_files = state.written_files or Written()
        state.written_files.names = True
        _install()


def note_file_of(path: Any) -> None:
    """Note that a file of this name is written with what depends on what is differentiated."""
    with contextlib.suppress(OSError):
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            _note_file((found.st_dev, found.st_ino))


def _note_file(file: File) -> None:
    state.written_files = state.written_files or Written()
    if file in state.written_files.files:
        return
    if _is_mapped(file):
        raise Fault.OUTPUT(
            f"{where()}: what depends on what is differentiated is written into a file that is "
            "mapped into memory, and what is read there is not followed: close the map first"
        )
    note_outside()
    state.clean.clear()
    if not _is_standard(file):
        _install()
    state.written_files.files.add(file)
    _readers_refused.setdefault(file, []).append(state.written_files)


def _is_mapped(file: File) -> bool:
    """Return whether this process has mapped a file into memory, as far as the system tells."""
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        return any(line.split()[4] == str(file[1]) for line in maps)
    return False


def _is_standard(file: File) -> bool:
    """Return whether the program was started with its output going to a file, or it has no name."""
    return file in _standard() and (file in _AT_START or os.fstat(1).st_nlink == 0)


def _standard() -> set[File]:
    found = set()
    for number in (1, 2):
        with contextlib.suppress(OSError):
            status = os.fstat(number)
            found.add((status.st_dev, status.st_ino))
    return found


_AT_START = _standard()


def file_below(stream: Any) -> File | None:
    """Return the file that a stream writes to; `None` for a terminal, a pipe, and for memory."""
    found = _status(stream)
    is_file = found is not None and stat.S_ISREG(found.st_mode)
    return (found.st_dev, found.st_ino) if found is not None and is_file else None


def _status(stream: Any) -> os.stat_result | None:
    if _would_move(stream):
        return None
    try:
        return os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError, TypeError):  # in memory, or closed
        return None


def _would_move(stream: Any) -> bool:
    """Return whether to ask for the number of a file would make one: from memory, text moves there.

    A stream in C asks those that it writes to.
    """
    moving = getattr(sys.modules.get("tempfile"), "SpooledTemporaryFile", ())
    return any(isinstance(x, moving) for x in layers(stream))


def _refuse_pipe(stream: Any) -> None:
    """Refuse a stream whose other end this process may read, or of which that is not known."""
    found = _status(stream)
    if found is None or stream.fileno() in (1, 2):
        return
    is_pipe = stat.S_ISFIFO(found.st_mode) and _is_read_here(found)
    if is_pipe or stat.S_ISSOCK(found.st_mode):
        raise Fault.OUTPUT(
            f"{where()}: what depends on what is differentiated is written into a "
            f"{'pipe' if is_pipe else 'socket'}, and what is read at its other end is not "
            "followed: send it outside of the function that is differentiated"
        )


def _is_read_here(pipe: os.stat_result) -> bool:
    """Return whether this process may read a pipe."""
    for name in os.listdir("/dev/fd"):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(int(name)), pipe) and _is_readable(int(name)):
                return True
    return False


def _is_readable(number: int) -> bool:
    if sys.platform == "win32":
        return True
    return fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY


# -- reading, wherever it happens -----------------------------------------------------------------

_STARTING = frozenset((
    "subprocess.Popen", "os.posix_spawn", "os.system", "os.exec", "os.spawn", "os.fork",
    "os.forkpty", "pty.spawn", "os.startfile", "os.startfile/2",
))  # fmt: skip
_LISTING = frozenset(("os.listdir", "os.scandir", "glob.glob"))
_READING_FILES = frozenset(("open", "mmap.__new__", "sqlite3.connect"))
_hears = False


def _install() -> None:
    global _hears
    if not _hears:
        _hears = True
        sys.addaudithook(_hear)


def _hear(event: str, given: tuple[Any, ...]) -> None:
    """Refuse that what a run has written is read, or could be, by a process that is started."""
    if event in _READING_FILES:
        _hear_of_file(event, *given)
    elif state.written_files is None:
        return
    elif event in _LISTING and state.written_files.names:
        _refuse(
            state.written_files,
            "the names of files are read, and one was made that depends on what is differentiated: "
            "leave the number out of its name",
        )
    elif event in _STARTING and (state.written_files.files or state.written_files.names):
        _refuse(
            state.written_files,
            "a process is started, after what depends on what is differentiated was written into "
            "a file, and what it reads is not followed: start it outside, or write the file there",
        )


def _hear_of_file(event: str, path: Any, *options: Any) -> None:
    if event == "open" and isinstance(options[-1], int):
        reads = options[-1] & os.O_ACCMODE != os.O_WRONLY
        if state.opened is not None:
            state.opened.append(path)
        if not reads:
            return
    if not _readers_refused:
        return
    try:
        found = os.fstat(path) if event.startswith("mmap") else os.stat(path)
    except (OSError, ValueError, TypeError):
        return
    for written in [*_readers_refused.get((found.st_dev, found.st_ino), ())]:
        _refuse(
            written,
            f"{path} is read, into which what depends on what is differentiated was written, and "
            "no gradient passes through a file: use the numbers that were written",
        )


def _refuse(written: Written, why: str) -> None:
    written.refusal = Fault.OUTPUT(f"{where()}: {why}")
    if written is state.written_files:
        raise written.refusal


BY_DESCRIPTOR = [
    vars(os)[name]
    for name in ("read", "pread", "readv", "preadv", "sendfile", "copy_file_range", "splice")
    if hasattr(os, name)
]
"""What reads from descriptors, and tells no audit hook."""


def may_read_descriptors(f: Any) -> bool:
    """Return whether a function, or one that it names, may read a file by its descriptor."""
    for x in reached_by_name(f):
        if isinstance(x, types.BuiltinFunctionType) and x in BY_DESCRIPTOR:
            return True
    return False


@contextlib.contextmanager
def noting_files() -> Iterator[None]:
    """Note the files that are opened meanwhile as written."""
    _install()
    before, state.opened = state.opened, []
    try:
        yield
    finally:
        opened, state.opened = state.opened, before
        for path in opened:
            note_file_of(path)


def end_output() -> Exception | None:
    """Forget what the run has written; return what was refused meanwhile, should code hide it."""
    written, state.written_files = state.written_files, None
    if written is None:
        return None
    for file in written.files:
        known = _readers_refused.get(file, [])
        known[:] = [other for other in known if other is not written]
        if not known:
            _readers_refused.pop(file, None)
    refusal: Exception | None = written.refusal
    return refusal
