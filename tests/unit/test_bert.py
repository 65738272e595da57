"""The ranker `bert`: the packed engine against the plain one, and both against transformers."""

import numpy as np
import pytest
import torch
from torch import nn

from poolbias import models
from poolbias.models import attention, packed
from poolbias.models.dropout import Masks
from poolbias.models.first_token import attend_first
from poolbias.tokens import Sequences

KIND = models.ranker("bert")
PARAMETERS = {
    "kind": "bert", "start": "all-MiniLM-L6-v2", "layers": 2, "dropout": 0.0, "head_dropout": 0.0,
    "engine": "packed", "attention": "eager",
}  # fmt: skip
LENGTHS = np.array([40, 33, 21, 20, 12, 9, 7, 6])


def sequences(lengths=LENGTHS, rows=None):
    """Random sequences of many lengths, those of even and odd pairs mixed."""
    generator = np.random.default_rng(1)
    ids = generator.integers(1000, 30000, size=int(lengths.sum()))
    if rows is None:
        rows = generator.permutation(len(lengths))
    return Sequences(ids, (ids > 15000).astype(np.int64), np.asarray(lengths), rows)


def one(changes=None, seed=5):
    return KIND.start(PARAMETERS | (changes or {}), seed=seed)


def step(changes=None, precision="float32"):
    """Return the scores and the gradient of a step of a ranker, by default at dropout 0."""
    ranker = one(changes).train()
    # a larger head: scores that differ by more than rounding
    ranker.classifier.weight.data *= 500
    scores = KIND.scores(ranker, sequences(), precision)
    (scores @ torch.arange(1.0, 9.0)).backward()
    gradient = {n: p.grad for n, p in ranker.named_parameters() if p.grad is not None}
    return scores.detach(), gradient


@pytest.mark.parametrize("changes", [{"engine": "plain"}, {"engine": "plain", "attention": "sdpa"}])
def test_the_packed_engine_changes_a_step_by_rounding_only(changes):
    scores, gradient = step()
    plain_scores, plain_gradient = step(changes)
    assert float(scores.std()) > 0.05  # the scores do differ among themselves
    assert not torch.equal(scores, plain_scores)  # and the two engines are two
    torch.testing.assert_close(scores, plain_scores, atol=2e-5, rtol=1e-5)
    assert gradient.keys() == plain_gradient.keys()
    for name, expected in plain_gradient.items():
        if "key.bias" not in name:  # softmax does not see it: its gradient is rounding alone
            assert float(expected.norm()) > 1e-4
            assert float((gradient[name] - expected).norm() / expected.norm()) < 1e-4, name


def test_bf16_changes_scores_and_gradients_by_its_digits_only():
    scores, gradient = step()
    half, half_gradient = step(precision="bf16")
    assert half.dtype == torch.float32
    assert not torch.equal(scores, half)
    torch.testing.assert_close(half, scores, atol=0.1, rtol=0)
    full, short = (
        torch.cat([g.ravel() for g in found.values()]) for found in (gradient, half_gradient)
    )
    assert float(nn.functional.cosine_similarity(full, short, dim=0)) > 0.999


def test_scores_are_those_of_the_published_class_and_survive_their_files(tmp_path):
    from transformers import AutoModelForSequenceClassification

    ranker = one(seed=11).eval()
    found = KIND.scores(ranker, sequences(), "float32")
    KIND.save(ranker, tmp_path / "R")
    published = AutoModelForSequenceClassification.from_pretrained(tmp_path / "R").eval()
    batch = sequences().padded()
    logits = published(
        input_ids=torch.from_numpy(batch.ids),
        token_type_ids=torch.from_numpy(batch.types),
        attention_mask=torch.from_numpy(batch.mask),
    ).logits[:, 0]
    torch.testing.assert_close(found[sequences().rows], logits, atol=1e-5, rtol=1e-5)
    assert torch.equal(found, KIND.scores(models.load(tmp_path / "R"), sequences(), "float32"))


def test_only_the_head_is_drawn():
    ranker, other = one(seed=11), one(seed=12)
    assert not torch.equal(ranker.classifier.weight, other.classifier.weight)
    assert torch.equal(ranker.bert.pooler.dense.weight, other.bert.pooler.dense.weight)


