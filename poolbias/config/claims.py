"""The claims that a study is held against: the typed model of `config/claims.yaml`."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError

from poolbias.config import sentences, yaml
from poolbias.config.base import Section
from poolbias.config.model import Name
from poolbias.config.places import Place
from poolbias.config.problems import Problem, shown, unknown
from poolbias.errors import ConfigError

DOCS = "docs/claims.md"
COLUMN = re.compile(r"(truth|labels) \S+")
FILLED = ("of", "over", "ranker")  # what `paper` fills in
Side = Literal["above", "below", "within"]
Names = Annotated[list[str], Field(min_length=1)]


class Systems(Section):
    """Which of a study's rows a claim is about."""

    method: Names = Field(description="Bare names of methods; `run`, `candidates`.")
    options: list[str] = Field(
        [], description="Methods with their options, as regular expressions; empty takes all."
    )
    retriever: Names = Field(
        ["each"],
        description="Names, `strongest` or `weakest` by recall, `each`; the first that is there.",
    )
    ranker: Names = Field(["each"], description="Names, or `each`.")
    pool: Names = Field(["first"], description="Names, `first` or `each`.")
    training: Literal["study", "any", "chosen"] = Field(
        "study",
        description="Rankers trained with the study's settings, all, or those that dev chose.",
    )


class Check(Section):
    """What every check has: on which side of the threshold the effect is claimed to lie."""

    side: Side = Field("above", description="Claimed side of the threshold.")
    threshold: float = Field(0.0, description="Where the sides meet; for `within` the bound.")


class Difference(Check):
    """One system's mean less another's."""

    kind: Literal["difference"] = Field(description="The kind.")
    of: Systems = Field(description="The first system.")
    over: Systems = Field(description="The second system.")
    same: Literal["row", "experiment"] = Field(
        "row",
        description="What both share where neither names it: pool, retriever and ranker, or "
        "the whole experiment.",
    )


class Trend(Check):
    """The change of a mean per step to the retriever with the next higher recall."""

    kind: Literal["trend"] = Field(description="The kind.")
    of: Systems = Field(description="The systems, one per retriever.")


class Swap(Check):
    """How far a difference moves to the other retriever when the pool does."""

    kind: Literal["swap"] = Field(description="The kind.")
    of: Systems = Field(description="The system whose difference is looked at.")
    over: Systems | None = Field(None, description="What is taken off it, if anything.")


class Gap(Check):
    """The share of the gap between two systems that a third one closes."""

    kind: Literal["gap"] = Field(description="The kind.")
    of: Systems = Field(description="The system that closes it.")
    over: Systems = Field(description="Where the gap begins.")
    goal: Systems = Field(description="Where it ends.")


class Stable(Check):
    """The largest difference of a family of systems from one of them."""

    kind: Literal["stable"] = Field(description="The kind.")
    of: Systems = Field(description="The family.")
    over: Systems = Field(description="The one that the others are compared with.")


class Worst(Check):
    """The worst of a family of systems less another system."""

    kind: Literal["worst"] = Field(description="The kind.")
    of: Systems = Field(description="The family.")
    over: Systems = Field(description="What it is compared with.")


class Gains(Check):
    """The relative gain on one collection less that on another."""

    kind: Literal["gains"] = Field(description="The kind.")
    of: Systems = Field(description="The system that gains.")
    over: Systems = Field(description="What it gains over.")
    than: str = Field(description="The other collection.")


class Reading(Check):
    """A value with its interval from the table behind a figure."""

    kind: Literal["reading"] = Field(description="The kind.")
    file: str = Field(description="The table: `figure_4`, `figure_5`, `premises`, …")
    where: dict[str, str] = Field(description="Cells that tell its rows, by column.")
    value: str = Field("value", description="The column of the value.")


AnyCheck = Annotated[
    Difference | Trend | Swap | Gap | Stable | Worst | Gains | Reading, Field(discriminator="kind")
]
Columns = dict[str, list[str]]


class Paper(Section):
    """Where `config/paper_tables.tsv` has the claim's numbers."""

    of: Names = Field(description="The paper's system; `{of}`, `{over}`, `{ranker}` are filled in.")
    over: list[str] = Field([], description="The system that is taken off it.")
    measure: str | None = Field(None, description="The paper's measure, if not the column's.")


