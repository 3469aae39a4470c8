"""Programs that log, write files and draw progress bars, and programs that read such things again.

They are run in a process of their own (`test_output`), and write into the folder that it runs in:

    python -m tests.zygote_lite.python.output_programs

prints what is wrong, and nothing where all is well.
"""

import contextlib
import csv
import functools
import gzip
import io
import json
import logging
import mmap
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import rich.console
import rich.logging
import rich.progress

from zygote_lite import DifferentiationError, gradient

WRITING, READING = [], []
FORMAT = "%(levelname)s %(filename)s:%(lineno)d %(funcName)s %(message)s"


class Stream:
    """A stream that looks up the one of the moment."""

    def write(self, text):
        return sys.stderr.write(text)

    def flush(self):
        sys.stderr.flush()


class Keeping(logging.Handler):
    """A handler that keeps what is logged, and says how much that is."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)
        sys.stderr.write(f"{len(self.records)} {self.format(record)}\n")


class Rows:
    """What a `csv.writer` writes to: it keeps each text, and tells it."""

    def __init__(self):
        self.texts = []

    def write(self, text):
        self.texts.append(text)
        sys.stderr.write(f"{len(self.texts)} {text}")
        return len(self.texts)


class Raw(io.RawIOBase):
    """The lowest layer of a stream, which keeps what it is given."""

    given = b""

    def writable(self):
        return True

    def write(self, given):
        self.given += bytes(given)
        return len(given)


@functools.cache
def logger(kind, *xs):
    made = logging.Logger(kind.__name__, logging.DEBUG)
    handler = kind(*xs)
    handler.setFormatter(logging.Formatter(FORMAT))
    made.addHandler(handler)
    return made


@WRITING.append
def logs(x):
    log = logger(logging.StreamHandler, Stream())
    log.info("starts")
    log.info("x=%s", x)
    log.debug(f"{x:.3f} of {[x]}")

    def helper(v):
        log.warning("from %s", v, stacklevel=2)

    helper(x)
    helper(1)
    return x * x


@WRITING.append
def logs_into_a_file(x):
    log = logger(logging.FileHandler, "log.txt")
    log.info("x=%r", x)
    logging.LoggerAdapter(log, {"name of x": x}).info("adapted %s", x)
    return x * x


@WRITING.append
def logs_with_a_handler_of_its_own(x):
    log = logger(Keeping)
    log.info("x=%s", x)
    log.info("x*x=%s", x * x)
    return x * log.handlers[0].records[-1].args[0]


@WRITING.append
def logs_an_error(x):
    try:
        raise ValueError(f"bad {x}")
    except ValueError:
        logger(logging.StreamHandler, Stream()).exception("at %s", x)
        traceback.print_exc(limit=1)
    return x * x


@WRITING.append
def prints(x):
    print("x", x, [x], {"a": (x,)}, sep=", ", end=";\n")
    print(x, file=sys.stderr, flush=True)
    with open("printed.txt", "w") as f:
        print(x * x, file=f)
    return x * x


@WRITING.append
def prints_into_what_is_not_read(x):
    with contextlib.redirect_stdout(io.StringIO()):
        print(x)
    return x * x


@WRITING.append
def prints_to_a_stream_of_its_own(x):
    lines = []

    class Lines:
        def write(self, text):
            lines.append(text)

    print("a", x, file=Lines())
    sys.stdout.write(f"{len(lines)} {lines}")
    return x * len(lines)


@WRITING.append
def draws_a_bar(x):
    y = x
    for i in range(3):
        y = y * x
        sys.stderr.write(f"\r[{'#' * i:3}] {y:.4f}")
        sys.stderr.flush()
    return y


@WRITING.append
def draws_a_bar_of_rich(x):
    console = rich.console.Console(file=sys.stderr, width=60)
    with rich.progress.Progress("{task.description}", console=console) as bar:
        task = bar.add_task("starts", total=3)
        for _ in range(3):
            x = x * 1.1
            bar.update(task, advance=1, description=f"x={x:.3f}", refresh=True)
    console.print(f"[bold]{x}[/bold]", x)
    return x * x


@WRITING.append
def draws_what_is_computed(x):
    console = rich.console.Console(file=sys.stderr, width=60)
    with rich.progress.Progress("{task.description}", console=console, auto_refresh=False) as bar:
        task = bar.add_task(f"x={x}", total=3, loss=x)
        bar.update(task, loss=x * x, refresh=True)
        return bar.tasks[0].fields["loss"] * x


@WRITING.append
def shows_what_a_thread_refreshes(x):
    console = rich.console.Console(file=io.StringIO())
    with console.status(f"x={x}"):
        y = x * x
    for _ in rich.progress.track(range(2), f"y={y}", console=console):
        y = y * x
    return y


@WRITING.append
def logs_by_rich(x):
    console = rich.console.Console(file=sys.stderr, width=60)
    log = logging.Logger("rich")
    log.addHandler(rich.logging.RichHandler(console=console, show_time=False))
    log.info("x=%s", x)
    return x * x


@WRITING.append
def writes_lines(x):
    with open("lines.txt", "w") as f:
        f.write(f"{x}\n")
        f.writelines(f"{x * i}\n" for i in range(3))
        f.seek(0)
        f.write("9")
    return x * x


@WRITING.append
def writes_bytes(x):
    with open("lines.bin", "wb") as f:
        f.write(f"{x}".encode())
        f.write(np.array([x, x]))
    Path("path.txt").write_text(f"{x}")
    return x * x


@WRITING.append
def writes_numbers(x):
    a = np.array([x, x * x])
    np.savetxt("a.txt", a, fmt="%.5f")
    np.save("a", a)
    with open("b.npy", "wb") as f:
        np.save(f, a)
    a.tofile("a.bin")
    return np.sum(a)


@WRITING.append
def writes_an_archive(x):
    np.savez(f"a_{x:.2f}", a=np.array([x]))
    return x * x


@WRITING.append
def writes_a_table(x):
    with open("table.csv", "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["a", x])
        rows.writerows([i, x * i] for i in range(2))
        named = csv.DictWriter(f, ["a", "b"])
        named.writeheader()
        named.writerow({"a": x, "b": x * x})
    return x * x


@WRITING.append
def writes_json(x):
    with open("a.json", "w") as f:
        json.dump({"x": x, "all": [x * x]}, f, indent=1)
        f.write(json.dumps({"loss": x}))
    return x * x


@WRITING.append
def writes_compressed(x):
    with gzip.open("a.gz", "wt") as f:
        f.write(f"{x}")
    os.remove("a.gz")  # the time is in it
    return x * x


@WRITING.append
def writes_into_memory(x):
    text, data = io.StringIO(), io.BytesIO()
    csv.writer(text).writerow([x])
    np.save(data, np.array([x]))
    sys.stdout.write(text.getvalue())
    return x * x


@WRITING.append
def warns(x):
    def old(v):
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        return v

    y = old(x)
    for _ in range(2):
        y = old(y)
        warnings.warn(f"x={x}", RuntimeWarning, stacklevel=1)
    return x * y


@WRITING.append
def warns_and_keeps_it(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(f"{x}", stacklevel=1)
    sys.stdout.write(f"{caught[0].message} {caught[0].lineno}")
    return x * x


@WRITING.append
def writes_a_temporary_file(x):
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(f"{x}")
        return x * x


@WRITING.append
def writes_rows_into_a_temporary_file(x):
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(f"{x}")
        csv.writer(f).writerows([[x], [x * x]])
        csv.DictWriter(f, ["a"]).writerow({"a": x})
        return x * x


@WRITING.append
def writes_rows_one_by_one(x):
    rows = Rows()
    writer = csv.writer(rows)
    writer.writerows([["a", x], ["b", x * x]])
    return x * writer.writerow([x**3]) * len(rows.texts)


@WRITING.append
def writes_in_turn(x):
    y = x
    for i in range(2):
        print("step", i)
        y = y * x
        logger(logging.StreamHandler, Stream()).info("y=%s", y)
        print(f"{y:.3f}", end=" ")
    return y


# -- what is written, and read again ---------------------------------------------------------------


@READING.append
def reads_its_file(x):
    Path("r.txt").write_text(f"{x}")
    return float(Path("r.txt").read_text()) * x


@READING.append
def reads_rows(x):
    rows = Rows()
    csv.writer(rows).writerow([x * x])
    return float(rows.texts[0])


@READING.append
def reads_what_a_layer_was_given(x):
    raw = Raw()
    with io.TextIOWrapper(io.BufferedWriter(raw)) as stream:
        print(x * x, file=stream, flush=True)
        return float(raw.given)


@READING.append
def reads_what_a_cell_changes(x):
    class Cell:
        value = x

        def __str__(self):
            self.value = self.value * 2.0
            return "a cell"

    cell = Cell()
    csv.writer(sys.stderr).writerow([cell])
    return cell.value


@READING.append
def reads_under_another_name(x):
    with open("r.txt", "w") as f:
        f.write(f"{x}")
    os.replace("r.txt", "s.txt")
    return np.loadtxt("s.txt") * x


@READING.append
def reads_what_was_open(x):
    with open("r.txt", "w") as f, open("r.txt") as g:

        def read():
            return float(g.read())

        f.write(f"{x}")
        f.flush()
        return read() * x


def loaded(stem):
    with contextlib.suppress(Exception):
        return float(np.load(stem + ".npy")[0])
    return 1.0


@READING.append
def reads_where_errors_are_hidden(x):
    np.save("r.npy", np.array([x]))
    return loaded("r") * x


@READING.append
def reads_in_a_thread(x):
    np.save("r.npy", np.array([x]))
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(loaded, "r").result() * x


@READING.append
def reads_by_descriptor(x):
    with open("r.txt", "w+") as f:
        f.write(f"{x}")
        f.flush()
        os.lseek(f.fileno(), 0, 0)
        return float(os.read(f.fileno(), 99)) * x


def taken_from(number):
    return float(os.read(number, 99))


@READING.append
def reads_by_descriptor_in_a_function(x):
    with tempfile.TemporaryFile("w") as f:
        number = os.open(f"/dev/fd/{f.fileno()}", os.O_RDONLY)
        f.write(f"{x}")
        f.flush()
        y = taken_from(number) * x
        os.close(number)
    return y


@READING.append
def reads_a_map(x):
    Path("r.txt").write_bytes(bytes(20))
    with open("r.txt", "r+b") as f, mmap.mmap(f.fileno(), 0) as seen:
        f.write(f"{x:.16f}".encode())
        f.flush()
        return float(seen[:18]) * x


@READING.append
def reads_a_pipe(x):
    out, into = os.pipe()
    with os.fdopen(out) as f, os.fdopen(into, "w") as g:
        print(x, file=g, flush=True)
        return float(f.readline()) * x


@READING.append
def lets_a_process_read(x):
    Path("r.txt").write_text(f"{x}")
    return float(subprocess.check_output(["cat", "r.txt"])) * x


@READING.append
def tells_a_process(x):
    return float(subprocess.check_output(["echo", f"{x}"])) * x


class Lines:
    """A stream of the user's, which keeps what it is given."""

    def __init__(self):
        self.found = []

    def write(self, text):
        self.found.append(text)

    def flush(self):
        pass


