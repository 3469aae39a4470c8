"""Code that stands in no file: a program on the command line, at the prompt, made by `exec`."""

import subprocess
import sys

import pytest

COMMAND = """
from zygote_lite import gradient
def f(x):
    return x * x
print(gradient(f, 3.0), [gradient(g, 2.0) for g in (lambda x: x * 3.0, lambda x: 4.0 * x)])
"""


@pytest.mark.parametrize(
    "options", [["-c"], ["-W", "ignore", "-Xno_debug_ranges", "-Oc"], ["-Wignore", "-Bc"]]
)
def test_a_program_on_the_command_line(options):
    done = subprocess.run(
        [sys.executable, *options, COMMAND], capture_output=True, text=True, check=False
    )
    assert done.stdout == "(6.0,) [(3.0,), (4.0,)]\n", done.stderr
