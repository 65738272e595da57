"""The table of throughput and sizes that costs are worked out from (`config/throughput.yaml`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from poolbias.errors import ConfigError
from poolbias.files import open_text, reading

OTHER = "*"


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder's shape: `layers`, `width` and `inner` width, `parameters`, `vocabulary`."""

    layers: int
    width: int
    inner: int
    parameters: int
    vocabulary: int

    def flops(self, tokens: float, sequence: float, layers: int | None = None) -> float:
        """Return the floating-point operations of a forward pass over so many tokens.

        A multiplication and an addition per weight and token, and for each token products with all
        tokens of its sequence, twice (Kaplan et al. 2020, table 1, with an inner width of its own).

        Args:
            tokens: of all sequences together.
            sequence: mean length of a sequence.
            layers: those that are kept; None for all.
        """
        weights = 4 * self.width**2 + 2 * self.width * self.inner
        return tokens * (layers or self.layers) * (2 * weights + 4 * sequence * self.width)


@dataclass(frozen=True, slots=True)
class Sizes:
    """A collection's counts and mean lengths (word pieces; bytes of a document's text)."""

    documents: int
    training_queries: int
    labels: int
    document_tokens: float
    query_tokens: float
    text_bytes: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """The table: what a device does a second, encoders, collections, sets of test queries."""

    device: str
    flops: float  # a second
    measured: bool
    coupled: Mapping[str, float]
    encoders: Mapping[str, Encoder]
    collections: Mapping[str, Sizes]
    tested: Mapping[str, int]

    def encoder(self, start: str) -> Encoder:
        """Return the encoder that a ranker starts from."""
        return self.encoders.get(start, self.encoders[OTHER])

    def sizes(self, kind: str) -> Sizes:
        """Return the sizes of a collection of a kind."""
        return self.collections.get(kind, self.collections[OTHER])


def read_throughput(path: Path | str, device: str) -> Throughput:
    """Read the table for one device (`cpu` or `cuda`).

    Raises:
        ConfigError: naming the file for what is missing or no number.
        DataError: if there is no such file.
    """
    with reading(path), open_text(path) as text:
        try:
            held: Any = yaml.safe_load(text)
            found = held["devices"][device]
            return Throughput(
                device=str(found["name"]),
                flops=float(found["peak_tflops"]) * 1e12 * float(found["share"]),
                measured=bool(found["measured"]),
                coupled={str(name): float(v) for name, v in held["coupled"].items()},
                encoders={str(name): Encoder(**v) for name, v in held["encoders"].items()},
                collections={str(name): Sizes(**v) for name, v in held["collections"].items()},
                tested={str(name): int(v) for name, v in held["tested"].items()},
            )
        except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(
                f"{path}: cannot be used for device {device!r} ({type(error).__name__}: {error}); "
                "restore the file."
            ) from error
