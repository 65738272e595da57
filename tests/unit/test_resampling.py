import numpy as np
import pandas as pd
import pytest

from poolbias.evaluation.resampling import interval, ratio


def frame_of(groups, values):
    return pd.DataFrame({"group": list(groups), "value": values})


def test_equal_values_have_no_width():
    found = interval(frame_of("aabbcd", [0.3] * 6))
    assert found[:3] == pytest.approx((0.3, 0.3, 0.3), abs=1e-12)
    assert (found.rows, found.groups) == (6, 4)


def test_mean_is_over_rows_not_over_groups():
    assert interval(frame_of("aaab", [1.0, 1.0, 1.0, 0.0])).mean == 0.75


def test_one_group_moves_together_and_has_no_width():
    values = np.linspace(0, 1, 40)
    together = interval(frame_of(["g"] * 40, values))
    assert together.low == together.high == pytest.approx(0.5)
    apart = interval(frame_of(range(40), values))
    assert apart.high - apart.low > 0.1


def test_width_is_that_of_the_mean_of_groups():
    # 200 groups of 5 equal values: the interval of 200 values, not of 1,000.
    values = np.random.default_rng(3).normal(size=200)
    found = interval(frame_of(np.repeat(np.arange(200), 5), np.repeat(values, 5)), resamples=4000)
    expected = 2 * 1.96 * values.std() / np.sqrt(200)
    assert found.high - found.low == pytest.approx(expected, rel=0.07)
    assert found.low < found.mean < found.high


def test_two_groups_by_enumeration():
    # Means of the four draws: 0 (1/4), 1/2 (1/2), 1 (1/4); the middle half lies between 0 and 1.
    found = interval(frame_of("ab", [0.0, 1.0]), level=0.95)
    assert found[:3] == (0.5, 0.0, 1.0)
    assert interval(frame_of("ab", [0.0, 1.0]), level=0.4)[:3] == (0.5, 0.5, 0.5)


def test_keyed_by_seed_and_free_of_row_order():
    generator = np.random.default_rng(5)
    frame = frame_of(generator.integers(30, size=100), generator.normal(size=100))
    first = interval(frame, seed=1)
    assert interval(frame.sample(frac=1, random_state=1), seed=1) == first
    assert interval(frame, seed=2)[1:3] != first[1:3]


def test_blocks_do_not_change_the_draws(monkeypatch):
    frame = frame_of(range(50), np.random.default_rng(6).normal(size=50))
    whole = interval(frame)
    monkeypatch.setattr("poolbias.evaluation.resampling._BLOCK", 700)
    assert interval(frame) == whole


def test_ratio_divides_sums_and_skips_draws_without_denominator():
    counts = pd.DataFrame(
        {"group": ["a", "b", "c"], "numerator": [1, 3, 0], "denominator": [2, 4, 0]}
    )
    found = ratio(counts)
    assert found.mean == pytest.approx(4 / 6)
    assert (found.low, found.high) == (0.5, 0.75)
    nothing = ratio(counts.assign(numerator=0, denominator=0))
    assert np.isnan(nothing[:3]).all()


def test_no_rows():
    with pytest.raises(ValueError, match="at least one row"):
        interval(frame_of("", []))
