"""The training loop: an independent float64 oracle, equalities to the bit, and its records."""

import numpy as np
import pytest
import torch
from torch import nn

from poolbias.candidates import Candidates
from poolbias.errors import TrainingError
from poolbias.tokens import Sequences
from poolbias.training import diagnostics, loop, optimiser
from poolbias.training.draws import Drawer, uniforms
from poolbias.training.loop import Trainer
from poolbias.training.processes import ALONE
from poolbias.training.run import head_seed

TRAINING = {
    "steps": 4, "pairs": 6, "learning_rate": 1e-2, "betas": [0.9, 0.999], "epsilon": 1e-8,
    "weight_decay": 0.01, "warm_up": 0.25, "clip": 1.0,
}  # fmt: skip
ONE = {"name": "one"}


def coupled(form="paper", temperature=1.0, weights_from="eval"):
    return {
        "name": "coupled", "form": form, "temperature": temperature, "weights_from": weights_from,
    }  # fmt: skip


def table():
    """Two queries: query 0 with positives 0, 1 and candidates 2, 3, 4; query 1 with 5 | 6, 7."""
    return Candidates(
        query_rows=np.array([0, 1], dtype=np.int32),
        offsets=np.array([0, 3, 5]),
        documents=np.array([2, 3, 4, 6, 7], dtype=np.int32),
        ranks=np.array([1, 2, 4, 1, 3], dtype=np.int32),
        probability=np.array([0.5, 0.25, 0.25, 0.9, 0.1], dtype=np.float32),
        positive_offsets=np.array([0, 2, 3]),
        positives=np.array([0, 1, 5], dtype=np.int32),
        relevant=np.array([0, 1, 0, 1, 0], dtype=np.uint8),
    )


class Features:
    """Stands for the token store: a sequence is the pair of rows itself."""

    def sequences(self, queries, documents, limits):
        ids = np.stack([queries, documents], axis=1).ravel()
        rows = np.arange(len(queries))
        return Sequences(ids, ids * 0, rows * 0 + 2, rows)


class Toy(nn.Module):
    """A ranker small enough to differentiate by hand: a score per (query, document)."""

    def __init__(self, seed, dropout=0.0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(2, 8, generator=generator))
        self.dropout = nn.Dropout(dropout)


def toy_scores(model, sequences, precision):
    ids = torch.from_numpy(sequences.ids.reshape(-1, 2))
    return model.dropout(model.weight[ids[:, 0], ids[:, 1]])


def train(weight, seed=3, dropout=0.0, names=("R",), share=ALONE, **changes):
    parameters = {
        "training": TRAINING | changes,
        "loss": "pairwise_cross_entropy",
        "weight": weight,
        "limits": {"query": 4, "document": 4, "sequence": None},
        "precision": "float32",
    }
    toys = {name: Toy(head_seed(seed, name), dropout) for name in names}
    trainer = Trainer(parameters, Features(), table(), toys, toy_scores, seed, share)
    return toys, [row for row, _ in trainer.steps()]


def oracle(weight, seed=3, coupled_pair=True):
    """Redo the training in float64 with NumPy alone: scores, weights, gradients, clip, AdamW."""
    names = ("R", "S") if coupled_pair else ("R",)
    state = {}
    for name in names:
        toy = Toy(head_seed(seed, name))
        values = toy.weight.detach().double().numpy().ravel().copy()
        state[name] = [values, np.zeros(16), np.zeros(16)]
    drawer = Drawer(table(), seed)
    rows = []
    for step in range(1, 5):
        triples = drawer.draw(step, 6)
        positive = triples.queries * 8 + triples.positives
        negative = triples.queries * 8 + triples.negatives[:, 0]
        score = {n: (v[0][positive], v[0][negative]) for n, v in state.items()}
        row, gradients = {}, {}
        for name in names:
            p, n = score[name]
            w = np.ones(6)
            if coupled_pair:
                other_p, other_n = score["S" if name == "R" else "R"]
                t = weight["temperature"]
                ratio = np.exp((other_n - other_p) / t)
                w = ratio if weight["form"] == "paper" else 1 + np.exp(other_n / t)
            slope = w / (1 + np.exp(p - n)) / 6
            g = np.zeros(16)
            np.add.at(g, positive, -slope)
            np.add.at(g, negative, slope)
            norm = np.sqrt((g**2).sum())
            gradients[name] = g * min(1.0, 1.0 / (norm + 1e-6))
            row[name] = float((w * np.log1p(np.exp(n - p))).mean())
        rate = 1e-2 * step if step <= 1 else 1e-2 * (5 - step) / 4
        for name in names:
            value, m, v = state[name]
            g = gradients[name]
            m[:] = 0.9 * m + 0.1 * g
            v[:] = 0.999 * v + 0.001 * g**2
            value *= 1 - rate * 0.01
            value -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        rows.append(row)
    return {name: v[0] for name, v in state.items()}, rows


