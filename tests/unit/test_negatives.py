"""Each choice of negatives against weights worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from poolbias import negatives
from poolbias.errors import ConfigError, DataError
from poolbias.negatives import rance


def frame(scores, positive=None, query="a", **columns):
    """Candidates of one query, by rank."""
    made = pd.DataFrame({"score": np.asarray(scores, np.float64)})
    made = made.assign(query_id=query, query_row=0, document_row=range(len(made)))
    made["rank"] = range(1, len(made) + 1)
    return made.assign(**({} if positive is None else {"positive_score": positive}), **columns)


def weights(name, candidates, **parameters):
    return negatives.get(name)(candidates, parameters).tolist()


def test_uniform_and_random_take_every_candidate():
    for name in ("uniform", "random"):
        assert weights(name, frame([3, 2, 1])) == [1, 1, 1]
        assert negatives.figures(name, frame([3, 2, 1]), {}) == {}


# σ(ln 3) = 3/4, σ(0) = 1/2, σ(−ln 3) = 1/4
LOGITS = [5 + math.log(3), 5.0, 5 - math.log(3)]


@pytest.mark.parametrize(
    ("scale", "eta", "expected"),
    [
        ("pair", 0.7, [0, 1, 1]),
        ("pair", 0.5, [0, 0, 1]),  # at η it is removed
        ("pair", 0.2, [0, 0, 0]),
        ("pair", 1.0, [1, 1, 1]),
        ("probability", 0.995, [0, 1, 1]),  # σ(6.0986) = .9978, σ(5) = .9933
        ("probability", 0.99, [0, 0, 1]),  # σ(3.9014) = .9802
        ("logit", 5.0, [0, 0, 1]),
        ("logit", 5.1, [0, 1, 1]),
        ("logit", -3.0, [0, 0, 0]),
    ],
)
def test_rocketqa_keeps_what_the_teacher_scores_below_eta(scale, eta, expected):
    candidates = frame(LOGITS, positive=5.0)
    options = {"scale": scale, "eta": eta, "share_removed": None}
    assert weights("rocketqa", candidates, **options) == expected
    assert negatives.figures("rocketqa", candidates, options) == {"eta": eta}


def test_rocketqas_pair_scale_does_not_see_a_constant_of_the_query():
    options = {"scale": "pair", "eta": 0.6, "share_removed": None}
    plain = weights("rocketqa", frame([1.0, 0.2, -4.0], positive=0.5), **options)
    moved = weights("rocketqa", frame([1.0 - 7, 0.2 - 7, -4.0 - 7], positive=0.5 - 7), **options)
    assert plain == moved == [0, 1, 1]
    assert weights("rocketqa", frame([-2000.0, 2000.0], positive=0.0), **options) == [1, 0]


@pytest.mark.parametrize(
    ("share", "expected", "eta"),
    [
        (0.25, [0, 1, 1, 1], 0.9),
        (0.5, [0, 0, 1, 1], 0.5),
        (0.6, [0, 0, 1, 1], 0.5),  # round(1.6) = 2 are kept
        (0.9, [0, 0, 0, 0], 0.1),
    ],
)
def test_rocketqa_places_eta_at_a_share(share, expected, eta):
    candidates = frame([0.9, 0.5, 0.3, 0.1])
    options = {"scale": "logit", "eta": None, "share_removed": share}
    assert weights("rocketqa", candidates, **options) == expected
    assert negatives.figures("rocketqa", candidates, options) == {"eta": eta}


def test_rocketqa_removes_every_tie_at_a_shares_threshold():
    options = {"scale": "logit", "eta": None, "share_removed": 0.25}
    assert weights("rocketqa", frame([0.5, 0.5, 0.5, 0.1]), **options) == [0, 0, 0, 1]


def test_rocketqa_refuses_another_scale():
    with pytest.raises(ConfigError, match="scale is 'odds', need one of pair, probability, logit"):
        weights("rocketqa", frame([1.0]), scale="odds", eta=0.1, share_removed=None)


@pytest.mark.parametrize(
    ("positive", "expected"),
    [(10.0, [0, 0, 1]), (10.01, [0, 1, 1]), (20.0, [1, 1, 1]), (2.0, [0, 0, 0])],
)
def test_percpos_keeps_what_is_below_a_share_of_the_positive(positive, expected):
    assert weights("percpos", frame([9.6, 9.5, 2.0], positive), share=0.95) == expected


@pytest.mark.parametrize("positive", [0.0, -1.0, float("nan")])
def test_percpos_refuses_scores_of_which_a_share_means_nothing(positive):
    with pytest.raises(DataError, match=r"'percpos': .* of query a score .* use `margin`"):
        weights("percpos", frame([-9.6, -9.0], positive), share=0.95)


@pytest.mark.parametrize("move", [0.0, -100.0, 100.0])
def test_margin_is_right_for_scores_of_any_sign(move):
    scores = [move + 3.0, move + 2.5, move + 2.0]
    assert weights("margin", frame(scores, move + 3.0), margin=0.5) == [0, 0, 1]
    assert weights("margin", frame(scores, move + 3.0), margin=0.0) == [0, 1, 1]
    assert weights("margin", frame(scores, move + 3.0), margin=-1.0) == [1, 1, 1]


def test_simans_prefers_what_is_near_the_positive():
    # a (s − p − b)²: ½·1², ½·0², ½·2²; up to the constant of the largest, 1
    found = weights("simans", frame([4.0, 3.0, 1.0], positive=2.0), a=0.5, b=1.0)
    assert found == pytest.approx([math.exp(-0.5), 1.0, math.exp(-2.0)])


def test_simans_loses_no_query_to_underflow():
    two = pd.concat([frame([0.0, 1.0], positive=500.0), frame([0.0], 900.0).assign(query_row=1)])
    found = weights("simans", two.reset_index(drop=True), a=1.0, b=0.0)
    assert found == [0.0, 1.0, 1.0]  # exp(499² − 500²) = exp(−999)
    assert weights("simans", frame([0.0, 99.0], positive=3.0), a=0.0, b=1.0) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("positive", "expected"),
    [
        (8.0, [0, 0, 1, 1]),  # mean of 8, 6, 4, 2, 0 is 4: at the mean it is removed
        (18.0, [0, 1, 1, 1]),  # 6: likewise
        (19.0, [1, 1, 1, 1]),
    ],
)
def test_the_sieve_keeps_what_is_below_the_mean_of_its_group(positive, expected):
    candidates = frame([6.0, 4.0, 2.0, 0.0], positive)
    assert weights("sieve", candidates, sample=4, seed=1) == expected


def test_the_sieve_repeats_a_short_list_and_samples_a_long_one():
    # two candidates three times: (9 + 3·(6 + 0)) / 7 = 3.86; once it would be 5
    assert weights("sieve", frame([4.0, 0.0], 9.0), sample=6, seed=1) == [0, 1]
    assert weights("sieve", frame([4.0, 0.0], 9.0), sample=2, seed=1) == [1, 1]  # 13 / 3
    # one of 9, 3, 0 with the positive 5: means 7, 4 and 2.5
    found = {
        tuple(weights("sieve", frame([9.0, 3.0, 0.0], 5.0), sample=1, seed=seed))
        for seed in range(40)
    }
    assert found == {(0, 1, 1), (0, 0, 1)}


def test_the_sieve_keeps_one_at_least_by_a_keyed_draw():
    tied = frame([1.0, 1.0, 1.0], positive=1.0)
    kept = [weights("sieve", tied, sample=30, seed=seed) for seed in range(30)]
    assert all(sum(each) == 1 for each in kept)
    assert len({tuple(each) for each in kept}) == 3
    other = pd.concat([frame([5.0, 0.0], 1.0, query="z"), tied], ignore_index=True)
    assert weights("sieve", other, sample=30, seed=7)[2:] == kept[7]


def matched(relevant, ranks=None, seed=1, query="a"):
    candidates = frame([0.0] * len(relevant), query=query, relevant=np.array(relevant, bool))
    if ranks:
        candidates["rank"] = ranks
    return weights("oracle_matched", candidates, seed=seed)


def test_the_oracles_control_removes_the_nearest_true_negatives():
    assert matched([1, 0, 0, 0]) == [1, 0, 1, 1]
    # the second false negative, at rank 2, finds rank 3 taken by the first
    assert matched([1, 1, 0, 0, 0]) == [1, 1, 0, 0, 1]
    assert matched([0, 0, 0]) == [1, 1, 1]
    assert matched([1, 0, 0], ranks=[5, 2, 9]) == [1, 0, 1]  # 3 and 4 ranks away


def test_the_oracles_control_draws_between_two_as_near():
    found = {tuple(matched([0, 1, 0], seed=seed)) for seed in range(20)}
    assert found == {(0, 1, 1), (1, 1, 0)}
    assert len({tuple(matched([0, 1, 0], query=f"q{i}")) for i in range(20)}) == 2


def test_the_oracles_control_removes_what_there_is():
    assert matched([1, 1, 0]) == [1, 1, 0]
    assert matched([1, 1]) == [1, 1]


def test_ideal_propensity_takes_what_annotators_saw_and_did_not_label():
    seen = np.array([True, False, True])
    candidates = frame([3, 2, 1], selected=seen, relevant=np.array([False, True, False]))
    assert weights("ideal_propensity", candidates) == [1, 0, 1]
    assert weights("ideal_propensity", candidates.drop(columns="relevant")) == [1, 0, 1]
    with pytest.raises(DataError, match=r"document row 2 of query a .* labels_per_query: null"):
        weights("ideal_propensity", candidates.assign(relevant=[False, True, True]))


def test_rance_draws_by_one_minus_the_probability_of_relevance():
    options = {"rule": "one_minus_p", "depth": 3, "rank_relevance": [0.75, 0.5, 0.0, 0.9]}
    assert weights("rance", frame([9, 8, 7]), **options) == [0.25, 0.5, 1.0]
    gaps = frame([9, 8]).assign(rank=[1, 3])
    assert weights("rance", gaps, **options) == [0.25, 1.0]


def released(p):
    """Facts of the released code, in plain loops and NumPy's older polynomials."""
    gains = [(1 - value) / math.log(rank + 2) for rank, value in enumerate(p)]
    smooth = [sum(gains[i : i + 9]) / 9 for i in range(len(gains) - 8)]
    places = list(range(len(smooth)))
    curve = [float(v) for v in np.polyval(np.polyfit(places, smooth, 4), places)]
    curve = curve[:1] * 4 + curve + curve[-1:] * 4
    return [max(value - min(smooth), 0.0) for value in curve]


