"""Training of bi-encoders: draws, gradients, dynamic negatives, rounds that can be resumed."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_encoder import write_tiny_encoder

from poolbias.errors import DataError, TrainingError
from poolbias.losses.vectors import lambda_pairwise
from poolbias.models.biencoder import start, turned_into
from poolbias.models.biencoder_files import load, save
from poolbias.retrieval.encode import encode
from poolbias.retrieval.training import rounds
from poolbias.retrieval.training.draws import (
    draw_batch,
    draw_pairs,
    hard_negatives,
    labelled_pairs,
    of_run,
)
from poolbias.retrieval.training.frozen import Frozen
from poolbias.retrieval.training.gradients import backward
from poolbias.retrieval.training.loop import COLUMNS, RetrieverTrainer

WORDS = ["joint", "eye", "heart", "skin", "bone", "ear", "hand", "liver"]
QUERIES = pd.DataFrame(
    {
        "query_id": [f"q{n}" for n in range(8)],
        "text": [f"pain of the {word}" for word in WORDS],
        "split": ["train"] * 6 + ["dev", "test"],
    }
)
DOCUMENTS = pd.DataFrame(
    {
        "document_id": [f"d{n}" for n in range(16)],
        "text": [f"{a} {b}" for a in WORDS for b in ("disease", "of a lamp on the table")],
    }
)
LABELS = pd.DataFrame(
    {
        "query_id": [f"q{n}" for n in range(8)] + ["q0"],
        "document_id": [f"d{2 * n}" for n in range(8)] + ["d1"],
        "grade": [1] * 9,
    }
)
TRAINING = {
    "steps": 4,
    "pairs": 4,
    "chunk": None,
    "learning_rate": 1e-3,
    "betas": [0.9, 0.999],
    "epsilon": 1e-8,
    "weight_decay": 0.01,
    "warm_up": 0.1,
    "clip": 1.0,
}
PARAMETERS = {
    "architecture": "star",
    "negatives": "in_batch",
    "negatives_depth": 5,
    "negatives_per_positive": 2,
    "rounds": 1,
    "loss": "softmax",
    "group": "batch",
    "beta": 0.5,
    "beta_from": 0.5,
    "form": "paper",
    "temperature": 1.0,
    "precision": "float32",
    "seed": 3,
    "training": TRAINING,
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_tiny_encoder(tmp_path_factory.mktemp("tiny"), layers=1)


def model_of(tiny, name="star"):
    return start(name, tiny, 1, (12, 12))


@pytest.fixture
def labelled():
    return labelled_pairs(LABELS, QUERIES, DOCUMENTS)


def trained(tiny, run=None, kept=None, **changed):
    texts = rounds.Texts(QUERIES, DOCUMENTS, LABELS, run)
    parameters = PARAMETERS | changed
    model = model_of(tiny, parameters["architecture"])
    return rounds.train(parameters, texts, model, kept, torch.device("cpu"))


def weights_of(model):
    return b"".join(part.numpy().tobytes() for part in model.state_dict().values())


def test_pairs_are_the_labels_of_training_queries(labelled):
    assert sorted(zip(labelled.queries, labelled.documents, strict=True)) == [
        *((0, 0), (0, 1), (1, 2), (2, 4), (3, 6), (4, 8), (5, 10)),
    ]
    found = labelled.contains(np.array([0, 1, 6]), np.array([1, 2, 12]))
    assert found.tolist() == [[True, False, False], [False, True, False], [False] * 3]
    with pytest.raises(TrainingError, match="no query of the split 'train' has a label"):
        labelled_pairs(LABELS[LABELS["query_id"] == "q7"], QUERIES, DOCUMENTS)
    with pytest.raises(DataError, match="does not hold 'd99'"):
        labelled_pairs(LABELS.assign(document_id="d99"), QUERIES, DOCUMENTS)


def test_draws_are_keyed_and_uniform(labelled):
    first = draw_pairs(labelled, 1, 5, 4)
    again = draw_pairs(labelled, 1, 5, 9)
    assert first[0].tolist() == again[0][:4].tolist()
    many = np.concatenate([draw_pairs(labelled, 1, step, 50)[1] for step in range(140)])
    counts = np.bincount(many)[np.unique(labelled.documents)]
    assert counts.sum() == 7000
    assert abs(counts - 1000).max() < 5 * 31  # five standard deviations


def test_hard_negatives_are_the_unlabelled_ones_of_their_query(labelled):
    run = pd.DataFrame(
        {
            "query_id": ["q0"] * 4 + ["q2"] * 2,
            "document_id": ["d0", "d5", "d1", "d7", "d4", "d3"],
            "rank": [1, 2, 3, 4, 1, 2],
        }
    )
    hard = hard_negatives(*of_run(run, 3, QUERIES, DOCUMENTS), labelled, 8)
    assert [hard.documents[a:b].tolist() for a, b in pairwise(hard.starts)] == [
        *([5], [], [3], [], [], [], [], []),
    ]
    deep = hard_negatives(*of_run(run, 9, QUERIES, DOCUMENTS), labelled, 8)
    found = deep.draw(np.array([0, 1, 2, 0]), 1, 1, 50)
    assert set(found[0]) == {5, 7}
    assert set(found[1]) == {-1}
    assert set(found[2]) == {3}
    assert found[0].tolist() != found[3].tolist(), "slots draw by themselves"
    with pytest.raises(DataError, match="has no rows"):
        of_run(run.iloc[:0], 3, QUERIES, DOCUMENTS)


@pytest.mark.parametrize("name", ["star", "repbert", "minilm", "dual_encoder"])
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_a_gradient_by_chunks_is_that_of_the_whole(tiny, name, chunk):
    gradients, losses = [], []
    for size in (None, chunk):
        model = model_of(tiny, name)
        texts = (
            model.tokenize(QUERIES["text"], "query"),
            model.tokenize(DOCUMENTS["text"], "document"),
        )

        def loss(asked, given):
            scores = asked @ given.T
            return torch.nn.functional.cross_entropy(scores, torch.arange(8))

        losses.append(backward(model, texts, loss, False, size))
        gradients.append(
            torch.cat([p.grad.ravel() for p in model.parameters() if p.grad is not None])
        )
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert gradients[0].norm() > 0
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-3, atol=1e-5)


def test_dynamic_negatives_have_the_ranks_of_a_full_sort(labelled):
    torch.manual_seed(2)
    documents, vectors = torch.randn(16, 4).double(), torch.randn(2, 4).double()
    queries = np.array([0, 3])
    for depth in (2, 5, 16, 99):
        found = Frozen(documents, labelled, depth).loss(vectors, queries)
        expected = []
        for query, vector in zip(queries, vectors, strict=True):
            scores = documents @ vector
            ranks = torch.empty(16, dtype=torch.long)
            ranks[torch.argsort(-scores)] = torch.arange(1, 17)
            relevant = torch.tensor([row in ([0, 1] if query == 0 else [6]) for row in range(16)])
            seen = (ranks <= depth) | relevant
            expected.append(
                lambda_pairwise(scores[seen][None], relevant[seen][None], ranks[seen][None], 200)[0]
            )
        torch.testing.assert_close(found, torch.stack(expected).mean())


def test_adores_gradient_is_that_of_finite_differences(labelled):
    torch.manual_seed(4)
    documents = torch.randn(16, 3).double()
    frozen = Frozen(documents, labelled, 6)
    vectors = torch.randn(2, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: frozen.loss(v, np.array([1, 4])), vectors)


def test_adore_trains_the_queries_encoder_alone(tiny):
    star, _ = trained(tiny)
    texts = rounds.Texts(QUERIES, DOCUMENTS, LABELS)
    parameters = PARAMETERS | {"architecture": "adore", "negatives": "dynamic", "loss": "lambda"}
    before = turned_into(star, "adore")
    model, rows = rounds.train(
        parameters, texts, turned_into(star, "adore"), None, torch.device("cpu")
    )
    same = encode(DOCUMENTS["text"].tolist(), model, "document")
    assert same.tobytes() == encode(DOCUMENTS["text"].tolist(), before.eval(), "document").tobytes()
    asked = [encode(QUERIES["text"].tolist(), m, "query") for m in (before, model)]
    assert np.abs(asked[0] - asked[1]).max() > 1e-4
    assert all(row["loss"] > 0 for row in rows)


@pytest.mark.parametrize("loss", ["softmax", "margin", "rcl"])
def test_training_brings_queries_to_their_documents(tiny, loss):
    many = TRAINING | {"steps": 60, "pairs": 6}
    model, rows = trained(tiny, loss=loss, training=many, temperature=2.0, beta=0.1)
    assert [row["step"] for row in rows] == list(range(1, 61))
    learnt = DOCUMENTS["text"].iloc[:12:2]  # the labelled ones, which batches consist of

    def mean_rank(which):
        asked = encode(QUERIES["text"].iloc[:6], which, "query")
        scores = asked @ encode(learnt, which).T
        return np.mean((scores > scores.diagonal()[:, None]).sum(axis=1) + 1)

    assert mean_rank(model) < 1.5 < mean_rank(model_of(tiny).eval())


def test_static_negatives_enter_the_batch(tiny):
    run = pd.DataFrame(
        {
            "query_id": [f"q{n}" for n in range(6) for _ in range(2)],
            "document_id": [f"d{2 * n + k}" for n in range(6) for k in (0, 1)],
            "rank": [1, 2] * 6,
        }
    )
    labelled = labelled_pairs(LABELS, QUERIES, DOCUMENTS)
    hard = hard_negatives(*of_run(run, 5, QUERIES, DOCUMENTS), labelled, 8)
    batch = draw_batch(PARAMETERS, labelled, hard, 1)
    others = {2 * query + 1 for query in batch.queries if query != 0}
    assert set(batch.columns) == set(batch.positives) | others
    own = batch.own()
    for number, query in enumerate(batch.queries):
        listed = {batch.positives[number]} | ({2 * query + 1} if query else set())
        assert set(batch.columns[own[number]]) == listed
    assert batch.columns[batch.places(batch.positives)].tolist() == batch.positives.tolist()
    bare = draw_batch(PARAMETERS, labelled, None, 1)
    assert bare.queries.tolist() == batch.queries.tolist()
    assert bare.hard.shape == (4, 0)
    trained(tiny, run, negatives="static")


def coupled_case(tiny, **changed):
    """A trainer of two models on fixed hard negatives, and its batch."""
    labelled = labelled_pairs(LABELS, QUERIES, DOCUMENTS)
    queries = np.repeat(np.arange(1, 6), 3)
    documents = np.array([(2 * n + k) % 16 for n in range(1, 6) for k in (1, 3, 5)])
    hard = hard_negatives(queries, documents, labelled, 8)
    given = {"loss": "pairwise", "negatives": "static", "temperature": 2.0} | changed
    model = model_of(tiny)
    tokens = [model.tokenize(frame["text"], "document") for frame in (QUERIES, DOCUMENTS)]
    selection = rounds.selection_model(model, 3) if "coupling" in given else None
    parameters = PARAMETERS | given
    trainer = RetrieverTrainer(
        parameters, model, *tokens, labelled=labelled, hard=hard, selection=selection
    )
    return trainer, draw_batch(parameters, labelled, hard, 1)


def pair_scores(model, trainer, batch):
    """Scores in float64 of the positives and of their negatives, pair by pair."""
    with torch.no_grad():
        asked, given = (
            model.vectors(model.sequences(tokens, role), role).double().numpy()
            for tokens, role in zip(trainer._texts(batch), ("query", "document"), strict=True)
        )
    place = {document: column for column, document in enumerate(batch.columns)}
    found = []
    for number in range(len(batch.queries)):
        if batch.hard[number, 0] >= 0:
            own = [batch.positives[number], *batch.hard[number]]
            found.append([asked[number] @ given[place[row]] / 2.0 for row in own])
    return np.array(found)


@pytest.mark.parametrize("form", ["paper", "released"])
def test_coupled_weights_and_loss_are_those_of_a_loop(tiny, form):
    trainer, batch = coupled_case(tiny, coupling={"form": form, "temperature": 3.0})
    assert (batch.hard[:, 0] < 0).sum() < len(batch.queries)
    weights = trainer._weights(batch)
    models = (trainer.model, trainer.selection)
    scores = [pair_scores(model, trainer, batch) for model in models]
    assert np.abs(scores[0] - scores[1]).max() > 1e-4, "the two models differ"
    for number in (0, 1):
        other, own = scores[1 - number], scores[number]
        if form == "paper":
            expected = np.exp((other[:, 1:] - other[:, :1]) / 3.0)
        else:
            expected = 1 + np.exp(other[:, 1:] / 3.0)
        np.testing.assert_allclose(weights[number].numpy(), expected, rtol=1e-4)
        with torch.no_grad():
            vectors = [
                models[number].vectors(models[number].sequences(tokens, role), role)
                for tokens, role in zip(trainer._texts(batch), ("query", "document"), strict=True)
            ]
            found = float(trainer._loss(1, batch, weights[number], *vectors))
        losses = np.log1p(np.exp(own[:, 1:] - own[:, :1]))
        assert found == pytest.approx(float((expected * losses).mean(axis=1).mean()), rel=1e-4)


def test_coupled_training_trains_both_and_equal_models_would_stay_equal(tiny):
    trainer, _ = coupled_case(tiny, coupling={"form": "paper", "temperature": 1.0})
    before = [weights_of(learner.model) for learner in trainer.learners]
    row = next(trainer.steps())
    assert set(row) == set(COLUMNS)
    assert row["weight"] != 1.0
    after = [weights_of(learner.model) for learner in trainer.learners]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert after[0] != after[1]
    assert before[0] == weights_of(model_of(tiny)), "the relevance model has no noise"


def test_without_coupling_the_weight_is_one(tiny):
    trainer, batch = coupled_case(tiny)
    assert trainer._weights(batch) == [None]
    scores = pair_scores(trainer.model, trainer, batch)
    with torch.no_grad():
        vectors = [
            trainer.model.vectors(trainer.model.sequences(tokens, role), role)
            for tokens, role in zip(trainer._texts(batch), ("query", "document"), strict=True)
        ]
        found = float(trainer._loss(1, batch, None, *vectors))
    losses = np.log1p(np.exp(scores[:, 1:] - scores[:, :1]))
    assert found == pytest.approx(float(losses.mean()), rel=1e-4)
    assert next(trainer.steps())["weight"] == 1.0


def test_a_softmax_over_a_querys_own_list_leaves_the_batch_out(tiny):
    trainer, batch = coupled_case(tiny, loss="softmax", group="own")
    scores = pair_scores(trainer.model, trainer, batch)
    with torch.no_grad():
        vectors = [
            trainer.model.vectors(trainer.model.sequences(tokens, role), role)
            for tokens, role in zip(trainer._texts(batch), ("query", "document"), strict=True)
        ]
        found = float(trainer._loss(1, batch, None, *vectors))
    lists = [np.unique(line[1:]) for line in scores]  # a document drawn twice counts once
    losses = [
        np.log(np.exp(line[0]) + np.exp(others).sum()) - line[0]
        for line, others in zip(scores, lists, strict=True)
    ]
    assert found == pytest.approx(sum(losses) / len(batch.queries), rel=1e-4)


def test_a_training_is_repeatable_and_its_seed_matters(tiny):
    first, rows = trained(tiny)
    again, _ = trained(tiny)
    other, _ = trained(tiny, seed=4)
    assert weights_of(first) == weights_of(again) != weights_of(other)
    assert all(np.isfinite(row["gradient_norm"]) for row in rows)


def test_a_refreshed_training_that_was_stopped_ends_in_the_same_bytes(tiny, tmp_path, monkeypatch):
    settings = {"architecture": "ance", "negatives": "refreshed", "rounds": 3}
    whole, rows = trained(tiny, kept=tmp_path / "whole", **settings)
    assert [row["round"] for row in rows] == [n for n in range(3) for _ in range(4)]
    calls = []
    found_now = rounds.found_now

    def dies_in_the_second(*given):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return found_now(*given)

    monkeypatch.setattr(rounds, "found_now", dies_in_the_second)
    with pytest.raises(KeyboardInterrupt):
        trained(tiny, kept=tmp_path / "stopped", **settings)
    again, rows_again = trained(tiny, kept=tmp_path / "stopped", **settings)
    assert len(calls) == 4, "the first round is not done again"
    assert weights_of(again) == weights_of(whole)
    assert rows_again == rows
    unbroken, _ = trained(tiny, kept=None, **settings)
    assert weights_of(unbroken) == weights_of(whole)


def test_refreshed_negatives_are_what_the_model_finds_now(tiny):
    model = model_of(tiny, "ance").eval()
    texts = rounds.Texts(QUERIES, DOCUMENTS, LABELS)
    hard = rounds.found_now(model, texts, PARAMETERS | {"negatives_depth": 3})
    scores = encode(QUERIES["text"], model, "query") @ encode(DOCUMENTS["text"], model).T
    for query in range(8):
        found = hard.documents[hard.starts[query] : hard.starts[query + 1]].tolist()
        best = np.argsort(-scores[query])[:3].tolist()
        relevant = {2 * query} | ({1} if query == 0 else set())
        assert found == ([d for d in best if d not in relevant] if query < 6 else [])


def test_a_loss_that_is_not_finite_stops(tiny):
    model = model_of(tiny)
    model.both.norm.weight.data.fill_(torch.inf)
    texts = rounds.Texts(QUERIES, DOCUMENTS, LABELS)
    with pytest.raises(TrainingError, match=r"step 1: the loss is nan"):
        rounds.train(PARAMETERS, texts, model, None, torch.device("cpu"))


def test_training_starts_from_another_retriever(tiny, tmp_path):
    star, _ = trained(tiny)
    save(star, tmp_path / "star")
    limits = {"query_tokens": 7, "document_tokens": 9}
    adore = rounds.first_model({"architecture": "adore", **limits}, tmp_path / "star")
    assert (adore.name, adore.limits) == ("adore", (7, 9))
    assert torch.equal(adore.query.embeddingHead.weight, star.both.embeddingHead.weight)
    same = rounds.first_model({"architecture": "star", **limits}, tmp_path / "star")
    assert weights_of(same) == weights_of(load(tmp_path / "star"))