@pytest.mark.parametrize(
    "weight", [ONE, coupled(), coupled("released", 2.0), coupled("paper", 0.5, "train")]
)
def test_training_follows_a_float64_oracle(weight):
    pair = weight["name"] == "coupled"
    toys, rows = train(weight, names=("R", "S") if pair else ("R",))
    expected, losses = oracle(weight, coupled_pair=pair)
    for name, toy in toys.items():
        found = toy.weight.detach().numpy().ravel()
        np.testing.assert_allclose(found, expected[name], atol=3e-6)
        assert abs(expected[name] - _start(name)).max() > 1e-3  # the training did move
    for row, loss in zip(rows, losses, strict=True):
        for name, value in loss.items():
            assert row[f"weighted_loss_{name.lower()}"] == pytest.approx(value, rel=1e-5)


def _start(name):
    return Toy(head_seed(3, name)).weight.detach().numpy().ravel()


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_cet_with_weights_fixed_at_one_is_naive_to_the_bit():
    naive, _ = train(ONE, dropout=0.5)
    pair, _ = train(ONE, dropout=0.5, names=("R", "S"))
    assert same(naive["R"], pair["R"])
    assert not same(pair["R"], pair["S"])
    unlike, _ = train(coupled(), dropout=0.5, names=("R", "S"))
    assert not same(naive["R"], unlike["R"])  # the equality above is not a matter of course


def test_cet_tends_to_naive_as_the_temperature_grows():
    naive, _ = train(ONE)
    distance = []
    for temperature in (1.0, 100.0, 1e6):
        pair, _ = train(coupled(temperature=temperature), names=("R", "S"))
        distance.append(float((pair["R"].weight - naive["R"].weight).detach().abs().max()))
    assert distance[0] > distance[1] > distance[2]
    assert distance[2] < 1e-6


def test_weights_from_train_see_dropout_and_weights_from_eval_do_not():
    rows = {
        source: train(coupled(weights_from=source), dropout=0.5, names=("R", "S"))[1][0]
        for source in ("eval", "train")
    }
    triples = Drawer(table(), 3).draw(1, 6)
    selection = Toy(head_seed(3, "S"))
    with torch.no_grad():
        q = torch.from_numpy(triples.queries)
        p = selection.weight[q, torch.from_numpy(triples.positives)]
        n = selection.weight[q, torch.from_numpy(triples.negatives[:, 0])]
        expected = float(torch.exp(n - p).mean())
    assert rows["eval"]["w_r_mean"] == pytest.approx(expected, rel=1e-5)
    assert rows["train"]["w_r_mean"] != pytest.approx(expected, rel=1e-3)


def test_no_generator_state_outlives_a_step():
    torch.manual_seed(1)
    one, _ = train(ONE, dropout=0.5)
    torch.manual_seed(2)
    other, _ = train(ONE, dropout=0.5)
    assert same(one["R"], other["R"])


def test_weights_that_overflow_stop_the_training():
    with pytest.raises(TrainingError, match=r"step 1: the loss of R is inf.*temperature"):
        train(coupled(temperature=1e-3), names=("R", "S"))