@READING.append
def reads_what_a_console_wrote(x):
    lines = Lines()
    rich.console.Console(file=lines).print(x)
    return float(lines.found[0]) * x


@READING.append
def reads_what_a_console_wrote_to_a_stream_of_the_moment(x):
    lines = Lines()
    with contextlib.redirect_stdout(lines):
        rich.console.Console().print(x)
    return float(lines.found[0]) * x


@READING.append
def reads_the_name_of_a_file(x):
    Path("names").mkdir(exist_ok=True)
    np.save(f"names/{x}", np.zeros(1))
    return float(os.listdir("names")[0].removesuffix(".npy")) * x


@READING.append
def reads_the_name_of_a_folder(x):
    with contextlib.suppress(FileExistsError):
        os.makedirs(f"folders/{x}")
    return float(os.listdir("folders")[0]) * x


@READING.append
def reads_a_setting(x):
    sys.setswitchinterval(x / 100.0)
    return sys.getswitchinterval() * x


def run(f, *xs):
    """Return the value of a call, what it wrote to the two streams, and the files that it left."""
    for path in Path.cwd().glob("*.*"):
        path.unlink()
    logger.cache_clear()
    globals().pop("__warningregistry__", None)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        y = f(*xs)
    files = {path.name: path.read_bytes() for path in sorted(Path.cwd().glob("*.*"))}
    return y, (out.getvalue(), err.getvalue()), files


def differences(f):
    """Return what a gradient does otherwise than the function itself."""
    (_, *plain), step = run(f, 0.7), 1e-6
    slope = (run(f, 0.7 + step)[0] - run(f, 0.7 - step)[0]) / (2.0 * step)
    for _ in range(3):
        (d,), *written = run(gradient, f, 0.7)
        if abs(d - slope) > 1e-6:
            yield f"{f.__name__}: the gradient is {d}, not {slope}"
        if written != plain:
            yield f"{f.__name__}: written {written}, not {plain}"


def main():
    """Print what is wrong."""
    for f in WRITING:
        print(*differences(f), sep="\n", end="")
    for f in READING:
        try:
            print(f"{f.__name__}: gives {run(gradient, f, 0.7)[0]}")
        except DifferentiationError as error:
            if __file__ not in str(error):
                print(f"{f.__name__}: {error}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
