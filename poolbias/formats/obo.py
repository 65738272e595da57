r"""Ontologies in the OBO flat format, versions 1.2 and 1.4, as far as terms and `is_a` need it.

Read are the header and the tags `id`, `name`, `def`, `synonym`, `is_a`, `alt_id` and `is_obsolete`
of `[Term]` stanzas; other tags and other stanzas are skipped, but must still look like OBO.
A line that ends in a backslash goes on in the next one; `!` begins a comment only at the start of a
line or after a blank; `{name=value, ...}` at a line's end are trailing modifiers and are dropped.
Format: https://owlcollab.github.io/oboformat/doc/GO.format.obo-1_2.html and ..._4.html.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from poolbias.errors import DataError
from poolbias.files import open_text

SCOPES = ("EXACT", "BROAD", "NARROW", "RELATED")

_ESCAPES = {"n": "\n", "W": " ", "t": "\t"} | {sign: sign for sign in ':,"\\()[]{}!'}
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PAIR = rf'[^\s=,"{{}}\\]+\s*=\s*(?:{_QUOTED}|[^\s,"{{}}\\]+)'
_TAIL = rf"(?:\s*\{{\s*{_PAIR}(?:\s*,\s*{_PAIR})*\s*\}})?(?:(?:^|\s+)!.*)?$"
_LINE = re.compile(r"([A-Za-z_][\w-]*):(.*)", re.DOTALL)
_STANZA = re.compile(r"\[(\w+)\]\s*(?:!.*)?$")
_UNQUOTED = re.compile(r"((?:[^\\]|\\.)*?)" + _TAIL)
_REFERENCES = rf'\[((?:[^\]"\\]|\\.|{_QUOTED})*)\]' + _TAIL
_DEFINITION = re.compile(rf"({_QUOTED})\s*" + _REFERENCES)
_SYNONYM = re.compile(
    rf'({_QUOTED})(?:\s+([^\s\["]+))?(?:\s+([^\s\["]+))?\s*' + _REFERENCES,
)
_REFERENCE = re.compile(rf'((?:[^,"\\]|\\.)*?)(?:\s+{_QUOTED})?\s*(?:,|$)')


@dataclass(frozen=True, slots=True)
class Synonym:
    """One synonym: its text, one of `SCOPES`, its declared type, its database references."""

    text: str
    scope: str
    type: str | None
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One `[Term]` stanza; `parents` are its `is_a` in file order, `line` is where it begins."""

    id: str
    name: str
    definition: str | None
    synonyms: tuple[Synonym, ...]
    parents: tuple[str, ...]
    alternative_ids: tuple[str, ...]
    obsolete: bool
    line: int


@dataclass(frozen=True, slots=True)
class Ontology:
    """A file's header (tag to values, as written) and all its terms in file order."""

    path: Path
    header: dict[str, list[str]]
    terms: list[Term]


def read_obo(path: Path | str) -> Ontology:
    """Read an OBO 1.2 or 1.4 file, plain or gzip, with LF or CRLF, with or without a BOM.

    A synonym without a scope is RELATED (the format's default). A synonym without a type whose
    references hold an address ending in `#` and a declared synonym type is of that type, since some
    releases put the type there.

    Raises:
        DataError: naming file and line for a line that is not OBO, an unknown escape or scope, a
            term without id or name, a tag given twice that may stand once, an id defined twice.
    """
    reader = _Reader(Path(path))
    for number, line in _lines(path):
        reader.take(number, line)
    reader.close_stanza()
    if not reader.terms:
        reader.fail(1, "a file without a [Term]", "an ontology in the OBO format")
    return Ontology(Path(path), reader.header, reader.terms)


