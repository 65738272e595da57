"""The rankers `cedr_knrm` and `parade_max` against plain float64 NumPy, and through training."""

import copy
import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from test_training import TRAINING, table
from transformers import BertConfig, BertModel

from poolbias import models
from poolbias.config.entries import METHODS
from poolbias.config.weighted import Cet
from poolbias.errors import DataError
from poolbias.models import cedr_knrm, parade_max, parts, pretrained
from poolbias.tokens import Sequences
from poolbias.training import optimiser
from poolbias.training.loop import Trainer

COMMON = {
    "start": "tiny", "layers": None, "dropout": 0.0, "head_dropout": 0.0, "engine": "packed",
    "attention": "eager",
}  # fmt: skip
KINDS = {
    "cedr_knrm": {"kind": "cedr_knrm", "head_learning_rate": 1e-1},
    "parade_max": {
        "kind": "parade_max", "part_tokens": 6, "stride_tokens": 4, "most_parts": 3,
    },
}  # fmt: skip
LONG = list(KINDS)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# Word pieces of queries, and of documents that need one part, several, and more than are kept.
QUERIES = [[5, 6], [7, 8, 9], [10]]
DOCUMENTS = [list(range(5, 8)), list(range(9, 21)), list(range(20, 55))]


@pytest.fixture(autouse=True)
def tiny(tmp_path, monkeypatch):
    """A random encoder of 20 positions under the name `tiny`."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    config = BertConfig(
        vocab_size=60,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=20,
        initializer_range=0.5,
    )
    torch.manual_seed(3)
    save_file(BertModel(config).state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *(f"w{n}" for n in range(55))]))
    monkeypatch.setitem(pretrained.PRETRAINED, "tiny", lambda: folder)
    return folder


def start(kind, seed=1, **changes):
    return models.ranker(kind).start(COMMON | KINDS.get(kind, {}) | changes, seed)


def sequences(pairs=((0, 0), (1, 1), (2, 2), (0, 2))):
    """The sequences of pairs (query, document), the longest first."""
    whole = [[2, *QUERIES[q], 3, *DOCUMENTS[d], 3] for q, d in pairs]
    kinds = [[0] * (len(QUERIES[q]) + 2) + [1] * (len(DOCUMENTS[d]) + 1) for q, d in pairs]
    rows = np.argsort([-len(ids) for ids in whole], kind="stable")
    return Sequences(
        np.concatenate([whole[row] for row in rows]),
        np.concatenate([kinds[row] for row in rows]),
        np.array([len(whole[row]) for row in rows]),
        rows,
    )


def states(ranker, query, document):
    """Hidden states of one sequence by transformers alone, float64 [layers + 1, tokens, width]."""
    ids = torch.tensor([[2, *query, 3, *document, 3]])
    types = torch.tensor([[0] * (len(query) + 2) + [1] * (len(document) + 1)])
    with torch.no_grad():
        found = ranker.bert(input_ids=ids, token_type_ids=types, output_hidden_states=True)
    return np.stack([state[0].double().numpy() for state in found.hidden_states])


def number(tensor):
    return tensor.detach().double().numpy()


def by_hand_cedr(ranker, query, document):
    """CEDR-KNRM of one pair, term by term in float64."""
    room = 20 - 3 - len(query)
    count = math.ceil(len(document) / room)
    size = math.ceil(len(document) / count)
    found = [states(ranker, query, document[i * size : (i + 1) * size]) for i in range(count)]
    means = [-0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
    features = []
    for mean in means:
        deviation = 0.001 if mean == 1.0 else 0.1
        for layer in range(3):
            feature = 0.0
            for q in found[0][layer][1 : 1 + len(query)]:
                total = 0.0
                for part in found:
                    for d in part[layer][2 + len(query) : -1]:
                        cosine = q @ d / (np.linalg.norm(q) * np.linalg.norm(d))
                        total += np.exp(-0.5 * ((cosine - mean) / deviation) ** 2)
                feature += np.log(total + 1e-6)
            features.append(feature)
    first = np.mean([part[-1][0] for part in found], axis=0)
    vector = np.concatenate([features, first])
    return vector @ number(ranker.combine.weight)[0] + number(ranker.combine.bias)[0]


def by_hand_parade(ranker, query, document):
    """PARADE-Max of one pair; the parts of each document are written down here."""
    ids = list(document)
    cut = {
        3: [ids],
        12: [ids[0:6], ids[4:10], ids[8:12]],
        35: [ids[0:6], None, ids[32:35]],  # starts 0, 4, ..., 32: nine parts, three are kept
    }[len(ids)]
    if None in cut:
        middle = [ids[s : s + 6] for s in range(4, 32, 4)]
        chosen = parade_max.choose(parade_max.split(np.array(ids), 6, 4), np.array(ids), 3)[
            1
        ].tolist()
        assert chosen in middle
        cut[1] = chosen
    weight, bias = number(ranker.bert.pooler.dense.weight), number(ranker.bert.pooler.dense.bias)
    pooled = [np.tanh(weight @ states(ranker, query, part)[-1][0] + bias) for part in cut]
    largest = np.max(pooled, axis=0)
    return largest @ number(ranker.classifier.weight)[0] + number(ranker.classifier.bias)[0]


@pytest.mark.parametrize("engine", ["packed", "plain"])
@pytest.mark.parametrize(("kind", "oracle"), [(LONG[0], by_hand_cedr), (LONG[1], by_hand_parade)])
def test_scores_are_those_of_a_plain_computation(kind, oracle, engine):
    pairs = ((0, 0), (1, 1), (2, 2), (0, 2))
    ranker = start(kind, engine=engine).eval()
    found = models.ranker(kind).scores(ranker, sequences(pairs), "float32").detach().numpy()
    expected = [oracle(ranker, QUERIES[q], DOCUMENTS[d]) for q, d in pairs]
    assert np.std(expected) > 1e-3
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("kind", LONG)
def test_a_score_depends_neither_on_the_batch_nor_on_its_files(kind, tmp_path):
    module = models.ranker(kind)
    ranker = start(kind).eval()
    whole = module.scores(ranker, sequences(), "float32")
    alone = module.scores(ranker, sequences(((1, 1),)), "float32")
    torch.testing.assert_close(alone[0], whole[1], atol=1e-5, rtol=1e-4)
    for name, seed in (("R", 1), ("S", 2)):
        one = start(kind, seed).eval()
        module.save(one, tmp_path / name)
        again = models.load(tmp_path / name)
        assert not again.training
        expected = module.scores(one, sequences(), "float32")
        assert torch.equal(module.scores(again, sequences(), "float32"), expected)
        assert torch.equal(expected, whole) == (name == "R")  # another head, other scores
    (tmp_path / "R" / "model.safetensors").write_bytes(b"")
    with pytest.raises(DataError, match=r"model\.safetensors: cannot be read"):
        models.load(tmp_path / "R")


@pytest.mark.parametrize("kind", LONG)
def test_bf16_changes_the_digits_of_the_encoder_only(kind):
    ranker = start(kind).eval()
    full = models.ranker(kind).scores(ranker, sequences(), "float32")
    half = models.ranker(kind).scores(ranker, sequences(), "bf16")
    assert half.dtype == torch.float32
    assert not torch.equal(full, half)


@pytest.mark.parametrize("pairs", [((0, 0), (1, 1)), ((2, 2),)])
def test_kernels_are_those_of_a_plain_computation_to_the_last_digits(pairs):
    """In float64 throughout, since the narrow kernel around 1 makes much of float32's error."""
    ranker = start("cedr_knrm").double().eval()
    rng = np.random.default_rng(5)
    shapes = [(len(QUERIES[q]), len(DOCUMENTS[d])) for q, d in pairs]
    longest = [max(sizes) for sizes in zip(*shapes, strict=True)]
    query, document = (rng.normal(size=(len(pairs), size, 4)) for size in longest)
    document[:, 0] = 3 * query[:, 0]  # a similarity of 1
    masks = [
        torch.tensor([[place < shape[side] for place in range(longest[side])] for shape in shapes])
        for side in (0, 1)
    ]
    found = ranker.kernels(torch.tensor(query), torch.tensor(document), *masks).detach().numpy()
    for pair, (queries, documents) in enumerate(shapes):
        for kernel, (mean, deviation) in enumerate(
            zip(number(ranker.means), number(ranker.deviations), strict=True)
        ):
            expected = 0.0
            for q in query[pair, :queries]:
                total = 0.0
                for d in document[pair, :documents]:
                    cosine = q @ d / (np.linalg.norm(q) * np.linalg.norm(d))
                    total += np.exp(-0.5 * ((cosine - mean) / deviation) ** 2)
                expected += np.log(total + 1e-6)
            assert found[pair, kernel] == pytest.approx(expected, rel=1e-5)


