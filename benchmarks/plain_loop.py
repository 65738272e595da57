"""The authors' algorithm as they wrote it down: four padded forward passes, step by step.

It follows facts of the released code (train.py of caiyinqiong/Coupled_Estimation_Technique) in
words, not in text: both models score the batch without gradient in evaluation mode, then each
scores it again in training mode, and both optimisers step. It stands here as the slow side of a
ratio, and uses transformers' own model, dropout and attention.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertForSequenceClassification

from benchmarks.texts import LIMITS, Texts
from poolbias.models.pretrained import folder_of
from poolbias.training.draws import Drawer


def model(layers: int) -> Any:
    """Return transformers' own cross-encoder with its defaults (SDPA attention)."""
    return BertForSequenceClassification.from_pretrained(
        folder_of("all-MiniLM-L6-v2"), num_labels=1, num_hidden_layers=layers
    )


class PlainCoupled:
    """R and S with the paper's weights, as plainly as it can be written."""

    def __init__(self, texts: Texts, layers: int, half: bool) -> None:
        self.texts, self.half = texts, half
        self.models = [model(layers), model(layers)]
        self.optimisers = [torch.optim.AdamW(m.parameters(), lr=3e-6) for m in self.models]
        self.drawer = Drawer(texts.candidates, 1)
        self.step_number = 0

    def _scores(self, ranker: nn.Module, batch: Any) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            logits: Tensor = ranker(
                input_ids=torch.from_numpy(batch.ids),
                attention_mask=torch.from_numpy(batch.mask),
                token_type_ids=torch.from_numpy(batch.types),
            ).logits
        return logits[:, 0].float()

    def step(self, pairs: int = 32) -> None:
        """Take one step of both models."""
        self.step_number += 1
        triples = self.drawer.draw(self.step_number, pairs)
        sides = [
            self.texts.store.sequences(triples.queries, documents, LIMITS)
            for documents in (triples.positives, triples.negatives[:, 0])
        ]
        batches = [(side.padded(), torch.from_numpy(side.rows.argsort())) for side in sides]

        def both(ranker: nn.Module) -> tuple[Tensor, Tensor]:
            positive, negative = (self._scores(ranker, batch)[rows] for batch, rows in batches)
            return positive, negative

        weights = []
        with torch.no_grad():
            for ranker in self.models:
                positive, negative = both(ranker.eval())
                weights.append(torch.exp(negative - positive))
        for ranker, weight in zip(self.models, reversed(weights), strict=True):
            positive, negative = both(ranker.train())
            loss = torch.dot(weight, nn.functional.softplus(negative - positive)) / pairs
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(ranker.parameters(), 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad()
