"""The noun files of a WordNet database: `data.noun` and `index.noun`.

Format: the manual page wndb(5WN) of WordNet 3.0. Lines that begin with two blanks are the
licence. A line of `data.noun` is a synset: its byte offset in the file (which is its id), words,
pointers to other synsets by offset, and after a bar its gloss; a line of `index.noun` is a word in
small letters with the offsets of its synsets. Both are ASCII and end in LF: an editor that changes
either moves the offsets, so each offset is compared with where its line begins.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from poolbias.errors import DataError

HYPERNYM, INSTANCE = "@", "@i"
_RELEASE = re.compile(rb"WordNet (\d[\d.]*\d) Copyright")
_POINTER = 4  # fields: symbol, offset, part of speech, source/target


@dataclass(frozen=True, slots=True)
class Synset:
    """One synset.

    Attributes:
        offset: where its line begins in `data.noun`, 8 digits.
        line: number of that line.
        lemmas: its words as spelled, blanks in place of underscores.
        hypernyms: offsets of what it is a kind of (pointer `@`).
        instance_of: offsets of what it is an instance of (pointer `@i`).
        gloss: its definition and examples.
    """

    offset: str
    line: int
    lemmas: tuple[str, ...]
    hypernyms: tuple[str, ...]
    instance_of: tuple[str, ...]
    gloss: str


@dataclass(frozen=True, slots=True)
class Nouns:
    """The nouns of a database.

    Attributes:
        path: the file `data.noun`.
        release: such as `3.0`, from the licence.
        synsets: all synsets by offset, in file order.
        senses: the offsets of each word of `index.noun`, in the order of its senses.
    """

    path: Path
    release: str
    synsets: dict[str, Synset]
    senses: dict[str, tuple[str, ...]]


def read_nouns(data: Path | str, index: Path | str) -> Nouns:
    """Read the nouns of a WordNet database.

    Args:
        data: the file `data.noun`.
        index: the file `index.noun` of the same database.

    Raises:
        DataError: naming file and line for a line that is not as the format says, an offset that is
            not where its line begins, a pointer or a word that leads nowhere, a word that one file
            has and the other has not.
    """
    data, index = Path(data), Path(index)
    release, lines = _lines(data)
    synsets: dict[str, Synset] = {}
    for number, start, text in lines:
        synset = _synset(data, number, text)
        if int(synset.offset) != start:
            needed = f"{start:08d}, the byte at which this line begins"
            _fail(data, number, f"the offset {synset.offset}", needed)
        synsets[synset.offset] = synset
    for synset in synsets.values():
        for target in (*synset.hypernyms, *synset.instance_of):
            if target not in synsets:
                _fail(data, synset.line, f"a pointer to {target}", "the offset of a synset")
    if not synsets:
        _fail(data, 1, "no synset", "a line for each")
    return Nouns(data, release, synsets, _senses(index, synsets))


def _lines(path: Path) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the release, and number, first byte and text of each line below the licence."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; give the path of a WordNet file.") from error
    if not raw.endswith(b"\n"):
        _fail(path, raw.count(b"\n") + 1, "a file without a line end at its end", "the whole file")
    found: list[tuple[int, int, str]] = []
    licence, start = b"", 0
    for number, line in enumerate(raw.split(b"\n")[:-1], start=1):
        if line.startswith(b"  "):
            licence += line
        elif not line.isascii() or b"\r" in line:
            _fail(path, number, "a character that is not ASCII, or CRLF", "ASCII lines with LF")
        else:
            found.append((number, start, line.decode("ascii")))
        start += len(line) + 1
    match = _RELEASE.search(licence)
    if match is None:
        _fail(path, 1, "no licence that names a release", "`WordNet 3.0 Copyright` in it")
    return match[1].decode("ascii"), found


def _synset(path: Path, line: int, text: str) -> Synset:
    fields, gloss = _parts(path, line, text)
    offset, kind, words = fields[0], fields[2], _number(path, line, fields[3], 16)
    if not re.fullmatch(r"\d{8}", offset) or kind != "n":
        _fail(path, line, repr(text[:20]), "an offset of 8 digits, a file number, `n`, ...")
    last = 4 + 2 * words
    if words < 1 or len(fields) <= last:
        _fail(path, line, f"{fields[3]} words (hexadecimal)", "as many words, then pointers")
    pointers = _number(path, line, fields[last], 10)
    rest = fields[last + 1 :]
    if len(rest) != _POINTER * pointers:
        needed = f"{_POINTER * pointers} fields for {pointers} pointers"
        _fail(path, line, f"{len(rest)} fields after the words", needed)
    above: dict[str, list[str]] = {HYPERNYM: [], INSTANCE: []}
    for start in range(0, len(rest), _POINTER):
        symbol, target, part, between = rest[start : start + _POINTER]
        if symbol in above:
            if part != "n" or between != "0000":
                _fail(path, line, f"{symbol} {target} {part} {between}", f"{symbol} … n 0000")
            above[symbol].append(target)
    return Synset(
        offset,
        line,
        tuple(word.replace("_", " ") for word in fields[4:last:2]),
        tuple(above[HYPERNYM]),
        tuple(above[INSTANCE]),
        gloss,
    )


def _parts(path: Path, line: int, text: str) -> tuple[list[str], str]:
    """Return the fields before the bar, at least five of them, and the gloss behind it."""
    left, bar, gloss = text.partition(" | ")
    fields = left.split(" ")
    if not bar or not gloss.strip() or len(fields) < 5:
        _fail(path, line, repr(text[:40]), "`offset file n words … pointers … | gloss`")
    return fields, gloss.strip()


def _senses(path: Path, synsets: dict[str, Synset]) -> dict[str, tuple[str, ...]]:
    """Return the offsets of each word, compared with the words of the synsets."""
    _, lines = _lines(path)
    words = {offset: set(map(str.lower, synset.lemmas)) for offset, synset in synsets.items()}
    senses: dict[str, tuple[str, ...]] = {}
    for number, _, text in lines:
        lemma, offsets = _sense(path, number, text)
        word = lemma.replace("_", " ")
        if word in senses:
            _fail(path, number, f"{lemma} again", "each word once")
        for offset in offsets:
            if word not in words.get(offset, ()):
                _fail(path, number, f"{lemma} at {offset}", "the offset of a synset with this word")
        senses[word] = offsets
    for synset in synsets.values():
        for lemma in synset.lemmas:
            if synset.offset not in senses.get(lemma.lower(), ()):
                raise DataError(
                    f"{path}: does not lead from {lemma!r} to the synset {synset.offset}, need "
                    "both files of one database; copy them anew."
                )
    return senses


def _sense(path: Path, line: int, text: str) -> tuple[str, tuple[str, ...]]:
    fields = text.split()
    if len(fields) < 6 or fields[1] != "n":
        _fail(path, line, repr(text[:40]), "`word n senses pointers … offsets`")
    count, pointers = (_number(path, line, field, 10) for field in fields[2:4])
    offsets = tuple(fields[6 + pointers :])
    if len(offsets) != count or count < 1:
        _fail(path, line, f"{len(offsets)} offsets for {count} senses", "one for each")
    return fields[0], offsets


def _number(path: Path, line: int, field: str, base: int) -> int:
    try:
        return int(field, base)
    except ValueError:
        _fail(path, line, repr(field), "a number" if base == 10 else "a hexadecimal number")


def _fail(path: Path, line: int, found: str, needed: str) -> NoReturn:
    raise DataError(
        f"{path}:{line}: found {found}, need {needed}; the file is damaged or of another format, "
        "copy it anew."
    )
