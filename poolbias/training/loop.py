"""The training loop: draw, score, weight, step; the same for every method.

With a coupled weight two models are trained on the same triples. Both weights come from the
parameters before either model's step (the authors' code does likewise: simultaneous updates).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from poolbias import losses, weights
from poolbias.candidates import Candidates
from poolbias.errors import TrainingError
from poolbias.tokens import Limits, TokenStore
from poolbias.training.diagnostics import Watch, describe
from poolbias.training.draws import Drawer, Triples
from poolbias.training.optimiser import adamw, learning_rate

R, S = "R", "S"
Scores = tuple[Tensor, Tensor]  # of the positives and of the negatives, float32 [pairs] each
Scorer = Callable[[nn.Module, Any, str], Tensor]


@dataclass
class Learner:
    """A model under training, with its optimiser."""

    name: str
    model: nn.Module
    optimiser: torch.optim.Optimizer


@dataclass
class Trainer:
    """One training: what it draws from, its models, and how it steps.

    Attributes:
        parameters: `training` (see `config.training`), `loss`, `weight` (name and options),
            `limits` (query, document, sequence), `precision`.
        models: the relevance model under "R" and, with a coupled weight, the selection model "S".
        seed: of draws and dropout.
    """

    parameters: dict[str, Any]
    store: TokenStore
    candidates: Candidates
    models: dict[str, nn.Module]
    scorer: Scorer
    seed: int
    learners: list[Learner] = field(init=False)
    watch: Watch = field(init=False, default_factory=Watch)

    def __post_init__(self) -> None:
        self.training = self.parameters["training"]
        self.weight = dict(self.parameters["weight"])
        self.weigh = weights.get(self.weight.pop("name"))
        self.weights_from = self.weight.pop("weights_from", None)
        self.loss = losses.get(self.parameters["loss"])
        self.limits = Limits(**self.parameters["limits"])
        self.drawer = Drawer(self.candidates, self.seed)
        self.learners = [
            Learner(name, model, adamw(model, self.training)) for name, model in self.models.items()
        ]

    def steps(self) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
        """Train, yielding after each step its row of `training.tsv` and of `timing.tsv`."""
        for step in range(1, self.training["steps"] + 1):
            started = time.perf_counter()
            triples = self.drawer.draw(step, self.training["pairs"])
            row, tokens = self._step(step, triples)
            seconds = time.perf_counter() - started
            yield row, {"step": step, "seconds": seconds, "tokens": tokens}

    def _step(self, step: int, triples: Triples) -> tuple[dict[str, float], int]:
        batches = self._batches(triples)
        rate = learning_rate(step, self.training)
        row: dict[str, float] = {"step": step, "learning_rate": rate}
        others = self._scores_without_gradient(batches) if self.weights_from == "eval" else None
        scored = {}
        if self.weights_from == "train":  # one shared forward, its dropout in the weights too
            scored = {
                learner.name: self._scores(learner, step, batches) for learner in self.learners
            }
            others = scored
        for learner in self.learners:
            weight = self._weigh(learner, others, triples)
            scores = scored.get(learner.name) or self._scores(learner, step, batches)
            row |= self._backward(learner, step, scores, weight, triples)
        for learner in self.learners:
            for group in learner.optimiser.param_groups:
                group["lr"] = rate
            learner.optimiser.step()
            learner.optimiser.zero_grad()
        return row, sum(int(batch.mask.sum()) for batch, _ in batches)

    def _batches(self, triples: Triples) -> list[tuple[Any, NDArray[np.int64]]]:
        """Return the step's sequences, positives first, in micro-batches of like length."""
        queries = np.concatenate([triples.queries, triples.queries])
        documents = np.concatenate([triples.positives, triples.negatives])
        query_lengths, document_lengths = self.store.lengths(queries, documents, self.limits)
        order = np.argsort(-(query_lengths + document_lengths), kind="stable")
        parts = np.array_split(order, self.training["micro_batches"])
        return [
            (self.store.batch(queries[part], documents[part], self.limits), part) for part in parts
        ]

    def _forward(self, model: nn.Module, batches: list[tuple[Any, NDArray[np.int64]]]) -> Scores:
        scores = self.scorer(model, [batch for batch, _ in batches], self.parameters["precision"])
        order = np.argsort(np.concatenate([part for _, part in batches]))
        positive, negative = scores[torch.from_numpy(order).to(scores.device)].chunk(2)
        return positive, negative

    def _scores(
        self, learner: Learner, step: int, batches: list[tuple[Any, NDArray[np.int64]]]
    ) -> Scores:
        """Score with dropout, drawn afresh from (seed, step, model)."""
        key = np.random.SeedSequence([self.seed, step, ord(learner.name)])
        torch.manual_seed(int(key.generate_state(1, np.uint64)[0] >> 1))
        learner.model.train()
        return self._forward(learner.model, batches)

    @torch.no_grad()
    def _scores_without_gradient(
        self, batches: list[tuple[Any, NDArray[np.int64]]]
    ) -> dict[str, Scores]:
        return {
            learner.name: self._forward(learner.model.eval(), batches) for learner in self.learners
        }

    def _weigh(
        self, learner: Learner, others: dict[str, Scores] | None, triples: Triples
    ) -> Tensor | None:
        """Return the weights on this model's loss, or None where they need no other model."""
        if others is None:
            return None
        other = S if learner.name == R else R
        weight: Tensor = self.weigh(*others[other], **self.weight)
        return weight

    def _backward(
        self,
        learner: Learner,
        step: int,
        scores: Scores,
        weight: Tensor | None,
        triples: Triples,
    ) -> dict[str, float]:
        """Take the clipped gradient of dot(weight, pair loss) / pairs; return its figures."""
        if weight is None:
            weight = self.weigh(*scores, **self.weight).detach()
        pair_losses = self.loss(*scores)
        weighted = torch.dot(weight, pair_losses) / len(pair_losses)
        name = learner.name.lower()
        weighted.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(learner.model.parameters(), self.training["clip"])
        if not (torch.isfinite(weighted) and torch.isfinite(norm)):
            also = " or raise the temperature" if len(self.learners) > 1 else ""
            raise TrainingError(
                f"step {step}: the loss of {learner.name} is {float(weighted.detach())}, the norm "
                f"of its gradient {float(norm)}, its largest weight {float(weight.max()):.3g}; "
                f"need finite numbers: lower the learning rate{also}."
            )
        row = {
            f"loss_{name}": float(pair_losses.detach().mean()),
            f"weighted_loss_{name}": float(weighted.detach()),
            f"gradient_norm_{name}": float(norm),
        }
        if len(self.learners) > 1:
            column = f"w_{name}"
            row |= describe(column, weight.cpu().numpy(), triples.false_negative)
            self.watch.look(step, column, learner.name, row[f"{column}_mean"])
        return row
