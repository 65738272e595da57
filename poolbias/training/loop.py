"""The training loop: draw, score, weight, step; the same for every method.

With a coupled weight two models are trained on the same triples. Both weights come from the
parameters before either model's step (the authors' code does likewise: simultaneous updates).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from poolbias import losses, weights
from poolbias.candidates import Candidates
from poolbias.errors import TrainingError
from poolbias.losses.weighting import scale_and_shares
from poolbias.tokens import Limits, Sequences, TokenStore
from poolbias.training.adjustment import Adjustment
from poolbias.training.diagnostics import Watch, describe
from poolbias.training.draws import Drawer, Triples
from poolbias.training.optimiser import adamw, learning_rate
from poolbias.training.processes import ALONE, Share

R, S = "R", "S"
# Of the positives, float32 [pairs], and of the negatives, float32 [pairs, negatives].
Scores = tuple[Tensor, Tensor]
Scorer = Callable[[nn.Module, Any, str], Tensor]


@dataclass
class Learner:
    """A model under training, with its optimiser."""

    name: str
    model: nn.Module
    optimiser: torch.optim.Optimizer
    adjustment: Adjustment  # of the weights on its loss


@dataclass
class Trainer:
    """One training: what it draws from, its models, and how it steps.

    Attributes:
        parameters: `training` (see `config.training`), `loss`, `weight` (name and options; those
            of `Adjustment` under `adjust`), `limits` (query, document, sequence), `precision`; and
            where they are not 1 and none, `negatives_per_positive` and `loss_options`.
        models: the relevance model under "R" and, with a coupled weight, the selection model "S".
        seed: of draws and dropout.
        share: which of the processes that train together this one is; by default it is alone.
    """

    parameters: dict[str, Any]
    store: TokenStore
    candidates: Candidates
    models: dict[str, nn.Module]
    scorer: Scorer
    seed: int
    share: Share = ALONE
    learners: list[Learner] = field(init=False)
    done: int = field(init=False, default=0)  # steps
    watch: Watch = field(init=False, default_factory=Watch)

    def __post_init__(self) -> None:
        self.training = self.parameters["training"]
        self.weight = dict(self.parameters["weight"])
        self.weigh = weights.get(self.weight.pop("name"))
        self.weights_from = self.weight.pop("weights_from", None)
        adjust = self.weight.pop("adjust", {})
        loss = losses.get(self.parameters["loss"])
        self.loss = partial(loss, **self.parameters.get("loss_options", {}))
        self.negatives = int(self.parameters.get("negatives_per_positive", 1))
        self.limits = Limits(**self.parameters["limits"])
        self.drawer = Drawer(self.candidates, self.seed)
        self.learners = [
            Learner(name, model, adamw(model, self.training), Adjustment(**adjust))
            for name, model in self.models.items()
        ]

    def steps(self) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
        """Train, yielding after each step its row of `training.tsv` and of `timing.tsv`."""
        self.share.agree(self.done, self._device())
        for step in range(self.done + 1, self.training["steps"] + 1):
            started = time.perf_counter()
            triples = self.drawer.draw(step, self.training["pairs"], self.negatives)
            row, tokens = self._step(step, triples)
            seconds = time.perf_counter() - started
            self.done = step
            yield row, {"step": step, "seconds": seconds, "tokens": tokens}

    def _step(self, step: int, triples: Triples) -> tuple[dict[str, float], int]:
        sequences = self._sequences(self.share.of(triples))
        rate = learning_rate(step, self.training)
        row: dict[str, float] = {"step": step, "learning_rate": rate}
        others = self._scores_without_gradient(sequences) if self.weights_from == "eval" else None
        scored = {}
        if self.weights_from == "train":  # one shared forward, its dropout in the weights too
            scored = {
                learner.name: self._scores(learner, step, sequences) for learner in self.learners
            }
            others = scored
        for learner in self.learners:
            scores = scored.get(learner.name) or self._scores(learner, step, sequences)
            weight = self._weigh(learner, scores, others)
            row |= self._backward(learner, step, scores, weight, triples)
        for learner in self.learners:
            for group in learner.optimiser.param_groups:
                group["lr"] = rate * group["share"]
            learner.optimiser.step()
            learner.optimiser.zero_grad()
        return row, self.share.total(len(sequences.ids), self._device())

    def _device(self) -> torch.device:
        return next(self.learners[0].model.parameters()).device

    def _sequences(self, triples: Triples) -> Sequences:
        """Return the step's sequences: all positives, then each query's negatives."""
        several = np.repeat(triples.queries, self.negatives)
        queries = np.concatenate([triples.queries, several])
        documents = np.concatenate([triples.positives, triples.negatives.ravel()])
        return self.store.sequences(queries, documents, self.limits)

    def _forward(self, model: nn.Module, sequences: Sequences) -> Scores:
        scores = self.scorer(model, sequences, self.parameters["precision"])
        pairs = len(sequences) // (1 + self.negatives)
        return scores[:pairs], scores[pairs:].reshape(pairs, self.negatives)

    def _scores(self, learner: Learner, step: int, sequences: Sequences) -> Scores:
        """Score with dropout, drawn afresh from (seed, step, model), and the process if several."""
        key = np.random.SeedSequence([self.seed, step, ord(learner.name), *self.share.key()])
        torch.manual_seed(int(key.generate_state(1, np.uint64)[0] >> 1))
        learner.model.train()
        return self._forward(learner.model, sequences)

    @torch.no_grad()
    def _scores_without_gradient(self, sequences: Sequences) -> dict[str, Scores]:
        return {
            learner.name: self._forward(learner.model.eval(), sequences)
            for learner in self.learners
        }

    def _weigh(self, learner: Learner, scores: Scores, others: dict[str, Scores] | None) -> Tensor:
        """Return the weights on this model's loss, float32 [pairs, negatives], without gradient.

        They come from the other model's scores, or from its own where they need no other model.
        They are those of all processes, since an adjustment may depend on them all.
        """
        positive, negatives = scores if others is None else others[S if learner.name == R else R]
        weight = self.weigh(positive[:, None], negatives, **self.weight)
        return learner.adjustment(self.share.gather(weight))

    def _backward(
        self,
        learner: Learner,
        step: int,
        scores: Scores,
        weight: Tensor,
        triples: Triples,
    ) -> dict[str, float]:
        """Take the clipped gradient of dot(scale, pair loss) / pairs; return its figures."""
        scale, shares = scale_and_shares(weight)
        pairs = len(scores[0])
        own = slice(self.share.number * pairs, (self.share.number + 1) * pairs)
        pair_losses = self.loss(*scores, shares[own])
        ours = torch.dot(scale[own], pair_losses) / len(scale)
        ours.backward()  # type: ignore[no-untyped-call]
        self.share.sum_gradients(learner.model)
        with torch.no_grad():
            plain = self.share.gather(self.loss(*scores))
            weighted = torch.dot(scale, self.share.gather(pair_losses)) / len(scale)
        name = learner.name.lower()
        norm = nn.utils.clip_grad_norm_(learner.model.parameters(), self.training["clip"])
        if not (torch.isfinite(weighted) and torch.isfinite(norm)):
            also = " or raise the temperature" if len(self.learners) > 1 else ""
            raise TrainingError(
                f"step {step}: the loss of {learner.name} is {float(weighted)}, the norm "
                f"of its gradient {float(norm)}, its largest weight {float(weight.max()):.3g}; "
                f"need finite numbers: lower the learning rate{also}."
            )
        row = {
            f"loss_{name}": float(plain.mean()),
            f"weighted_loss_{name}": float(weighted),
            f"gradient_norm_{name}": float(norm),
        }
        if len(self.learners) > 1 or self.parameters["weight"]["name"] != "one":  # they can vary
            column = f"w_{name}"
            row |= describe(column, weight.cpu().numpy(), triples.false_negative)
            self.watch.look(step, column, learner.name, row[f"{column}_mean"])
        return row
