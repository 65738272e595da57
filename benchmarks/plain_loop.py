"""The authors' algorithm as they wrote it down: four padded forward passes, step by step.

It follows facts of the released code (train.py of caiyinqiong/Coupled_Estimation_Technique) in
words, not in text: both models score the batch without gradient in evaluation mode, then each
scores it again in training mode, and both optimisers step. It stands here as the slow side of a
ratio, and uses transformers' own model, dropout and attention. With the same weights and draws and
without dropout it takes the steps of `poolbias.training` (tests/unit/test_benchmarks.py), but for
the learning rate's schedule, which it does not have.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertForSequenceClassification

from benchmarks.texts import LIMITS, START, Texts
from poolbias.models.pretrained import folder_of
from poolbias.training.draws import Drawer


def model(layers: int) -> Any:
    """Return transformers' own cross-encoder with its defaults (SDPA attention)."""
    return BertForSequenceClassification.from_pretrained(
        folder_of(START), num_labels=1, num_hidden_layers=layers
    )


def optimiser(ranker: nn.Module, settings: dict[str, Any]) -> torch.optim.AdamW:
    """Return AdamW with torch's defaults but for `settings`, as of `poolbias.training.optimiser`.

    Biases and LayerNorm weights are not decayed, as in the released code.
    """
    groups: dict[float, list[nn.Parameter]] = {0.0: [], settings["weight_decay"]: []}
    for name, parameter in ranker.named_parameters():
        plain = name.endswith("bias") or "LayerNorm" in name
        groups[0.0 if plain else settings["weight_decay"]].append(parameter)
    return torch.optim.AdamW(
        [{"params": members, "weight_decay": decay} for decay, members in groups.items()],
        lr=settings["learning_rate"],
        betas=tuple(settings["betas"]),
        eps=settings["epsilon"],
    )


class PlainCoupled:
    """R and S with the paper's weights at τ = 1, as plainly as it can be written."""

    def __init__(
        self, texts: Texts, models: list[Any], settings: dict[str, Any], half: bool, seed: int = 1
    ) -> None:
        """Take R and S, and how they are trained.

        Args:
            texts: what is trained on.
            models: R and S, of transformers' class.
            settings: `pairs`, `clip`, and those of `optimiser`.
            half: whether to use autocast to bf16.
            seed: of the draws.
        """
        self.texts, self.models, self.settings, self.half = texts, models, settings, half
        self.optimisers = [optimiser(ranker, settings) for ranker in models]
        self.drawer = Drawer(texts.candidates, seed)
        self.step_number = 0

    def _scores(self, ranker: nn.Module, batch: Any) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            logits: Tensor = ranker(
                input_ids=torch.from_numpy(batch.ids),
                attention_mask=torch.from_numpy(batch.mask),
                token_type_ids=torch.from_numpy(batch.types),
            ).logits
        return logits[:, 0].float()

    def step(self) -> list[float]:
        """Take one step of both models and return their weighted losses, of R and of S."""
        self.step_number += 1
        pairs = self.settings["pairs"]
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
        losses = []
        for ranker, weight in zip(self.models, reversed(weights), strict=True):
            positive, negative = both(ranker.train())
            loss = torch.dot(weight, nn.functional.softplus(negative - positive)) / pairs
            loss.backward()
            nn.utils.clip_grad_norm_(ranker.parameters(), self.settings["clip"])
            losses.append(float(loss.detach()))
        for each in self.optimisers:
            each.step()
            each.zero_grad()
        return losses
