"""Methods that differ from `naive` in their negatives alone."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from poolbias.config.base import NONE, unit
from poolbias.config.base_method import BareMethod, Method, Several

SEED = "Seed of its draws."


class Naive(Several):
    """Uniform over the top of the run, every pair counting 1 (the paper's BERT)."""

    name: Literal["naive"] = Field("naive", description="The method.")


class Random(BareMethod):
    """Uniform over the whole collection, of which a seeded sample per query is kept."""

    name: Literal["random"] = Field("random", description="The method.")
    size: int = Field(
        1000,
        ge=1,
        description="Documents drawn for each query, the labelled ones included.",
        json_schema_extra=unit("documents"),
    )
    seed: int = Field(1, ge=0, description=SEED, json_schema_extra=unit(NONE))

    def source(self, retriever: str) -> None:
        """Return no retriever: negatives come from no run."""

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        size = [] if self.size == 1000 else [f"size{self.size}"]
        return size + seed_mark(self.seed)

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": "random", "size": self.size, "seed": self.seed}


class Zhan(Method):
    """The ranker of `naive` on another retriever, `bm25` by default; only the run differs."""

    name: Literal["zhan"] = Field("zhan", description="The method.")
    trained_on: str = Field(
        "bm25", description="Name of the retriever whose run the ranker's negatives come from."
    )

    @property
    def trained(self) -> BareMethod:
        """The method that trains the ranker."""
        return Naive(depth=self.depth)

    def source(self, retriever: str) -> str:
        """Return the retriever whose run negatives come from."""
        return self.trained_on

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        return [] if self.trained_on == "bm25" else [self.trained_on]


class Rance(Method):
    """Drawn by rank, from how likely a document at that rank is relevant."""

    name: Literal["rance"] = Field("rance", description="The method.")
    rule: Literal["one_minus_p", "released"] = Field(
        "one_minus_p", description="1 − P(r), or the distribution of the authors' code."
    )
    queries: Literal["dev", "halves"] = Field(
        "dev",
        description="Queries whose truth tells P(r): dev, or each half of the evaluated ones for "
        "the other, which trains two rankers.",
    )

    @model_validator(mode="after")
    def _enough_ranks(self) -> Self:
        if self.rule == "released" and self.depth < 13:
            raise ValueError(
                f"found depth {self.depth}, need at least 13 for rule released (a moving average "
                "over 9 ranks, then a polynomial of degree 4); raise it."
            )
        return self

    @property
    def reads(self) -> tuple[str, ...]:
        """What its negatives read beside run and labels."""
        return ("rank_relevance",)

    @property
    def halved(self) -> bool:
        """Whether two rankers are trained, each for one half of the evaluated queries."""
        return self.queries == "halves"

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        return [self.rule, *(["halves"] if self.halved else [])]

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": "rance", "rule": self.rule, "queries": self.queries}


class Oracle(Several):
    """Uniform over the truly irrelevant; what a perfect filter would reach."""

    name: Literal["oracle"] = Field("oracle", description="The method.")

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": "oracle"}


class OracleMatched(Method):
    """As many true negatives removed as `oracle` removes false ones, near in rank: its control."""

    name: Literal["oracle_matched"] = Field("oracle_matched", description="The method.")
    seed: int = Field(1, ge=0, description=SEED, json_schema_extra=unit(NONE))

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        return seed_mark(self.seed)

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": "oracle_matched", "seed": self.seed}


class IdealPropensity(Method):
    """Uniform over what annotators saw and did not label; needs a pool that labels all it sees."""

    name: Literal["ideal_propensity"] = Field("ideal_propensity", description="The method.")

    @property
    def reads(self) -> tuple[str, ...]:
        """What its negatives read beside run and labels."""
        return ("pool",)

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": "ideal_propensity"}


def seed_mark(seed: int) -> list[str]:
    """Return what a label tells of a seed: nothing for the default."""
    return [] if seed == 1 else [f"seed{seed}"]
