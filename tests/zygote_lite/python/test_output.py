"""What programs write: what the plain call writes, in order, and not read again."""

import subprocess
import sys

from tests.zygote_lite.python.output_programs import READING, WRITING


def test_what_programs_write_is_what_the_plain_call_writes_and_is_not_read_again():
    """They run in a process of their own: files are watched from then on, which takes time."""
    assert len(WRITING) >= 20
    assert len(READING) >= 10
    command = [sys.executable, "-m", "tests.zygote_lite.python.output_programs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
