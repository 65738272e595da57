"""The loop that trains a bi-encoder: draw, encode, take the loss of the batch, step."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from poolbias.errors import TrainingError
from poolbias.losses.pairwise import pairwise_cross_entropy
from poolbias.losses.vectors import (
    beta_at,
    contrastive_confidence,
    in_batch_margin,
    in_batch_softmax,
)
from poolbias.losses.weighting import scale_and_shares
from poolbias.models.biencoder import BiEncoder
from poolbias.retrieval.training.draws import Batch, HardNegatives, Labelled, draw_batch
from poolbias.retrieval.training.frozen import Frozen
from poolbias.retrieval.training.gradients import Tokens, backward
from poolbias.training.optimiser import adamw, learning_rate
from poolbias.weights.coupling import coupled

COLUMNS = ["round", "step", "learning_rate", "loss", "gradient_norm", "weight"]  # of training.tsv


@dataclass
class Learner:
    """A bi-encoder under training, what of it is trained, and its optimiser."""

    model: BiEncoder
    trained: nn.Module
    optimiser: torch.optim.Optimizer


@dataclass
class RetrieverTrainer:
    """One round of training.

    Attributes:
        parameters: those of the study file: `training`, `loss` with its options, `temperature`,
            `group`, `negatives_per_positive`, `precision`, `seed`, and `coupling` where there is a
            selection model.
        model: the bi-encoder.
        queries: token ids of every query.
        documents: likewise.
        labelled: the pairs to train on.
        number: of the round, from 0; rounds draw differently.
        hard: hard negatives, or None.
        frozen: the documents' vectors where only the queries' encoder is trained, or None.
        selection: the selection model of CET beside the bi-encoder, or None.
    """

    parameters: dict[str, Any]
    model: BiEncoder
    queries: list[list[int]]
    documents: list[list[int]]
    labelled: Labelled
    number: int = 0
    hard: HardNegatives | None = None
    frozen: Frozen | None = None
    selection: BiEncoder | None = None
    learners: list[Learner] = field(init=False)

    def __post_init__(self) -> None:
        self.training = self.parameters["training"]
        self.half = self.parameters["precision"] == "bf16"
        self.learners = [self._learner(self.model)]
        if self.selection is not None:
            self.learners.append(self._learner(self.selection))

    def _learner(self, model: BiEncoder) -> Learner:
        trained = model if self.frozen is None else model.tower("query")
        model.requires_grad_(False)
        trained.requires_grad_(True)
        return Learner(model, trained, adamw(trained, self.training))

    def steps(self) -> Iterator[dict[str, float]]:
        """Train, yielding after each step its row of `training.tsv`.

        Raises:
            TrainingError: if a loss or its gradient is not finite.
        """
        for learner in self.learners:
            learner.model.train()
        for step in range(1, self.training["steps"] + 1):
            # every round has steps of its own in the stream of draws
            drawn = self.number * self.training["steps"] + step
            batch = draw_batch(self.parameters, self.labelled, self.hard, drawn)
            rate = learning_rate(step, self.training)
            weights = self._weights(batch)
            figures = [
                self._backward(learner, step, batch, weight)
                for learner, weight in zip(self.learners, weights, strict=True)
            ]
            for learner in self.learners:
                for group in learner.optimiser.param_groups:
                    group["lr"] = rate
                learner.optimiser.step()
                learner.optimiser.zero_grad()
            weight = 1.0 if weights[0] is None else float(weights[0].mean())
            values = (self.number, step, rate, *figures[0], weight)
            yield dict(zip(COLUMNS, values, strict=True))
        for learner in self.learners:
            learner.model.eval()

    def _backward(
        self, learner: Learner, step: int, batch: Batch, weight: Tensor | None
    ) -> tuple[float, float]:
        """Take the clipped gradient of a model; return its loss and the gradient's norm."""
        if self.frozen is not None:
            loss = self._backward_frozen(learner.model, batch)
        else:
            chunk = self.training["chunk"]
            of_vectors = partial(self._loss, step, batch, weight)
            loss = backward(learner.model, self._texts(batch), of_vectors, self.half, chunk)
        norm = nn.utils.clip_grad_norm_(learner.trained.parameters(), self.training["clip"])
        if not (np.isfinite(loss) and torch.isfinite(norm)):
            raise TrainingError(
                f"step {step}: the loss is {loss}, the norm of its gradient {float(norm)}, need "
                "finite numbers: lower the learning rate or raise the temperature."
            )
        return loss, float(norm)

    def _texts(self, batch: Batch) -> tuple[Tokens, Tokens]:
        return (
            [self.queries[row] for row in batch.queries],
            [self.documents[row] for row in batch.columns],
        )

    def _backward_frozen(self, model: BiEncoder, batch: Batch) -> float:
        assert self.frozen is not None
        queries = np.unique(batch.queries)
        sequences = model.sequences([self.queries[row] for row in queries], "query")
        loss = self.frozen.loss(model.vectors(sequences, "query", self.half), queries)
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    @torch.no_grad()
    def _weights(self, batch: Batch) -> list[Tensor | None]:
        """Return the weights on each model's loss, [pairs, negatives], from the other's scores.

        Both come from the parameters before either model's step, as in the training of rankers.
        """
        if self.selection is None:
            return [None]
        found: list[Tensor | None] = []
        queries, documents = self._texts(batch)
        for learner in reversed(self.learners):
            model = learner.model
            asked = model.vectors(model.sequences(queries, "query"), "query", self.half)
            given = model.vectors(model.sequences(documents, "document"), "document", self.half)
            positive, negatives = self._pairs(self._scores(asked, given), batch)
            found.append(coupled(positive[:, None], negatives, **self.parameters["coupling"]))
        return found

    def _scores(self, asked: Tensor, given: Tensor) -> Tensor:
        scores: Tensor = asked @ given.T / self.parameters["temperature"]
        return scores

    def _pairs(self, scores: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return scores of the positives, [pairs], and of their own negatives.

        These are [pairs, negatives]; pairs without a negative are left out.
        """
        rows = torch.from_numpy(np.flatnonzero(batch.hard[:, 0] >= 0)).to(scores.device)
        positive, negatives = (
            torch.from_numpy(batch.places(documents)).to(scores.device)
            for documents in (batch.positives, batch.hard)
        )
        return scores[rows, positive[rows]], scores[rows[:, None], negatives[rows]]

    def _loss(
        self, step: int, batch: Batch, weight: Tensor | None, asked: Tensor, given: Tensor
    ) -> Tensor:
        """Return the batch's loss of its vectors, [queries, dimension], [documents, dimension]."""
        scores, parameters = self._scores(asked, given), self.parameters
        name = parameters["loss"]
        if name == "pairwise":
            return self._pairwise(*self._pairs(scores, batch), weight) + 0 * scores.sum()
        relevant = self.labelled.contains(batch.queries, batch.columns)
        if name == "margin":
            return in_batch_margin(scores, torch.from_numpy(relevant).to(scores.device)).mean()
        # what is left out of a query's sum: its other labelled documents, or all but its own list
        left_out = relevant | ~batch.own() if parameters["group"] == "own" else relevant
        masks = (batch.places(batch.positives), left_out)
        positive, others = (torch.from_numpy(mask).to(scores.device) for mask in masks)
        if name == "softmax":
            return in_batch_softmax(scores, positive, others).mean()
        beta = beta_at(step, self.training["steps"], parameters["beta"], parameters["beta_from"])
        return contrastive_confidence(scores, positive, others, beta, parameters["form"]).mean()

    def _pairwise(self, positive: Tensor, negatives: Tensor, weight: Tensor | None) -> Tensor:
        """Return the mean of weighted pair losses; 0 where no pair has a negative."""
        if not len(positive):
            return positive.sum()
        if weight is None:
            return pairwise_cross_entropy(positive, negatives).mean()
        scale, shares = scale_and_shares(weight)
        losses = pairwise_cross_entropy(positive, negatives, shares)
        return torch.dot(scale, losses) / len(losses)
