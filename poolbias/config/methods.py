"""Methods: each is a choice of negatives, loss and weight, and nothing else in the code names it.

Each is a small class: those that differ from `naive` in their negatives in `filters` and `scored`,
those that differ in loss or weight in `weighted`.
"""

from typing import Annotated

from pydantic import Field

from poolbias.config.filters import (
    IdealPropensity,
    Naive,
    Oracle,
    OracleMatched,
    Rance,
    Random,
    Zhan,
)
from poolbias.config.scored import Margin, Percpos, RocketQa, Sieve, SimAns
from poolbias.config.weighted import Cet, CetListwise, Dml, Lce

AnyMethod = Annotated[
    Naive
    | Random
    | Zhan
    | RocketQa
    | Rance
    | Sieve
    | Percpos
    | Margin
    | SimAns
    | Dml
    | Cet
    | CetListwise
    | Lce
    | Oracle
    | OracleMatched
    | IdealPropensity,
    Field(discriminator="name"),
]
