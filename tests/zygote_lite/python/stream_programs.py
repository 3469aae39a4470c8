"""Programs that read again what they wrote into streams of classes in Python, and such as do not.

    python -m tests.zygote_lite.python.stream_programs

prints what is wrong, and nothing where all is well. They run in a process of their own, since some
open files, which are watched from then on.
"""

import codecs
import contextlib
import csv
import functools
import gzip
import io
import json
import lzma
import os
import pickle
import shelve
import socket
import struct
import tempfile
import zipfile

import numpy as np

from zygote_lite import DifferentiationError, gradient

Spooled = tempfile.SpooledTemporaryFile
RIGHT, READING = [], []


def writes_text(t, x):
    t.write(str(x * x))


def writes_lines(t, x):
    t.writelines([str(x * x), "\n"])


def prints(t, x):
    print(x * x, file=t)


def prints_elsewhere(t, x):
    with contextlib.redirect_stdout(t):
        print(x * x)


def writes_json(t, x):
    json.dump(x * x, t)


def writes_rows(t, x):
    csv.writer(t).writerow([x * x])


def saves_text(t, x):
    np.savetxt(t, [x * x])


def writes_and_moves(t, x):
    t.write(str(x * x))
    if hasattr(t, "rollover"):
        t.rollover()


def writes_and_asks_for_the_number(t, x):
    t.write(str(x * x))
    with contextlib.suppress(OSError):
        t.fileno()


def reads(t):
    t.seek(0)
    return t.read()


def reads_a_line(t):
    t.seek(0)
    return t.readline()


def reads_lines(t):
    t.seek(0)
    return t.readlines()[0]


def walks(t):
    t.seek(0)
    return next(line for line in t)


class Inheriting(Spooled):
    """A user's subclass."""


class Wrapping(io.TextIOWrapper):
    """A stream that keeps what it is given."""

    def __init__(self):
        super().__init__(io.BytesIO())
        self.found = []

    def write(self, text):
        self.found.append(text)
        return super().write(text)

    def seek(self, _):
        pass

    def read(self):
        return "".join(self.found)

    def readline(self):
        return self.read()

    def readlines(self):
        return [self.read()]

    def __iter__(self):
        return iter(self.found)


class Listing(io.TextIOBase):
    """A stream with a list of its own."""

    def __init__(self):
        self.found = []

    def write(self, text):
        self.found.append(text)
        return len(text)

    def seek(self, _):
        pass

    def read(self):
        return "".join(self.found)

    def readlines(self):
        return [self.read()]

    def readline(self):
        return self.read()

    def __iter__(self):
        return iter(self.found)


STREAMS = {
    "spooled": lambda: Spooled(mode="w+"),
    "spooled, moved at once": lambda: Spooled(mode="w+", max_size=1),
    "inheriting": lambda: Inheriting(mode="w+", max_size=1),
    "temporary": lambda: tempfile.TemporaryFile("w+"),
    "named": lambda: tempfile.NamedTemporaryFile("w+"),
    "wrapping": Wrapping,
    "listing": Listing,
}
WRITES = [
    writes_text, writes_lines, prints, prints_elsewhere, writes_json, writes_rows, saves_text,
    writes_and_moves, writes_and_asks_for_the_number,
]  # fmt: skip
READS = [reads, reads_a_line, reads_lines, walks]


def again(make, write, read, x):
    """Write into a stream, and read that again."""
    t = make()
    write(t, x)
    return float(read(t)) * x


for name, make in STREAMS.items():
    pairs = {*((write, reads) for write in WRITES), *((writes_text, read) for read in READS)}
    for write, read in pairs:
        program = functools.partial(again, make, write, read)
        program.__name__ = f"{name}, {write.__name__}, {read.__name__}"
        READING.append(program)


@READING.append
def reads_bytes(x):
    with Spooled() as t:
        t.write(struct.pack("d", x * x))
        t.seek(0)
        return struct.unpack("d", t.read())[0]


@READING.append
def reads_what_is_within(x):
    with Spooled(mode="w+") as t:
        t.write(str(x * x))
        t.seek(0)
        return float(t._file.read())


@READING.append
def reads_by_descriptor(x):
    with Spooled() as t:
        t.write(str(x * x).encode())
        number = t.fileno()
        t.seek(0)
        return float(os.read(number, 100))


@READING.append
def reads_an_array(x):
    with Spooled(max_size=1) as t:
        np.save(t, x * x)
        t.seek(0)
        return float(np.load(t))


@READING.append
def reads_a_pickle(x):
    with Spooled(max_size=1) as t:
        pickle.dump(x * x, t)
        t.seek(0)
        return pickle.load(t)


@READING.append
def reads_below(x):
    t = Spooled()
    text = io.TextIOWrapper(t)
    print(x * x, file=text, flush=True)
    t.seek(0)
    return float(t.read())


OUTSIDE = {}  # streams that were there before


