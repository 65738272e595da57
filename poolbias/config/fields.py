"""What the model says of a field, taken apart: its type, bounds, default, unit and words for them.

Errors, comments, schema and docs all speak from here, so that they cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic.fields import FieldInfo

from poolbias.config.base import Section
from poolbias.config.places import Place
from poolbias.config.problems import either

LINES = "`key: value` lines"


@dataclass(frozen=True)
class Shape:
    """A type without its `Annotated` and `| None`, with what these said."""

    base: Any
    bounds: tuple[Any, ...] = ()
    optional: bool = False
    discriminator: str | None = None

    @property
    def item(self) -> "Shape":
        """The shape of a list's items or of a dictionary's values."""
        return shape_of(get_args(self.base)[-1])

    @property
    def choices(self) -> Mapping[str, type[Section]]:
        """The sections of a union by the value that tells them apart."""
        if self.discriminator is None:
            return {}
        members = get_args(self.base)
        return {get_args(m.model_fields[self.discriminator].annotation)[0]: m for m in members}

    @property
    def section(self) -> type[Section] | None:
        """The section that this is, if it is one."""
        return self.base if isinstance(self.base, type) and issubclass(self.base, Section) else None


def shape_of(annotation: Any, bounds: tuple[Any, ...] = ()) -> Shape:
    """Take an annotation apart."""
    discriminator = None
    while get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
        for item in metadata:
            if isinstance(item, FieldInfo):
                bounds = (*bounds, *item.metadata)
                discriminator = str(item.discriminator) if item.discriminator else discriminator
            else:
                bounds = (*bounds, item)
    optional = False
    if get_origin(annotation) in (Union, UnionType):
        members = [member for member in get_args(annotation) if member is not NoneType]
        optional = len(members) < len(get_args(annotation))
        if len(members) == 1:
            inner = shape_of(members[0], bounds)
            return Shape(inner.base, inner.bounds, optional, inner.discriminator)
    return Shape(annotation, bounds, optional, discriminator)


def shape_of_field(field: FieldInfo) -> Shape:
    """Take a field of a section apart."""
    shape = shape_of(field.annotation, tuple(field.metadata))
    if field.discriminator is None:
        return shape
    return Shape(shape.base, shape.bounds, shape.optional, str(field.discriminator))


def locate(shape: Shape, path: tuple[int | str, ...], place: Place = ()) -> tuple[Place, Shape]:
    """Follow pydantic's path into the model.

    Returns:
        The place as a person wrote it (without the class that a union chose), and the shape there;
        where the path leaves the model, the last shape within it.
    """
    if not path:
        return place, shape
    part, rest = path[0], path[1:]
    if shape.choices:
        chosen = shape.choices.get(str(part))
        return locate(Shape(chosen), rest, place) if chosen else (place, shape)
    if shape.section and part in shape.section.model_fields:
        field = shape.section.model_fields[str(part)]
        return locate(shape_of_field(field), rest, (*place, part))
    if get_origin(shape.base) is dict and rest == ("[key]",):
        return (*place, part), shape_of(get_args(shape.base)[0])
    if get_origin(shape.base) in (dict, list):
        return locate(shape.item, rest, (*place, part))
    return (*place, part), shape


def needed(shape: Shape) -> str:
    """Return what a value of this shape is, as a noun phrase."""
    words = _words(shape)
    return f"{words}, or null" if shape.optional else words


def _words(shape: Shape) -> str:
    origin = get_origin(shape.base)
    if shape.choices:
        return f"{LINES} with `{shape.discriminator}` ({either(shape.choices)})"
    if origin is Literal:
        return either(get_args(shape.base))
    if origin is list:
        least, most = _bound(shape, MinLen), _bound(shape, MaxLen)
        many = f" of {most}" if least == most and most else ""
        many = many or (f" of at least {least}" if least else "")
        item = shape.item
        return f"a list{many}" if item.base is Any else f"a list{many}, each item {needed(item)}"
    if origin is dict:
        return LINES
    if shape.section:
        return LINES
    if any(getattr(bound, "pattern", None) for bound in shape.bounds):
        return "a name (small letters, digits, _, + and -, with a letter first)"
    words = {int: "a whole number", float: "a number", bool: "true or false"}
    return words.get(shape.base, "text") + _bounds_in_words(shape)


def _bounds_in_words(shape: Shape) -> str:
    low = [f" of at least {b.ge}" for b in shape.bounds if isinstance(b, Ge)]
    low += [f" above {b.gt}" for b in shape.bounds if isinstance(b, Gt)]
    high = [f"at most {b.le}" for b in shape.bounds if isinstance(b, Le)]
    high += [f"below {b.lt}" for b in shape.bounds if isinstance(b, Lt)]
    if low and high and low[0].startswith(" of at least") and high[0].startswith("at most"):
        return f" from {low[0].split()[-1]} to {high[0].split()[-1]}"
    return "".join(low) + "".join(f" and {words}" if low else f" of {words}" for words in high)


def type_name(shape: Shape) -> str:
    """Return the type in a word or two, for the docs."""
    origin = get_origin(shape.base)
    if origin is list:
        name = f"list of {'section' if shape.item.base is Any else type_name(shape.item)}s"
    elif shape.base is Any:
        name = "name or section"
    elif origin is dict or shape.section or shape.choices:
        name = "section"
    elif origin is Literal:
        name = "choice"
    else:
        name = {int: "whole number", float: "number", bool: "true or false"}.get(shape.base, "text")
    return f"{name} or null" if shape.optional else name


def range_of(shape: Shape) -> str:
    """Return the bounds or choices of a value, for comments and docs; empty if there are none."""
    origin = get_origin(shape.base)
    if origin is Literal:
        return " | ".join(str(choice) for choice in get_args(shape.base))
    if origin is list:
        least, most = _bound(shape, MinLen), _bound(shape, MaxLen)
        many = f"{least} or more" if least else ""
        many = f"{most} items" if least == most and most else many
        return ", ".join(filter(None, [many, range_of(shape.item)]))
    signs = {Ge: ("≥", "ge"), Gt: (">", "gt"), Le: ("≤", "le"), Lt: ("<", "lt")}
    return ", ".join(
        f"{sign} {getattr(bound, name):g}"
        for bound in shape.bounds
        for kind, (sign, name) in signs.items()
        if isinstance(bound, kind)
    )


def unit_of(field: FieldInfo) -> str:
    """Return the unit of a field; empty where it is no number."""
    extra = field.json_schema_extra
    return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


def _bound(shape: Shape, kind: type[MinLen] | type[MaxLen]) -> int | None:
    name = "min_length" if kind is MinLen else "max_length"
    found = [getattr(bound, name) for bound in shape.bounds if isinstance(bound, kind)]
    return found[0] if found else None
