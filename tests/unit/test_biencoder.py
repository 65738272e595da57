"""Bi-encoders: every architecture against transformers' own forward, files, published layouts."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_encoder import write_tiny_encoder
from transformers import BertModel, RobertaConfig, RobertaModel

from poolbias.errors import ConfigError, DataError
from poolbias.models import biencoder
from poolbias.models.biencoder import ARCHITECTURES, start, turned_into
from poolbias.models.biencoder_files import load, load_published, save
from poolbias.models.pretrained import minilm_folder
from poolbias.retrieval.encode import encode

TEXTS = ["Arthritis: inflammation of a joint.", "joint", "", "Swollen joints in the morning " * 9]
LIMITS = (8, 20)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A BERT of two layers with random weights, and MiniLM's tokenizer."""
    return write_tiny_encoder(tmp_path_factory.mktemp("tiny"), layers=2)


def by_hand(model, folder, text, role):
    """The vector of one text by transformers' eager forward and NumPy, in float64."""
    ids = model.tokenize([text], role)[0]
    assert len(ids) <= LIMITS[role == "document"]
    network = BertModel.from_pretrained(
        folder, add_pooling_layer=False, attn_implementation="eager"
    ).double()
    architecture = ARCHITECTURES[model.name]
    segment = architecture.segments[role == "document"]
    given = torch.tensor([ids])
    with torch.no_grad():
        hidden = network(given, token_type_ids=torch.full_like(given, segment))
    states = hidden.last_hidden_state[0].numpy()
    vector = states[0] if architecture.pooling == "first" else states.mean(axis=0)
    if architecture.head:
        tower = model.tower(role)
        weight, bias = (
            getattr(tower.embeddingHead, name).detach().double().numpy()
            for name in ("weight", "bias")
        )
        vector = weight @ vector + bias
        vector = (vector - vector.mean()) / np.sqrt(vector.var() + tower.norm.eps)
        vector = vector * tower.norm.weight.detach().numpy() + tower.norm.bias.detach().numpy()
    return vector / np.linalg.norm(vector) if architecture.unit else vector


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("engine", ["packed", "plain"])
def test_vectors_are_those_of_the_published_architecture(tiny, name, engine):
    model = start(name, tiny, 2, LIMITS).eval()
    if ARCHITECTURES[name].head:  # no longer the identity
        torch.manual_seed(3)
        for role in ("query", "document"):
            model.tower(role).embeddingHead.weight.data.normal_()
            model.tower(role).norm.bias.data.normal_()
    model.engine = engine
    for role in ("query", "document"):
        found = encode(TEXTS, model, role)
        expected = [by_hand(model, tiny, text, role) for text in TEXTS]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_segments_tell_queries_and_documents_apart_in_repbert_alone(tiny):
    for name in ("repbert", "minilm"):
        model = start(name, tiny, 2, (8, 8)).eval()
        same = np.allclose(encode(TEXTS, model, "query"), encode(TEXTS, model, "document"))
        assert same is (name == "minilm")


def test_robertas_positions_follow_the_padding(tmp_path):
    torch.manual_seed(2)
    config = RobertaConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        type_vocab_size=1,
        initializer_range=0.3,
    )
    network = RobertaModel(config, add_pooling_layer=False)
    network.save_pretrained(tmp_path)
    shutil.copy(minilm_folder() / "tokenizer.json", tmp_path)
    model = start("ance", tmp_path, 2, (20, 20)).eval()
    tokens = [[0, 7, 9, 11, 2], [0, 5, 2], [0, 5, 6, 7, 8, 9, 10, 2]]
    found = {}
    for engine in ("packed", "plain"):
        model.engine = engine
        with torch.no_grad():
            found[engine] = model.vectors(model.sequences(tokens, "query"), "query")
    torch.testing.assert_close(found["packed"], found["plain"], rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        alone = network.eval()(torch.tensor([tokens[0]])).last_hidden_state[0, 0]
    normed = torch.nn.functional.layer_norm(alone, (16,))
    torch.testing.assert_close(found["packed"][0], normed, rtol=1e-4, atol=1e-5)


def test_a_head_starts_as_the_identity_and_two_encoders_as_one(tiny):
    model = start("adore", tiny, 2, LIMITS).eval()
    assert torch.equal(model.query.embeddingHead.weight, torch.eye(16))
    assert torch.equal(model.query.embeddingHead.weight, model.document.embeddingHead.weight)
    model.query.embeddingHead.weight.data.zero_()
    assert torch.equal(model.document.embeddingHead.weight, torch.eye(16))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_saved_model_comes_back_with_every_bit(tiny, tmp_path, name):
    model = start(name, tiny, 1, LIMITS).eval()
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.name, again.limits, again.training) == (name, LIMITS, False)
    for role in ("query", "document"):
        assert encode(TEXTS, again, role).tobytes() == encode(TEXTS, model, role).tobytes()
    first = (tmp_path / "model" / "model.safetensors").read_bytes()
    save(again, tmp_path / "again")
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == first


def published(folder, tiny, prefix, names=None):
    """Write an ANCE checkpoint whose keys have a prefix, as published files do."""
    model = start("ance", tiny, 2, LIMITS).eval()
    torch.manual_seed(4)
    model.both.embeddingHead.weight.data.normal_()
    save(model, folder)
    weights = load_file(folder / "model.safetensors")
    renamed = {prefix + key.removeprefix("both."): part for key, part in weights.items()}
    renamed = {key: part for key, part in renamed.items() if names is None or names(key)}
    renamed[f"{prefix}bert.pooler.dense.weight"] = torch.ones(16, 16)  # as files have it, unused
    save_file(renamed, folder / "model.safetensors", {"format": "pt"})
    return model