def test_draws_are_keyed_by_seed_and_step_alone():
    drawer = Drawer(table(), seed=5)
    later = drawer.draw(7, 4)
    again = Drawer(table(), seed=5).draw(7, 4)
    for name in ("queries", "positives", "negatives", "false_negative"):
        np.testing.assert_array_equal(getattr(later, name), getattr(again, name))
    np.testing.assert_array_equal(uniforms(5, 7, 4, 2), uniforms(5, 7, 9, 2)[:4])
    assert not np.array_equal(uniforms(5, 7, 4, 2), uniforms(5, 8, 4, 2))
    assert not np.array_equal(uniforms(5, 7, 4, 2), uniforms(6, 7, 4, 2))


def test_draws_follow_the_tables_probabilities():
    triples = Drawer(table(), seed=1).draw(1, 60_000)
    positives = np.bincount(triples.positives, minlength=8) / 60_000
    np.testing.assert_allclose(positives[[0, 1, 5]], 1 / 3, atol=0.01)  # uniform over pairs
    negatives = np.bincount(triples.negatives[:, 0], minlength=8) / 60_000
    expected = np.array([0.5, 0.25, 0.25]) * 2 / 3
    np.testing.assert_allclose(negatives[2:5], expected, atol=0.01)
    np.testing.assert_allclose(negatives[6:], np.array([0.9, 0.1]) / 3, atol=0.01)
    np.testing.assert_array_equal(triples.false_negative, np.isin(triples.negatives, [3, 6]))


def test_learning_rate_warms_up_and_decays():
    parameters = {"steps": 10, "learning_rate": 1.0, "warm_up": 0.2}
    rates = [optimiser.learning_rate(step, parameters) for step in range(1, 11)]
    expected = [0.5, 1.0, 8 / 9, 7 / 9, 6 / 9, 5 / 9, 4 / 9, 3 / 9, 2 / 9, 1 / 9]
    np.testing.assert_allclose(rates, expected)
    assert optimiser.learning_rate(1, parameters | {"warm_up": 0.0}) == 10 / 11


def test_biases_and_layer_norms_are_not_decayed():
    model = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))
    decayed, others = optimiser.adamw(model, TRAINING).param_groups
    assert [p is model[0].weight for p in decayed["params"]] == [True]
    assert decayed["weight_decay"] == 0.01
    assert len(others["params"]) == 3
    assert others["weight_decay"] == 0.0


def test_diagnostics_of_hand_computed_weights():
    row = diagnostics.describe(
        "w_r", np.array([1, 1, 4, 2], dtype=np.float32), np.array([True, False, True, False])
    )
    assert row["w_r_mean"] == 2
    assert row["w_r_q50"] == 1.5
    assert row["w_r_max"] == 4
    assert row["w_r_share_above_1"] == 0.5
    assert row["w_r_effective_share"] == pytest.approx(64 / 22 / 4)
    assert row["w_r_false_negatives_mean"] == 2.5
    assert row["w_r_true_negatives_mean"] == 1.5
    none = diagnostics.describe("w_r", np.ones(2, dtype=np.float32), np.array([True, True]))
    assert np.isnan(none["w_r_true_negatives_mean"])


@pytest.mark.parametrize(
    ("mean", "told"), [(1e3, "RUNAWAY WEIGHTS"), (1e-4, "STARVED MODEL S"), (1.0, None)]
)
def test_runaway_weights_and_starved_models_are_warned_about(caplog, mean, told):
    watch = diagnostics.Watch()
    for step in range(1, 3 * diagnostics.WINDOW):
        watch.look(step, "w_s", "S", mean)
    assert watch.warnings == (2 if told else 0)
    assert (told in caplog.text) if told else (caplog.text == "")


def test_the_step_of_both_models_uses_the_parameters_before_either_step():
    """With simultaneous updates the order of the two models cannot matter."""
    forward, _ = train(coupled(temperature=0.5), names=("R", "S"))
    backward, _ = train(coupled(temperature=0.5), names=("S", "R"))
    assert loop.R == "R"
    for name in ("R", "S"):
        assert same(forward[name], backward[name])
