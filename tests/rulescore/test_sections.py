"""Sections of plugins, which wait for the library that they are for."""

import pytest

import rulescore

HOOK = """
from rulescore import RuleSet, Section, hookimpl
@hookimpl
def rulescore_rules():
    return [{}]
"""
RULES = """
import {library}
from rulescore import RuleSet
print("rules for {library}")
{name} = RuleSet("lazy")
{name}.scalar({library}.f)(lambda x: 7.0)
@{name}.of_instances
def _(layer: {library}.Layer, x: float): return "layer", None
"""
LIBRARY = """
print("{library}")
def f(x): return x
class Layer:
    def __call__(self, x): return x
"""


@pytest.fixture
def lazy(install, tmp_path):
    """Install a plugin with a section for each of two libraries, `one` and `two.three`."""
    install(
        "lazy",
        HOOK.format("Section('one', 'lazy_one'), Section(('two.three', 'one'), 'lazy_two:mine')"),
    )
    (tmp_path / "one.py").write_text(LIBRARY.format(library="one"))
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "__init__.py").write_text("")
    (tmp_path / "two" / "three.py").write_text(LIBRARY.format(library="two.three"))
    (tmp_path / "lazy_one.py").write_text(RULES.format(library="one", name="rule"))
    (tmp_path / "lazy_two.py").write_text(RULES.format(library="two.three", name="mine"))


ASK = """
from rulescore import find_rule, generation, plugins, rrule
def told():
    (p,) = [p for p in plugins() if p.name == "lazy"]
    return len(p.rulesets), [s.libraries for s in p.waiting], p.error
"""


def test_a_section_is_loaded_when_its_libraries_have_been_imported(lazy, python):
    done = python(
        ASK + "import math\n"
        "print(rrule(math.sin, 1.0), *told())\n"
        "before = generation()\n"
        "import one\n"
        "print(rrule(one.f, 1.0)[1](1.0), *told(), generation() > before)\n"
        "import two\n"
        "print(rrule(two.__name__.join, 1.0), *told())\n"
        "from two import three\n"
        "print(find_rule(three.Layer(), 1.0).plugin, *told())\n"
        "print(rrule(three.f, 1.0)[1](1.0))"
    )
    assert done.stdout.splitlines() == [
        "None 0 ['one', ('two.three', 'one')] None",
        "one",
        "rules for one",
        "(None, 7.0) 1 [('two.three', 'one')] None True",
        "None 1 [('two.three', 'one')] None",
        "two.three",
        "rules for two.three",
        "lazy 2 [] None",
        "(None, 7.0)",
    ]
    assert done.stderr == ""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "look_up",
    [
        "rrule(one.f, 1.0)",
        "find_rule(one.f, 1.0)",
        "rrule(one.Layer(), 1.0)",
        "find_rule(one.Layer(), 1.0)",
        "rules_of(one.f)",
        "plugins(all_sections=True) and find_rule(one.f, 1.0)",
    ],
)
@pytest.mark.parametrize("earlier", ["", "import one\n", "rrule(g, 1.0); rrule(Mine(), 1.0)\n"])
def test_every_way_to_look_up_a_rule_finds_those_of_a_section(lazy, python, look_up, earlier):
    done = python(
        ASK + "from rulescore._table.table import rules_of\n"
        "def g(x): return x\n"
        "class Mine:\n"
        "    def __call__(self, x): return x\n" + earlier + "rrule(g, 1.0); import one\n"
        f"print(bool({look_up}))"
    )
    assert done.stdout.splitlines()[-1] == "True"


def test_types_of_a_library_meet_a_function_that_had_rules_already(install, python, tmp_path):
    install("lazy", HOOK.format("Section('one', 'lazy_one')"))
    (tmp_path / "one.py").write_text("class Matrix(list): pass")
    (tmp_path / "lazy_one.py").write_text(
        "import one, operator\nfrom rulescore import RuleSet\nrule = RuleSet('lazy')\n"
        "@rule(operator.index)\ndef _(x: one.Matrix): return 'matrix', None\n"
    )
    done = python(
        ASK + "import operator; from rulescore import RuleSet\n"
        "own = RuleSet('own'); own(operator.index)(lambda x: ('any', None)); own.register()\n"
        "print(rrule(operator.index, [])[0])\n"
        "import one\n"
        "print(rrule(operator.index, [])[0], rrule(operator.index, one.Matrix())[0])\n"
    )
    assert done.stdout.splitlines() == ["any", "any matrix"]


