"""The benchmarks: gradients by hand are right, engines are checked, figures are computed."""

import copy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from benchmarks import before_and_after, engines, first_calls, process, runner, table, tape_cost
from benchmarks.agreement import DisagreementError, check
from benchmarks.engines import Engine, NotAvailableError
from benchmarks.engines.plain import BY_HAND
from benchmarks.limits import Limits
from benchmarks.runner import Timings, measure
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS, networks
from zygote_lite import testing

ROOT = Path(__file__).parents[2]
by_workload = pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: w.name)


def moved(x, direction, step):
    if isinstance(x, list):
        return [moved(entry, d, step) for entry, d in zip(x, direction)]
    return x + step * direction


def difference(f, arguments, number, direction, step=1e-5):
    """Return the central difference of `f` along a direction in one argument."""

    def at(step):
        own = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
        own[number] = moved(own[number], direction, step)
        return np.asarray(f(*own))

    return (at(step) - at(-step)) / (2 * step)


@by_workload
def test_the_gradient_by_hand_is_that_of_finite_differences(workload):
    rng = np.random.default_rng(1)
    arguments = workload.make_arguments(small=True)
    for by_hand in (workload.by_hand, workload.rewritten):
        if by_hand is None:
            continue
        value, gradients = by_hand(*arguments)
        if workload.hvp:
            v = arguments[-1]
            expected = difference(flat_gradient, arguments[:-1], 0, v)
            np.testing.assert_allclose(gradients[0], expected, rtol=1e-6, atol=1e-8)
            continue
        assert value == pytest.approx(workload.f(*arguments), rel=1e-12)
        assert len(gradients) == len(workload.argnums)
        for number, gradient in zip(workload.argnums, gradients):
            if isinstance(gradient, dict):
                check_model(workload.f, arguments, gradient["layers"], rng)
                continue
            assert np.shape(gradient) == np.shape(arguments[number])
            assert type(gradient) is type(arguments[number]) or isinstance(gradient, float)
            for _ in range(3):
                direction = rng.normal(size=np.shape(gradient))
                expected = difference(workload.f, arguments, number, direction)
                found = np.sum(np.asarray(gradient) * direction)
                assert found == pytest.approx(float(expected), rel=1e-6, abs=1e-8)


def check_model(f, arguments, gradients, rng):
    """Compare the gradients of layers with finite differences."""
    model, *rest = arguments
    for layer, parts in zip(model.layers, gradients, strict=True):
        assert parts.keys() == vars(layer).keys()
        for name, gradient in parts.items():

            def moved_model(x, layer=layer, name=name):
                own = copy.copy(layer)
                setattr(own, name, x)
                layers = [own if one is layer else one for one in model.layers]
                return f(type(model)(layers), *rest)

            direction = rng.normal(size=gradient.shape)
            expected = difference(moved_model, [getattr(layer, name)], 0, direction)
            found = np.sum(gradient * direction)
            assert found == pytest.approx(float(expected), rel=1e-6, abs=1e-8)


def flat_gradient(parameters, X, label):
    """Return the gradient by hand of the network whose Hessian is multiplied."""
    _, gradients = networks.moons_by_hand(*networks.unpack(parameters), X, label)
    return np.concatenate([gradient.ravel() for gradient in gradients])


def check_small(engine, workload):
    expected = BY_HAND.unpack(workload.by_hand(*workload.make_arguments(small=True)))
    call, own = engine.prepare(workload, workload.make_arguments(small=True))
    for _ in range(2):  # a second call must not add to the first
        check(workload, engine.name, engine.unpack(call(*own)), expected)


@by_workload
def test_zygote_lite_gives_the_gradient_by_hand(workload):
    ((engine,), _, _) = engines.load(["zygote_lite"])
    check_small(engine, workload)


# JAX and Numba compile for seconds: they are checked when the benchmarks run
@pytest.mark.parametrize("name", ["autograd", "mygrad", "torch"])
def test_another_engine_gives_the_gradient_by_hand(name):
    loaded, _, notes = engines.load([name])
    if not loaded:
        pytest.skip(notes[0])
    for workload in WORKLOADS:
        if not (workload.hvp and name == "mygrad"):  # no second derivatives
            check_small(loaded[0], workload)


@by_workload
def test_arguments_are_the_same_each_time_and_not_shared(workload):
    first, second = (parts_of(workload.make_arguments(small=True)) for _ in range(2))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y)
        assert not isinstance(x, np.ndarray) or not np.shares_memory(x, y)


def parts_of(x):
    """Return the numbers and arrays in arguments, and in the objects among them."""
    if isinstance(x, tuple | list):
        return [part for item in x for part in parts_of(item)]
    return parts_of([*vars(x).values()]) if hasattr(x, "__dict__") else [x]


def test_names_are_unique():
    assert len({workload.name for workload in WORKLOADS}) == len(WORKLOADS) >= 15