def test_rance_as_released():
    p = [0.6 * math.exp(-rank / 7) for rank in range(30)]
    found = rance.distribution(p, "released")
    np.testing.assert_allclose(found, released(p), atol=1e-9)
    assert found[0] == found[4] != found[5]  # the ends repeat
    step = [0.0] * 15 + [0.9] * 15  # the polynomial overshoots: below the least average it is cut
    np.testing.assert_allclose(rance.distribution(step, "released"), released(step), atol=1e-9)
    assert (rance.distribution(step, "released") == 0.0).sum() > 1
    # without relevance a polynomial through 5 points is exact: gains 1 / ln(r + 2) by hand
    plain = rance.distribution([0.0] * 13, "released")
    average = [sum(1 / math.log(r + 2) for r in range(s, s + 9)) / 9 for s in (0, 4)]
    assert plain[0] == pytest.approx(average[0] - average[1])
    assert plain[12] == pytest.approx(0.0, abs=1e-9)


def test_rance_tells_what_it_lacks():
    with pytest.raises(ConfigError, match="found a depth of 12, need at least 13"):
        rance.distribution([0.0] * 12, "released")
    with pytest.raises(ConfigError, match="rule is 'p', need one of one_minus_p, released"):
        rance.distribution([0.0], "p")
    with pytest.raises(DataError, match="found 2 ranks, need 3"):
        weights("rance", frame([1]), rule="one_minus_p", depth=3, rank_relevance=[0.1, 0.2])
