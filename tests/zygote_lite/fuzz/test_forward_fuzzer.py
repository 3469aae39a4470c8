"""Some random programs, forward: cheap ones, of each kind that the tests of `jvp` do not write."""

from tests.zygote_lite.fuzz.forward_fuzzer import run

CHEAP = (840002, 840003, 840005, 840008, 840011, 840012, 840018, 840034, 840044)


def test_random_programs():
    transformed = 0
    for seed in CHEAP:
        counts, wrong = run(1, seed)
        assert wrong == []
        transformed += counts["transformed"] + counts["of the gradient: transformed"]
    assert transformed >= 26
