"""Losses of bi-encoders against plain loops in float64, and their gradients."""

import math

import numpy as np
import pytest
import torch

from poolbias.losses.vectors import (
    beta_at,
    contrastive_confidence,
    in_batch_margin,
    in_batch_softmax,
    lambda_pairwise,
)


@pytest.fixture
def batch():
    generator = np.random.default_rng(3)
    scores = generator.normal(size=(4, 7)) * 2
    relevant = np.zeros((4, 7), bool)
    positive = np.array([0, 3, 2, 6])
    relevant[np.arange(4), positive] = True
    relevant[1, 5] = relevant[3, 0] = relevant[3, 1] = True
    return scores, positive, relevant


def tensors(*arrays):
    return [torch.from_numpy(np.asarray(array)) for array in arrays]


def test_margin_is_that_of_torch_and_of_a_loop(batch):
    scores, _, relevant = batch
    found = in_batch_margin(*tensors(scores, relevant)).numpy()
    for row, value in enumerate(found):
        inside = [j for j in range(7) if relevant[row, j]]
        loop = sum(
            max(0.0, 1 - (scores[row, i] - scores[row, j]))
            for i in inside
            for j in range(7)
            if j not in inside
        )
        assert value == pytest.approx(loop / 7, rel=1e-12)
        target = torch.tensor([[*inside, *[-1] * (7 - len(inside))]])
        own = torch.nn.MultiLabelMarginLoss()(torch.from_numpy(scores[row : row + 1]), target)
        assert value == pytest.approx(float(own), rel=1e-12)


def test_softmax_leaves_other_labelled_documents_out(batch):
    scores, positive, relevant = batch
    found = in_batch_softmax(*tensors(scores, positive, relevant)).numpy()
    for row, value in enumerate(found):
        others = [j for j in range(7) if j == positive[row] or not relevant[row, j]]
        total = math.fsum(math.exp(scores[row, j]) for j in others)
        assert value == pytest.approx(math.log(total) - scores[row, positive[row]], rel=1e-12)


@pytest.mark.parametrize("form", ["paper", "released"])
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_rcl_in_both_forms_is_that_of_a_loop(batch, form, beta):
    scores, positive, relevant = batch
    found = contrastive_confidence(*tensors(scores, positive, relevant), beta, form).numpy()
    for row, value in enumerate(found):
        columns = [j for j in range(7) if j == positive[row] or not relevant[row, j]]
        total = math.log(math.fsum(math.exp(scores[row, j]) for j in columns))
        negative_log = {j: total - scores[row, j] for j in columns}
        mean = math.fsum(negative_log.values()) / len(columns)
        nce = negative_log[positive[row]]
        if form == "paper":
            expected = nce - beta * mean
        else:  # subtracted from each of the n + 1 entries, whose sum is divided by n + 1
            entries = [(nce if j == positive[row] else 0.0) - beta * mean for j in columns]
            expected = math.fsum(entries) / len(columns)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_with_five_negatives_the_released_tenth_is_the_papers_six_tenths():
    scores, positive = torch.randn(3, 6, dtype=torch.float64), torch.zeros(3, dtype=torch.long)
    relevant = torch.zeros(3, 6, dtype=torch.bool)
    released = contrastive_confidence(scores, positive, relevant, 0.1, "released")
    paper = contrastive_confidence(scores, positive, relevant, 0.6, "paper")
    torch.testing.assert_close(released * 6, paper)


def test_ccr_starts_late():
    values = [beta_at(step, 10, 0.5, 0.3) for step in range(1, 11)]
    assert values == [0.0] * 3 + [0.5] * 7
    assert beta_at(1, 10, 0.5, 0.0) == 0.5
    assert beta_at(10, 10, 0.5, 1.0) == 0.0


def ranked():
    generator = np.random.default_rng(6)
    scores = generator.normal(size=(2, 6))
    relevant = np.array([[0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]], bool)
    ranks = np.array([[1, 2, 3, 4, 250, 0], [7, 1, 2, 3, 4, 0]])
    return scores, relevant, ranks


def lambda_loop(scores, relevant, ranks, cut):
    def gain(rank):
        return 1 / rank if rank <= cut else 0.0

    return [
        math.fsum(
            abs(gain(ranks[q, i]) - gain(ranks[q, j]))
            * math.log1p(math.exp(scores[q, j] - scores[q, i]))
            for i in range(6)
            for j in range(6)
            if relevant[q, i] and not relevant[q, j] and ranks[q, i] and ranks[q, j]
        )
        for q in range(2)
    ]


@pytest.mark.parametrize("cut", [1, 3, 200, 1000])
def test_adores_loss_is_that_of_a_loop(cut):
    scores, relevant, ranks = ranked()
    found = lambda_pairwise(*tensors(scores, relevant, ranks), cut).numpy()
    np.testing.assert_allclose(found, lambda_loop(scores, relevant, ranks, cut), rtol=1e-12)


def test_a_pair_beyond_the_cut_counts_nothing():
    scores, relevant = torch.zeros(1, 2), torch.tensor([[True, False]])
    assert lambda_pairwise(scores, relevant, torch.tensor([[300, 201]]), 200).item() == 0.0
    value = lambda_pairwise(scores, relevant, torch.tensor([[300, 200]]), 200).item()
    assert value == pytest.approx(math.log(2) / 200)


def test_gradients_are_those_of_finite_differences(batch):
    scores, positive, relevant = tensors(*batch)
    ranked_scores, ranked_relevant, ranks = tensors(*ranked())
    checks = [
        (scores, lambda s: in_batch_softmax(s, positive, relevant)),
        (scores, lambda s: in_batch_margin(s, relevant)),
        (scores, lambda s: contrastive_confidence(s, positive, relevant, 0.5, "released")),
        (ranked_scores, lambda s: lambda_pairwise(s, ranked_relevant, ranks, 200)),
    ]
    for given, loss in checks:
        assert torch.autograd.gradcheck(loss, given.clone().requires_grad_())
