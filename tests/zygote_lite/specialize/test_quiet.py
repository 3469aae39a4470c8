"""The quiet context is `np.errstate(all="ignore")`, inside and after it."""

import ast
import warnings

import numpy as np
import pytest

from zygote_lite import testing, value_and_grad
from zygote_lite._specialize import quiet


def left_by_an_error():
    with quiet.manager(), quiet.Quiet():
        assert {*np.geterr().values()} == {"ignore"}
        np.log(np.array([0.0, -1.0])) / np.zeros(2) * np.array([1e300]) ** 2
        raise KeyError


def test_nothing_is_warned_of_inside_and_the_settings_come_back():
    with np.errstate(divide="raise", over="warn", under="raise", invalid="print"):
        before = np.geterr()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(KeyError):
                left_by_an_error()
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            np.ones(1) / np.zeros(1)


def test_only_what_ignores_all_runs_as_it():
    for text in ('np.errstate(all="warn")', 'np.errstate(over="ignore")', "np.errstate()"):
        written = ast.parse(text, mode="eval").body
        assert quiet.context_of(written) is written
    with testing.transformed_only(), np.errstate(divide="ignore"):
        for _ in range(2):
            y, d = value_and_grad(lambda x: np.sum(np.sqrt(x[1:]) - x[0]))(np.array([1.0, 4.0]))
            assert (y, d.tolist(), np.geterr()["divide"]) == (1.0, [-1.0, 0.25], "ignore")
