"""Some random programs, forward: a cheap one of almost each kind."""

import pytest

from tests.zygote_lite.fuzz.forward_fuzzer import run

CHEAP = (3, 4, 7, 14, 15, 16, 21, 25, 28, 45, 46, 47, 52, 58, 65, 66, 68, 69, 76, 82, 83, 85, 89,
         92, 107)  # fmt: skip


@pytest.mark.sampled(4)
def test_random_programs(sample):
    transformed, seeds = 0, sample(CHEAP)
    for seed in seeds:
        counts, wrong = run(1, seed, choices_of_each=2)
        assert wrong == []
        transformed += counts["transformed"] + counts["of the gradient: transformed"]
    assert transformed >= 2.4 * len(seeds)
