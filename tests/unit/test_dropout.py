"""Dropout with cheap masks: its rate, its scale, its keys, its gradient."""

import numpy as np
import pytest
import torch
from torch import nn

from poolbias.models import dropout


@pytest.mark.parametrize("probability", [0.1, 0.2, 0.5])
def test_rate_and_scale(probability):
    torch.manual_seed(1)
    values = torch.full((500, 401), 3.0)  # an odd number of elements
    dropped = dropout.drop(values, probability, training=True)
    kept = dropped != 0
    # 200,500 draws: a share is within five standard deviations, .005 at most
    assert float(kept.float().mean()) == pytest.approx(1 - probability, abs=0.006)
    torch.testing.assert_close(dropped[kept], values[kept] / (1 - probability), rtol=2e-5, atol=0)
    assert float(dropped.mean()) == pytest.approx(3.0, abs=0.02)


def test_neighbours_are_dropped_independently():
    torch.manual_seed(1)
    gone = (dropout.drop(torch.ones(400_000), 0.5, training=True) == 0).double().numpy()
    for lag in (1, 2, 3, 4, 8):
        assert abs(np.corrcoef(gone[:-lag], gone[lag:])[0, 1]) < 0.01


def test_masks_are_keyed_by_torchs_generator_and_differ_between_calls():
    values = torch.ones(1000)
    torch.manual_seed(5)
    first, second = (dropout.drop(values, 0.5, training=True) for _ in range(2))
    torch.manual_seed(5)
    again = dropout.drop(values, 0.5, training=True)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


def test_nothing_is_dropped_outside_training_or_without_a_probability():
    values = torch.ones(10)
    assert dropout.drop(values, 0.5, training=False) is values
    assert dropout.drop(values, 0.0, training=True) is values


def test_the_gradient_passes_where_the_value_did():
    torch.manual_seed(2)
    values = torch.ones(100, requires_grad=True)
    dropped = dropout.drop(values, 0.5, training=True)
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped.detach())


def test_every_dropout_of_a_model_is_replaced():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.3), nn.Sequential(nn.Dropout(0.4)))
    dropout.replace(model)
    found = [module.p for module in model.modules() if isinstance(module, dropout.Dropout)]
    assert found == [0.3, 0.4]
    assert not [module for module in model.modules() if isinstance(module, nn.Dropout)]


def test_attention_equals_torchs_own():
    torch.manual_seed(3)
    query, key, value = torch.randn(3, 2, 4, 5, 8)
    mask = torch.zeros(2, 1, 1, 5)
    mask[1, :, :, 3:] = -1e9
    found, _ = dropout.attention(nn.Module(), query, key, value, mask, scaling=8**-0.5)
    expected = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(found, expected.transpose(1, 2))
