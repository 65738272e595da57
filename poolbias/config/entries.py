"""The `experiments` of a study file: lists expand to products, and each product is checked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, get_origin

from pydantic import Field, TypeAdapter, ValidationError

from poolbias.config import sentences
from poolbias.config.base import Section
from poolbias.config.base_method import BareMethod
from poolbias.config.fields import LINES, Shape, shape_of, shape_of_field
from poolbias.config.methods import AnyMethod
from poolbias.config.model import Training
from poolbias.config.places import Place
from poolbias.config.problems import Problem, either, shown, unknown
from poolbias.files import hash_of

METHOD: TypeAdapter[BareMethod] = TypeAdapter(AnyMethod)
METHODS: dict[str, type[Section]] = dict(shape_of(AnyMethod).choices)
NAMED = {
    "collection": "collections",
    "pool": "pools",
    "retriever": "retrievers",
    "ranker": "rankers",
}
LISTS = frozenset(  # values that are lists themselves, and do not stand for several
    name
    for section in (Training.model_fields, *(m.model_fields for m in METHODS.values()))
    for name, field in section.items()
    if get_origin(shape_of_field(field).base) is list
)


class Entry(Section):
    """One item of `experiments`; a list stands for each of its items."""

    collection: str = Field(
        description="Name of the collection; not needed where the study has one."
    )
    pool: str = Field(
        description="Name of the pool whose labels train; not needed where the study has one."
    )
    retriever: str = Field(
        description="Name of the retriever whose run is re-ranked and, but for `zhan` and "
        "`random`, gives the negatives."
    )
    method: Any = Field(description="Name of the method, or its `name` with its options.")
    ranker: str = Field(description="Name of the ranker; not needed where the study has one.")
    training: dict[str, Any] = Field(
        {}, description="Settings that differ from the study's `training`."
    )


@dataclass(frozen=True)
class Choice:
    """One experiment of a study file: an entry with one item taken of each of its lists."""

    place: Place
    collection: str
    pool: str
    retriever: str
    ranker: str
    method: BareMethod
    training: Training


def read(
    entries: Iterable[Any], names: Mapping[str, Iterable[str] | None], training: Training
) -> tuple[list[Choice], list[Problem]]:
    """Expand and check the items of `experiments`.

    Args:
        entries: the items as the file holds them.
        names: what the study defines, by the keys of `NAMED`; None if that cannot be told.
        training: the settings that an entry's `training` changes.

    Returns:
        The experiments in the order of the file, and all that is wrong with the others.
    """
    choices: list[Choice] = []
    problems: list[Problem] = []
    for number, entry in enumerate(entries):
        place: Place = ("experiments", number)
        if not isinstance(entry, dict):
            problems.append(sentences.of_value(Shape(Entry), entry, place))
            continue
        wrong = list(_wrong_lists(entry, place))
        problems += wrong
        for item in [] if wrong else _product(_with_defaults(entry, names)):
            found = _choice(item, place, names, training, _bare_methods(entry))
            if isinstance(found, Choice):
                choices.append(found)
            else:
                problems += found
    return choices, list(dict.fromkeys(problems))


def _with_defaults(
    entry: dict[str, Any], names: Mapping[str, Iterable[str] | None]
) -> dict[str, Any]:
    """Fill in what a study has only one of, and a method given by its bare name."""
    filled = dict(entry)
    for field in NAMED:
        known = list(names[field] or ())
        if field not in filled and field != "retriever" and len(known) == 1:
            filled[field] = known[0]
    if "method" in filled:
        methods = filled["method"]
        listed = methods if isinstance(methods, list) else [methods]
        filled["method"] = [{"name": m} if isinstance(m, str) else m for m in listed]
    return filled


def _bare_methods(entry: dict[str, Any]) -> set[str]:
    methods = entry.get("method")
    return {m for m in (methods if isinstance(methods, list) else [methods]) if isinstance(m, str)}


def _wrong_lists(value: Any, place: Place) -> Iterable[Problem]:
    """Yield the lists that stand for nothing, or for one value twice."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in LISTS:
                yield from _wrong_lists(item, (*place, key))
    elif isinstance(value, list):
        if not value:
            yield Problem(place, "found [], need at least one value; add one or remove the key.")
        elif has_twice(value):
            yield twice(value, place)
        for number, item in enumerate(value):
            yield from _wrong_lists(item, (*place, number))


