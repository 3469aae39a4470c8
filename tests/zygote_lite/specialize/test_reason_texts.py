"""Every reason why code is recorded is said in the words of those who wrote the code."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import zygote_lite
from zygote_lite.testing import why_recorded

PACKAGE = Path(zygote_lite.__file__).parent
WORDS_OF_THE_ENGINE = re.compile(
    r"\b(structures?|paths?|lowered|lowering|IR|islands?|shadows?|stand-ins?|temporar\w+|facts?"
    r"|walk\w*|followed|not known|primals?|from outside|(?<!in )places?|forms?|carried|kinds?"
    r"|(?<!there )is no|samples?|leaf|inlined|specializ\w+|escape\w*|sealed|own yet|guards?"
    r"|atoms?|nodes?|adopted|unrolled|settled|entry code|abstract value)\b"
)
LONGEST = 110


def reason_texts():
    """Return where each text of a reason stands, and the text, with `_` for what it names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(
                    func=ast.Name(id="NotBatched")
                    | ast.Attribute(value=ast.Name(id="Unsound" | "NotSupported")),
                    args=[ast.Constant() | ast.JoinedStr() as text],
                ):
                    parts = [text] if isinstance(text, ast.Constant) else text.values
                    words = [p.value if isinstance(p, ast.Constant) else "_" for p in parts]
                    found[f"{path.relative_to(PACKAGE)}:{node.lineno}"] = "".join(words)
    return found


TEXTS = reason_texts()


def test_all_reasons_are_found():
    assert len(TEXTS) > 600


def test_no_reason_uses_words_of_the_engine():
    found = {place: text for place, text in TEXTS.items() if WORDS_OF_THE_ENGINE.search(text)}
    assert found == {}


def test_every_reason_is_one_short_sentence():
    for place, text in TEXTS.items():
        assert len(text) <= LONGEST, f"{place}: {text}"
        assert not text.endswith("."), f"{place}: {text}"
        assert "  " not in text, f"{place}: {text}"
        assert text.count(": ") <= 2, f"{place}: {text}"


GIVEN = np.zeros(3)
PART = GIVEN[1:]
KEPT = 0.0


def writes_to_a_global(x):
    GIVEN[0] = x[0]
    return np.sum(GIVEN * x) + PART[0]


def writes_to_a_copy(x):
    y = GIVEN.copy()
    y[0] = x[0]
    return np.sum(y * x)


def asks_an_array(x):
    return np.sum(x * x) if x else 0.0


def asks_a_number(x):
    return np.sum(x * x) if x.any() else 0.0


def stores_in_integers(x):
    y = np.zeros(3, int)
    y[0] = x[0]
    return np.sum(y * x)


def stores_in_floats(x):
    y = np.zeros(3)
    y[0] = x[0]
    return np.sum(y * x)


def draws_without_a_seed(x):
    return np.sum(np.random.default_rng().normal(size=3) * x)


def draws_with_a_seed(x):
    return np.sum(np.random.default_rng(0).normal(size=3) * x)


def draws_around(x):
    return np.sum(np.random.default_rng(0).normal(x, 1.0))


def draws_and_shifts(x):
    return np.sum(x + np.random.default_rng(0).normal(size=3))


def has_a_parameter_np(np):
    return np[0] * 2.0


def has_a_parameter_x(x):
    return x[0] * 2.0


def assigns_a_global(x):
    global KEPT
    if x[0] > 0:
        KEPT = x[0]
    return np.sum(x * x)


def assigns_none(x):
    kept = 0.0
    if x[0] > 0:
        kept = x[0]
    return np.sum(x * x) + kept


def differentiates_by_name(x):
    return zygote_lite.grad(lambda v: v * v * v)(v=x[0])


def differentiates_by_position(x):
    return zygote_lite.grad(lambda v: v * v * v)(x[0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("refused", "said", "instead"),
    [
        (writes_to_a_global, "write to a copy", writes_to_a_copy),
        (asks_an_array, "test a number, such as `x.any()`", asks_a_number),
        (stores_in_integers, "make it an array of floats", stores_in_floats),
        (draws_without_a_seed, "give one, or pass the generator", draws_with_a_seed),
        (draws_around, "draw first, then scale and shift", draws_and_shifts),
        (has_a_parameter_np, "rename it", has_a_parameter_x),
        (assigns_a_global, "return it instead", assigns_none),
        (differentiates_by_name, "by position", differentiates_by_position),
    ],
)
def test_what_a_reason_advises_is_transformed(refused, said, instead):
    x = np.array([1.0, 2.0, 3.0])
    assert said in (why_recorded(refused, x) or "")
    assert why_recorded(instead, x) is None
