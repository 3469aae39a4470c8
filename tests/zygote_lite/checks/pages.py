"""Examples of the pages about errors: run one, and show its error as the page does."""

import contextlib
import io
import linecache
import re
import traceback
from pathlib import Path

import rulescore
import zygote_lite
from rulescore import RuleSet, plugins

FILE = "example.py"
OURS = tuple(str(Path(package.__file__).parent) for package in (rulescore, zygote_lite))


def run(text):
    """Run an example; return the error that it raises, or `None`. Rules come and go with it."""
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)

    space = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, FILE, "exec"), space)
    except Exception as error:
        return error
    finally:
        for value in space.values():
            if isinstance(value, RuleSet):
                value.unregister()
        for plugin in plugins():
            for ruleset in plugin.rulesets:
                ruleset.register()
    return None


SINCE_SCIPY_1_18 = {
    "cluster.vq._vq.vq": "cluster._vq.vq",
    "cluster/vq/_vq_impl.py": "cluster/vq.py",
}


def shown(error):
    """Return the text of an error, with the last line of a traceback, away from this machine."""
    text = f"{type(error).__name__}: {error}"
    text = re.sub(r"[^\s(]*/(?:site-packages|src)/([^\s:]+):\d+", r"\1", text)
    text = re.sub(r"/tmp/\w+/", "", text)
    for new, old in SINCE_SCIPY_1_18.items():
        text = text.replace(new, old)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def are_users_frames(error):
    """Return whether an error shows lines of the example, one frame of ours, and no other error."""
    _, first, *rest = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours = [path for path in rest if path.startswith(OURS)]
    alone = error.__cause__ is None and (error.__suppress_context__ or error.__context__ is None)
    return first == FILE and len(ours) == 1 and alone
