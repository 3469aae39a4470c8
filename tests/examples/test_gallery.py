"""The scripts of the gallery: what they find, beside what is known, and their pictures."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rules_nnlib import softmax
from tests.examples.conftest import EXAMPLES, PICTURES, assert_is_the_picture_of
from zygote_lite import grad, gradient
from zygote_lite.demo import moons as demo
from zygote_lite.value import buildgraph


def greeks(module):
    spot = np.linspace(70.0, 130.0, 7)
    found, known = module.by_gradients(spot), module.by_formulas(spot)
    for name in known:
        np.testing.assert_allclose(found[name], known[name], rtol=1e-10)


def arm(module):
    points = module.curve(5)
    reached = [module.tip(angles) for angles in module.follow(points)]
    np.testing.assert_allclose(reached, points, atol=1e-4)


def lenses(module):
    found = module.fit()
    assert module.spot(found) < 1e-4 * module.spot(module.START)
    directions = np.diff(module.trace(found, module.HEIGHTS)[:3], axis=0)
    sines = np.sin(np.arctan2(directions[..., 1], directions[..., 0]))
    np.testing.assert_allclose(sines[0], 0.0, atol=1e-12)  # parallel until the first surface
    y = module.trace(found, module.HEIGHTS)[1, :, 1]
    normals = np.arcsin(-found[0] * y)
    inside = np.arcsin(sines[1])
    np.testing.assert_allclose(1.5 * np.sin(normals - inside), np.sin(normals), atol=1e-12)


def kalman(module):
    _, zs = module.measurements(20)
    logs, _ = module.fit(zs)
    value, step = module.loss(logs, zs), 1e-2
    for other in [*(logs + step * np.eye(2)), *(logs - step * np.eye(2))]:
        assert module.loss(other, zs) > value


def epidemic(module):
    found, covariance = module.fit(module.counts())
    assert np.all(np.abs(found - module.TRUE) < 3 * np.sqrt(np.diag(covariance)))


def neural_ode(module):
    _, losses = module.train(40)
    assert losses[-1] < 0.4 * losses[0]


def heat(module):
    free, losses = module.design(8)
    assert losses[-1] < 0.8 * losses[0]
    found = module.temperatures(module.metal_of(free))
    heated = np.sum(10.0 * found[module.COOLED])  # what leaves is what comes in
    assert heated == pytest.approx(0.01 * module.N**2)


def graph(module):
    nodes, _ = buildgraph(module.neuron())
    slope = 1 - np.tanh(2.0 * -3.0 + 0.5 * 1.0 + 6.4) ** 2
    gradients = {node.data: node.grad for node in nodes if not node.prev}
    expected = {2.0: -3 * slope, 0.5: slope, -3.0: 2 * slope, 1.0: 0.5 * slope, 6.4: slope}
    assert gradients == pytest.approx(expected)


def digits(module):
    (x, label), (unknown, truth) = module.digits()
    model, _ = module.train(x, label, 5)
    assert np.mean(np.argmax(model(unknown), axis=1) == truth) > 0.8
    wanted = np.eye(10)[label]
    (_, slope) = grad(module.loss)(model, x, wanted).out
    np.testing.assert_allclose(slope, np.mean(softmax(model(x)) - wanted, axis=0), atol=1e-12)


def char_rnn(module):
    models, losses = module.train(20)
    assert losses[-1] < 0.7 * losses[0]
    assert set(module.write(models[-1], length=50)) <= {*module.TEXT}


def fluid(module):
    at, to = np.random.default_rng(0).normal(scale=0.1, size=(2, 2 * module.N**2))
    slope, h = grad(module.misfit)(at), 1e-6
    expected = (module.misfit(at + h * to) - module.misfit(at - h * to)) / (2 * h)
    assert slope @ to == pytest.approx(expected, rel=1e-6)


def data_parallel(module):
    x = np.random.default_rng(0).uniform(-1, 1, size=(30, 2))
    whole, parts = [x], np.array_split(x, 3)
    _, once = module.train(map, whole, [*map(module.waves, whole)], 4)
    _, split = module.train(map, parts, [*map(module.waves, parts)], 4)
    np.testing.assert_allclose(split, once, rtol=1e-10)
    assert split[-1] < split[0]
    assert pickle.loads(pickle.dumps(module.slope)) is module.slope  # sent by its name
    module.ProcessPoolExecutor = lambda n, context: ThreadPoolExecutor(n)  # starts at once


def alignment(module):
    fixed = module.picture()
    bent = module.bend(fixed)
    knots, _ = module.align(bent, fixed, 12)
    assert np.std(module.moved(bent, knots) - fixed) < 0.4 * np.std(bent - fixed)


def best_place(module):
    offsets = module.best(module.TOWNS, module.WEIGHTS) - module.TOWNS
    distances = np.linalg.norm(offsets, axis=1)
    units = offsets / distances[:, None]
    across = np.eye(2) - units[:, :, None] * units[:, None, :]
    bending = across * (module.WEIGHTS / distances)[:, None, None]
    by_towns, by_weights = module.sensitivity()
    inverse = np.linalg.inv(np.sum(bending, axis=0))
    np.testing.assert_allclose(by_towns.swapaxes(0, 1), inverse @ bending, atol=1e-9)
    np.testing.assert_allclose(by_weights, -inverse @ units.T, atol=1e-9)


def spring(module):
    seen = module.path(module.TRUE, module.TIMES)
    (found,) = gradient(lambda p: module.loss(p, seen), module.START)
    for i, step in enumerate(1e-5 * np.eye(3)):
        ahead, behind = (module.loss(module.START + s, seen) for s in (step, -step))
        assert found[i] == pytest.approx((ahead - behind) / 2e-5, rel=1e-4)
    module.START = 0.9 * module.TRUE  # of the fit, which takes fewer steps


def tolerance(module):
    for name in module.CASES:
        of_value, of_gradient = module.errors(name)
        assert np.all(of_gradient < 2 * of_value + 1e-7)
        assert of_gradient[-1] < 1e-3 * of_gradient[0] + 1e-7


def memory(module):
    x, step = np.array([1.0, 2.0, 3.0, 4.0]), 1e-6
    follow = module.follow([module.double, module.multiply], np.sum, x)
    for k, (held, shadow) in enumerate(follow):
        for i, slope in enumerate(shadow):
            moved = [held + sign * step * np.eye(4)[i] for sign in (1, -1)]
            for y in moved:
                for change in [module.double, module.multiply][k:]:
                    change(y)
            assert slope == pytest.approx(np.sum(moved[0] - moved[1]) / (2 * step), rel=1e-8)


def two_names(module):
    x = np.array([2.0, 5.0])
    module.add(x, x)
    assert (module.product(x, x), x.tolist()) == (20.0, [4.0, 5.0])


def moons(module):
    points, label = module.two_moons(np.random.default_rng(0), 50)
    theirs, of_theirs = demo.two_moons(50, 0.1, np.random.default_rng(0))
    np.testing.assert_array_equal(points, theirs)
    _, losses = module.train(module.Network(np.random.default_rng(1)), points, label, 5)
    expected = demo.train(demo.make_model(np.random.default_rng(1)), theirs, of_theirs, 5)
    np.testing.assert_allclose(losses, expected, rtol=1e-7)  # what `zygote-lite moons` does


def speed(module):
    workloads, columns = module.multiples()
    assert {*module.SHOWN} < {*columns}
    assert {len(multiples) for multiples in columns.values()} == {len(workloads)}


CASES = {
    "moons": (moons, (2,)),
    "option_greeks": (greeks, ()),
    "robot_arm": (arm, ()),
    "lenses": (lenses, ()),
    "kalman_filter": (kalman, (20,)),
    "epidemic": (epidemic, ()),
    "neural_ode": (neural_ode, (2,)),
    "heat_shape": (heat, (2,)),
    "spring": (spring, ()),
    "tolerance": (tolerance, ()),
    "value_graph": (graph, ()),
    "memory": (memory, ()),
    "two_names": (two_names, ()),
    "speed": (speed, ()),
    "digits": (digits, (2,)),
    "char_rnn": (char_rnn, (4,)),
    "fluid": (fluid, (2,)),
    "image_alignment": (alignment, (2,)),
    "best_place": (best_place, ()),
    "data_parallel": (data_parallel, (2,)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_it_finds_and_its_picture(example, name, tmp_path, capsys):
    module = example(name)
    check, options = CASES[name]
    check(module)
    module.main(str(tmp_path / "picture.png"), *options)
    whole = not options and name != "spring"  # which begins elsewhere here
    assert_is_the_picture_of(name, tmp_path / "picture.png", whole)
    assert capsys.readouterr().out


def test_every_picture_is_made_by_a_script():
    made_by = {path.stem for path in EXAMPLES.glob("*.py")}
    assert {path.stem for path in PICTURES.glob("*.png")} <= made_by
    page = (PICTURES.parent / "gallery.md").read_text(encoding="utf-8")
    for path in PICTURES.glob("*.png"):
        assert f"pictures/{path.name}" in page


def test_the_gallery_lists_every_script():
    page = (PICTURES.parent / "gallery.md").read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):  # the page of a script shows the modules that it imports
        is_script = '__name__ == "__main__"' in path.read_text(encoding="utf-8")
        assert is_script == (f"(../examples/{path.name})" in page), path.name


def test_scripts_are_short():
    for script in EXAMPLES.glob("*.py"):
        assert len(script.read_text(encoding="utf-8").splitlines()) <= 80, script.name