class Store:
    """Stands for the token store: the query of a row, and one of the first documents."""

    def __init__(self, documents):
        self.documents = documents

    def sequences(self, queries, documents, limits):
        return sequences(list(zip(queries % 3, documents % self.documents, strict=True)))


def methods():
    """What methods choose for the loop: each loss, weight and number of negatives once."""
    every = [method() for method in METHODS.values()]
    every += [Cet(form="released", temperature=10.0), Cet(weights_from="train")]
    found = {}
    for method in every:
        chosen = method.trained.resolved()
        del chosen["negatives"]
        found.setdefault(json.dumps(chosen), pytest.param(chosen, id=method.label))
    return list(found.values())


def test_methods_differ_for_the_loop_in_as_many_ways():
    assert [method.id for method in methods()] == [
        "naive", "dml-mu0-sigma0.5", "cet-paper-tau1", "cet_listwise-paper-tau1-n7", "lce-n7",
        "cet-released-tau10", "cet-paper-tau1-train",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [*LONG, "bert", "prop", "ernie"])
@pytest.mark.parametrize("method", methods())
def test_it_trains_under_every_method(kind, method):
    weight = method["weight"]
    names = ("R", "S") if weight["name"] == "coupled" else ("R",)
    rankers = {name: start(kind, seed) for seed, name in enumerate(names)}
    before = {
        (name, key): value.clone()
        for name, ranker in rankers.items()
        for key, value in ranker.named_parameters()
    }
    parameters = {
        "training": TRAINING | {"steps": 2, "pairs": 3, "learning_rate": 1e-3},
        **copy.deepcopy(method),
        "limits": {"query": 4, "document": 40, "sequence": None},
        "precision": "float32",
    }
    scorer = models.ranker(kind).scores
    store = Store(3 if kind in LONG else 2)  # the third is longer than the encoder
    rows = [row for row, _ in Trainer(parameters, store, table(), rankers, scorer, 3).steps()]
    assert len(rows) == 2
    after = {
        (name, key): value
        for name, ranker in rankers.items()
        for key, value in ranker.named_parameters()
    }
    moved = {key for (_, key), value in after.items() if not torch.equal(value, before[_, key])}
    heads = {"means", "deviations", "combine.weight"} if kind == LONG[0] else {"classifier.weight"}
    assert heads <= moved
    assert len(weight) == 1 or any(row["w_r_mean"] != 1 for row in rows)
    assert "bert.encoder.layer.0.output.dense.weight" in moved


