"""Methods: each is a choice of negatives, loss and weight, and nothing else in the code names it.

Each is a small class here.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from poolbias.config.base import Section, unit


class Method(Section):
    """What every method has: the depth of its candidates, and how it resolves."""

    depth: int = Field(
        100,
        ge=1,
        description="Ranks of the run that candidates come from.",
        json_schema_extra=unit("ranks"),
    )

    @property
    def method(self) -> str:
        """The method's name."""
        return str(getattr(self, "name"))  # noqa: B009

    @property
    def label(self) -> str:
        """The readable part of an experiment's name."""
        return self.method

    @property
    def coupled(self) -> bool:
        """Whether a selection model is trained beside the relevance model."""
        return bool(self.weight()["name"] == "coupled")

    def resolved(self) -> dict[str, Any]:
        """Return the three choices by name with their options, as the stages take them."""
        return {
            "negatives": {**self.negatives(), "depth": self.depth},
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


class Naive(Method):
    """Uniform over the top of the run, every pair counting 1 (the paper's BERT)."""

    name: Literal["naive"] = Field("naive", description="The method.")


class Oracle(Method):
    """Uniform over the truly irrelevant; what a perfect filter would reach."""

    name: Literal["oracle"] = Field("oracle", description="The method.")

    def negatives(self) -> dict[str, Any]:
        """Return the negatives' name and options."""
        return {"name": "oracle"}


class Cet(Method):
    """The Coupled Estimation Technique: a relevance and a selection model weight each other."""

    name: Literal["cet"] = Field("cet", description="The method.")
    form: Literal["paper", "released"] = Field(
        "paper", description="Weight of the paper's Eq. 18 and 19, or of the released code."
    )
    temperature: float | None = Field(
        None,
        gt=0,
        description="τ of the weight; null is 1 in form paper, 10 in form released.",
        json_schema_extra=unit("logits"),
    )
    weights_from: Literal["eval", "train"] = Field(
        "eval", description="Weights from scores without dropout (as released), or with it."
    )

    @model_validator(mode="after")
    def _default_temperature(self) -> "Cet":
        if self.temperature is None:
            self.temperature = 1.0 if self.form == "paper" else 10.0
        return self

    @property
    def label(self) -> str:
        """The readable part of an experiment's name."""
        mode = "" if self.weights_from == "eval" else f"-{self.weights_from}"
        return f"cet-{self.form}-tau{self.temperature:g}{mode}"

    def weight(self) -> dict[str, Any]:
        """Return the weight's name and options."""
        return {
            "name": "coupled",
            "form": self.form,
            "temperature": self.temperature,
            "weights_from": self.weights_from,
        }


AnyMethod = Annotated[Naive | Oracle | Cet, Field(discriminator="name")]
