"""What every method of a study file has."""

from typing import Any

from pydantic import Field

from poolbias.config.base import Section, unit


class BareMethod(Section):
    """What a method is: a name, and three choices by name with their options."""

    @property
    def method(self) -> str:
        """The method's name."""
        return str(getattr(self, "name"))  # noqa: B009

    @property
    def label(self) -> str:
        """The method with its options, as tables and the names of experiments tell it."""
        return "-".join([self.method, *self.marks()])

    @property
    def coupled(self) -> bool:
        """Whether a selection model is trained beside the relevance model."""
        return bool(self.weight()["name"] == "coupled")

    @property
    def trained(self) -> "BareMethod":
        """The method that trains the ranker; another one where only the re-ranked run differs."""
        return self

    @property
    def teacher(self) -> dict[str, Any] | None:
        """The `seed` of the naive ranker whose scores the negatives need, and `scored`, if any.

        `scored` is the number of candidates of a query that it scores, or None for all.
        """
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """What its negatives read beside run and labels: `pool`, `rank_relevance`."""
        return ()

    @property
    def halved(self) -> bool:
        """Whether two rankers are trained, each for one half of the evaluated queries."""
        return False

    @property
    def ranks(self) -> int | None:
        """How many ranks of a run its candidates come from; None if they come from no run."""
        return None

    def source(self, retriever: str) -> str | None:
        """Return the retriever whose run negatives come from, where `retriever` is re-ranked.

        None if they come from no run.
        """
        return retriever

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        return []

    def resolved(self) -> dict[str, Any]:
        """Return the three choices by name with their options, as the stages take them."""
        return {
            "negatives": self.negatives(),
            "loss": self.loss(),
            "weight": self.weight(),
        }

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": "uniform"}

    def loss(self) -> str:
        """Return the name of the loss."""
        return "pairwise_cross_entropy"

    def weight(self) -> dict[str, Any]:
        """Return the weight's name and options."""
        return {"name": "one"}


class Method(BareMethod):
    """A method whose candidates are the top of a run."""

    depth: int = Field(
        100,
        ge=1,
        description="Ranks of the run that candidates come from.",
        json_schema_extra=unit("ranks"),
    )

    @property
    def ranks(self) -> int | None:
        """How many ranks of a run its candidates come from."""
        return self.depth

    def resolved(self) -> dict[str, Any]:
        """Return the three choices by name with their options, as the stages take them."""
        resolved = super().resolved()
        return resolved | {"negatives": resolved["negatives"] | {"depth": self.depth}}


def negatives_field(default: int) -> Any:
    """Return the field `negatives_per_positive` with a default."""
    return Field(
        default,
        ge=1,
        description="Different negatives drawn for each labelled document.",
        json_schema_extra=unit("documents"),
    )


class Several(Method):
    """A method that may draw several negatives for each labelled document."""

    negatives_per_positive: int = negatives_field(1)

    @property
    def label(self) -> str:
        """The method with its options, as tables and the names of experiments tell it."""
        several = self.negatives_per_positive
        return super().label if several == 1 else f"{super().label}-n{several}"

    def resolved(self) -> dict[str, Any]:
        """Return the three choices, and the number of negatives where it is not 1."""
        several = {"negatives_per_positive": self.negatives_per_positive}
        return super().resolved() | (several if self.negatives_per_positive > 1 else {})
