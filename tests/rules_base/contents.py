"""Write which functions each module of `rules_base` has rules for: `rules_base/contents.py`.

    python -m tests.rules_base.contents

The rules of a module are loaded when one of its functions is looked up, which this table tells.
"""

import importlib
import textwrap
from pathlib import Path

import rules_base
from rules_base.contents import FUNCTIONS
from rulescore._naming import name_of
from rulescore._table.deferred import functions_of
from rulescore._table.table import place_of

FILE = Path(rules_base.__file__).with_name("contents.py")
HEAD = '''"""The functions that each module has rules for, by which it is found at a look-up.

`python -m tests.rules_base.contents` writes this file.
"""

FUNCTIONS = {
'''


def text():
    """Return what the file should hold, with what other versions of Python and NumPy have."""
    parts = [HEAD]
    for module in rules_base.MODULES:
        rules = importlib.import_module(f"rules_base.{module}").rule.rules
        if not rules:
            continue
        due = {place_of(rule.function): name_of(rule.function) for rule in rules}
        known = {name: functions_of([name]) for name in FUNCTIONS.get(module, "").split()}
        # other versions of Python and NumPy have other functions, and other names for some
        kept = [name for name, found in known.items() if all(place_of(f) in due for f in found)]
        named = set(map(place_of, functions_of(kept)))
        names = sorted({*kept, *[name for place, name in due.items() if place not in named]})
        lines = textwrap.wrap(" ".join(names), 92, break_on_hyphens=False)
        parts += [f'    "{module}": """\n', *[f"        {line}\n" for line in lines], '    """,\n']
    return "".join([*parts, "}\n"])


if __name__ == "__main__":
    FILE.write_text(text())
