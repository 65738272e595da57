"""Tests, intervals and power against hand-worked numbers, closed forms and a plain enumeration."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.evaluation.resampling import interval
from poolbias.evaluation.significance import compare, holm, paired_t, sign_flips


def system(values, groups=None):
    """Return a system's frame: values per query (or per seed and query), groups by letter."""
    values = np.atleast_2d(values)
    count = values.shape[1]
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "query_id": [f"q{number:03d}" for number in range(count)],
                    "group": list(groups) if groups else [f"g{n:03d}" for n in range(count)],
                    "seed": seed,
                    "value": row,
                }
            )
            for seed, row in enumerate(values, start=1)
        ]
    )


ZERO = np.zeros(6)


def with_t(t, count):
    """Return differences whose t statistic is `t`."""
    spread = np.arange(count) - (count - 1) / 2
    return spread / spread.std(ddof=1) + t / math.sqrt(count)


def test_paired_t_against_closed_forms_and_the_printed_table():
    # Student's distribution has a closed form for 1, 2 and 4 degrees of freedom.
    assert paired_t(np.array([1.0, 3.0])) == pytest.approx(1 - 2 / math.pi * math.atan(2))
    t = 1.5
    assert paired_t(with_t(t, 3)) == pytest.approx(1 - t / math.sqrt(2 + t * t))
    # 1 to 5: mean 3, standard error sqrt(2.5 / 5), t 4.2426 with 4 degrees of freedom.
    t = 3 / math.sqrt(0.5)
    x = t / math.sqrt(4 + t * t)
    by_hand = 1 - 1.5 * (x - x**3 / 3)
    assert paired_t(np.arange(1.0, 6.0)) == pytest.approx(by_hand)
    assert by_hand == pytest.approx(0.0132, abs=5e-5)
    # Two-sided 5% points of the t table: 2.228 for 10, 2.086 for 20 degrees of freedom.
    assert paired_t(with_t(2.228, 11)) == pytest.approx(0.05, abs=1e-4)
    assert paired_t(with_t(-2.086, 21)) == pytest.approx(0.05, abs=1e-4)


def test_paired_t_of_nothing_to_see():
    assert paired_t(np.array([0.7])) == 1.0
    assert paired_t(np.zeros(5)) == 1.0
    assert paired_t(np.array([0.5, 0.5, 0.5])) == 0.0


def test_sign_flips_of_four_groups_by_hand():
    # Of 16 flips only +1+2+3+4 and its mirror are as far from 0 as 10.
    assert sign_flips(np.array([1.0, 2.0, 3.0, 4.0])) == 2 / 16
    # 3+1-1+1 = 4: sums of at least 4 are 3+1+1+1 and three of 3+1+1-1, and their mirrors.
    assert sign_flips(np.array([3.0, 1.0, -1.0, 1.0])) == 8 / 16
    assert sign_flips(np.array([0.1, 0.2, -0.3])) == 1.0  # the sum is 0 but for rounding
    # .5 + x for the 8 sums x of ±.1 ±.2 ±.3, of which 5 are at least 0, two only but for rounding.
    assert sign_flips(np.array([0.5, 0.1, 0.2, -0.3])) == 10 / 16
    assert sign_flips(np.zeros(4)) == 1.0
    assert sign_flips(np.array([0.0, 2.0, 0.0])) == 1.0  # a group of 0 flips nothing


def enumerated(sums):
    flips = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    return sum(value >= abs(sum(sums)) - 1e-9 for value in flips) / len(flips)


def test_up_to_twelve_groups_are_enumerated_and_more_are_drawn():
    sums = np.random.default_rng(4).normal(0.4, 1, 13)
    twelve = sign_flips(sums[:12])
    assert twelve == enumerated(sums[:12])
    assert twelve * 4096 % 1 == 0
    thirteen = sign_flips(sums)
    assert thirteen * 20_000 == pytest.approx(round(thirteen * 20_000))
    assert thirteen * 8192 != pytest.approx(round(thirteen * 8192))
    exact = enumerated(sums)
    assert 0.05 < exact < 0.95
    assert thirteen == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))


def test_drawn_flips_are_never_0_keyed_and_free_of_blocks(monkeypatch):
    assert sign_flips(np.ones(60)) == 1 / 20_000
    assert sign_flips(np.ones(60), flips=99) == 1 / 100
    sums = np.random.default_rng(5).normal(0.2, 1, 37)
    first = sign_flips(sums)
    assert sign_flips(sums, seed=1) != first
    monkeypatch.setattr("poolbias.evaluation.significance._BLOCK", 5_000)
    assert sign_flips(sums) == first


def test_holm_by_hand():
    # Sorted .005·4, .01·3, .03·2, .04·1; the last is raised to the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.4]).tolist() == pytest.approx([0.8, 0.8])
    assert holm([0.9, 0.6, 0.7]).tolist() == [1.0, 1.0, 1.0]
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).tolist() == []
    for wrong in (1.01, -0.01, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            holm([0.5, wrong])


def test_seeds_are_averaged_per_query_first():
    a = system([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])  # means .5, .5, 1
    b = system([0.5, 0.25, 0.25])
    found = compare(a, b)
    assert found.difference == pytest.approx((0 + 0.25 + 0.75) / 3)
    assert (found.queries, found.groups, found.seeds) == (3, 3, 1)
    # 0, .25, .75: t = (1/3) / (sd / sqrt 3) with 2 degrees of freedom.
    t = (1 / 3) / (np.std([0, 0.25, 0.75], ddof=1) / math.sqrt(3))
    assert found.p_t == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert compare(b, a).difference == -found.difference
    assert compare(b, a).p_t == pytest.approx(found.p_t)


def test_signs_of_whole_groups_flip():
    values = np.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0])
    assert compare(system(values, "aabbccdd"), system(np.zeros(8), "aabbccdd")).p_randomisation == (
        2 / 16
    )
    assert compare(system(values), system(np.zeros(8))).p_randomisation == 2 / 256


