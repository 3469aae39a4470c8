"""The benchmark of exported rules runs; its figures are for a quiet machine."""

import numpy as np
import pytest

from benchmarks import exported


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("host", ["torch", "jax", "autograd"])
def test_both_calls_give_the_gradient(host):
    pytest.importorskip(host, reason="`nox -s interop` installs it")
    for call in getattr(exported, f"in_{host}")():
        answer = call()
        found = answer[-1] if isinstance(answer, tuple) else answer  # behind the value
        np.testing.assert_allclose(found, np.cos(exported.X), rtol=1e-12)