def has_twice(values: list[Any]) -> bool:
    """Return whether a list holds a value twice (1 and 1.0 are one)."""
    return len({hash_of(value) for value in values}) < len(values)


def twice(values: list[Any], place: Place) -> Problem:
    """Return the problem that a list holds a value twice."""
    first = next(v for v in values if sum(hash_of(v) == hash_of(other) for other in values) > 1)
    same = [v for v in values if hash_of(v) == hash_of(first)]
    how = f"{shown(first)} stands twice"
    if repr(same[0]) != repr(same[1]):
        how = f"{shown(same[0])} and {shown(same[1])} are one value"
    return Problem(place, f"found {shown(values)}, need each value once ({how}); keep one.")


def _product(value: Any) -> list[Any]:
    """Return every combination of the items of the lists within nested dictionaries."""
    if isinstance(value, list):
        return [item for element in value for item in _product(element)]
    if isinstance(value, dict):
        options = [_options(key, item) for key, item in value.items()]
        return [dict(zip(value, choice, strict=True)) for choice in product(*options)]
    return [value]


def _options(key: str, value: Any) -> list[Any]:
    if key not in LISTS:
        return _product(value)
    several = isinstance(value, list) and value and all(isinstance(item, list) for item in value)
    return value if several else [value]


def _choice(
    item: dict[str, Any],
    place: Place,
    names: Mapping[str, Iterable[str] | None],
    training: Training,
    bare: set[str],
) -> Choice | list[Problem]:
    problems: list[Problem] = []
    try:
        Entry.model_validate(item)
    except ValidationError as error:
        problems += [_which(problem, names) for problem in sentences.problems(Entry, error, place)]
    for field in NAMED:
        known = names[field]
        name = item.get(field)
        if known is not None and isinstance(name, str) and name not in set(known):
            problems.append(Problem((*place, field), unknown(field, name, known)))
    method = _method(item.get("method"), (*place, "method"), bare) if "method" in item else []
    if isinstance(method, BareMethod):
        problems += _source(method, item.get("retriever"), names["retriever"], (*place, "method"))
    changed = item.get("training", {})
    settings: Training | list[Problem] = training
    if isinstance(changed, dict):
        settings = _training(training, changed, (*place, "training"))
    if problems or isinstance(method, list) or isinstance(settings, list):
        return [
            *problems,
            *(method if isinstance(method, list) else []),
            *(settings if isinstance(settings, list) else []),
        ]
    return Choice(
        place, **{field: item[field] for field in NAMED}, method=method, training=settings
    )


def _which(problem: Problem, names: Mapping[str, Iterable[str] | None]) -> Problem:
    """Name the choice where an entry leaves out what the study has several of."""
    field = str(problem.place[-1])
    known = list(names.get(field) or ())
    if problem.text.startswith("this key is missing") and known:
        return Problem(
            problem.place, f"this key is missing, need a {field} ({', '.join(known)}); add it."
        )
    return problem


def _method(raw: Any, place: Place, bare: set[str]) -> BareMethod | list[Problem]:
    try:
        return METHOD.validate_python(raw)
    except ValidationError as error:
        if not isinstance(raw, dict):
            need = f"{either(METHODS)}, or {LINES} with `name`"
            return [Problem(place, f"found {shown(raw)}, need {need}; correct the value.")]
        found = sentences.problems(AnyMethod, error, place)
        if raw.get("name") in bare and len(raw) == 1:  # the person wrote no `name:`
            return [Problem(place, problem.text) for problem in found]
        return found


def _source(
    method: BareMethod, retriever: Any, known: Iterable[str] | None, place: Place
) -> Iterable[Problem]:
    """Yield the problem of a method that names the retriever whose run negatives come from."""
    trained_on = getattr(method, "trained_on", None)
    here = (*place, "trained_on")
    if trained_on is None or known is None:
        return
    if trained_on not in set(known):
        yield Problem(here, unknown("retriever", trained_on, known))
    elif trained_on == retriever:
        yield Problem(
            here,
            f"found {shown(trained_on)}, whose run this item re-ranks: that is method 'naive'; "
            "name another retriever.",
        )


def _training(base: Training, changed: dict[str, Any], place: Place) -> Training | list[Problem]:
    try:
        return Training.model_validate(base.model_dump() | changed)
    except ValidationError as error:
        return sentences.problems(Training, error, place)