SQUARE = Workload(
    name="square",
    title="a square",
    f=lambda x: float(np.sum(x * x)),
    by_hand=lambda x: (float(np.sum(x * x)), (2 * x,)),
    arguments=lambda rng: (rng.normal(size=3),),
    argnums=(0,),
    goal=2.0,
)


def engine_of(name, call):
    return Engine(name, lambda workload, arguments: (call, arguments), engines.as_is)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ((1.0, [np.ones(3)]), "the value: differs by"),
        ((None, [np.ones(3)]), "the gradient of x: differs by"),
        ((None, [np.full(3, np.nan)]), "the gradient of x: differs by nan"),
        ((None, [None]), "the gradient of x: is missing"),
        ((None, [np.ones(3, np.float32)]), "the gradient of x: is float32"),
        ((None, [np.ones((3, 1))]), r"the gradient of x: is float64\(3, 1\)"),
        ((None, []), "0 gradients, and by hand 1"),
    ],
)
def test_a_disagreement_names_engine_workload_and_argument(result, message):
    expected = BY_HAND.unpack(SQUARE.by_hand(*SQUARE.make_arguments()))
    with pytest.raises(DisagreementError, match=f"^wrong, square.*{message}"):
        check(SQUARE, "wrong", result, expected)


def test_a_wrong_engine_is_told_and_not_timed(monkeypatch):
    monkeypatch.setattr(runner, "BATCH", 1e-6)

    def broken(x):
        raise ZeroDivisionError("on purpose")

    told = []

    def warns(x):
        if not told:
            told.append(True)
            warnings.warn("it will be slow", stacklevel=1)
        return SQUARE.by_hand(x)

    def unavailable(workload, arguments):
        raise NotAvailableError("on purpose")

    timings = measure(
        SQUARE,
        [
            engine_of("right", SQUARE.by_hand),
            engine_of("wrong", lambda x: (float(np.sum(x * x)), (3 * x,))),
            engine_of("broken", broken),
            engine_of("warns", warns),
            Engine("unavailable", unavailable, engines.as_is),
        ],
        rounds=3,
    )
    assert list(timings.rounds) == ["by hand", "primal", "right", "warns"]
    assert all(len(rounds) == 3 for rounds in timings.rounds.values())
    assert all(seconds > 0 for rounds in timings.rounds.values() for seconds in rounds)
    assert timings.warnings == ["warns, square: it will be slow"]
    assert len(timings.failures) == 2
    assert timings.failures[0].startswith("wrong, square, the gradient of x: differs by")
    assert timings.failures[1] == "broken, square: ZeroDivisionError: on purpose"


def fake():
    rounds = {
        "by hand": [1e-6, 2e-6, 4e-6],
        "primal": [0.5e-6, 1e-6, 1e-6],
        "zygote_lite": [3e-6, 4e-6, 400e-6],
        "torch": [123e-6, 246e-6, 500e-6],
    }
    return Timings(SQUARE, rounds, {"zygote_lite": 0.0123, "torch": 2.0})


def test_a_ratio_is_the_median_of_the_ratios_of_each_round():
    timings = fake()
    assert timings.ratios("zygote_lite", "by hand") == pytest.approx([3.0, 2.0, 100.0])
    assert timings.ratio("zygote_lite") == pytest.approx(3.0)
    assert timings.ratio("by hand", "primal") == pytest.approx(2.0)
    assert timings.ratio("jax") is None
    assert timings.seconds("by hand") == 2e-6
    assert timings.spread("by hand") == 0.0


def test_a_batch_lasts_as_long_as_it_should(monkeypatch):
    now = iter(range(10**6))
    monkeypatch.setattr(runner.time, "process_time", lambda: next(now) * 1e-3)
    # a call takes one tick of a millisecond, and looking at the clock another
    number = runner.batch_size(lambda: next(now), ())
    assert runner.BATCH <= (number + 1) * 1e-3 <= 2 * runner.BATCH


def test_the_tables_have_the_figures():
    header, rows = table.ratios_to_hand([fake()], ["zygote_lite", "jax", "torch"])
    assert header == ["workload", "by hand", "primal", "zygote_lite", "torch"]
    assert rows == [["a square", "2 us", "0.50", "3.00", "123"]]
    header, rows = table.ratios_to_primal([fake()], ["zygote_lite"])
    assert (header, rows) == (
        ["workload", "function", "by hand", "zygote_lite"],
        [["a square", "1 us", "2.00", "6.00"]],
    )
    header, rows = table.first_calls([fake()], ["zygote_lite", "torch"])
    assert rows == [["a square", "12.3 ms", "2 s"]]
    assert table.markdown(header, rows).splitlines() == [
        "| workload | zygote_lite | torch |",
        "| --- | ---: | ---: |",
        "| a square | 12.3 ms | 2 s |",
    ]
    report = table.report([fake()], ["zygote_lite", "torch"], {"torch": 1.5})
    assert "zygote_lite 2 missed" in report
    assert "medians of 3 rounds" in report
    # quartiles 2, 3, 100; 0.25, 0.5, 0.5; 123, 123, 125
    assert "are 50.0% of it apart in the middle, 3267% at most (zygote_lite, square)" in report


