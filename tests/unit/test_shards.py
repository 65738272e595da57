"""Computations in shards: the same values resumed or not, damage found, small ones not kept."""

import numpy as np
import pytest

from poolbias.shards import in_shards

BATCHES = [[3, 1], [0], [5, 4, 2], [6]]


class Counted:
    """Squares the rows, and tells which it was asked for; dies at the batch `dies_at`."""

    def __init__(self, dies_at=None):
        self.asked = []
        self.dies_at = dies_at

    def __call__(self, rows):
        if len(self.asked) == self.dies_at:
            raise KeyboardInterrupt
        self.asked.append(list(rows))
        return np.square(np.array(rows, dtype=np.float32))[:, None] + np.zeros((1, 2), np.float32)


def computed(compute, kept, rows=3):
    values = np.full((7, 2), -1, dtype=np.float32)
    for numbers, found in in_shards(BATCHES, compute, kept, "toy", "squaring", rows):
        values[numbers] = found
    return values


EXPECTED = np.repeat(np.arange(7.0)[:, None] ** 2, 2, axis=1)


@pytest.mark.parametrize("died_at", [0, 1, 2, 3])
def test_a_computation_that_died_goes_on_after_its_last_whole_shard(tmp_path, died_at):
    with pytest.raises(KeyboardInterrupt):
        computed(Counted(died_at), tmp_path)
    again = Counted()
    np.testing.assert_array_equal(computed(again, tmp_path), EXPECTED)
    whole = 0 if died_at < 2 else 2 if died_at < 3 else 3  # batches 0 and 1 are a shard, then 2
    assert again.asked == BATCHES[whole:]
    last = Counted()
    np.testing.assert_array_equal(computed(last, tmp_path), EXPECTED)
    assert last.asked == []


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:-1] + b"x", lambda b: b""])
def test_a_damaged_shard_is_told_of_and_made_again(tmp_path, caplog, damage):
    computed(Counted(), tmp_path)
    shard = tmp_path / "toy-00001.shard"
    shard.write_bytes(damage(shard.read_bytes()))
    again = Counted()
    np.testing.assert_array_equal(computed(again, tmp_path), EXPECTED)
    assert again.asked == [BATCHES[2]]
    assert "toy-00001.shard: is damaged" in caplog.text
    assert computed(Counted(9), tmp_path) is not None  # and whole again


def test_what_fits_into_one_shard_or_has_no_folder_is_not_kept(tmp_path):
    np.testing.assert_array_equal(computed(Counted(), tmp_path, rows=7), EXPECTED)
    np.testing.assert_array_equal(computed(Counted(), None), EXPECTED)
    assert list(tmp_path.iterdir()) == []
    computed(Counted(), tmp_path, rows=6)
    assert len(list(tmp_path.iterdir())) == 2


def test_no_rows_are_no_shards(tmp_path):
    assert list(in_shards([], Counted(), tmp_path, "toy", "squaring")) == []


def test_a_full_disk_costs_the_shard_and_not_the_computation(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    np.testing.assert_array_equal(computed(Counted(), tmp_path / "file"), EXPECTED)
    assert "a shard is not kept" in caplog.text