def test_a_library_that_is_just_being_imported_is_waited_for(lazy, python, tmp_path):
    (tmp_path / "one.py").write_text(
        "import rulescore\ndef early(x): return x\nprint(rulescore.rrule(early, 1.0))\n"
        + LIBRARY.format(library="one")
    )
    done = python(ASK + "rrule(len, 's')\nimport one\nprint(rrule(one.f, 1.0)[1](1.0))")
    assert done.stdout.splitlines() == ["None", "one", "rules for one", "(None, 7.0)"]


BROKEN = {
    "raise ValueError('no')": "ValueError: no",
    "rule = 3": "RuleError: lazy_one names no RuleSet, but int: name one",
    "x = 1": "RuleError: lazy_one names no RuleSet, but None",
    "import rulescore\nrule = rulescore.RuleSet('lazy')\nrule(len)": "RuleError: rule set lazy, ",
}


@pytest.mark.parametrize(("text", "cause"), BROKEN.items())
def test_a_section_that_cannot_be_loaded_is_named_by_one_warning(
    lazy, python, tmp_path, text, cause
):
    (tmp_path / "lazy_one.py").write_text(text)
    code = (
        ASK + "import one\n"
        "for _ in range(2):\n"
        "    try: print(rrule(one.f, 1.0))\n"
        "    except Exception as error: print(type(error).__name__)\n"
        "from two import three\n"
    )
    done = python(code + "print(rrule(three.f, 1.0)[1](1.0), type(told()[2]).__name__)")
    name = cause.partition(":")[0]
    assert done.stdout.splitlines()[-1] == f"(None, 7.0) {name}"
    assert done.stdout.splitlines()[1:3] == ["None", "None"]
    warned = [line for line in done.stderr.splitlines() if "UserWarning" in line]
    assert len(warned) == 1
    assert (
        "the section for one of the rule plugin 'lazy' of lazy 1.2.3 could not be loaded, and its "
        f"rules are missing: {cause}"
    ) in warned[0]
    if "rule(len)" not in text:  # a declaration without a body is told of once
        strict = python(code, RULESCORE_STRICT="1")
        assert strict.stdout.splitlines()[1:3] == [name, name]


def test_a_plugin_that_is_switched_off_has_no_sections(lazy, python):
    done = python(ASK + "import one\nprint(rrule(one.f, 1.0), *told())", disable="*")
    assert done.stdout.splitlines() == ["one", "None 0 [] None"]


def test_sections_of_libraries_that_are_not_installed_never_load(install, python):
    install("lazy", HOOK.format("Section('no_such_library', 'no_such_rules')"))
    done = python(
        ASK + "print(len([p for p in plugins(all_sections=True)]) > 0, rrule(len, 's'), *told())"
    )
    assert (done.stdout, done.stderr) == ("True None 0 ['no_such_library'] None\n", "")


def test_two_sections_that_clash_are_one_warning(lazy, install, python, tmp_path):
    install("other", HOOK.format("Section('one', 'other_one')"))
    (tmp_path / "other_one.py").write_text(RULES.format(library="one", name="rule"))
    done = python(
        ASK + "rrule(len, 's'); import one\n"
        "for x in (1.0, 2.0):\n"
        "    try: rrule(one.f, x)\n"
        "    except Exception as error: print(error)\n"
    )
    assert done.stdout.count("two rules for one.f(Numeric)") == 2
    assert done.stderr.count("the rules of lazy and other clash") == 1


MATH = """
import sys, math, numpy
known = set(sys.modules)
import rulescore, zygote_lite
def f(x):
    return math.sin(x) * x
for _ in range(4):
    print(zygote_lite.gradient(f, 1.0)[0] == math.sin(1.0) + math.cos(1.0))
libraries = "scipy", "torch", "jax", "statistics", "numpy.polynomial"
print([name for name in libraries if name in sys.modules and name not in known])
"""


def test_a_gradient_of_math_imports_no_library(python, tmp_path):
    (tmp_path / "program.py").write_text(MATH)
    done = python(None, "program.py", disable="")
    assert done.stdout.splitlines() == ["True"] * 4 + ["[]"]
    assert done.stderr == ""


def test_a_library_that_is_imported_after_a_gradient_gets_its_section(python, tmp_path):
    pytest.importorskip("scipy", reason="SciPy is not installed")
    (tmp_path / "program.py").write_text(
        MATH + "from scipy import special\n"
        "def g(x):\n"
        "    return special.erf(x)\n"
        "for _ in range(4):\n"
        "    print(abs(zygote_lite.gradient(g, 0.6)[0] - 0.7872434317142872) < 1e-15)\n"
        "(p,) = [p for p in rulescore.plugins() if p.name == 'rules_scipy']\n"
        "print({rule.plugin for s in p.rulesets for rule in s.rules})\n"
        "print(zygote_lite.gradient(f, 1.0)[0] == math.sin(1.0) + math.cos(1.0))\n"
    )
    done = python(None, "program.py", disable="")
    assert done.stdout.splitlines()[5:] == ["True"] * 4 + ["{'rules_scipy'}", "True"]
    assert done.stderr == ""


