"""Some random programs that carry a value somewhere, and write before and after."""

from tests.zygote_lite.fuzz.carried_fuzzer import run


def test_random_programs():
    counts, faults = run(12, 100)
    assert faults == []
    assert counts["answered"] >= 6
