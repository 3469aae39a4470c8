"""The fit in chunks from disk, with few rows; its figures are for the whole."""

import pytest

distributed = pytest.importorskip(
    "distributed", reason="dask.distributed is not here: `nox -s distributed` installs it"
)
pytestmark = pytest.mark.filterwarnings("default")


def test_the_fit_finds_the_weights(tmp_path):
    from benchmarks import out_of_core

    found = out_of_core.main(tmp_path, rows=6_000, of_a_chunk=1_500)
    assert found["chunks"] == 4
    assert found["largest error of the first gradient"] < 1e-13
    assert found["steepness at the end"] < 1e-3
    assert found["largest error of a weight"] < 0.2
