"""Methods that differ from `naive` in loss or weight: coupled weights, lists, `dml`."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from poolbias.config.base import NONE, unit
from poolbias.config.base_method import Several, negatives_field


class Coupled(Several):
    """What methods have in which a relevance and a selection model weight each other."""

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
    clip: float | None = Field(
        None,
        gt=0,
        description="Largest weight, cut before anything else; null is no bound. Our option.",
        json_schema_extra=unit(NONE),
    )
    normalise: Literal["none", "batch", "running_mean"] = Field(
        "none", description="Mean that weights are divided by: of the step, or running. Our option."
    )
    decay: float = Field(
        0.99,
        ge=0,
        lt=1,
        description="What a step counts against the next in the running mean. Our option.",
        json_schema_extra=unit("per step"),
    )

    @model_validator(mode="after")
    def _default_temperature(self) -> Self:
        if self.temperature is None:
            self.temperature = 1.0 if self.form == "paper" else 10.0
        return self

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        mode = [] if self.weights_from == "eval" else [self.weights_from]
        clip = [] if self.clip is None else [f"clip{self.clip:g}"]
        mean = {"none": [], "batch": ["batch"], "running_mean": [f"running{self.decay:g}"]}
        return [self.form, f"tau{self.temperature:g}", *mode, *clip, *mean[self.normalise]]

    def weight(self) -> dict[str, Any]:
        """Return the weight's name and options; `adjust` holds those of ours that are on."""
        adjust: dict[str, Any] = {} if self.clip is None else {"clip": self.clip}
        if self.normalise != "none":
            adjust["normalise"] = self.normalise
        if self.normalise == "running_mean":
            adjust["decay"] = self.decay
        return {
            "name": "coupled",
            "form": self.form,
            "temperature": self.temperature,
            "weights_from": self.weights_from,
            **({"adjust": adjust} if adjust else {}),
        }


class Cet(Coupled):
    """The Coupled Estimation Technique: a relevance and a selection model weight each other."""

    name: Literal["cet"] = Field("cet", description="The method.")


class CetListwise(Coupled):
    """Coupled weights on the negatives of a list, one weight each; softmax over the list."""

    name: Literal["cet_listwise"] = Field("cet_listwise", description="The method.")
    negatives_per_positive: int = negatives_field(7)

    def loss(self) -> str:
        """Return the name of the loss."""
        return "softmax_cross_entropy"


class Lce(Several):
    """Softmax over a list of one labelled document and uniform negatives (Gao et al. 2021)."""

    name: Literal["lce"] = Field("lce", description="The method.")
    negatives_per_positive: int = negatives_field(7)

    def loss(self) -> str:
        """Return the name of the loss."""
        return "softmax_cross_entropy"


class Dml(Several):
    """Our reconstruction of DML: softmax and pointwise loss, weight by the own prediction.

    The grid that its settings are chosen from: mu 0 or 0.5, sigma 0.25, 0.5 or 1, both factors 1.
    """

    name: Literal["dml"] = Field("dml", description="The method.")
    mu: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Predicted probability of a negative that counts 1.",
        json_schema_extra=unit("probability"),
    )
    sigma: float = Field(
        0.5,
        gt=0,
        description="Width of the Gaussian.",
        json_schema_extra=unit("probability"),
    )
    prediction: Literal["instance", "document"] = Field(
        "instance", description="Probability by the document's score alone, or within its list."
    )
    softmax: float = Field(
        1.0, ge=0, description="Factor of the softmax part.", json_schema_extra=unit(NONE)
    )
    pointwise: float = Field(
        1.0, ge=0, description="Factor of the pointwise part.", json_schema_extra=unit(NONE)
    )

    def marks(self) -> list[str]:
        """Return the options that the label tells."""
        of = [] if self.prediction == "instance" else [self.prediction]
        factors = [f"a{self.softmax:g}-b{self.pointwise:g}"]
        if self.softmax == self.pointwise == 1:
            factors = []
        return [f"mu{self.mu:g}", f"sigma{self.sigma:g}", *of, *factors]

    def loss(self) -> str:
        """Return the name of the loss."""
        return "softmax_and_pointwise"

    def weight(self) -> dict[str, Any]:
        """Return the weight's name and options."""
        return {
            "name": "gaussian",
            "mu": self.mu,
            "sigma": self.sigma,
            "prediction": self.prediction,
        }

    def resolved(self) -> dict[str, Any]:
        """Return the three choices by name with their options, as the stages take them."""
        factors = {"softmax": self.softmax, "pointwise": self.pointwise}
        return super().resolved() | {"loss_options": factors}
