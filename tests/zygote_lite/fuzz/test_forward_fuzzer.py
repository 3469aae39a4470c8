"""Some random programs, forward: cheap ones, of each kind that the tests of `jvp` do not write."""

from tests.zygote_lite.fuzz.forward_fuzzer import run

CHEAP = (840035, 840036, 840037, 840046, 840047, 840048, 840055, 840064, 840065, 840069, 840074)


def test_random_programs():
    transformed = 0
    for seed in CHEAP:
        counts, wrong = run(1, seed, choices_of_each=2)
        assert wrong == []
        transformed += counts["transformed"] + counts["of the gradient: transformed"]
    assert transformed >= 36
