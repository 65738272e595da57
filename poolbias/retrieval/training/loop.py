"""The loop that trains a bi-encoder: draw, encode, take the loss of the batch, step."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from poolbias.errors import TrainingError
from poolbias.losses.vectors import (
    beta_at,
    contrastive_confidence,
    in_batch_margin,
    in_batch_softmax,
)
from poolbias.models.biencoder import BiEncoder
from poolbias.retrieval.training.draws import HardNegatives, Labelled, Rows, draw_pairs
from poolbias.retrieval.training.frozen import Frozen
from poolbias.retrieval.training.gradients import backward
from poolbias.training.optimiser import adamw, learning_rate

COLUMNS = ["round", "step", "learning_rate", "loss", "gradient_norm"]  # of `training.tsv`


@dataclass
class RetrieverTrainer:
    """One round of training.

    Attributes:
        parameters: those of the study file: `training`, `loss` with its options, `temperature`,
            `negatives_per_positive`, `precision`, `seed`.
        model: the bi-encoder.
        queries: token ids of every query.
        documents: likewise.
        labelled: the pairs to train on.
        number: of the round, from 0; rounds draw differently.
        hard: hard negatives, or None.
        frozen: the documents' vectors where only the queries' encoder is trained, or None.
    """

    parameters: dict[str, Any]
    model: BiEncoder
    queries: list[list[int]]
    documents: list[list[int]]
    labelled: Labelled
    number: int = 0
    hard: HardNegatives | None = None
    frozen: Frozen | None = None

    def __post_init__(self) -> None:
        self.training = self.parameters["training"]
        self.half = self.parameters["precision"] == "bf16"
        trained = self.model if self.frozen is None else self.model.tower("query")
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)
        for parameter in trained.parameters():
            parameter.requires_grad_(True)
        self.trained = trained
        self.optimiser = adamw(trained, self.training)

    def steps(self) -> Iterator[dict[str, float]]:
        """Train, yielding after each step its row of `training.tsv`.

        Raises:
            TrainingError: if the loss or its gradient is not finite.
        """
        self.model.train()
        for step in range(1, self.training["steps"] + 1):
            rate = learning_rate(step, self.training)
            for group in self.optimiser.param_groups:
                group["lr"] = rate
            loss = self._backward(step)
            norm = nn.utils.clip_grad_norm_(self.trained.parameters(), self.training["clip"])
            if not (np.isfinite(loss) and torch.isfinite(norm)):
                raise TrainingError(
                    f"step {step}: the loss is {loss}, the norm of its gradient {float(norm)}, "
                    "need finite numbers: lower the learning rate or raise the temperature."
                )
            self.optimiser.step()
            self.optimiser.zero_grad()
            values = (self.number, step, rate, loss, float(norm))
            yield dict(zip(COLUMNS, values, strict=True))
        self.model.eval()

    def _backward(self, step: int) -> float:
        # every round has steps of its own in the stream of draws
        drawn = self.number * self.training["steps"] + step
        seed = self.parameters["seed"]
        queries, positives = draw_pairs(self.labelled, seed, drawn, self.training["pairs"])
        if self.frozen is not None:
            return self._backward_frozen(np.unique(queries))
        documents = positives
        if self.hard is not None:
            count = self.parameters["negatives_per_positive"]
            found = self.hard.draw(queries, seed, drawn, count).ravel()
            documents = np.concatenate([positives, found[found >= 0]])
        columns = np.unique(documents)
        texts = ([self.queries[row] for row in queries], [self.documents[row] for row in columns])
        loss = partial(self._loss, step, queries, positives, columns)
        return backward(self.model, texts, loss, self.half, self.training["chunk"])

    def _backward_frozen(self, queries: Rows) -> float:
        assert self.frozen is not None
        sequences = self.model.sequences([self.queries[row] for row in queries], "query")
        loss = self.frozen.loss(self.model.vectors(sequences, "query", self.half), queries)
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def _loss(
        self, step: int, queries: Rows, positives: Rows, columns: Rows, asked: Tensor, given: Tensor
    ) -> Tensor:
        """Return the batch's loss of its vectors, [queries, dimension], [documents, dimension]."""
        scores = asked @ given.T / self.parameters["temperature"]
        relevant = torch.from_numpy(self.labelled.contains(queries, columns)).to(scores.device)
        positive = torch.from_numpy(np.searchsorted(columns, positives)).to(scores.device)
        name = self.parameters["loss"]
        if name == "margin":
            return in_batch_margin(scores, relevant).mean()
        if name == "softmax":
            return in_batch_softmax(scores, positive, relevant).mean()
        parameters = self.parameters
        beta = beta_at(step, self.training["steps"], parameters["beta"], parameters["beta_from"])
        return contrastive_confidence(scores, positive, relevant, beta, parameters["form"]).mean()