def test_with_one_seed_the_interval_is_that_of_the_differences_over_groups():
    generator = np.random.default_rng(7)
    groups = [f"g{number}" for number in generator.integers(12, size=50)]
    a, b = generator.normal(0.1, 1, 50), generator.normal(size=50)
    found = compare(system(a, groups), system(b, groups), seed=3, resamples=500)
    plain = interval(pd.DataFrame({"group": groups, "value": a - b}), seed=3, resamples=500)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    assert found.difference == pytest.approx(plain.mean)
    assert found.groups == plain.groups == len(set(groups))


def test_seeds_of_a_and_of_b_are_drawn_apart_one_fewer_than_there_are():
    # All queries alike: only seeds vary. One of a's two seeds is drawn: 0 or 1.
    a = system([ZERO, ZERO + 1])
    found = compare(a, system(ZERO))
    assert (found.difference, found.low, found.high) == (0.5, 0.0, 1.0)
    assert found.smallest_detectable == pytest.approx(2.8016 * 0.5, rel=0.02)
    both = compare(a, a)  # drawn apart, the difference is -1, 0 or 1
    assert (both.low, both.high, both.seeds) == (-1.0, 1.0, 2)
    assert both.smallest_detectable == pytest.approx(2.8016 * math.sqrt(0.5), rel=0.05)
    seeds = np.array([0.0, 0.3, 0.4, 0.9])
    found = compare(system(seeds[:, None] + ZERO), system(ZERO))
    expected = 2.8016 * seeds.std(ddof=1) / 2  # the standard error of a mean of 4 seeds
    assert found.smallest_detectable == pytest.approx(expected, rel=0.05)


def test_variation_of_groups_and_of_seeds_adds_up():
    generator = np.random.default_rng(8)
    queries = generator.normal(size=300)
    seeds = np.array([-0.1, 0.05, 0.05])
    found = compare(system(queries + seeds[:, None]), system(np.zeros(300)))
    variance = queries.var(ddof=1) / 300 + seeds.var(ddof=1) / 3
    assert found.smallest_detectable == pytest.approx(2.8016 * math.sqrt(variance), rel=0.05)
    assert found.high - found.low == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.1)


def test_the_smallest_detectable_difference_is_found_four_times_in_five():
    generator = np.random.default_rng(9)
    values = generator.normal(size=100)
    values = (values - values.mean()) / values.std(ddof=1)
    smallest = compare(system(values), system(np.zeros(100))).smallest_detectable
    assert smallest == pytest.approx(0.28, rel=0.05)
    found = [paired_t(generator.normal(smallest, 1, 100)) < 0.05 for _ in range(3000)]
    assert 0.77 < np.mean(found) < 0.83
    missed = [paired_t(generator.normal(smallest / 2, 1, 100)) < 0.05 for _ in range(1000)]
    assert np.mean(missed) < 0.35


def test_one_group_tells_nothing_of_power():
    found = compare(system([0.1, 0.2], "aa"), system([0.0, 0.0], "aa"))
    assert math.isnan(found.smallest_detectable)
    assert found.p_randomisation == 1.0


def test_order_of_rows_changes_nothing_and_the_key_does():
    generator = np.random.default_rng(10)
    a, b = system(generator.normal(size=(3, 40))), system(generator.normal(size=(2, 40)))
    first = compare(a, b)
    shuffled = [frame.sample(frac=1, random_state=2) for frame in (a, b)]
    assert compare(*shuffled) == first
    assert compare(a, b, seed=1)[1:3] != first[1:3]
    assert first.seeds == 2


def test_what_cannot_be_compared_is_named():
    a, b = system([1.0, 2.0, 3.0]), system([1.0, 2.0])
    names = ("dense cet", "dense naive")
    with pytest.raises(DataError, match="query q002 is missing from dense naive, which dense cet"):
        compare(a, b, names=names)
    with pytest.raises(DataError, match="query q002 is missing from dense naive, which dense cet"):
        compare(b, a, names=names[::-1])
    with pytest.raises(DataError, match="query q001 is measured twice for dense cet"):
        compare(pd.concat([a, a.iloc[1:2]]), a, names=names)
    lacking = system([[1.0, 2.0], [1.0, 2.0]]).iloc[:3]
    with pytest.raises(DataError, match="query q001 of dense cet was not measured for all 2 seeds"):
        compare(lacking, b, names=names)
    with pytest.raises(DataError, match="query q001 is of group b for dense cet and a for dense"):
        compare(system([1.0, 2.0], "ab"), system([1.0, 2.0], "aa"), names=names)
    with pytest.raises(DataError, match="dense naive has no values"):
        compare(a, a.iloc[:0], names=names)