@READING.append
def reads_one_outside(x):
    found = 0.0
    for t in OUTSIDE.values():
        t.seek(0)
        t.truncate()
        t.write(str(x * x))
        t.seek(0)
        found += float(t.read())
    return found


@READING.append
def reads_what_a_pair_wrote(x):
    found = io.BytesIO()
    pair = io.BufferedRWPair(io.BytesIO(), found)
    pair.write(str(x * x).encode())
    pair.flush()
    return float(found.getvalue())


def reads_packed(opened, x):
    """Read what was printed into a packed file."""
    found = io.BytesIO()
    with io.TextIOWrapper(opened(found, "wb")) as t:
        print(x * x, file=t)
    return float(opened(io.BytesIO(found.getvalue()), "rb").read())


for opened in (lambda found, mode: gzip.GzipFile(None, mode, 9, found), lzma.LZMAFile):
    READING.append(functools.partial(reads_packed, opened))
    READING[-1].__name__ = f"reads packed, {opened.__name__}"


@READING.append
def reads_a_member(x):
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as packed, packed.open("a", "w") as member:
        member.write(str(x * x).encode())
    return float(zipfile.ZipFile(found).read("a"))


def of_list(lines):
    return list(lines)[-1]


def of_tuple(lines):
    return tuple(lines)[-1]


def unpacked(lines):
    (line,) = lines
    return line


def unpacked_with_a_star(lines):
    line, *_ = lines
    return line


def spread(lines):
    return [*lines][-1]


def spread_in_a_call(lines):
    return max(*lines, b"" if "b" in lines.mode else "")


def joined(lines):
    return (b"" if "b" in lines.mode else "").join(lines)


def added(lines):
    found = []
    found += lines
    return found[0]


def extended(lines):
    found = []
    found.extend(lines)
    return found[0]


def put_in_a_slice(lines):
    found = []
    found[:] = lines
    return found[0]


def of_set(lines):
    return set(lines).pop()


def of_sorted(lines):
    return sorted(lines)[0]


TAKING = [
    of_list, of_tuple, unpacked, unpacked_with_a_star, spread, spread_in_a_call, joined, added,
    extended, put_in_a_slice, of_set, of_sorted, next,
]  # fmt: skip


def reads_by_another(take, mode, x):
    """Take the lines of a file by a stream that was open before another one wrote it."""
    written, read = OUTSIDE_BY_MODE[mode]
    written.seek(0)
    written.truncate()
    print(x * x, file=written, flush=True)
    read.seek(0)
    return float(take(read)) * x


OUTSIDE_BY_MODE = {}  # two streams of one file, which were there before

for take in TAKING:
    for mode in ("r", "rb"):
        READING.append(functools.partial(reads_by_another, take, mode))
        READING[-1].__name__ = f"reads by another, {take.__name__}, {mode}"


@RIGHT.append
def keeps_a_stream_that_another_wrote(x):
    written, read = OUTSIDE_BY_MODE["r"]
    print(x * x, file=written, flush=True)
    kept = [read]
    kept.append(read)
    kept.extend((read,))
    return x * x * len(kept) / 3.0


@READING.append
def reads_encoded(x):
    found = io.BytesIO()
    t = codecs.StreamReaderWriter(found, codecs.getreader("utf-8"), codecs.getwriter("utf-8"))
    print(x * x, file=t)
    t.seek(0)
    return float(t.read())


@READING.append
def reads_a_shelf(x):
    with tempfile.TemporaryDirectory() as folder, shelve.open(f"{folder}/shelf") as shelf:
        shelf["a"] = x * x
        return shelf["a"]


@READING.append
def reads_a_socket(x):
    one, other = socket.socketpair()
    with one, other, one.makefile("w") as t:
        print(x * x, file=t, flush=True)
        return float(other.recv(100))


@RIGHT.append
def does_not_move_what_it_does_not_read(x):
    t = Spooled(mode="w+")
    t.write(str(x * x))
    print(x, file=t)
    return x * x if not t._rolled else 0.0 * x


@RIGHT.append
def reads_what_it_did_not_write(x):
    t = Spooled(mode="w+")
    t.write("2.0")
    t.seek(0)
    return x * float(t.read()) * x / 2.0


def main():
    """Print what is wrong."""
    OUTSIDE.update({size: Spooled(mode="w+", max_size=size) for size in (0, 1)})
    for mode in ("r", "rb"):
        written = tempfile.NamedTemporaryFile("w+")
        OUTSIDE_BY_MODE[mode] = written, open(written.name, mode)
    for x in (1.4, 1.5, 1.6):
        for f in RIGHT:
            if abs(gradient(f, x)[0] - 2.0 * x) > 1e-9:
                print(f"{f.__name__}: gives {gradient(f, x)}")
        for f in READING:
            f(x)  # which has to run
            try:
                (d,) = gradient(f, x)
            except DifferentiationError:
                continue
            slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            if d is None or abs(d - slope) > 1e-6:
                print(f"{f.__name__}: gives {d}, and its slope is {slope}")


if __name__ == "__main__":
    main()