def test_a_section_names_one_library_or_several():
    assert rulescore.Section("a.b", "c").modules == ("a.b",)
    assert rulescore.Section(("a.b", "d"), "c").modules == ("a.b", "d")


def test_code_that_was_transformed_before_follows_the_rules_of_a_section(install, python, tmp_path):
    install("lazy", HOOK.format("Section('one', 'lazy_one')"))
    (tmp_path / "zero.py").write_text("def f(x): return x * 2.0")
    (tmp_path / "one.py").write_text("")
    (tmp_path / "lazy_one.py").write_text(
        "import one, zero\nfrom rulescore import RuleSet\nrule = RuleSet('lazy')\n"
        "rule.scalar(zero.f)(lambda x: 7.0)\n"
    )
    (tmp_path / "program.py").write_text(
        "import sys, types, zero\n"
        "from zygote_lite import gradient\n"
        "from zygote_lite.testing import observed\n"
        "def g(x):\n"
        "    return zero.f(x) * 1.0\n"
        "with observed() as answers:\n"
        "    for _ in range(4): gradient(g, 1.0)\n"
        "print([answer.tier for answer in answers][-1])\n"
        "import one\n"
        "for _ in range(4): print(*gradient(g, 1.0))\n"
    )
    done = python(None, "program.py", disable="")
    assert done.stdout.splitlines() == ["transformed", *["7.0"] * 4]


def test_a_library_that_is_put_off_is_not_imported_by_asking(lazy, python):
    done = python(
        ASK + "import importlib.util, sys\n"
        "specification = importlib.util.find_spec('one')\n"
        "specification.loader = importlib.util.LazyLoader(specification.loader)\n"
        "one = sys.modules['one'] = importlib.util.module_from_spec(specification)\n"
        "specification.loader.exec_module(one)\n"
        "print(rrule(len, 's'), *told())\n"
        "print(rrule(one.f, 1.0)[1](1.0))"
    )
    assert done.stdout.splitlines() == [
        "None 0 ['one', ('two.three', 'one')] None",
        "one",
        "rules for one",
        "(None, 7.0)",
    ]


@pytest.mark.parametrize("given", ["[]", "()", "''", "sys", "('one', 3)", "' one'", "['one']"])
def test_a_section_that_names_no_library_is_an_error_of_its_plugin(install, python, given):
    install("lazy", "import sys\n" + HOOK.format(f"Section({given}, 'lazy_one')"))
    done = python(ASK + "print(rrule(len, 's'), type(told()[2]).__name__)")
    assert done.stdout == "None RuleError\n"
    assert "give the name of a library, or a tuple of names" in done.stderr
    assert done.stderr.count("UserWarning") == 1


def test_a_library_that_raises_when_it_is_imported_spares_the_others(lazy, python, tmp_path):
    (tmp_path / "one.py").write_text("raise RuntimeError('no')")
    done = python(
        ASK + "print([s.libraries for p in plugins(all_sections=True) for s in p.waiting])"
    )
    assert done.stdout.splitlines()[-1] == "['one', ('two.three', 'one')]"
    assert "the library one could not be loaded, and its rules are missing" in done.stderr


NAMED = """
import one, operator
from rulescore import RuleSet
print("rules {module}")
rule = RuleSet("{plugin}")
rule.scalar(one.f)(lambda x: {partial})
@rule.batched(one.g)
def _(x: float): return x
@rule(one.Kind.method)
def _(k: one.Kind, x: float): return x, lambda dy: (None, 3.0 * dy)
"""


@pytest.fixture
def named(install, tmp_path):
    """Install a plugin with a section that names its functions."""
    functions = "functions=('one.f', 'one.g', 'one.Kind.method', 'one.gone')"
    install("lazy", HOOK.format(f"Section('one', 'lazy_one', {functions})"))
    (tmp_path / "one.py").write_text(
        "def f(x): return x\ndef g(x): return x\ndef h(x): return x\n"
        "class Kind:\n    def method(self, x): return x\n"
    )
    (tmp_path / "lazy_one.py").write_text(NAMED.format(module="one", plugin="lazy", partial=7.0))


