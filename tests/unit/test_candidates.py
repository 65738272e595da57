"""The candidates table and its files against arrays made by hand."""

import numpy as np
import pytest

from poolbias.candidates import Candidates
from poolbias.errors import DataError

TABLE = Candidates(
    query_rows=np.array([0, 4], np.int32),
    offsets=np.array([0, 2, 3]),
    documents=np.array([1, 3, 8], np.int32),
    ranks=np.array([1, 3, 2], np.int32),
    probability=np.array([0.25, 0.75, 1.0], np.float32),
    positive_offsets=np.array([0, 1, 3]),
    positives=np.array([2, 5, 9], np.int32),
    relevant=np.array([0, 1, 0], np.uint8),
)


def test_the_table_survives_its_files(tmp_path):
    TABLE.save(tmp_path)
    again = Candidates.load(tmp_path)
    assert len(again) == 2
    for name, array in vars(TABLE).items():
        np.testing.assert_array_equal(getattr(again, name), array)
    (tmp_path / "ranks.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"ranks\.npy: cannot be read"):
        Candidates.load(tmp_path)


def test_relevance_may_be_unknown_but_nothing_else_may_lack(tmp_path):
    TABLE.save(tmp_path)
    (tmp_path / "relevant.npy").unlink()
    assert Candidates.load(tmp_path).relevant is None
    (tmp_path / "documents.npy").unlink()
    with pytest.raises(DataError, match=r"documents\.npy: cannot be read"):
        Candidates.load(tmp_path)
