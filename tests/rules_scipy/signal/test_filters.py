"""Rules of `rules_scipy.signal.filters`, against differences."""

import numpy as np
import pytest
from scipy import signal

from rulescore.testing import check_rrule
from zygote_lite import gradient
from zygote_lite.errors import NoRuleError


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_the_last_state_of_an_empty_input_is_refused(shape):
    zi = np.ones((*shape[:-1], 1))
    with pytest.raises(NoRuleError, match="empty x"):
        gradient(lambda s: np.sum(signal.lfilter([1.0], [1.0, 0.3], np.ones(shape), zi=s)[1]), zi)
