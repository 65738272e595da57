"""Places in a study file, and how a person says them."""

Place = tuple[str | int, ...]  # keys, and numbers of list items from 0


def spell(place: Place) -> str:
    """Return a place in words: `experiments, item 2, method.form`."""
    words = ""
    for above, part in zip((None, *place), place, strict=False):
        if isinstance(part, int):
            words += f", item {part + 1}" if words else f"item {part + 1}"
        elif above is None:
            words = part
        else:
            words += f", {part}" if isinstance(above, int) else f".{part}"
    return words or "top level"
