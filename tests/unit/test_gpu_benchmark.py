"""The GPU benchmark: its arithmetic, and all of its paths at a tiny size on a CPU."""

import itertools
import re

import numpy as np
import pytest
import torch

from benchmarks.gpu import __main__ as gpu


def test_the_operations_of_bert_base_are_those_of_its_weights():
    """Two for each weight of the layers' matrices: 85 million less biases and LayerNorms."""
    made = gpu.ranker(gpu.TINY, "cpu", compiled=False)
    matrices = [one.numel() for one in made.bert.encoder.parameters() if one.dim() == 2]
    assert gpu.operations(gpu.TINY) == 2 * sum(matrices)
    assert gpu.operations(gpu.BASE) == 2 * 84_934_656


def test_a_rate_counts_calls_after_the_first_two():
    tokens = iter([1000, 1000, 5, 7, 9])
    clock = itertools.count(0.0, 4.0)  # 4 seconds a call
    found = gpu.rate_of(tokens, 3, gpu.TINY, 8.0, "cpu", clock=lambda: next(clock))
    assert found.tokens == (5 + 7) / 8
    assert found.operations == 3 * found.tokens * gpu.operations(gpu.TINY)
    assert next(tokens) == 9  # no call more


def test_what_is_measured_has_the_lengths_that_are_told(tmp_path):
    store = gpu.made_up(tmp_path, 200)
    lengths = store.documents.lengths(np.arange(gpu.DOCUMENTS))
    assert lengths.mean() == pytest.approx(gpu.MEAN, rel=0.02)
    assert (lengths.min(), lengths.max() <= 256) == (gpu.SHORTEST, True)


def test_every_measurement_runs_at_a_tiny_size(capsys, monkeypatch):
    monkeypatch.setattr(gpu, "TRAINING", gpu.TRAINING | {"pairs": 2})
    monkeypatch.setattr(gpu.scored, "__defaults__", (8,))
    assert gpu.main(["--tiny", "--seconds", "0"]) == 0
    said = capsys.readouterr().out
    assert "means nothing" in said
    assert re.findall(r"^(\w+): [\d,]+ tokens/s, [\d.]+% of peak$", said, re.MULTILINE) == [
        "naive", "cet", "scoring",
    ]  # fmt: skip


def test_without_a_gpu_one_sentence_says_so(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)  # also where there is one
    assert gpu.main([]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"benchmarks\.gpu: device is 'cuda', but torch finds no GPU .*\n", said.err)
