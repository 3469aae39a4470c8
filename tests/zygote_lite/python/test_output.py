"""What programs write: what the plain call writes, in order, and not read again."""

import contextlib
import io
import logging
import logging.handlers
import os
import queue
import subprocess
import sys
import time
import warnings

import pytest
import rich.console
import rich.progress

from rulescore import custom_rule
from tests.zygote_lite.python import stream_programs
from tests.zygote_lite.python.output_programs import READING, WRITING
from zygote_lite import DifferentiationError, gradient


def run_quietly(module, **environment):
    command = [sys.executable, "-m", f"tests.zygote_lite.python.{module}"]
    given = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_what_programs_write_is_what_the_plain_call_writes_and_is_not_read_again():
    """They run in a process of their own: files are watched from then on, which takes time."""
    assert len(WRITING) >= 20
    assert len(READING) >= 10
    run_quietly("output_programs")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("checked", ["0", "1"])
def test_what_streams_of_classes_in_python_were_given_is_not_read_again(checked):
    assert len(stream_programs.READING) >= 80
    run_quietly("stream_programs", ZYGOTE_LITE_CHECK=checked)


def lines_of_warnings(f):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f()
    return [each.lineno for each in found]


def warns(x):
    warnings.warn(f"x is {x}", UserWarning, skip_file_prefixes=("/nowhere",))
    return x * x


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the option is from Python 3.12 on")
def test_a_warning_that_passes_files_over_is_shown_at_the_line_of_the_caller():
    def f(x):
        return warns(x) * 2.0

    assert lines_of_warnings(lambda: gradient(f, 3.0)) == lines_of_warnings(lambda: f(3.0))


def test_what_shows_progress_and_computes_is_followed():
    def f(x):
        console = rich.console.Console(file=io.StringIO())
        total = sum(rich.progress.track([x, x * x], console=console))
        task = rich.progress.Task(0, "", 10.0, x, _get_time=lambda: 1.0)
        return total + task.percentage

    assert gradient(f, 3.0) == (17.0,)


@pytest.mark.parametrize("way", ["capture", "begin and end"])
def test_a_number_that_a_console_captures_is_refused(way):
    def f(x):
        console = rich.console.Console(file=io.StringIO())
        if way == "capture":
            with console.capture() as captured:
                console.print(x)
            return float(captured.get()) * x
        console.begin_capture()
        console.print(x)
        return float(console.end_capture()) * x

    with pytest.raises(DifferentiationError, match=r"test_output\.py:\d+"):
        gradient(f, 1.5)


class Tee:
    """A stream of the user's, which writes into others."""

    def __init__(self, *streams):
        self.streams, self.count = streams, 0.0

    def write(self, text):
        for stream in self.streams:
            stream.write(text)

    def flush(self):
        pass


def redirects(x):
    with contextlib.redirect_stdout(Tee(sys.stdout, io.StringIO())):
        print("x", x)
    return x * x


def redirects_again_and_again(x):
    tee = Tee(sys.stdout, io.StringIO())
    for _ in range(3):
        with contextlib.redirect_stdout(tee), contextlib.redirect_stderr(tee):
            print("x", x, file=sys.stderr)
            print("x", x)
    return x * x


def keeps_a_number_where_it_redirects(x):
    tee = Tee(sys.stdout)
    with contextlib.redirect_stdout(tee):
        sys.stdout.count = x * x
        print(x)
        sys.stdout.count = 2.0 * sys.stdout.count
    return tee.count / 2.0


@pytest.mark.parametrize(
    "f", [redirects, redirects_again_and_again, keeps_a_number_where_it_redirects]
)
def test_output_that_is_redirected_into_a_stream_of_the_users_is_written_once(f, capsys):
    before = sys.stdout, sys.stderr
    for x in (1.4, 1.5, 1.6):
        f(x)
        plain = capsys.readouterr()
        assert gradient(f, x) == pytest.approx((2.0 * x,))
        assert capsys.readouterr() == plain
        assert (sys.stdout, sys.stderr) == before