def test_kernels_and_the_last_layer_have_a_learning_rate_of_their_own():
    groups = optimiser.adamw(start("cedr_knrm"), TRAINING | {"learning_rate": 1e-3}).param_groups
    shares = [(round(g["share"], 6), g["weight_decay"], len(g["params"])) for g in groups]
    assert shares[2:] == [(100.0, 0.0, 3), (100.0, 0.01, 1)]  # means, deviations, bias; weight
    assert {share for share, _, _ in shares[:2]} == {1.0}


def test_the_second_stage_starts_from_a_trained_rankers_encoder(tmp_path):
    bert = models.ranker("bert")
    first = bert.start(COMMON | {"kind": "bert"}, seed=1)
    first.bert.encoder.layer[0].output.dense.weight.data += 1.0
    bert.save(first, tmp_path / "first")
    ranker = start("cedr_knrm", trained=str(tmp_path / "first"))
    for name, value in ranker.bert.state_dict().items():
        assert torch.equal(value, first.bert.state_dict()[name]), name
    bert.save(bert.start(COMMON | {"kind": "bert", "layers": 1}, seed=1), tmp_path / "short")
    with pytest.raises(DataError, match=r"short: weight 'encoder\.layer\.1.* is missing"):
        start("cedr_knrm", trained=str(tmp_path / "short"))


