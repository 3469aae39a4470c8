"""Whole plugins as functions of PyTorch: given as a package, as a plugin, and by name."""

import dataclasses
import functools
import json

import numpy as np
import pytest

import rules_base
import rules_nnlib
import rules_scipy
from rulescore import plugins
from rulescore._naming import name_of
from rulescore.interop import to_torch
from tests.interop.choose import is_plain, real_only

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
OF_EACH = 6  # functions of a section of SciPy


def some_of_each_section():
    (plugin,) = [p for p in plugins(all_sections=True) if p.name == "rules_scipy"]
    found = {}
    for ruleset in plugin.rulesets:
        for f, xs, options in ruleset.examples:
            section = ".".join(name_of(f).split(".")[:2])
            if not section.startswith("scipy."):  # it helps a rule
                continue
            known = found.setdefault(section, {})
            if name_of(f) not in known and len(known) < OF_EACH and is_plain(f, xs, options):
                known[name_of(f)] = xs, options
    return [(name, *call) for known in found.values() for name, call in known.items()]


CALLS = some_of_each_section()


def test_there_are_functions_of_all_sections():
    assert len(CALLS) >= 40
    sections = {name.split(".")[1] for name, *_ in CALLS}
    assert {
        "fft",
        "fftpack",
        "linalg",
        "ndimage",
        "signal",
        "spatial",
        "special",
        "stats",
    } <= sections


@pytest.mark.parametrize(("name", "xs", "options"), CALLS, ids=[name for name, *_ in CALLS])
def test_functions_of_the_plugin_pass_gradcheck(name, xs, options):
    f = functools.reduce(getattr, name.split("."), to_torch("rules_scipy"))
    call, given = real_only(f, xs, options)
    tensors = [torch.tensor(np.array(x), dtype=torch.float64, requires_grad=True) for x in given]
    assert torch.autograd.gradcheck(call, tensors, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("plugin", [rules_scipy, rules_base, rules_nnlib])
def test_a_package_a_plugin_and_a_name_give_the_same(plugin):
    (found,) = [p for p in plugins() if p.name == plugin.__name__]
    for given in (plugin, found, plugin.__name__):
        exported = to_torch(given)
        f = {
            rules_scipy: lambda: exported.scipy.special.gammaln,
            rules_base: lambda: exported.numpy.sin,
            rules_nnlib: lambda: exported.sigmoid,
        }[plugin]()
        x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(f, x)
        assert plugin.__name__ in repr(exported)
        assert dir(exported)


def test_functions_are_found_by_their_library():
    base = to_torch(rules_base)
    assert {"numpy", "math", "operator", "builtins"} <= {*dir(base)}
    y = base.operator.mul(torch.tensor([1.0, 2.0]), base.math.sin(torch.tensor(0.5)))
    np.testing.assert_allclose(y, np.array([1.0, 2.0]) * np.sin(0.5), rtol=1e-6)
    assert "gammaln" in dir(to_torch("rules_scipy").scipy.special)
    with pytest.raises(AttributeError, match=r"functions of builtins, .*scipy is none of these"):
        _ = base.scipy


def test_unknown_and_empty_ones_are_refused():
    with pytest.raises(TypeError, match="no installed plugin is named 'rules_scypi', of rules_b"):
        to_torch("rules_scypi")
    with pytest.raises(TypeError, match="no function of json can be exported: nobody has a rule"):
        to_torch(json)
    switched_off = dataclasses.replace(plugins()[0], name="rules_nnlib", disabled=True)
    with pytest.raises(TypeError, match="rules_nnlib is switched off by RULESCORE_DISABLE"):
        to_torch(switched_off)
