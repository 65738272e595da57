"""Several negatives per positive, in draws and loop: plain second implementations, equal bits."""

import numpy as np
import pytest
from test_training import ONE, TRAINING, Features, Toy, coupled, same, table, toy_scores

from poolbias.training.draws import Drawer
from poolbias.training.loop import Trainer
from poolbias.training.run import head_seed

GAUSSIAN = {"name": "gaussian", "mu": 0.0, "sigma": 0.5, "prediction": "instance"}
OF_THE_LIST = GAUSSIAN | {"prediction": "document"}
SOFTMAX, BOTH = "softmax_cross_entropy", "softmax_and_pointwise"


def adjusted(**adjust):
    return coupled() | {"adjust": adjust}


def test_draws_of_one_negative_are_frozen():
    """A changed draw changes every trained ranker: these are the first release's."""
    triples = Drawer(table(), seed=5).draw(7, 12)
    assert triples.queries.tolist() == [1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1]
    assert triples.positives.tolist() == [5, 1, 1, 1, 5, 5, 5, 1, 0, 5, 1, 5]
    expected = [6, 4, 2, 4, 6, 6, 6, 3, 4, 6, 2, 6]
    assert triples.negatives.tolist() == [[row] for row in expected]
    assert triples.false_negative.tolist() == [[row in (3, 6)] for row in expected]


def test_draws_follow_a_plain_second_implementation():
    found = Drawer(table(), seed=9).draw(4, 50, negatives=3)
    streams = [
        np.random.Generator(np.random.Philox(key=9, counter=[0, 0, 4, block])) for block in range(3)
    ]
    first = streams[0].random((50, 2))
    at = np.column_stack([first[:, 1], *(stream.random(50) for stream in streams[1:])])
    candidates = {0: {2: 0.5, 3: 0.25, 4: 0.25}, 1: {6: 0.9, 7: 0.1}}
    pairs = [(0, 0), (0, 1), (1, 5)]
    for slot in range(50):
        query, positive = pairs[int(first[slot, 0] * 3)]
        left, expected = dict(candidates[query]), []
        for place in at[slot]:
            left = left or dict(candidates[query])
            total, passed = sum(left.values()), 0.0
            for document, probability in left.items():
                passed += probability
                if place * total < passed:
                    expected.append(document)
                    del left[document]
                    break
        assert (found.queries[slot], found.positives[slot]) == (query, positive)
        assert found.negatives[slot].tolist() == expected


