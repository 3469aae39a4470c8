"""What is written, and not read again: logs, prints, streams."""

import contextlib
import csv
import io
import json
import logging
import re
import sys
import traceback
import warnings

import numpy as np

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)
V = np.array([0.5, 0.6, 0.8])
LOG = logging.Logger("constructs", logging.DEBUG)
LOG.addHandler(logging.StreamHandler(io.StringIO()))


@works("`logging`: numbers and texts of them, with any handler", (0.5,))
def logs(x):
    LOG.info("starts")
    LOG.info("x=%s", x)
    LOG.debug(f"{x:.3f}")
    try:
        raise ValueError(x)
    except ValueError:
        LOG.exception("at %r", x)
    return x * x


class Keeping(logging.Handler):
    """A handler that keeps what is logged."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@works("`logging`: the `args` of a record that a handler keeps", (0.5,))
def logs_and_keeps(x):
    log, handler = logging.Logger("keeping"), Keeping()
    log.addHandler(handler)
    log.warning("x=%s", x * x)
    return handler.records[-1].args[0] * x


@works("`print`, `sys.stdout.write`, progress bars", (0.5,))
def prints(x):
    for i in range(3):
        x = x * 1.1
        sys.stderr.write(f"\r{i} {x:.3f}")
        print(x, [x], sep="; ", end="", flush=True)
    sys.stdout.write(f"{x}\n")
    return x * x


@works("`print` to a stream of the user's", (0.5,))
def prints_to_its_own(x):
    class Lines:
        def __init__(self):
            self.count = x

        def write(self, text):
            self.count = self.count * 2.0

    lines = Lines()
    print(x, "a", file=lines)
    print("b", file=lines, flush=False)
    return lines.count * x


@works("`io.StringIO`, `io.BytesIO`, `csv.writer`, `json.dump`, `np.savetxt`", (V,))
def writes_into_memory(x):
    text, data = io.StringIO(), io.BytesIO()
    csv.writer(text).writerows([v, 2.0 * v] for v in x)
    json.dump({"x": x[0], "all": x.tolist()}, text)
    text.write(json.dumps({"loss": float(x[1])}))
    np.savetxt(text, x)
    np.save(data, x)
    return np.sum(x * x) * len(text.getvalue().splitlines())


@works("`warnings.warn`, `traceback.format_exc` of active values", (0.5,))
def warns(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(f"x={x}", stacklevel=1)
    try:
        raise ValueError(x)
    except ValueError:
        lines = traceback.format_exc().splitlines()
    return x * x * len(caught) * len(lines)


@works("texts of numbers that are taken apart, and stay texts", (0.5,))
def texts_taken_apart(x):
    name, _, rest = f"x={x:.3f}; y={x * x}".partition("=")
    found = [m.group() for m in re.finditer(r"\d+", rest)]
    return x * x * len(found) * len(rest.split("=")) + rest.find(";") * x * len(name)


@refused("what was written, and is read again", "text", (0.5,))
def reads_what_was_printed(x):
    memory = io.StringIO()
    with contextlib.redirect_stdout(memory):
        print(x)
    return float(memory.getvalue()) * x


@refused("what was written, and is read again", "text", (0.5,))
def reads_what_its_own_stream_kept(x):
    class Lines(list):
        def write(self, text):
            self.append(text)

    lines = Lines()
    print(x, file=lines)
    return float(lines[0]) * x


@refused("what was written, and is read again", "StringIO", (0.5,))
def reads_a_line(x):
    memory = io.StringIO()
    memory.write(f"{x}\n")
    memory.seek(0)
    return float(memory.readline()) * x


@refused("what was written, and is read again", "BytesIO", (0.5,))
def loads_what_was_saved(x):
    memory = io.BytesIO()
    np.save(memory, np.array([x]))
    memory.seek(0)
    return np.load(memory)[0] * x


@refused("numbers through text", "text", (0.5,))
def number_in_a_match(x):
    found = {"a": re.search(r"=(.*)", f"x={x}")}
    return float(found["a"][1]) * x


@refused("numbers through text", "ord", (0.5,))
def number_of_a_letter(x):
    return (ord(f"{x:.2f}"[2]) - 48) * x


@refused("functions in C that are called for what they do", "setswitchinterval", (0.5,))
def sets_what_can_be_asked_for(x):
    before = sys.getswitchinterval()
    sys.setswitchinterval(x / 100.0)
    now = sys.getswitchinterval()
    sys.setswitchinterval(before)
    return now * x
