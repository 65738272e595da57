"""What is wrong with a study file, in a person's words: where, what was found, what is needed."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from poolbias.config.places import Place, spell
from poolbias.config.yaml import flow

LONGEST = 60  # characters of a value that a sentence quotes


@dataclass(frozen=True)
class Problem:
    """One sentence about one place of a study file; `text` begins with what was found."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{spell(self.place)}: {self.text}"


def shown(value: Any) -> str:
    """Return a value as a study file would hold it, cut to what a sentence bears."""
    if value is None:
        return "null (no value)"
    text = repr(value) if isinstance(value, str) else flow(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def nearest(word: Any, known: Iterable[Any]) -> str | None:
    """Return the known word that is most like `word`, if one is like it at all."""
    folded = {str(name).casefold(): str(name) for name in known}
    near = difflib.get_close_matches(str(word).casefold(), folded, n=1)
    return folded[near[0]] if near else None


def either(names: Iterable[Any]) -> str:
    """Return names as alternatives: `'a', 'b' or 'c'`."""
    quoted = [repr(name) if isinstance(name, str) else str(name) for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def unknown(what: str, name: Any, known: Iterable[str]) -> str:
    """Return the text about a name that the study does not define."""
    names = sorted(known)
    near = nearest(name, names)
    do = f"did you mean {near!r}?" if near else "correct it or define it."
    return f"found {shown(name)}, need a {what} of this study ({either(names)}); {do}"
