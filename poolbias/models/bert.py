"""The rankers `bert`, `prop`, `ernie`: a cross-encoder with one logit (Cai et al. 2022, Eq. 14).

The encoder's pooler (a tanh layer over [CLS]), dropout, one linear unit: the paper's "MLP" as the
authors' released code has it (modeling.py of caiyinqiong/Coupled_Estimation_Technique). PROP (Ma et
al. 2021) and ERNIE (Sun et al. 2019) are BERT's network with weights of their own, so the kinds
differ in where they start from alone.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import BertForSequenceClassification

from poolbias.models import dropout, encoder
from poolbias.models.encoder import save
from poolbias.tokens import Sequences

__all__ = ["load", "save", "scores", "start"]


def start(parameters: dict[str, Any], seed: int) -> Any:
    """Return a ranker that starts from published weights, its head drawn at random.

    Args:
        parameters: as `encoder.configuration` takes them.
        seed: of the head, drawn from Normal(0, 0.02); different models take different seeds.

    Raises:
        ConfigError: if more layers are asked for than the encoder has.
        DataError: if a weight is missing from the published file, or its vocabulary does not fit.
        ToolError: if the published files are not there.
    """
    config = encoder.configuration(parameters)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ranker = BertForSequenceClassification(config)
        ranker.classifier.weight.data.normal_(std=0.02)
    dropout.replace(ranker)
    encoder.fill(ranker.bert, parameters["start"])
    return ranker


def scores(ranker: Any, sequences: Sequences, precision: str) -> Tensor:
    """Return the score of each pair, float32 [pairs], in the order of the pairs.

    The encoder runs in bfloat16 if `precision` is `bf16`; the last dropout and linear layer run in
    float32, outside autocast, so that scores never tie for want of digits.
    """
    pooled = encoder.pooled(ranker.bert, sequences, precision)
    logits = ranker.classifier(ranker.dropout(pooled.float()))[:, 0]
    result: Tensor = logits.new_empty(len(sequences))
    return result.index_put((torch.from_numpy(sequences.rows).to(logits.device),), logits)


def load(folder: Path | str) -> Any:
    """Load a saved ranker in evaluation mode.

    `AutoModelForSequenceClassification` and `sentence_transformers.CrossEncoder` load it too.

    Raises:
        DataError: if a file is missing or damaged, or a weight has no place.
    """
    return encoder.load(BertForSequenceClassification, folder)
