"""A figure's SVG as part of a page: no ids that could clash, no style that could leak."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from poolbias.errors import DataError
from poolbias.files import open_text, reading

_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_ROOT_STYLE = (
    "stroke-linejoin: round; stroke-linecap: butt"  # of matplotlib's rule for all elements
)


def inline(path: Path | str, prefix: str, title: str, description: str) -> str:
    """Return a figure as an `svg` element for HTML.

    Ids that nothing refers to are dropped, the others begin with `prefix`; metadata and style rules
    are left out (a rule inside an SVG holds for the whole page).

    Args:
        path: an SVG file as matplotlib writes it.
        prefix: distinct for each figure of the page.
        title: its name, for those who do not see it.
        description: what it shows, likewise.

    Raises:
        DataError: if the file is not XML.
    """
    try:
        with reading(path), open_text(path) as text:
            root = ElementTree.fromstring(text.read())
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: not XML ({error}); draw the figure again.") from error
    for parent in list(root.iter()):
        for child in list(parent):
            if _name(child.tag) in ("metadata", "style"):
                parent.remove(child)
    used = set(_references(root))
    for element in root.iter():
        element.tag = _name(element.tag)
        attributes = {_name(key): value for key, value in element.attrib.items()}
        element.attrib.clear()
        for key, value in attributes.items():
            if key == "id" and value not in used:
                continue
            element.set(key, _renamed(key, value, prefix))
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    named = {"title": title, "desc": description}
    for place, (tag, words) in enumerate(named.items()):
        element = ElementTree.Element(tag, {"id": f"{prefix}-{tag}"})
        element.text = words
        root.insert(place, element)
    root.set("role", "img")
    root.set("aria-labelledby", " ".join(f"{prefix}-{tag}" for tag in named))
    root.set("style", _ROOT_STYLE)
    return ElementTree.tostring(root, encoding="unicode")


def _name(key: str) -> str:
    """Return a name without its namespace."""
    return key.rpartition("}")[2]


def _references(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        for key, value in element.attrib.items():
            if _name(key) == "href":
                yield value.removeprefix("#")
            yield from _REFERENCE.findall(value)


def _renamed(key: str, value: str, prefix: str) -> str:
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href":
        return f"#{prefix}-{value.removeprefix('#')}"
    return _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