@pytest.mark.parametrize(
    ("length", "room", "expected"),
    [(0, 4, [0]), (4, 4, [4]), (5, 4, [3, 2]), (8, 4, [4, 4]), (9, 4, [3, 3, 3])],
)
def test_documents_are_split_evenly(length, room, expected):
    found = cedr_knrm.split_evenly(np.arange(length), room)
    assert [len(part) for part in found] == expected
    assert np.concatenate(found).tolist() == list(range(length))


@pytest.mark.parametrize(
    ("length", "starts"),
    [(1, [0]), (150, [0]), (151, [0, 100]), (200, [0, 100]), (250, [0, 100]), (251, [0, 100, 200])],
)
def test_a_part_that_the_one_before_holds_is_dropped(length, starts):
    found = parade_max.split(np.arange(length), 150, 100)
    assert [int(part[0]) for part in found] == starts
    assert all(part.tolist() == list(range(s, min(s + 150, length))) for part, s in
               zip(found, starts, strict=True))  # fmt: skip


def test_first_and_last_parts_stay_and_the_draw_follows_from_the_document():
    ids = np.arange(2000)
    cut = parade_max.split(ids, 150, 100)
    assert len(cut) == 20
    assert parade_max.choose(cut[:16], ids, 16) == cut[:16]
    drawn = {}
    for key in (0, 0, 1, 2):
        found = [int(p[0]) for p in parade_max.choose(cut, ids + key, 16)]
        assert len(found) == 16
        assert (found[0], found[-1]) == (0, 1900)
        assert found == sorted(set(found))
        assert drawn.setdefault(key, found) == found
    assert len({tuple(found) for found in drawn.values()}) == 3


def test_places_without_a_part_do_not_count_in_the_maximum():
    vectors = torch.tensor([[[1.0, -3.0], [2.0, -5.0]], [[-1.0, -2.0], [9.0, 9.0]]])
    found = parade_max.maximum(vectors, torch.tensor([[1, 1], [1, 0]]))
    assert found.tolist() == [[2.0, -3.0], [-1.0, -2.0]]


def test_parts_know_where_their_tokens_lie():
    found = parts.take_apart(
        sequences(((0, 1), (2, 0))), lambda ids, query: np.split(ids, [len(ids) // 2])
    )
    ids = found.sequences.ids
    assert found.pairs.tolist() == [0, 0, 1, 1]
    assert [ids[places].tolist() for places in found.query_places()] == [[5, 6], [10]]
    assert [ids[p].tolist() for p in found.document_places()] == [DOCUMENTS[1], DOCUMENTS[0]]
    assert ids[found.starts].tolist() == [2, 2, 2, 2]
    assert found.sequences.lengths.tolist() == sorted(found.sequences.lengths, reverse=True)
    table_, filled = found.grid([np.array([4, 5]), np.array([6])])
    assert (table_.tolist(), filled.tolist()) == ([[4, 5], [6, 0]], [[1, 1], [1, 0]])
