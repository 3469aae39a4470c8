"""Complex numbers in transformed code: the gradient is `dL/d(re) + 1j * dL/d(im)`."""

import cmath

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import grad, gradient, hvp, jacobian, jvp, testing

STEP = 1e-6
X, Z = np.array([0.5, -1.2, 2.2, 0.7]), np.array([1 + 2j, 0.5 - 1j, 0.2 - 1j])


def differences(f, x):
    """Return the gradient by central differences, along the real and the imaginary axis."""
    if not isinstance(x, np.ndarray):
        return of_number(lambda dx: f(x + dx), isinstance(x, complex))
    units = np.eye(x.size)
    return np.array([of_number(lambda dx, u=u: f(x + dx * u), x.dtype.kind == "c") for u in units])


def of_number(f, is_complex):
    along = (f(STEP) - f(-STEP)) / (2 * STEP)
    return along + 1j * (f(1j * STEP) - f(-1j * STEP)) / (2 * STEP) if is_complex else along


def of_a_real_number(x):
    z = complex(x, 2.0 * x)
    w = z * z + 1j / z
    return w.real * w.imag + abs(w)


def of_a_complex_number(z):
    return (z * z.conjugate()).real + z.imag**3 + cmath.phase(z) + abs(cmath.exp(z * 1j))


def by_a_loop(z):
    w = 0
    for k in range(4):
        w = w * w * 0.1 + z * np.exp(1j * k)
    return np.real(w) * np.imag(w)


def by_a_branch(x):
    z = x + 0j
    if x > 0.0:
        z = z * 1j
    return (z**3).real + (z**3).imag


def by_a_transform(x):
    return np.sum(np.abs(np.fft.fft(x)[1:]) ** 2)


def by_writes(z):
    w = np.zeros(3, complex)
    for i in range(3):
        w[i] = z[i] * z[(i + 1) % 3]
    w *= 2.0
    return float(np.sum(w).imag + np.sum(w.real**2))


def of_mixed_arrays(x):
    z = np.array([1j, 2.0, 1 + 1j, -0.5j]) * x
    return np.sum(z.real**2 * z.imag) + np.linalg.norm(z @ np.eye(4))


def by_roots(x):
    return np.max(np.roots(x).real)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (of_a_real_number, 1.5),
        (of_a_complex_number, 1 + 2j),
        (by_a_loop, 0.4 - 0.3j),
        (by_a_loop, 0.4),
        (by_a_branch, 1.2),
        (by_a_branch, -1.2),
        (by_a_transform, X),
        (by_writes, Z),
        (of_mixed_arrays, X),
        (by_roots, np.array([1.0, 0.5, -2.0, 3.0])),
    ],
)
def test_gradients_are_those_of_differences(f, x):
    with testing.transformed_only(), testing.compared():
        (found,) = gradient(f, x)
    assert type(found) is type(x)
    assert np.asarray(found).dtype == np.asarray(x).dtype
    assert_close(found, differences(f, x), 1e-7)


def test_a_real_argument_has_a_real_gradient_in_its_precision():
    x = X.astype(np.float32)
    with testing.transformed_only(), testing.compared():
        (found,) = gradient(by_a_transform, x)
    assert found.dtype == np.float32


def test_an_array_of_complex_numbers_is_known_by_its_type():
    calls = (Z, Z.real.copy(), Z.astype(np.complex64), Z)
    for z in calls:
        with testing.transformed_only(), testing.compared():
            assert grad(lambda z: np.sum(np.abs(z * 2.0) ** 2))(z).dtype == z.dtype


def test_a_power_that_is_complex_at_one_call_only():
    def f(x):
        return abs(x**0.5)

    for x in (2.0, 2.0, 2.0, -2.0, 2.0):
        (found,) = gradient(f, x)
        assert_close(found, np.sign(x) * 0.5 / abs(x) ** 0.5, 1e-12)


def test_what_is_not_real_is_refused_as_on_the_tape():
    for _ in range(3):
        with pytest.raises(TypeError, match="complex"):
            grad(lambda x: x * 1j)(2.0)