def test_aligned_columns_and_the_digits_of_figures():
    assert table.text(["a", "bc"], [["def", "1"]]) == "a    bc\ndef   1"
    figures = [0.0123, 1.234, 9.96, 12.34, 99.7, 1234.5, None]
    assert [table.figure(x) for x in figures] == [
        "0.01",
        "1.23",
        "10.0",
        "12.3",
        "100",
        "1234",
        "-",
    ]
    assert [table.duration(x) for x in (2.5, 0.0123, 4.56e-5, 7e-9)] == [
        "2.5 s",
        "12.3 ms",
        "45.6 us",
        "7 ns",
    ]


def test_a_picture_is_drawn(tmp_path):
    plot = pytest.importorskip("benchmarks.plot", exc_type=ImportError)
    path = tmp_path / "picture.png"
    plot.draw([fake()], ["zygote_lite", "torch"], path, "a caption")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_threads_are_limited_before_numpy_or_not_at_all():
    with pytest.raises(RuntimeError, match="before"):
        process.use_one_core()


def test_the_circumstances_name_versions_and_no_host():
    line = process.circumstances(["numpy", "a_package_that_nobody_has"])
    assert f"numpy {np.__version__}" in line
    assert "a_package_that_nobody_has" not in line


def test_the_command_runs_one_workload():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--markdown"]
        + ["--only", "scalar_expression", "--engines", "zygote_lite"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("| workload | by hand | primal | zygote_lite |")


def test_the_command_refuses_names_that_it_does_not_know():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--only", "nothing"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "nothing: choose from scalar_expression" in done.stderr


def test_figures_before_and_after_are_measured_in_processes_of_their_own(tmp_path, capsys):
    found = before_and_after.measured("first gradient, 1 line", ROOT, tmp_path)
    assert len(found) == 1
    assert found[0] > 0.0
    assert before_and_after.lowest([[3.0, 1.0], [2.0, 4.0]]) == [2.0, 1.0]
    assert before_and_after.lowest([[3.0], None]) is None
    before_and_after.print_rows("scalar operations", [6.0, 400.0], [3.0, 100.0])
    before_and_after.print_rows("a loop with try", None, [3.0, 100.0])
    lines = [line.split()[-3:] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["6", "3", "2.0"],
        ["400", "100", "4.0"],
        ["-", "3", "-"],
        ["-", "100", "-"],
    ]


def test_figures_before_and_after_fail_one_by_one(tmp_path):
    packages = tmp_path / "old" / "src" / "zygote_lite"
    packages.mkdir(parents=True)
    (packages / "__init__.py").write_text("raise ImportError")
    assert before_and_after.measured("asked: locals", tmp_path, tmp_path) is None


@pytest.mark.parametrize("name", ["a cache", "locals", "an array"])
def test_questions_beside_a_model_are_measured(name, monkeypatch):
    monkeypatch.setattr(before_and_after, "OBJECTS", 100)
    (seconds,) = before_and_after._question(name)
    assert seconds >= 0.0


def test_a_figure_over_its_limit_ends_the_program():
    limits = Limits()
    limits.hold("first", 1.0, 1.0)
    limits.end()
    limits.hold("second", 2.5, 2.0)
    limits.hold("third", float("nan"), 2.0)
    with pytest.raises(SystemExit) as left:
        limits.end()
    assert left.value.code == (
        "over the limit:\nsecond: 2.5, and the limit is 2\nthird: nan, and the limit is 2"
    )


def test_first_calls_over_their_limit_are_told(monkeypatch, capsys):
    rows = [[1.0, 4.0, 0.9, 0.1, 0.0, 0.0], [1.0, 4.0, 1.4, 0.1, 0.0, 0.0]] * 2
    monkeypatch.setattr(first_calls, "measured", lambda *given: rows)
    limits = Limits()
    first_calls.show("all plugins", 2, {}, limits)
    assert limits.over == [
        "all plugins: one line: first gradient, imports of numpy: 1.15, and the limit is 1"
    ]
    assert "one line: first gradient" in capsys.readouterr().out


def test_operations_over_their_limit_are_told(monkeypatch, capsys):
    monkeypatch.setattr(tape_cost, "COUNT", 70)
    monkeypatch.setitem(tape_cost.MOST_MICROSECONDS, "tried", 0.0)
    limits = Limits()
    with testing.recorded_only():
        tape_cost.show_loops(limits)
    assert any(line.startswith("tried, us an operation") for line in limits.over)
    assert capsys.readouterr().out.count("\n") == 5
