"""Arrays and modules on a GPU: `nox -s gpu`, where there is one."""

import numpy as np
import pytest

from tests.interop.operations import OPERATIONS, X
from tests.rules_base.test_device_arrays import Device
from zygote_lite import gradient, hessian

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays_of_cupy(name):
    cupy = pytest.importorskip("cupy", reason="CuPy is not here: `nox -s gpu` installs it")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("there is no GPU")
    (dx,) = gradient(OPERATIONS[name], cupy.asarray(X))
    assert isinstance(dx, cupy.ndarray)
    np.testing.assert_allclose(cupy.asnumpy(dx), gradient(OPERATIONS[name], X)[0], rtol=1e-10)


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays_that_stand_in_for_those_of_cupy(name):
    """They refuse what CuPy refuses: to become an array of NumPy, and to meet one in a call."""
    for _ in range(3):
        (dx,) = gradient(OPERATIONS[name], Device(X))
        assert isinstance(dx, Device)
        np.testing.assert_allclose(dx.data, gradient(OPERATIONS[name], X)[0], rtol=1e-10)


def test_a_module_on_a_gpu_has_arrays_of_the_cpu():
    torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s gpu` installs it")
    rules_torch = pytest.importorskip("rules_torch", reason="the plugin is not installed")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    own = torch.nn.Linear(3, 2).double()
    there = torch.nn.Linear(3, 2).double()
    there.load_state_dict(own.state_dict())
    there.cuda()

    def on_gpu(x):
        return there(x.cuda())

    f, g = rules_torch.numpy(own), rules_torch.numpy(on_gpu)
    np.testing.assert_allclose(g(X), f(X), rtol=1e-12)
    found, want = (hessian(lambda x: np.sum(h(x) ** 2))(X) for h in (g, f))
    np.testing.assert_allclose(found, want, rtol=1e-10)
