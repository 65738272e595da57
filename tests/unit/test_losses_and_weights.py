"""Losses and weights against hand-computed values and an independent float64 oracle."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from poolbias import losses, weights
from poolbias.errors import ConfigError

SCORES = st.floats(-30, 30, width=32)


def test_the_loss_of_equal_scores_is_the_log_of_two():
    loss = losses.pairwise_cross_entropy(torch.zeros(1), torch.zeros(1))
    assert float(loss) == pytest.approx(math.log(2), abs=1e-7)


def test_the_loss_of_a_hand_computed_pair():
    # -log(e^2 / (e^2 + e^1)) = log(1 + e^-1) = 0.31326...
    loss = losses.pairwise_cross_entropy(torch.tensor([2.0]), torch.tensor([1.0]))
    assert float(loss) == pytest.approx(0.3132617, abs=1e-6)


@given(SCORES, SCORES)
def test_the_loss_follows_equation_15_in_float64(positive, negative):
    loss = losses.pairwise_cross_entropy(torch.tensor([positive]), torch.tensor([negative]))
    top = max(positive, negative)
    total = math.exp(positive - top) + math.exp(negative - top)
    expected = -(positive - top - math.log(total))
    assert float(loss) == pytest.approx(expected, rel=2e-5, abs=1e-6)


def test_the_gradient_of_the_loss_is_the_probability_that_the_negative_wins():
    positive = torch.tensor([0.5, -3.0], requires_grad=True)
    negative = torch.tensor([1.5, 2.0], requires_grad=True)
    losses.pairwise_cross_entropy(positive, negative).sum().backward()
    expected = 1 / (1 + np.exp(np.array([0.5, -3.0]) - np.array([1.5, 2.0])))
    np.testing.assert_allclose(negative.grad.numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(positive.grad.numpy(), -expected, rtol=1e-6)


def test_weights_of_hand_computed_pairs():
    positive, negative = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0])
    paper = weights.coupled(positive, negative, temperature=1.0, form="paper")
    np.testing.assert_allclose(paper.numpy(), [0.36787944, 7.3890561], rtol=1e-6)
    released = weights.coupled(positive, negative, temperature=2.0, form="released")
    np.testing.assert_allclose(released.numpy(), [2.0, 1 + math.e], rtol=1e-6)


@given(SCORES, SCORES, st.floats(0.5, 20))
def test_weights_follow_their_formulas_in_float64(positive, negative, temperature):
    scores = torch.tensor([positive]), torch.tensor([negative])
    ratio = math.exp(negative / temperature) / math.exp(positive / temperature)  # Eq. 18
    paper = weights.coupled(*scores, temperature=temperature, form="paper")
    assert float(paper) == pytest.approx(ratio, rel=1e-4)
    sigmoid = 1 / (1 + math.exp(-negative / temperature))
    released = weights.coupled(*scores, temperature=temperature, form="released")
    if sigmoid < 1 - 1e-9:  # beyond, the released expression itself loses its digits
        assert float(released) == pytest.approx(1 / (1 - sigmoid), rel=1e-4)


def test_weights_carry_no_gradient_and_are_float32():
    positive = torch.tensor([1.0], requires_grad=True)
    negative = torch.tensor([2.0], requires_grad=True)
    for form in ("paper", "released"):
        weight = weights.coupled(positive * 2, negative * 2, temperature=1.0, form=form)
        assert not weight.requires_grad
        assert weight.dtype == torch.float32
    half = weights.coupled(positive.bfloat16(), negative.bfloat16(), temperature=1.0, form="paper")
    assert half.dtype == torch.float32


def test_the_paper_form_tends_to_one_as_the_temperature_grows():
    positive, negative = torch.tensor([3.0, -5.0]), torch.tensor([-4.0, 6.0])
    distance = [
        float((weights.coupled(positive, negative, t, "paper") - 1).abs().max())
        for t in (10.0, 1e3, 1e6)
    ]
    assert distance[0] > distance[1] > distance[2]
    assert distance[2] < 2e-5


def test_wrong_forms_and_temperatures_are_refused():
    with pytest.raises(ConfigError, match="form is 'papr'"):
        weights.coupled(torch.zeros(1), torch.zeros(1), 1.0, "papr")
    for temperature in (0.0, -1.0, float("nan")):
        with pytest.raises(ConfigError, match="above 0"):
            weights.coupled(torch.zeros(1), torch.zeros(1), temperature, "paper")


def test_choices_are_found_by_name_and_the_nearest_is_offered():
    assert weights.get("one")(torch.zeros(2), torch.zeros(2)).tolist() == [1.0, 1.0]
    with pytest.raises(ConfigError, match="did you mean 'coupled'"):
        weights.get("couple")