def test_more_negatives_begin_with_fewer_and_none_is_drawn_twice_before_all_are():
    one, two, six = (Drawer(table(), seed=2).draw(3, 200, n) for n in (1, 2, 6))
    np.testing.assert_array_equal(one.negatives, two.negatives[:, :1])
    np.testing.assert_array_equal(two.negatives, six.negatives[:, :2])
    np.testing.assert_array_equal(one.positives, six.positives)
    for query, documents in ((0, [2, 3, 4]), (1, [6, 7])):
        drawn = six.negatives[six.queries == query]
        assert len(drawn) > 50
        for round_of in np.split(drawn, 6 // len(documents), axis=1):
            assert (np.sort(round_of, axis=1) == documents).all()
    np.testing.assert_array_equal(six.false_negative, np.isin(six.negatives, [3, 6]))


def test_a_second_negative_follows_the_probabilities_of_what_is_left():
    triples = Drawer(table(), seed=1).draw(1, 60_000, negatives=2)
    first, second = triples.negatives[triples.queries == 0].T
    shares = np.bincount(second[first == 2], minlength=5) / (first == 2).sum()
    np.testing.assert_allclose(shares, [0, 0, 0, 0.5, 0.5], atol=0.01)
    shares = np.bincount(second[first == 3], minlength=5) / (first == 3).sum()
    np.testing.assert_allclose(shares, [0, 0, 2 / 3, 0, 1 / 3], atol=0.02)


def train(loss, weight, negatives=2, names=("R",), dropout=0.0, seed=3, **training):
    parameters = {
        "training": TRAINING | training,
        "loss": loss,
        "weight": weight,
        "negatives_per_positive": negatives,
        "limits": {"query": 4, "document": 4, "sequence": None},
        "precision": "float32",
    }
    if loss == BOTH:
        parameters["loss_options"] = {"softmax": 2.0, "pointwise": 0.5}
    toys = {name: Toy(head_seed(seed, name), dropout) for name in names}
    trainer = Trainer(parameters, Features(), table(), toys, toy_scores, seed)
    return toys, [row for row, _ in trainer.steps()]


def weights_of(weight, own, other):
    """Return the float64 weights of a step before adjustment."""
    p, n = own if other is None else other
    if weight["name"] == "one":
        return np.ones_like(n)
    if weight["name"] == "gaussian":
        below = np.exp(p) + np.exp(n).sum(axis=1)
        by_itself = weight["prediction"] == "instance"
        predicted = 1 / (1 + np.exp(-n)) if by_itself else np.exp(n) / below[:, None]
        return np.exp(-((predicted - weight["mu"]) ** 2) / (2 * weight["sigma"] ** 2))
    t = weight["temperature"]
    return np.exp((n - p[:, None]) / t) if weight["form"] == "paper" else 1 + np.exp(n / t)


def adjust(w, options, means):
    """Return the adjusted weights; `means` are those of all steps so far, the present one last."""
    w = np.minimum(w, options.get("clip", np.inf))
    means.append(w.mean())
    if options.get("normalise") == "batch":
        return w / means[-1]
    if options.get("normalise") == "running_mean":
        counts = options["decay"] ** np.arange(len(means))[::-1]
        return w / ((counts * means).sum() / counts.sum())
    return w


def loss_of(loss, p, n, w):
    """Return the float64 loss of a step."""
    scale = w.mean(axis=1)
    v = w / scale[:, None]
    softmax = np.log(1 + (v * np.exp(n - p[:, None])).sum(axis=1))
    if loss == SOFTMAX:
        return (scale * softmax).mean()
    if loss == BOTH:
        pointwise = np.log1p(np.exp(-p)) + (v * np.log1p(np.exp(n))).mean(axis=1)
        return (scale * (2 * softmax + 0.5 * pointwise)).mean()
    return (w * np.log1p(np.exp(n - p[:, None]))).mean()


def oracle(loss, weight, names, negatives=2, seed=3):
    """Redo the training in float64, its gradients by central differences at constant weights."""
    state = {n: Toy(head_seed(seed, n)).weight.detach().double().numpy().ravel() for n in names}
    moments = {name: (np.zeros(16), np.zeros(16)) for name in names}
    means = {name: [] for name in names}
    drawer = Drawer(table(), seed)
    rows = []
    for step in range(1, 5):
        triples = drawer.draw(step, 6, negatives)
        at = triples.queries * 8 + triples.positives, triples.queries[:, None] * 8
        at = at[0], at[1] + triples.negatives
        score = {name: (value[at[0]], value[at[1]]) for name, value in state.items()}
        row, gradients = {}, {}
        for name in names:
            other = score["S" if name == "R" else "R"] if len(names) == 2 else None
            w = weights_of(weight, score[name], other)
            w = adjust(w, weight.get("adjust", {}), means[name])

            def objective(value, w=w, at=at):
                return loss_of(loss, value[at[0]], value[at[1]], w)

            moved = np.eye(16) * 1e-6
            g = np.array(
                [objective(state[name] + m) - objective(state[name] - m) for m in moved]
            ) / 2e-6  # fmt: skip
            gradients[name] = g * min(1.0, 1.0 / (np.sqrt((g**2).sum()) + 1e-6))
            row[f"weighted_loss_{name.lower()}"] = objective(state[name])
            row[f"loss_{name.lower()}"] = loss_of(loss, *score[name], np.ones_like(w))
            row[f"w_{name.lower()}_mean"] = w.mean()
            row[f"w_{name.lower()}_false_negatives_mean"] = w[triples.false_negative].mean()
        rate = 1e-2 * step if step <= 1 else 1e-2 * (5 - step) / 4
        for name in names:
            (m, v), g = moments[name], gradients[name]
            m[:] = 0.9 * m + 0.1 * g
            v[:] = 0.999 * v + 0.001 * g**2
            step_by = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
            state[name] = state[name] * (1 - rate * 0.01) - rate * step_by
        rows.append(row)
    return state, rows


@pytest.mark.parametrize("negatives", [1, 2, 3])
@pytest.mark.parametrize(
    ("loss", "weight"),
    [
        ("pairwise_cross_entropy", ONE),
        ("pairwise_cross_entropy", coupled()),
        ("pairwise_cross_entropy", adjusted(clip=1.2)),
        ("pairwise_cross_entropy", adjusted(normalise="batch")),
        ("pairwise_cross_entropy", adjusted(normalise="running_mean", decay=0.5)),
        (SOFTMAX, ONE),
        (SOFTMAX, coupled()),
        (SOFTMAX, coupled("released", 2.0)),
        (SOFTMAX, adjusted(clip=2.0, normalise="running_mean", decay=0.9)),
        (BOTH, GAUSSIAN),
        (BOTH, OF_THE_LIST),
        (BOTH, coupled("paper", 0.5, "train")),
    ],
)
def test_training_follows_a_float64_oracle(loss, weight, negatives):
    names = ("R", "S") if weight["name"] == "coupled" else ("R",)
    toys, rows = train(loss, weight, negatives, names)
    expected, figures = oracle(loss, weight, names, negatives)
    for name, toy in toys.items():
        found = toy.weight.detach().numpy().ravel()
        np.testing.assert_allclose(found, expected[name], atol=2e-5)
        start = Toy(head_seed(3, name)).weight.detach().numpy().ravel()
        assert abs(found - start).max() > 1e-3
    for row, figure in zip(rows, figures, strict=True):
        told = {name: value for name, value in row.items() if name in figure}
        assert told == pytest.approx({name: figure[name] for name in told}, rel=1e-4)
        assert {"loss_r", "weighted_loss_r"} <= set(told)
        assert ("w_r_mean" in row) == (weight is not ONE)


def test_one_negative_in_a_list_is_a_pair_to_the_bit():
    names = ("R", "S")
    pairs, rows = train("pairwise_cross_entropy", coupled(), 1, names, dropout=0.5)
    lists, others = train(SOFTMAX, coupled(), 1, names, dropout=0.5)
    assert all(same(pairs[name], lists[name]) for name in names)
    assert rows == others
    more, _ = train(SOFTMAX, coupled(), 2, names, dropout=0.5)
    assert not same(pairs["R"], more["R"])


@pytest.mark.parametrize("loss", ["pairwise_cross_entropy", SOFTMAX, BOTH])
def test_weights_of_one_train_the_relevance_model_as_if_it_were_alone(loss):
    """And so S leaves R untouched, with several negatives too."""
    alone, _ = train(loss, ONE, 3, dropout=0.5)
    pair, _ = train(loss, ONE, 3, names=("R", "S"), dropout=0.5)
    assert same(alone["R"], pair["R"])
    assert not same(pair["R"], pair["S"])
    weighted, _ = train(loss, coupled(), 3, names=("R", "S"), dropout=0.5)
    assert not same(alone["R"], weighted["R"])


@pytest.mark.parametrize("weights_from", ["eval", "train"])
@pytest.mark.parametrize("options", [{}, {"normalise": "running_mean", "decay": 0.5}])
def test_both_models_step_from_the_parameters_before_either(weights_from, options):
    weight = coupled(temperature=0.5, weights_from=weights_from) | {"adjust": options}
    forward, _ = train(SOFTMAX, weight, 3, names=("R", "S"), dropout=0.5)
    backward, _ = train(SOFTMAX, weight, 3, names=("S", "R"), dropout=0.5)
    assert all(same(forward[name], backward[name]) for name in ("R", "S"))


def test_statistics_count_every_weight_of_a_list():
    _, rows = train(SOFTMAX, coupled(), 3, names=("R", "S"))
    triples = Drawer(table(), 3).draw(1, 6, 3)
    theta = Toy(head_seed(3, "S")).weight.detach().double().numpy()
    score = theta[triples.queries[:, None], triples.negatives]
    w = np.exp(score - theta[triples.queries, triples.positives][:, None])
    truth = triples.false_negative
    assert truth.any()
    assert rows[0]["w_r_q50"] == pytest.approx(np.median(w), rel=1e-5)
    assert rows[0]["w_r_max"] == pytest.approx(w.max(), rel=1e-5)
    assert rows[0]["w_r_share_above_1"] == pytest.approx((w > 1).mean())
    kish = w.sum() ** 2 / (w**2).sum() / w.size
    assert rows[0]["w_r_effective_share"] == pytest.approx(kish, rel=1e-5)
    assert rows[0]["w_r_true_negatives_mean"] == pytest.approx(w[~truth].mean(), rel=1e-5)


def test_a_clip_lets_a_training_pass_that_overflows_without():
    clipped = coupled(temperature=1e-3) | {"adjust": {"clip": 5.0}}
    _, rows = train(SOFTMAX, clipped, names=("R", "S"))
    assert max(row["w_r_max"] for row in rows) == 5.0