@pytest.mark.parametrize("prefix", ["", "ance_encoder.", "module."])
def test_ances_published_names_are_found_with_and_without_prefix(tiny, tmp_path, prefix):
    model = published(tmp_path / "p", tiny, prefix)
    again = load(tmp_path / "p")
    assert torch.equal(again.both.embeddingHead.weight, model.both.embeddingHead.weight)
    assert encode(TEXTS, again).tobytes() == encode(TEXTS, model).tobytes()


def test_a_published_folder_needs_no_description_of_ours(tiny, tmp_path):
    model = published(tmp_path / "p", tiny, "ance_encoder.")
    (tmp_path / "p" / "biencoder.json").unlink()
    again = load_published(tmp_path / "p", "ance", LIMITS)
    assert encode(TEXTS, again).tobytes() == encode(TEXTS, model).tobytes()
    lower = load_published(tmp_path / "p", "ance", LIMITS, lower_case=True)
    assert lower.tokenize(["A\u0130B"], "query") == model.tokenize(["a\u0130b".lower()], "query")
    (tmp_path / "p" / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"has no tokenizer \(tokenizer.json, vocab"):
        load_published(tmp_path / "p", "ance", LIMITS)


def test_a_head_that_would_stay_random_is_refused(tiny, tmp_path):
    published(tmp_path / "p", tiny, "ance_encoder.", lambda key: "norm" not in key.split("."))
    with pytest.raises(DataError, match=r"weight 'norm.weight' is missing \(2 of 41 are\)"):
        load(tmp_path / "p")


def test_a_checkpoint_of_two_dpr_encoders_is_read(tiny, tmp_path):
    model = start("dual_encoder", tiny, 2, LIMITS).eval()
    torch.manual_seed(5)
    for parameter in model.query.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.1)
    save(model, tmp_path / "p")
    weights = load_file(tmp_path / "p" / "model.safetensors")
    renamed = {
        key.replace("query.bert.", "question_model.").replace("document.bert.", "ctx_model."): part
        for key, part in weights.items()
    }
    assert not renamed.keys() & weights.keys()
    save_file(renamed, tmp_path / "p" / "model.safetensors", {"format": "pt"})
    again = load(tmp_path / "p")
    for role in ("query", "document"):
        assert encode(TEXTS, again, role).tobytes() == encode(TEXTS, model, role).tobytes()
    assert not np.allclose(encode(TEXTS, again, "query"), encode(TEXTS, again, "document"))


def test_an_old_file_of_weights_is_read_without_running_anything(tiny, tmp_path):
    model = start("repbert", tiny, 2, LIMITS).eval()
    save(model, tmp_path / "p")
    weights = load_file(tmp_path / "p" / "model.safetensors")
    (tmp_path / "p" / "model.safetensors").unlink()
    torch.save(weights, tmp_path / "p" / "pytorch_model.bin")
    assert encode(TEXTS, load(tmp_path / "p")).tobytes() == encode(TEXTS, model).tobytes()
    (tmp_path / "p" / "pytorch_model.bin").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"pytorch_model.bin: cannot be read"):
        load(tmp_path / "p")


def test_weights_of_another_shape_and_damaged_descriptions_are_refused(tiny, tmp_path):
    save(start("repbert", tiny, 2, LIMITS), tmp_path / "p")
    path = tmp_path / "p" / "model.safetensors"
    weights = load_file(path)
    name = "both.bert.encoder.layer.0.output.dense.bias"
    save_file(weights | {name: torch.zeros(3)}, path, {"format": "pt"})
    with pytest.raises(DataError, match=r"has the shape \[3\], need \[16\]"):
        load(tmp_path / "p")
    (tmp_path / "p" / "biencoder.json").write_text(json.dumps({"architecture": "x", "limits": [1]}))
    with pytest.raises(DataError, match=r"biencoder.json: does not tell a known bi-encoder"):
        load(tmp_path / "p")
    with pytest.raises(ConfigError, match="architecture is 'x', need one of repbert, ance"):
        start("x", tiny, 2, LIMITS)
    with pytest.raises(ConfigError, match="layers is 3, need 1 to 2"):
        start("ance", tiny, 3, LIMITS)


def test_one_architecture_turns_into_another_with_its_encoder(tiny):
    star = start("star", tiny, 2, LIMITS).eval()
    star.both.embeddingHead.weight.data.mul_(2)
    adore = turned_into(star, "adore").eval()
    for role in ("query", "document"):  # both are the encoder of the star
        text = TEXTS[3][:9]
        assert encode([text], adore, role).tobytes() == encode([text], star).tobytes()
    adore.query.embeddingHead.weight.data.zero_()
    assert star.both.embeddingHead.weight[0, 0] == 2, "a copy, not the same tensor"
    repbert = turned_into(star, "repbert")
    assert not hasattr(repbert.both, "embeddingHead")
    assert torch.equal(turned_into(repbert, "ance").both.embeddingHead.weight, torch.eye(16))
    with pytest.raises(ConfigError, match="two encoders, need one encoder for a star"):
        turned_into(adore, "star")


def test_every_architecture_of_the_study_file_is_known():
    from poolbias.config.trained import TrainedRetriever

    named = TrainedRetriever.model_fields["architecture"].annotation.__args__
    assert set(named) == set(ARCHITECTURES) == set(biencoder.ARCHITECTURES)