def reads_what_it_redirected(x):
    found = io.StringIO()
    with contextlib.redirect_stdout(Tee(found)):
        print(x)
    return float(found.getvalue()) * x


def reads_by_the_module(x):
    with contextlib.redirect_stdout(Tee(io.StringIO())):
        print(x)
        return float(sys.stdout.streams[0].getvalue()) * x


@pytest.mark.parametrize("f", [reads_what_it_redirected, reads_by_the_module])
def test_output_that_is_redirected_and_read_again_is_refused(f):
    before = sys.stdout
    for x in (1.4, 1.5, 1.6):
        with pytest.raises(DifferentiationError, match=r"test_output\.py:\d+: .*text"):
            gradient(f, x)
        assert sys.stdout is before


@contextlib.contextmanager
def logging_by_a_thread(*handlers):
    """Give a logger whose messages another thread hands to handlers, and their queue."""
    given = queue.Queue()
    log = logging.Logger("by a thread")
    log.addHandler(logging.handlers.QueueHandler(given))
    listener = logging.handlers.QueueListener(given, *handlers)
    listener.start()
    try:
        yield log, given
    finally:
        listener.stop()


def test_what_a_thread_only_writes_may_be_logged():
    stream = io.StringIO()
    with logging_by_a_thread(logging.NullHandler(), logging.StreamHandler(stream)) as (log, _):

        def f(x):
            log.info("x = %s", x)
            return x * x

        assert [gradient(f, x)[0] for x in (1.5, 2.5, 3.5, 4.5)] == [3.0, 5.0, 7.0, 9.0]
    assert stream.getvalue() == "x = 1.5\nx = 2.5\nx = 3.5\nx = 4.5\n"


def test_a_thread_that_is_late_writes_what_was_logged():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)

    @custom_rule
    def waits(x):
        def back(dy):
            handler.release()
            for _ in range(500):
                if stream.getvalue():
                    break
                time.sleep(0.01)
            return (dy,)

        return x, back

    def f(x):
        y = waits(x)
        log.info("x = %s", x)
        return x * y

    with logging_by_a_thread(handler) as (log, _):
        handler.acquire()
        assert gradient(f, 1.5) == (3.0,)
    assert stream.getvalue() == "x = 1.5\n"


class Keeping(logging.Handler):
    """A handler that keeps the numbers that are logged."""

    kept = []

    def emit(self, record):
        self.kept.append(float(record.getMessage()))


class KeepingFormatter(logging.Formatter):
    """A formatter that keeps them."""

    def format(self, record):
        Keeping.kept.append(float(record.getMessage()))
        return super().format(record)


def formatted(by):
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(by)
    return handler


@pytest.mark.parametrize("handler", [Keeping(), formatted(KeepingFormatter())])
def test_what_a_thread_keeps_of_a_log_is_refused(handler):
    with logging_by_a_thread(handler) as (log, given):

        def f(x):
            log.info("%s", x * x)
            while given.unfinished_tasks or not Keeping.kept:
                time.sleep(0.001)
            return Keeping.kept[-1] * x

        assert f(1.5) == pytest.approx(1.5**3)
        for _ in range(4):
            with pytest.raises(DifferentiationError):
                gradient(f, 1.5)


def test_a_log_that_a_thread_writes_is_not_read_again():
    stream = io.StringIO()
    with logging_by_a_thread(logging.StreamHandler(stream)) as (log, given):

        def f(x):
            log.info("%s", x * x)
            while given.unfinished_tasks:
                time.sleep(0.001)
            return float(stream.getvalue().split()[-1]) * x

        assert f(1.5) == pytest.approx(1.5**3)
        for _ in range(4):
            with pytest.raises(DifferentiationError):
                gradient(f, 1.5)