def _lines(path: Path | str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each logical line that holds something; `!` lines are dropped."""
    number, first, kept = 0, 1, ""
    try:
        with open_text(path) as text:
            for number, raw in enumerate(text, start=1):
                line = raw.rstrip("\n")
                first = first if kept else number
                if (len(line) - len(line.rstrip("\\"))) % 2:
                    kept += line[:-1]
                    continue
                whole, kept = (kept + line).strip(), ""
                if whole and not whole.startswith("!"):
                    yield first, whole
    except (UnicodeDecodeError, OSError, EOFError) as error:
        raise DataError(
            f"{path}:{number + 1}: cannot be read ({error}); "
            "the file is damaged or not UTF-8, fetch it again."
        ) from error
    if kept:
        raise DataError(
            f"{path}:{first}: ends in a backslash with no line after it; "
            "the file is cut off, fetch it again."
        )


@dataclass
class _Reader:
    """What has been read so far; `stanza` is None in the header, `tags` belong to one `[Term]`."""

    path: Path
    header: dict[str, list[str]] = field(default_factory=dict)
    terms: list[Term] = field(default_factory=list)
    stanza: str | None = None
    started: int = 0
    tags: dict[str, str] = field(default_factory=dict)
    parents: list[str] = field(default_factory=list)
    alternative_ids: list[str] = field(default_factory=list)
    synonyms: list[Synonym] = field(default_factory=list)
    types: frozenset[str] = frozenset()
    defined: dict[str, int] = field(default_factory=dict)

    def fail(self, line: int, found: str, needed: str) -> NoReturn:
        raise DataError(
            f"{self.path}:{line}: found {found}, need {needed}; correct the line or fetch the file "
            "again."
        )

    def take(self, line: int, text: str) -> None:
        """Take one logical line."""
        if text.startswith("["):
            match = _STANZA.match(text)
            if match is None:
                self.fail(line, repr(text[:60]), "a stanza's head such as [Term]")
            self.close_stanza()
            self.open_stanza(line, match[1])
            return
        match = _LINE.match(text)
        if match is None:
            self.fail(line, repr(text[:60]), "`tag: value`")
        tag, value = match[1], match[2].strip()
        if self.stanza is None:
            self.header.setdefault(tag, []).append(value)
        elif self.stanza == "Term":
            self.take_tag(line, tag, value)

    def open_stanza(self, line: int, name: str) -> None:
        if self.stanza is None:
            version = self.header.get("format-version", ["none"])[0]
            if version not in ("1.2", "1.4"):
                self.fail(line, f"format-version {version} above", "an OBO header of 1.2 or 1.4")
            declared = self.header.get("synonymtypedef", [])
            self.types = frozenset(value.split()[0] for value in declared if value)
        self.stanza, self.started, self.tags = name, line, {}
        self.parents, self.alternative_ids, self.synonyms = [], [], []

    def take_tag(self, line: int, tag: str, value: str) -> None:
        if tag in ("id", "name", "def", "is_obsolete"):
            if tag in self.tags:
                self.fail(line, f"a second `{tag}` in one term", "one")
            self.tags[tag] = (
                self.definition(line, value) if tag == "def" else self.unquoted(line, tag, value)
            )
        elif tag == "synonym":
            self.synonyms.append(self.synonym(line, value))
        elif tag == "is_a":
            self.parents.append(self.unquoted(line, tag, value))
        elif tag == "alt_id":
            self.alternative_ids.append(self.unquoted(line, tag, value))

    def close_stanza(self) -> None:
        if self.stanza != "Term":
            return
        for tag in ("id", "name"):
            if tag not in self.tags:
                self.fail(self.started, f"a term without `{tag}`", f"one `{tag}` per term")
        term_id = self.tags["id"]
        if term_id in self.defined:
            first = self.defined[term_id]
            self.fail(self.started, f"{term_id} again (first on line {first})", "each id once")
        self.defined[term_id] = self.started
        self.terms.append(
            Term(
                term_id,
                self.tags["name"],
                self.tags.get("def"),
                tuple(self.synonyms),
                tuple(self.parents),
                tuple(self.alternative_ids),
                self.tags.get("is_obsolete") == "true",
                self.started,
            )
        )

    def unquoted(self, line: int, tag: str, value: str) -> str:
        """Return a value without modifiers and comment; only a name may hold blanks."""
        match = _UNQUOTED.match(value)
        text = self.unescape(line, match[1].strip()) if match else ""
        if not text.strip() or (tag != "name" and len(text.split()) > 1):
            self.fail(line, repr(value[:60]), f"`{tag}: {'text' if tag == 'name' else 'word'}`")
        if tag == "is_obsolete" and text not in ("true", "false"):
            self.fail(line, repr(text), "`is_obsolete: true` or `false`")
        return text

    def definition(self, line: int, value: str) -> str:
        match = _DEFINITION.match(value)
        if match is None:
            self.fail(line, f"def: {value[:60]}", '`def: "text" [references]`')
        self.references(line, match[2])
        return self.unescape(line, match[1][1:-1])

    def synonym(self, line: int, value: str) -> Synonym:
        match = _SYNONYM.match(value)
        if match is None or match[2] not in (None, *SCOPES):
            needed = f'`synonym: "text" SCOPE [references]` with SCOPE of {", ".join(SCOPES)}'
            self.fail(line, f"synonym: {value[:60]}", needed)
        references = self.references(line, match[4])
        pointed = (reference.rpartition("#") for reference in references)
        implied = [name for _, sign, name in pointed if sign and name in self.types]
        kind = match[3] or next(iter(implied), None)
        text = self.unescape(line, match[1][1:-1])
        return Synonym(text, match[2] or "RELATED", kind, references)

    def references(self, line: int, listed: str) -> tuple[str, ...]:
        """Return the ids of a list `id "description", id, ...`; the descriptions are dropped."""
        found, position, listed = [], 0, listed.strip()
        while position < len(listed):
            match = _REFERENCE.match(listed, position)
            if match is None or not match[1].strip() or listed.endswith(","):
                self.fail(line, f"references [{listed[:60]}]", "ids set off by commas")
            found.append(self.unescape(line, match[1].strip()))
            position = match.end()
        return tuple(found)

    def unescape(self, line: int, text: str) -> str:
        if "\\" not in text:
            return text

        def resolve(match: re.Match[str]) -> str:
            if match[1] not in _ESCAPES:
                self.fail(line, f"the escape \\{match[1]}", f"one of {' '.join(_ESCAPES)} after \\")
            return _ESCAPES[match[1]]

        return re.sub(r"\\(.)", resolve, text)
