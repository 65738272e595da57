"""Weights by the own prediction, and the options that bound or level weights."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from poolbias import weights
from poolbias.errors import ConfigError
from poolbias.training.adjustment import Adjustment


def test_gaussians_of_hand_computed_predictions():
    zeros = torch.zeros(1, 1)
    # p = 1/2: exp(-(1/2)^2 / (2 (1/2)^2)) = e^-1/2 for mu 0, and 1 for mu 1/2
    assert float(weights.gaussian(zeros, zeros, 0.0, 0.5, "instance")) == pytest.approx(0.60653066)
    assert float(weights.gaussian(zeros, zeros, 0.5, 0.25, "instance")) == 1.0
    # among a positive and three negatives of equal scores p = 1/4: exp(-(1/16) / 2)
    found = weights.gaussian(torch.ones(1, 1), torch.ones(1, 3), 0.0, 1.0, "document")
    assert found.tolist() == [pytest.approx([math.exp(-1 / 32)] * 3)]


@settings(deadline=None)
@given(
    st.lists(st.floats(-30, 30, width=32), min_size=4, max_size=4),
    st.floats(0, 1),
    st.floats(0.1, 2),
)
def test_gaussians_follow_their_formula_in_float64(values, mu, sigma):
    p, n = values[0], np.array(values[1:])
    top = max(values)
    below = np.exp(p - top) + np.exp(n - top).sum()
    predicted = {"instance": 1 / (1 + np.exp(-n)), "document": np.exp(n - top) / below}
    positive, negative = torch.tensor([[p]]), torch.tensor([values[1:]])
    for prediction, probability in predicted.items():
        expected = np.exp(-((probability - mu) ** 2) / (2 * sigma**2))
        found = weights.gaussian(positive, negative, mu, sigma, prediction)
        np.testing.assert_allclose(found.numpy()[0], expected, rtol=1e-4)


def test_a_negative_that_is_believed_relevant_counts_little_and_without_gradient():
    positive = torch.zeros(1, 1)
    negative = torch.tensor([[-9.0, 0.0, 9.0]], requires_grad=True)
    for prediction in ("instance", "document"):
        weight = weights.gaussian(positive, negative * 2, 0.0, 0.25, prediction)
        assert not weight.requires_grad
        assert weight.dtype == torch.float32
        assert weight[0, 0] > 0.99
        assert weight[0, 2] < 0.01
    flat = weights.gaussian(torch.zeros(2), torch.tensor([0.0, 9.0]), 0.0, 0.25, "document")
    assert flat.shape == (2,)
    assert flat[0] > flat[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": 0.0}, "sigma is 0.0, need a number above 0"),
        ({"sigma": math.nan}, "sigma is nan"),
        ({"prediction": "pair"}, "prediction is 'pair', need one of instance, document"),
    ],
)
def test_wrong_options_of_the_gaussian_are_refused(options, message):
    zeros = torch.zeros(1, 1)
    whole = {"mu": 0.0, "sigma": 0.5, "prediction": "instance"} | options
    with pytest.raises(ConfigError, match=message):
        weights.gaussian(zeros, zeros, **whole)


def test_coupled_weights_of_several_negatives_are_those_of_each():
    positive, negative = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0, 1.0], [2.0, -1.0]])
    for form in ("paper", "released"):
        found = weights.coupled(positive, negative, 1.5, form)
        for column in range(2):
            each = weights.coupled(positive[:, 0], negative[:, column], 1.5, form)
            assert torch.equal(found[:, column], each)


def test_without_options_weights_pass_as_they_are():
    weight = torch.tensor([[0.0, math.inf]])
    assert Adjustment()(weight) is weight


def test_clipping_cuts_what_is_above_and_nothing_else():
    weight = torch.tensor([[0.0, 2.999], [3.0, 3.001], [math.inf, 1.0]])
    found = Adjustment(clip=3.0)(weight)
    assert torch.equal(found, torch.tensor([[0.0, 2.999], [3.0, 3.0], [3.0, 1.0]]))


def test_normalising_in_the_batch_gives_a_mean_of_one_after_the_cut():
    found = Adjustment(normalise="batch")(torch.tensor([[1.0, 3.0], [4.0, 8.0]]))
    assert torch.equal(found, torch.tensor([[0.25, 0.75], [1.0, 2.0]]))
    cut = Adjustment(clip=3.0, normalise="batch")(torch.tensor([[1.0, 3.0], [4.0, math.inf]]))
    assert cut.flatten().tolist() == pytest.approx([0.4, 1.2, 1.2, 1.2])
    zeros = torch.zeros(2, 1)
    assert torch.equal(Adjustment(normalise="batch")(zeros), zeros)


def test_a_running_mean_of_hand_computed_steps():
    adjustment = Adjustment(normalise="running_mean", decay=0.5)
    steps = [torch.tensor([[1.0, 3.0]]), torch.tensor([[4.0, 4.0]]), torch.tensor([[0.0, 0.0]])]
    means = [2.0, (0.5 * 2 + 4) / 1.5, (0.25 * 2 + 0.5 * 4) / 1.75]
    for weight, mean in zip(steps, means, strict=True):
        np.testing.assert_allclose(adjustment(weight), weight / mean, rtol=1e-6)
        assert adjustment.total / adjustment.count == pytest.approx(mean)
    last = Adjustment(normalise="running_mean", decay=0.0)
    last(steps[0])
    assert torch.equal(last(steps[1]), torch.ones(1, 2))  # it remembers nothing


def test_a_restored_running_mean_goes_on_to_the_bit():
    steps = torch.from_numpy(np.random.default_rng(1).lognormal(0, 2, (6, 4, 3))).float()
    whole = Adjustment(normalise="running_mean", decay=0.9)
    expected = [whole(step) for step in steps]
    first = Adjustment(normalise="running_mean", decay=0.9)
    for step in steps[:3]:
        first(step)
    second = Adjustment(normalise="running_mean", decay=0.9)
    second.restore(first.state())
    assert all(torch.equal(second(s), e) for s, e in zip(steps[3:], expected[3:], strict=True))
    fresh = Adjustment(normalise="running_mean", decay=0.9)
    assert not torch.equal(fresh(steps[3]), expected[3])  # what is remembered does count


def test_an_unknown_mean_is_refused():
    with pytest.raises(ConfigError, match="normalise is 'mean', need one of none, batch, running"):
        Adjustment(normalise="mean")