class Claim(Section):
    """One checkable statement."""

    sentence: str = Field(min_length=1, description="The statement, in a sentence.")
    source: str = Field(min_length=1, description="Where the paper says it, or `ours`.")
    columns: list[str] = Field(min_length=1, description="Sets of `columns` that it is about.")
    check: AnyCheck = Field(description="How it is checked.")
    paper: Paper | None = Field(None, description="The paper's numbers.")
    note: str = Field("", description="What a reader should know of the check.")


class Claims(Section):
    """The file of claims."""

    columns: dict[Name, Columns] = Field(
        description="Named sets of columns: by collection, `others` for all not named there."
    )
    claims: dict[Name, Claim] = Field(min_length=1, description="Claims by id.")


def read_claims(path: Path | str) -> dict[str, Any]:
    """Return the checked claims as plain values, their columns in place of the sets' names.

    Raises:
        ConfigError: one line per problem, each with file, line and key.
        DataError: if there is no such file.
    """
    document = yaml.read(path)
    problems = [Problem(place, words) for place, words in document.doubts]
    try:
        claims = Claims.model_validate({} if document.value is None else document.value)
        problems += _unfit(claims)
    except ValidationError as error:
        problems += [_ours(problem) for problem in sentences.problems(Claims, error)]
    if problems:
        told = sorted((document.line(problem.place), str(problem)) for problem in problems)
        lines = [f"{path}:{line}: {words}" if line else f"{path}: {words}" for line, words in told]
        raise ConfigError("\n".join(dict.fromkeys(lines)))
    return {
        name: claim.model_dump() | {"columns": _joined(claim, claims.columns)}
        for name, claim in claims.claims.items()
    }


def _joined(claim: Claim, sets: dict[str, Columns]) -> Columns:
    joined: Columns = {}
    for name in claim.columns:
        for collection, columns in sets[name].items():
            joined.setdefault(collection, []).extend(columns)
    return {collection: list(dict.fromkeys(columns)) for collection, columns in joined.items()}


def _unfit(claims: Claims) -> list[Problem]:
    """Return what each value by itself does not show."""
    problems = [
        Problem(
            ("columns", name, collection, number),
            f"found {shown(text)}, need `truth` or `labels` and a measure, such as "
            "'truth nDCG@10'; correct the value.",
        )
        for name, columns in claims.columns.items()
        for collection, texts in columns.items()
        for number, text in enumerate(texts)
        if not COLUMN.fullmatch(text)
    ]
    for name, claim in claims.claims.items():
        place: Place = ("claims", name)
        for number, chosen in enumerate(claim.columns):
            if chosen not in claims.columns:
                text = unknown("set of columns", chosen, claims.columns)
                problems.append(Problem((*place, "columns", number), text.replace("study", "file")))
        problems += _wrong_check(claim.check, (*place, "check"))
        for part in ("of", "over") if claim.paper else ():
            problems += _wrong_names(getattr(claim.paper, part), (*place, "paper", part))
    return problems


def _wrong_check(check: Check, place: Place) -> Iterator[Problem]:
    if check.side == "within" and check.threshold <= 0:
        yield Problem(
            (*place, "threshold"),
            f"found {shown(check.threshold)}, need a number above 0, the bound that side 'within' "
            "asks for; add it.",
        )
    if isinstance(check, Stable) and check.side != "within":
        yield Problem(
            (*place, "side"),
            f"found {shown(check.side)}, need 'within' for kind 'stable'; correct it.",
        )
    for name, part in check:
        for number, pattern in enumerate(part.options) if isinstance(part, Systems) else ():
            try:
                re.compile(pattern)
            except re.error as error:
                yield Problem(
                    (*place, name, "options", number),
                    f"found {shown(pattern)}, need a regular expression ({error}); correct it.",
                )


def _wrong_names(names: list[str], place: Place) -> Iterator[Problem]:
    for number, name in enumerate(names):
        filled = set(re.findall(r"\{(.*?)\}", name))
        if filled - set(FILLED):
            yield Problem(
                (*place, number),
                f"found {shown(name)}, need no other braces than "
                f"{', '.join(f'{{{word}}}' for word in FILLED)}; correct it.",
            )


def _ours(problem: Problem) -> Problem:
    """Point to the page about claims in place of that about study files."""
    return replace(problem, text=problem.text.replace(sentences.DOCS, DOCS))


def kinds() -> list[str]:
    """Return the kinds of checks."""
    union, _ = get_args(AnyCheck)
    return [get_args(each.model_fields["kind"].annotation)[0] for each in get_args(union)]