LOOK_UPS = """
rrule(one.f, 1.0)[1](1.0)[1] == 7.0
rrule(one.Kind.method, one.Kind(), 1.0)[1](1.0)[2] == 3.0
frule((None, 1.0), one.f, 1.0)[1] == 7.0
find_rule(one.f, 1.0)
find_batched(one.g, 1.0)
rules_of(one.f)
rules_of(one.f.__code__)
why(one.f)
[s.rules for p in plugins() for s in p.rulesets]
[s.rules for p in plugins(all_sections=True) for s in p.loaded]
zygote_lite.gradient(lambda x: one.f(x), 1.0) == (7.0,)
"""


def test_a_section_that_names_its_functions_is_loaded_when_one_is_looked_up(named, python):
    done = python(
        "import one, os, zygote_lite\nfrom rulescore import *\n"
        "def loaded(): return sum([len(p.loaded) for p in plugins()])\n"
        "assert rrule(one.h, 1.0) is None and loaded() == 0\n"
        "before = generation()\n"
        f"for text in {LOOK_UPS.split(chr(10))[1:-1]}:\n"
        "    if os.fork() == 0:\n"  # each in a process that has loaded nothing
        "        print(text, bool(eval(text)), generation() == before, loaded(), flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
    )
    told = [f"rules one\n{text} True True 1" for text in LOOK_UPS.strip().splitlines()]
    assert done.stdout == "\n".join([*told, ""])
    assert done.stderr == ""


def test_code_that_was_transformed_stays_when_a_section_is_loaded(named, python, tmp_path):
    (tmp_path / "program.py").write_text(
        "import math, one, zygote_lite\nfrom zygote_lite.testing import observed\n"
        "def f(x): return math.sin(x)\n"
        "for _ in range(3): zygote_lite.gradient(f, 1.0)\n"
        "print(zygote_lite.gradient(one.f, 1.0))\n"
        "with observed() as answers: zygote_lite.gradient(f, 1.0)\n"
        "print([answer.tier for answer in answers])\n"
    )
    done = python(None, "program.py", disable="")
    assert done.stdout.splitlines() == ["rules one", "(7.0,)", "['transformed']"]


def test_rules_for_the_functions_of_a_section_that_was_not_loaded_meet_its_own(
    named, python, install, tmp_path
):
    own = (
        "import one, rulescore, sys\n"
        "assert rulescore.rrule(one.h, 1.0) is None\n"
        "own = rulescore.RuleSet('own')\nown.scalar(one.f)(lambda x: 5.0)\n"
    )
    done = python(
        own + "try: own.register()\nexcept rulescore.RuleError as e: print(e.code)\n"
        "own.register(override=True)\nprint(rulescore.rrule(one.f, 1.0)[1](1.0))\n"
        "own.unregister()\nprint(rulescore.rrule(one.f, 1.0)[1](1.0))\n"
    )
    assert done.stdout.splitlines() == ["rules one", "RC006", "(None, 5.0)", "(None, 7.0)"]
    install("other", HOOK.format("__import__('other_one').rule"))
    (tmp_path / "other_one.py").write_text(
        NAMED.format(module="other", plugin="other", partial=2.0)
    )
    done = python(own.partition("own")[0].replace("one.h", "one.Kind"))
    assert done.stdout.splitlines() == ["rules other", "rules one"]
    assert done.stderr.count("the rules of lazy and other clash") == 1


def test_a_section_that_names_too_few_functions_is_refused(named, python, tmp_path):
    (tmp_path / "lazy_one.py").write_text(
        NAMED.format(module="one", plugin="lazy", partial=7.0)
        + "rule.scalar(one.h)(lambda x: 7.0)\n"
    )
    code = (
        "import one, rulescore\n"
        "for _ in range(2):\n"
        "    try: print(rulescore.rrule(one.f, 1.0))\n"
        "    except rulescore.RuleError as error: print(error.code)\n"
    )
    done = python(code)
    assert done.stdout.splitlines() == ["rules one", "None", "None"]
    assert done.stderr.count("does not name one.h among its functions") == 1
    strict = python(code, RULESCORE_STRICT="1")
    assert strict.stdout.splitlines() == ["rules one", "RC009", "RC009"]


def test_threads_that_look_up_rules_of_one_section_all_find_them(named, python, tmp_path):
    (tmp_path / "lazy_one.py").write_text(
        "import time\n"
        + NAMED.format(module="one", plugin="lazy", partial=7.0)
        + "time.sleep(0.2)\n"
    )
    done = python(
        "import one, rulescore\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "rulescore.rrule(one.h, 1.0)\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    print(set(pool.map(lambda x: rulescore.rrule(one.f, x)[1](x), [1.0] * 4)))\n"
    )
    assert done.stdout.splitlines() == ["rules one", "{(None, 7.0)}"]


def test_the_text_of_a_plugin_fits_on_two_lines():
    for plugin in rulescore.plugins():
        assert len(repr(plugin)) < 200, plugin.name
