"""Methods whose negatives are chosen by scores: the retriever's, or those of a naive teacher.

The teacher is the ranker of `naive` on the same collection, pool, retriever, ranker and training,
with one seed for all seeds of the method (our choice: scores are made once).
"""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from poolbias.config.base import NONE, unit
from poolbias.config.base_method import Method
from poolbias.config.filters import seed_mark


class Scored(Method):
    """What methods have that compare a candidate's score with that of the labelled documents."""

    positive: Literal["lowest", "mean", "highest"] = Field(
        "mean", description="Score compared with, of several labelled documents. Our choice."
    )
    teacher_seed: int = Field(
        1, ge=0, description="Seed of the naive teacher.", json_schema_extra=unit(NONE)
    )
    scored: int | None = Field(
        None,
        ge=1,
        description="Candidates of a query that the teacher scores (a seeded sample); the others "
        "are not drawn. null is all.",
        json_schema_extra=unit("documents"),
    )

    @property
    def taught(self) -> bool:
        """Whether the scores are a teacher's."""
        return True

    @property
    def teacher(self) -> dict[str, Any] | None:
        """The teacher's seed, and how many candidates of a query it scores."""
        return {"seed": self.teacher_seed, "scored": self.scored} if self.taught else None

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        positive = [] if self.positive == "mean" else [self.positive]
        return [*self.own_marks(), *positive, *(self._teacher_marks() if self.taught else [])]

    def own_marks(self) -> list[str]:
        """Return the options of this method alone that the label tells."""
        return []

    def _teacher_marks(self) -> list[str]:
        scored = [] if self.scored is None else [f"scored{self.scored}"]
        seed = [] if self.teacher_seed == 1 else [f"taught{self.teacher_seed}"]
        return [*seed, *scored]

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": self.method, "positive": self.positive, **self.own_options()}

    def own_options(self) -> dict[str, Any]:
        """Return the options of this method alone."""
        return {}


class RocketQa(Scored):
    """Uniform over what a naive teacher scores below η (the denoising of RocketQA)."""

    name: Literal["rocketqa"] = Field("rocketqa", description="The method.")
    scale: Literal["pair", "probability", "logit"] = Field(
        "pair", description="Scale of η: σ(candidate − labelled), σ(logit), or the logit."
    )
    eta: float | None = Field(
        None,
        description="Threshold η on that scale; null is 0.1 unless share_removed is given.",
        json_schema_extra=unit("of scale"),
    )
    share_removed: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Places η so that this share of the candidates is removed; instead of eta.",
        json_schema_extra=unit("share"),
    )

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if self.eta is not None and self.share_removed is not None:
            raise ValueError("found both eta and share_removed, need one of them; remove one.")
        if self.eta is None and self.share_removed is None:
            if self.scale == "logit":
                raise ValueError("found no eta, which scale logit needs; add eta or share_removed.")
            self.eta = 0.1
        if self.scale != "logit" and self.eta is not None and not 0 < self.eta <= 1:
            raise ValueError(
                f"found eta {self.eta:g}, need above 0 and at most 1 on scale {self.scale}; "
                "correct it."
            )
        return self

    def own_marks(self) -> list[str]:
        """Return the options of this method alone that the label tells."""
        if self.eta is not None:
            return [self.scale, f"eta{self.eta:g}"]
        return [self.scale, f"removed{self.share_removed:g}"]

    def own_options(self) -> dict[str, Any]:
        """Return the options of this method alone."""
        return {"scale": self.scale, "eta": self.eta, "share_removed": self.share_removed}


class Retrieved(Scored):
    """What methods have that take the retriever's own scores unless told otherwise."""

    scores: Literal["retriever", "teacher"] = Field(
        "retriever", description="Whose scores: the run's own, or a naive teacher's."
    )

    @property
    def taught(self) -> bool:
        """Whether the scores are a teacher's."""
        return self.scores == "teacher"

    def _teacher_marks(self) -> list[str]:
        return ["teacher", *super()._teacher_marks()]


class Sieve(Retrieved):
    """Uniform over what passes the passage sieve: below the mean score of a group."""

    name: Literal["sieve"] = Field("sieve", description="The method.")
    sample: int = Field(
        30,
        ge=1,
        description="Candidates in the group, beside the labelled documents' score.",
        json_schema_extra=unit("documents"),
    )
    seed: int = Field(
        1, ge=0, description="Seed of the groups' draws.", json_schema_extra=unit(NONE)
    )

    def own_marks(self) -> list[str]:
        """Return the options of this method alone that the label tells."""
        return [f"{self.sample}", *seed_mark(self.seed)]

    def own_options(self) -> dict[str, Any]:
        """Return the options of this method alone."""
        return {"sample": self.sample, "seed": self.seed}


class Percpos(Retrieved):
    """Uniform over what scores below a share of the labelled documents' score."""

    name: Literal["percpos"] = Field("percpos", description="The method.")
    share: float = Field(
        0.95,
        gt=0,
        le=1,
        description="Share of the labelled documents' score, which must be above 0.",
        json_schema_extra=unit("share"),
    )

    def own_marks(self) -> list[str]:
        """Return the options of this method alone that the label tells."""
        return [f"{self.share:g}"]

    def own_options(self) -> dict[str, Any]:
        """Return the options of this method alone."""
        return {"share": self.share}


class Margin(Retrieved):
    """Uniform over what scores below the labelled documents' score by a margin."""

    name: Literal["margin"] = Field("margin", description="The method.")
    margin: float = Field(
        0.05,
        description="Least difference to the labelled documents' score.",
        json_schema_extra=unit("units of the score"),
    )

    def own_marks(self) -> list[str]:
        """Return the options of this method alone that the label tells."""
        return [f"{self.margin:g}"]

    def own_options(self) -> dict[str, Any]:
        """Return the options of this method alone."""
        return {"margin": self.margin}


class SimAns(Retrieved):
    """Likelier the nearer to the labelled documents' score: exp(−a (difference − b)²)."""

    name: Literal["simans"] = Field("simans", description="The method.")
    a: float = Field(
        1.0, ge=0, description="How fast it falls off.", json_schema_extra=unit("per score²")
    )
    b: float = Field(
        0.0,
        description="Difference to the labelled documents' score that is likeliest.",
        json_schema_extra=unit("units of the score"),
    )

    def own_marks(self) -> list[str]:
        """Return the options of this method alone that the label tells."""
        return [f"a{self.a:g}", f"b{self.b:g}"]

    def own_options(self) -> dict[str, Any]:
        """Return the options of this method alone."""
        return {"a": self.a, "b": self.b}
