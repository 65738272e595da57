"""Losses of lists and how weights enter them: hand-computed values, float64 oracles, gradients."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from poolbias import losses, weights
from poolbias.losses.weighting import scale_and_shares

SCORES = st.lists(st.floats(-30, 30, width=32), min_size=4, max_size=4)
WEIGHTS = st.lists(st.floats(0.015625, 64, width=32), min_size=3, max_size=3)
EVERY = ("pairwise_cross_entropy", "softmax_cross_entropy", "softmax_and_pointwise")


def scores(generator, pairs, negatives, dtype=torch.float32):
    return (
        torch.from_numpy(generator.normal(0, 3, pairs)).to(dtype).requires_grad_(),
        torch.from_numpy(generator.normal(0, 3, (pairs, negatives))).to(dtype).requires_grad_(),
    )


def weighted(name, positive, negatives, weight, **options):
    """Return scale times loss per pair, as a step minimises it."""
    scale, shares = scale_and_shares(weight)
    return scale * losses.get(name)(positive, negatives, shares, **options)


def test_the_loss_of_a_hand_computed_list():
    # -log(e^2 / (e^2 + e^1 + e^0)) = log(1 + e^-1 + e^-2)
    loss = losses.softmax_cross_entropy(torch.tensor([2.0]), torch.tensor([[1.0, 0.0]]))
    assert loss.tolist() == pytest.approx([0.40760596], abs=1e-6)


def test_weights_of_a_hand_computed_list():
    # all scores 0, weights 1 and 3: the mean 2 before log(1 + 1/2 + 3/2) = log 3
    weight = torch.tensor([[1.0, 3.0]])
    scale, shares = scale_and_shares(weight)
    assert scale.tolist() == [2.0]
    assert shares.tolist() == [[0.5, 1.5]]
    loss = weighted("softmax_cross_entropy", torch.zeros(1), torch.zeros(1, 2), weight)
    assert loss.tolist() == pytest.approx([2 * math.log(3)], abs=1e-6)


def test_a_hand_computed_loss_of_softmax_and_pointwise():
    # a log 2 + b (log 2 + log 2) at scores of 0
    loss = losses.softmax_and_pointwise(
        torch.zeros(1), torch.zeros(1, 1), softmax=3.0, pointwise=0.5
    )
    assert loss.tolist() == pytest.approx([4 * math.log(2)], abs=1e-6)
    # p = 1, n = 0: log(1 + e^-1) + log(1 + e^-1) + log 2
    loss = losses.softmax_and_pointwise(torch.ones(1), torch.zeros(1, 1))
    assert loss.tolist() == pytest.approx([2 * 0.3132617 + 0.6931472], abs=1e-6)


@settings(deadline=None)
@given(SCORES, WEIGHTS)
def test_losses_follow_their_formulas_in_float64(values, weight):
    p, n, w = values[0], np.array(values[1:]), np.array(weight)
    v = w / w.mean()
    pairwise = (w * np.logaddexp(0, n - p)).mean()
    top = max(p, n.max())
    softmax = w.mean() * (top + np.log(np.exp(p - top) + (v * np.exp(n - top)).sum()) - p)
    pointwise = w.mean() * np.logaddexp(0, -p) + (w * np.logaddexp(0, n)).mean()
    expected = dict(zip(EVERY, (pairwise, softmax, 2 * softmax + 0.25 * pointwise), strict=True))
    options = {"softmax_and_pointwise": {"softmax": 2.0, "pointwise": 0.25}}
    given_scores = torch.tensor([p]), torch.tensor([values[1:]])
    for name in EVERY:
        loss = weighted(name, *given_scores, torch.tensor([weight]), **options.get(name, {}))
        assert loss.tolist() == pytest.approx([expected[name]], rel=3e-5, abs=3e-5)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("negatives", [1, 3])
def test_gradients_agree_with_finite_differences(name, negatives):
    generator = np.random.default_rng(3)
    positive, negative = scores(generator, 5, negatives, torch.float64)
    weight = torch.from_numpy(generator.exponential(1, (5, negatives)))
    assert torch.autograd.gradcheck(lambda p, n: weighted(name, p, n, weight), (positive, negative))


def test_a_negatives_gradient_is_its_weight_times_its_probability_in_the_weighted_list():
    generator = np.random.default_rng(4)
    positive, negative = scores(generator, 4, 3)
    weight = torch.from_numpy(generator.exponential(1, (4, 3))).float()
    weighted("softmax_cross_entropy", positive, negative, weight).sum().backward()
    p, n, w = (x.detach().double().numpy() for x in (positive, negative, weight))
    share = w / w.mean(axis=1, keepdims=True)
    below = np.exp(p) + (share * np.exp(n)).sum(axis=1)
    expected = w * np.exp(n) / below[:, None]
    np.testing.assert_allclose(negative.grad.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(positive.grad.numpy(), -expected.sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("name", ["pairwise_cross_entropy", "softmax_cross_entropy"])
def test_one_negative_is_the_weight_times_the_pairs_loss_to_the_bit(name):
    generator = np.random.default_rng(5)
    values = generator.normal(0, 4, (2, 64)).astype(np.float32)
    weight = torch.from_numpy(np.append(generator.lognormal(0, 9, 62), [0, 1e-38])).float()
    plain = [torch.from_numpy(row.copy()).requires_grad_() for row in values]
    lists = [torch.from_numpy(row.copy()).requires_grad_() for row in values]
    expected = torch.dot(weight, torch.nn.functional.softplus(plain[1] - plain[0])) / 64
    scale, shares = scale_and_shares(weight[:, None])
    found = torch.dot(scale, losses.get(name)(lists[0], lists[1][:, None], shares)) / 64
    assert torch.equal(found, expected)
    expected.backward()
    found.backward()
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(plain, lists, strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_weights_of_one_change_nothing_and_twice_the_weights_twice_the_loss(name):
    generator = np.random.default_rng(6)
    positive, negative = (x.detach() for x in scores(generator, 32, 3))
    plain = losses.get(name)(positive, negative)
    assert torch.equal(weighted(name, positive, negative, torch.ones(32, 3)), plain)
    assert torch.equal(weighted(name, positive, negative, torch.full((32, 3), 2.0)), 2 * plain)
    weight = torch.from_numpy(generator.exponential(1, (32, 3))).float()
    once = weighted(name, positive, negative, weight)
    assert not torch.allclose(once, plain)
    assert torch.equal(weighted(name, positive, negative, 2 * weight), 2 * once)


def test_a_list_of_equal_pairs_is_one_pair_in_the_pairwise_loss_and_more_in_the_softmax():
    positive, negative = torch.tensor([0.3]), torch.tensor([[-0.2, -0.2]])
    one = losses.pairwise_cross_entropy(positive, negative[:, 0])
    torch.testing.assert_close(losses.pairwise_cross_entropy(positive, negative), one)
    softmax = losses.softmax_cross_entropy(positive, negative)
    assert softmax.tolist() == pytest.approx([math.log(1 + 2 * math.exp(-0.5))], abs=1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_scores_of_any_size_give_finite_losses_and_gradients(name):
    positive = torch.tensor([1e4, -1e4, 1e4, -1e4], requires_grad=True)
    negative = torch.tensor(
        [[-1e4, -1e4], [1e4, 1e4], [1e4, -1e4], [-1e4, -1e4]], requires_grad=True
    )
    weight = torch.tensor([[1.0, 1.0], [1.0, 3.0], [2.0, 0.0], [1.0, 1.0]])
    loss = weighted(name, positive, negative, weight)
    loss.sum().backward()
    for found in (loss, positive.grad, negative.grad):
        assert bool(torch.isfinite(found).all())
    assert loss.tolist()[:2] == pytest.approx(
        {
            "pairwise_cross_entropy": [0, 4e4],
            "softmax_cross_entropy": [0, 4e4],
            "softmax_and_pointwise": [0, 8e4],
        }[name],
        rel=1e-4,
    )


@pytest.mark.parametrize("name", EVERY)
def test_weights_of_zero_and_of_infinity_stand_before_the_whole_loss(name):
    positive = torch.zeros(1, requires_grad=True)
    negative = torch.zeros(1, 2, requires_grad=True)
    infinite = weighted(name, positive, negative, torch.tensor([[1.0, math.inf]]))
    assert infinite.tolist() == [math.inf]  # which stops a training
    loss = weighted(name, positive, negative, torch.zeros(1, 2))
    loss.sum().backward()
    assert loss.tolist() == positive.grad.tolist() == [0.0]
    assert negative.grad.tolist() == [[0.0, 0.0]]


def test_a_pairwise_loss_leaves_the_level_free_which_the_released_weight_reads():
    positive, negative = torch.tensor([1.0]), torch.tensor([[0.5, -1.0]])
    for name in ("pairwise_cross_entropy", "softmax_cross_entropy"):
        loss = losses.get(name)
        torch.testing.assert_close(loss(positive + 8, negative + 8), loss(positive, negative))
    anchored = losses.softmax_and_pointwise
    assert not torch.allclose(anchored(positive + 8, negative + 8), anchored(positive, negative))
    for form, moves in (("paper", False), ("released", True)):
        here, there = (
            weights.coupled(positive[:, None] + c, negative + c, 1.0, form) for c in (0, 8)
        )
        assert torch.allclose(here, there) != moves