def test_a_sequence_does_not_see_its_neighbours():
    ranker = one().eval()
    whole = KIND.scores(ranker, sequences(rows=np.arange(8)), "float32")
    first = sequences(LENGTHS[:1], np.array([0]))
    torch.testing.assert_close(
        KIND.scores(ranker, first, "float32"), whole[:1], atol=1e-6, rtol=1e-6
    )


def test_dropout_follows_torchs_generator_and_stops_outside_training():
    ranker = one({"dropout": 0.3, "head_dropout": 0.2})
    kept = KIND.scores(ranker.eval(), sequences(), "float32")
    assert torch.equal(kept, KIND.scores(ranker, sequences(), "float32"))
    ranker.train()
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(KIND.scores(ranker, sequences(), "float32"))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert not torch.equal(drawn[0], kept)


def test_buckets_hold_every_token_once_and_little_padding():
    parts = attention.buckets(np.array([10, 9, 8, 7, 3, 3, 1]), torch.device("cpu"))
    assert [(p.first, p.last, p.sequences, p.length) for p in parts] == [
        (0, 27, 3, 10), (27, 34, 1, 7), (34, 40, 2, 3), (40, 41, 1, 1),
    ]  # fmt: skip
    assert [p.hidden is None for p in parts] == [False, True, True, True]
    places = parts[0].places.tolist()
    assert places == [*range(10), *range(10, 19), *range(20, 28)]
    assert parts[0].source[parts[0].places].tolist() == list(range(27))
    assert (parts[0].hidden[:, 0, 0] < -1e8).nonzero().tolist() == [[1, 9], [2, 8], [2, 9]]


