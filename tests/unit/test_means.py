"""Means with intervals over groups and seeds, and variances over an option, by hand."""

import numpy as np
import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.evaluation import means, sensitivity
from poolbias.evaluation.resampling import drawn_groups, interval
from poolbias.evaluation.significance import compare


def system(values, groups=None):
    """A system: per seed the values of queries a, b, c, ..."""
    rows = []
    for seed, numbers in values.items():
        for number, value in enumerate(numbers):
            query = chr(ord("a") + number)
            rows.append((query, groups[number] if groups else query, seed, value))
    return pd.DataFrame(rows, columns=["query_id", "group", "seed", "value"])


def test_one_seed_gives_the_interval_over_groups():
    values = np.random.default_rng(0).random(30)
    groups = [f"g{number // 3}" for number in range(30)]
    one = pd.DataFrame({"query_id": [f"q{n}" for n in range(30)], "group": groups, "seed": 1})
    one["value"] = values
    found, expected = means.mean(one), interval(one)
    assert found == pytest.approx((*expected[:3], 30, 10, 1))
    assert found.low < found.mean < found.high


def test_seeds_alone_move_the_interval_where_groups_do_not():
    found = means.mean(system({1: [0.2, 0.2], 2: [0.4, 0.4], 3: [0.9, 0.9]}))
    assert found.mean == pytest.approx(0.5)
    # two of three seeds are drawn: the extremes are .2 and .9 twice, 1 of 9 each
    assert (found.low, found.high) == pytest.approx((0.2, 0.9))
    two = means.mean(system({1: [0.2, 0.2], 2: [0.4, 0.4]}))
    assert (two.low, two.high, two.seeds) == (pytest.approx(0.2), pytest.approx(0.4), 2)
    steady = means.mean(system({1: [0.2, 0.2], 2: [0.2, 0.2]}))
    assert (steady.low, steady.high) == pytest.approx((0.2, 0.2))


def test_resamples_are_means_of_the_groups_drawn():
    one = system({1: [1.0, 3.0, 8.0]}, groups=["x", "x", "y"])
    other = system({1: [5.0]}, groups=["y"])
    found = means.resample([one, other], resamples=50)
    (drawn,) = drawn_groups(2, 50)
    for row, groups in enumerate(drawn):  # x holds 1 and 3, y holds 8
        values = [value for group in groups for value in ([1.0, 3.0], [8.0])[group]]
        assert found.drawn[row, 0] == pytest.approx(np.mean(values))
        assert np.isnan(found.drawn[row, 1]) == (1 not in groups)
    assert set(found.drawn[~np.isnan(found.drawn[:, 1]), 1]) == {5.0}
    assert [part.tolist() for part in found.by_seed] == [[4.0], [5.0]]


def test_it_agrees_with_the_interval_of_a_comparison():
    generator = np.random.default_rng(5)
    one = system({seed: generator.random(20) for seed in (1, 2, 3)})
    zero = one.assign(value=0.0)
    found, known = means.mean(one), compare(one, zero)
    assert (found.mean, found.low, found.high) == pytest.approx(
        (known.difference, known.low, known.high)
    )


def test_rows_order_changes_no_bit():
    generator = np.random.default_rng(6)
    one = system({seed: generator.random(20) for seed in (1, 2)})
    assert means.mean(one) == means.mean(one.sample(frac=1, random_state=1))


def test_a_query_without_a_seed_is_named():
    with pytest.raises(DataError, match="query b was not measured for all 2 seeds"):
        means.mean(system({1: [0.1, 0.2], 2: [0.1]}))
    with pytest.raises(ValueError, match="at least one row"):
        means.mean(system({1: []}))


def test_variance_by_hand():
    # points' means .2, .4, .9: mean .5, squares .09 + .01 + .16 over 2
    one = sensitivity.variance(np.array([[0.2], [0.4], [0.9]]))
    assert (one.value, one.observed, one.points, one.seeds) == pytest.approx((0.13, 0.13, 3, 1))
    assert np.isnan(one.by_seeds)
    # means 2 and 5: variance 4.5; residuals ±.5 in all four: 1 / (2-1)(2-1) / 2 seeds
    two = sensitivity.variance(np.array([[1.5, 2.5], [5.5, 4.5]]))
    assert (two.observed, two.by_seeds, two.value) == pytest.approx((4.5, 0.5, 4.0))
    # what a seed does to all points alike is no variance of seeds
    shifted = sensitivity.variance(np.array([[1.0, 2.0], [4.0, 5.0]]))
    assert (shifted.observed, shifted.by_seeds, shifted.value) == pytest.approx((4.5, 0.0, 4.5))
    # more variance of seeds than of points: nothing is left
    none = sensitivity.variance(np.array([[0.0, 4.0], [4.0, 0.0]]))
    assert (none.observed, none.by_seeds, none.value) == pytest.approx((0.0, 8.0, 0.0))
    with pytest.raises(ValueError, match="at least two points"):
        sensitivity.variance(np.array([[1.0, 2.0]]))


def points(*values, seeds=(1,)):
    """Points whose queries all have one value: resampling groups moves nothing."""
    return [system({seed: [value, value] for seed in seeds}) for value in values]


def test_ratio_by_hand():
    found, above, below = sensitivity.ratio(points(1.0, 5.0), points(2.0, 3.0, 4.0))
    assert (above.value, below.value) == (8.0, 1.0)
    assert found == pytest.approx((8.0, 8.0, 8.0))


def test_ratio_of_what_does_not_vary():
    infinite, _, _ = sensitivity.ratio(points(1.0, 5.0), points(2.0, 2.0))
    assert infinite == (np.inf, np.inf, np.inf)
    zero, _, _ = sensitivity.ratio(points(2.0, 2.0), points(1.0, 5.0))
    assert zero == (0.0, 0.0, 0.0)
    neither, _, _ = sensitivity.ratio(points(2.0, 2.0), points(3.0, 3.0))
    assert all(np.isnan(number) for number in neither)


def noisy(generator, levels, noise):
    base = generator.random(60)
    return [
        system(
            {1: base + level + noise * generator.standard_normal(60)}, [n // 2 for n in range(60)]
        )
        for level in levels
    ]


def test_interval_of_a_ratio_holds_it_and_narrows_with_the_noise():
    widths = []
    for noise in (0.3, 0.03):
        generator = np.random.default_rng(7)
        above = noisy(generator, [0.0, 0.4, 0.8], noise)
        below = noisy(generator, [0.0, 0.2, 0.4], noise)
        found, _, _ = sensitivity.ratio(above, below)
        assert 0 < found.low < found.value < found.high
        widths.append(np.log(found.high / found.low))
    assert widths[1] < widths[0] / 3
    assert found.value == pytest.approx(4.0, rel=0.1)  # (.4 / .2)²


def test_points_with_other_seeds_are_told():
    with pytest.raises(DataError, match=r"values of one option have \[1, 2\] seeds"):
        sensitivity.ratio([*points(1.0), *points(2.0, seeds=(1, 2))], points(1.0, 2.0))
