"""The choice of one setting per method, on dev by labels: as many settings for each.

A method's family is what is chosen among: its settings, in one place (collection, pool, re-ranked
retriever, ranker). The forms of coupled methods are families of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import Field

from poolbias.config.base import Section, unit
from poolbias.config.entries import Choice
from poolbias.config.places import Place
from poolbias.config.problems import Problem

PLACE: Place = ("tuning",)


class Tuning(Section):
    """One setting of each method is chosen, on dev by labels; for a study that is about that."""

    configurations: int | None = Field(
        None,
        ge=2,
        description="Settings that each method must have; null lets methods differ.",
        json_schema_extra=unit("settings"),
    )
    measure: str = Field("RR@10", description="Measure by labels whose mean decides.")


def family(name: str, weight: dict[str, Any]) -> str:
    """Return what a method's settings are called together: its name, and its form if it has one."""
    return "-".join([name, *([str(weight["form"])] if "form" in weight else [])])


def families(choices: Iterable[Choice]) -> dict[tuple[str, ...], list[Choice]]:
    """Return expanded items by collection, pool, retriever, ranker and method's family."""
    found: dict[tuple[str, ...], list[Choice]] = {}
    for choice in choices:
        name = family(choice.method.method, choice.method.weight())
        place = (choice.collection, choice.pool, choice.retriever, choice.ranker, name)
        found.setdefault(place, []).append(choice)
    return found


def check(
    tuning: Tuning, split: str, measures: Sequence[str], choices: Iterable[Choice]
) -> Iterator[Problem]:
    """Yield a problem if the choice would be made on test, by no measure, or unfairly.

    Args:
        tuning: the section.
        split: the queries that the study measures.
        measures: the measures that it takes.
        choices: the expanded items of `experiments`.
    """
    if split != "dev":
        yield Problem(
            ("evaluation", "split"),
            f"found {split!r}, need 'dev', since `tuning` chooses settings; correct it or remove "
            "tuning.",
        )
    if tuning.measure not in measures:
        yield Problem(
            (*PLACE, "measure"),
            f"found {tuning.measure!r}, need one of evaluation.measures; add it there.",
        )
    for place, members in families(choices).items() if tuning.configurations else ():
        if len(members) != tuning.configurations:
            yield Problem(
                (*PLACE, "configurations"),
                f"found {len(members)} settings of {place[-1]} on {place[2]}, need "
                f"{tuning.configurations} of each method; add or remove some.",
            )