@pytest.mark.parametrize("probability", [0.0, 0.25])
def test_gradients_by_hand_equal_finite_differences(probability):
    """In float64, where torch's check of a gradient is exact; masks are drawn alike each time."""

    class Fixed(Masks):
        def draw(self, shape, kind):
            generator = torch.Generator().manual_seed(4)
            return (torch.rand(*shape, generator=generator) >= probability).to(kind)

    parts = attention.buckets(np.array([4, 3, 2]), torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    projected = torch.randn(9, 12, dtype=torch.float64, generator=generator, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda values: attention.attend(values, parts, 2, Fixed(probability)), projected
    )
    new, old = torch.randn(2, 5, 6, dtype=torch.float64, generator=generator)
    norm = nn.LayerNorm(6, eps=1e-3).double()
    nn.init.normal_(norm.weight, generator=generator)
    assert torch.autograd.gradcheck(
        lambda *values: packed.add(*values, norm, Fixed(probability)),
        (new.requires_grad_(), old.requires_grad_()),
    )


@pytest.mark.parametrize("probability", [0.0, 0.25])
def test_the_first_tokens_attention_and_its_gradient_are_the_whole_layers(probability):
    """In float64, against the attention of all tokens; gradients also by finite differences."""

    class Fixed(Masks):
        """The same mask at every call; of it, what the first token of each sequence sees."""

        def draw(self, shape, kind):
            if not probability:
                return torch.ones(*shape, dtype=kind)
            generator = torch.Generator().manual_seed(3)
            length = shape[-1]
            sequences = 3 if length == 4 else 1
            all_tokens = torch.rand(sequences, 2, length, length, generator=generator)
            kept = (all_tokens >= probability).to(kind)
            first_alone = shape[0] == sequences  # [sequences, heads, length], not by head
            return kept[:, :, 0] if first_alone else kept.view(shape)

    parts = attention.buckets(np.array([4, 4, 4, 2]), torch.device("cpu"))
    assert attention.first_tokens(parts).tolist() == [0, 4, 8, 12]
    inner = nn.Module()
    inner.num_attention_heads = 2
    generator = torch.Generator().manual_seed(1)
    for name in ("query", "key", "value"):
        layer = nn.Linear(6, 6).double()
        nn.init.normal_(layer.weight, generator=generator)
        nn.init.normal_(layer.bias, generator=generator)
        setattr(inner, name, layer)
    states = torch.randn(14, 6, dtype=torch.float64, generator=generator, requires_grad=True)
    first = attention.first_tokens(parts)

    def short(values):
        return attend_first(values, values[first], inner, parts, Fixed(probability))

    def whole(values):
        projected = packed._project(values, inner, 2, torch.float64)
        return attention.attend(projected, parts, 2, Fixed(probability))[first]

    names = [states, *inner.parameters()]
    upstream = torch.randn(4, 6, dtype=torch.float64, generator=generator)
    found, expected = (
        torch.autograd.grad((f(states) * upstream).sum(), names) for f in (short, whole)
    )
    torch.testing.assert_close(short(states), whole(states))
    assert all(float(g.abs().max()) > 1e-3 for g in expected[:3])
    for one_found, one_expected in zip(found, expected, strict=True):
        torch.testing.assert_close(one_found, one_expected, atol=1e-9, rtol=1e-9)
    assert torch.autograd.gradcheck(short, states)


def test_first_states_are_those_of_all_states():
    ranker = one().eval()
    whole = sequences()
    arrays = [torch.from_numpy(a) for a in (whole.ids, whole.types, whole.positions())]
    parts = attention.buckets(whole.lengths, torch.device("cpu"))
    *_, last = packed.states(ranker.bert, *arrays, parts, torch.float32)
    found = packed.first_states(ranker.bert, *arrays, parts, torch.float32)
    assert found.shape == (8, 384)
    assert last.shape == (int(LENGTHS.sum()), 384)
    assert not torch.equal(found, last[attention.first_tokens(parts)])  # another order of sums
    torch.testing.assert_close(found, last[attention.first_tokens(parts)], atol=1e-5, rtol=1e-5)


def test_attention_of_each_sequence_equals_torchs_own():
    lengths = np.array([5, 5, 4, 2])
    generator = torch.Generator().manual_seed(2)
    projected = torch.randn(16, 24, generator=generator)
    found = attention.attend(
        projected, attention.buckets(lengths, torch.device("cpu")), 2, Masks(0)
    )
    start = 0
    for length in lengths:
        rows = projected[start : start + length].view(length, 3, 2, 4).permute(1, 2, 0, 3)
        expected = nn.functional.scaled_dot_product_attention(*rows, scale=1.0)
        torch.testing.assert_close(
            found[start : start + length], expected.transpose(0, 1).reshape(length, 8)
        )
        start += length


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_scores_follow_an_optimiser_that_bumps_no_version(precision):
    ranker = one().eval()
    weight = ranker.bert.encoder.layer[0].attention.self.query.weight
    optimiser = torch.optim.AdamW(ranker.parameters(), lr=0.01, fused=True)
    with torch.no_grad():
        before = KIND.scores(ranker, sequences(), precision)
    KIND.scores(ranker, sequences(), precision).sum().backward()
    version = weight._version
    optimiser.step()
    assert weight._version == version  # so casts that are kept cannot go by it
    with torch.no_grad():
        found = KIND.scores(ranker, sequences(), precision)
    expected = KIND.scores(ranker, sequences(), precision).detach()
    assert float((expected - before).abs().max()) > 0.01
    assert torch.equal(found, expected)
    with torch.inference_mode():
        assert torch.equal(KIND.scores(ranker, sequences(), precision), expected)


def test_a_pass_without_gradient_sees_the_weights_of_the_last_step():
    ranker = one({"dropout": 0.0})
    optimiser = torch.optim.AdamW(ranker.parameters(), lr=1e-3, fused=True)
    with torch.no_grad():
        before = KIND.scores(ranker.eval(), sequences(), "bf16")
    KIND.scores(ranker.train(), sequences(), "bf16").sum().backward()
    optimiser.step()
    with torch.no_grad():
        found = KIND.scores(ranker.eval(), sequences(), "bf16")
    copy = one({"dropout": 0.0}).eval()
    copy.load_state_dict(ranker.state_dict())
    with torch.no_grad():
        assert torch.equal(found, KIND.scores(copy, sequences(), "bf16"))
    assert not torch.equal(found, before)