def by_kinds(z):
    return np.real(z), np.conj(z) * 1j, np.exp(1j * z) / (z + 2j), z + 1j, "text", 3.0


def by_norms(z):
    return np.linalg.norm(z), np.vdot(z, z * 1j), np.where(np.abs(z) > 1.5, z * z, np.conj(z))


def by_views(z):
    w = np.zeros(3, complex)
    w[0] = 2.0
    w[1:] += z[1:] * 2
    part = w[1:]
    part[0] = z[0] * np.abs(z[1])
    return w * np.fft.fft(z)


def by_variables(z):
    w, u = 0, 1j
    for k in range(3):
        u, w = w + k * 1j, u * z + w * 1j
    return w * u


def by_calls(z, n=3):
    return z if n == 0 else by_calls(z * z * 0.5 + 0.1j, n - 1) * z


def by_one_type_or_another(x):
    return x * (1j if x > 0 else 2.0)


def by_polar(z):
    return cmath.rect(abs(z), 2 * cmath.phase(z)), z.real * z.imag, complex(z.imag, z.real)


def of_solutions(z):
    return np.linalg.solve(np.array([[2 + 1j, 1], [0.3j, 3]]) * z, np.array([1.0, 2.0]))


TANGENTS = [
    *((by_kinds, x) for x in (0.5, 0.4 + 0.3j, np.complex128(0.4 + 0.3j), X, Z)),
    *((by_norms, x) for x in (X, Z)),
    *((f, Z) for f in (by_views, by_writes, by_a_transform)),
    *((f, 0.4 - 0.3j) for f in (by_variables, by_calls, by_polar, of_solutions, by_a_loop)),
    *((f, 1.5) for f in (of_a_real_number, by_variables, of_solutions)),
    (of_mixed_arrays, X),
]


def moved(x):
    """Return a direction of the type of a value."""
    rng = np.random.default_rng(5)
    v = rng.normal(size=np.shape(x))
    v = v + 1j * rng.normal(size=np.shape(x)) if np.iscomplexobj(x) else v
    return v if isinstance(x, np.ndarray) else type(x)(v)


@pytest.mark.parametrize("number", range(len(TANGENTS)))
def test_tangents_are_those_of_differences(number):
    f, x = TANGENTS[number]
    v = moved(x)
    with testing.transformed_only(), testing.compared(), testing.strict():
        y, dy = jvp(f, (x,), (v,))
    after, before = f(x + STEP * v), f(x - STEP * v)
    given = zip(dy, after, before, strict=True) if type(y) is tuple else [(dy, after, before)]
    for d, a, b in given:
        assert_close(d, None if d is None else (a - b) / (2 * STEP), 1e-6)
        assert d is None or np.asarray(d).dtype == np.asarray(a).dtype


def test_a_tangent_that_is_complex_at_some_calls_only():
    for x in (2.0, 2.0, -2.0, -2.0, 2.0):
        assert jvp(by_one_type_or_another, (x,), (0.5,))[1] == (0.5j if x > 0 else 1.0)


def test_complex_tangents_keep_their_precision():
    z, v = Z.astype(np.complex64), moved(Z).astype(np.complex64)
    with testing.transformed_only(), testing.compared():
        y, dy = jvp(lambda z: (z * 2j, np.abs(z)), (z,), (v,))
    assert [d.dtype for d in dy] == [d.dtype for d in y] == [np.complex64, np.float32]


def test_second_derivatives_run_on_the_tape():
    def f(x):
        return abs(cmath.exp(1j * x) + 2.0) ** 2

    for _ in range(3):
        assert_close(hvp(f)(0.5, 1.0), -4.0 * np.cos(0.5), 1e-9)
        assert_close(grad(grad(f))(0.5), -4.0 * np.cos(0.5), 1e-9)
        assert_close(jvp(f, (0.5,), (1.0,))[1], -4.0 * np.sin(0.5), 1e-9)
        assert_close(jvp(grad(f), (0.5,), (1.0,))[1], -4.0 * np.cos(0.5), 1e-9)
        assert_close(jacobian(lambda x: np.abs(x * 1j) ** 2)(X), np.diag(2.0 * X), 1e-12)
