"""Published checkpoints as rankers start from them: files, names of weights, vocabularies."""

import json

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel

from poolbias import models, tokens
from poolbias.errors import ConfigError, DataError, ToolError
from poolbias.models import pretrained

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ab", "##c", "d"]
PARAMETERS = {
    "kind": "prop", "start": "someone/tiny", "layers": None, "dropout": 0.0, "head_dropout": 0.0,
    "engine": "packed", "attention": "eager",
}  # fmt: skip


def config(**changes):
    sizes = {
        "vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 8, "max_position_embeddings": 16,
    }  # fmt: skip
    return BertConfig(**(sizes | changes))


@pytest.fixture
def checkpoint(tmp_path, monkeypatch):
    """A checkpoint as it is published by PyTorch's first names; one row more than word pieces."""
    monkeypatch.setattr(pretrained, "CHECKPOINTS", tmp_path)
    folder = tmp_path / "someone" / "tiny"
    folder.mkdir(parents=True)
    torch.manual_seed(1)
    bert = BertModel(config())
    named = {
        "ernie."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): value
        for name, value in bert.state_dict().items()
    }
    torch.save(named, folder / "pytorch_model.bin")
    (folder / "config.json").write_text(json.dumps(config().to_dict()))
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    return folder, bert


@pytest.mark.parametrize("kind", ["prop", "ernie"])
def test_a_ranker_has_the_weights_of_its_checkpoint_and_its_files_those_of_the_ranker(
    checkpoint, tmp_path, kind
):
    _, bert = checkpoint
    ranker = models.ranker(kind).start(PARAMETERS | {"kind": kind}, seed=1)
    for name, value in bert.state_dict().items():
        assert torch.equal(ranker.bert.state_dict()[name], value), name
    models.ranker(kind).save(ranker, tmp_path / "R")
    kept = load_file(tmp_path / "R" / "model.safetensors")
    assert torch.equal(kept["classifier.weight"], ranker.classifier.weight)
    assert (tmp_path / "R" / "vocab.txt").read_text().split() == PIECES
    assert models.kind_of(tmp_path / "R") == "bert"


def test_a_list_of_word_pieces_is_a_tokenizer(checkpoint):
    folder, _ = checkpoint
    assert pretrained.tokenizer_of("someone/tiny") == folder / "vocab.txt"
    tokenizer = tokens.read_tokenizer(folder / "vocab.txt")
    assert tokenizer.encode("ABC d", add_special_tokens=False).ids == [5, 6, 7]
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    tokenizer = tokens.read_tokenizer(folder / "vocab.txt")
    assert tokenizer.encode("ABC d", add_special_tokens=False).ids == [1, 7]


def test_what_is_not_there_is_told_in_a_sentence(checkpoint):
    folder, _ = checkpoint
    with pytest.raises(ToolError, match=r"someone/other: found no config\.json, need the files"):
        pretrained.folder_of("someone/other")
    with pytest.raises(ConfigError, match="nothing"):
        pretrained.folder_of("nothing")
    (folder / "pytorch_model.bin").write_bytes(b"none")
    with pytest.raises(DataError, match=r"pytorch_model\.bin: cannot be read .*; fetch it again"):
        models.ranker("prop").start(PARAMETERS, seed=1)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(ToolError, match=r"found no model\.safetensors or pytorch_model\.bin"):
        pretrained.folder_of("someone/tiny")


def test_layers_that_are_not_there_are_told(checkpoint):
    ranker = models.ranker("prop").start(PARAMETERS | {"layers": 1}, seed=1)
    assert len(ranker.bert.encoder.layer) == 1
    with pytest.raises(ConfigError, match="layers is 3, need 1 to 2"):
        models.ranker("prop").start(PARAMETERS | {"layers": 3}, seed=1)


def test_numbers_of_word_pieces_must_fit(checkpoint):
    folder, _ = checkpoint
    (folder / "vocab.txt").write_text("\n".join([*PIECES, "e"]))  # as many as rows
    models.ranker("prop").start(PARAMETERS, seed=1)
    (folder / "vocab.txt").write_text("\n".join([*PIECES, "e", "f"]))
    with pytest.raises(DataError, match=r"vocab\.txt: holds 10 word pieces, need at most 9"):
        models.ranker("prop").start(PARAMETERS, seed=1)
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    changed = config().to_dict() | {"vocab_size": 8}
    (folder / "config.json").write_text(json.dumps(changed))
    with pytest.raises(DataError, match=r"config\.json: vocab_size is 8, need 9, the rows"):
        models.ranker("prop").start(PARAMETERS, seed=1)
    weights = torch.load(folder / "pytorch_model.bin")
    del weights["ernie.pooler.dense.bias"]
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"weight 'pooler\.dense\.bias' is missing"):
        models.ranker("prop").start(PARAMETERS, seed=1)
