"""What WordNet's nouns say as a collection: hierarchy, texts, relevance, branches.

The decisions behind it are listed in `poolbias.collections.wordnet`.
"""

import graphlib
from functools import cached_property

from poolbias.collections.base import descendants
from poolbias.errors import DataError
from poolbias.formats.wordnet import Nouns, Synset


class Synsets:
    """The noun synsets of a database and what follows from their hypernyms.

    Attributes:
        nouns: the database as read.
        parents: each synset's direct hypernyms in the order of the file, by offset; of an instance
            also what it is an instance of, if `instances`.
        below: each synset's hyponyms of every depth, itself not among them.

    Raises:
        DataError: if hypernyms run in a circle.
    """

    def __init__(self, nouns: Nouns, instances: bool) -> None:
        self.nouns = nouns
        self.parents = {
            offset: synset.hypernyms + (synset.instance_of if instances else ())
            for offset, synset in nouns.synsets.items()
        }
        self.below = self._below()

    def _below(self) -> dict[str, frozenset[str]]:
        children: dict[str, list[str]] = {offset: [] for offset in self.parents}
        for offset, parents in self.parents.items():
            for parent in dict.fromkeys(parents):
                children[parent].append(offset)
        try:
            return descendants(children)
        except graphlib.CycleError as error:
            circle = error.args[1]
            raise DataError(
                f"{self.nouns.path}:{self.nouns.synsets[circle[0]].line}: hypernyms run in a circle"
                f" ({', '.join(circle)}); copy the file anew."
            ) from error

    @cached_property
    def documents(self) -> dict[str, Synset]:
        """All synsets by the document's id, in file order."""
        return {document_id(synset): synset for synset in self.nouns.synsets.values()}

    def asked(self, minimum: int, maximum: int) -> list[str]:
        """Return the offsets of the synsets with `minimum` to `maximum` hyponyms, in file order."""
        return [offset for offset in self.parents if minimum <= len(self.below[offset]) <= maximum]

    def branches(self, asked: list[str]) -> dict[str, frozenset[str]]:
        """Return the branches of each of `asked`: those of `asked` at or above it with none above.

        They are whole parts of the hierarchy: of two synsets of `asked`, one above the other, the
        upper one is under no branch that the lower one is not under.
        """
        lower = frozenset[str]().union(*(self.below[offset] for offset in asked))
        found: dict[str, set[str]] = {offset: set() for offset in asked}
        for top in (offset for offset in asked if offset not in lower):
            for offset in {top, *self.below[top]} & found.keys():
                found[offset].add(top)
        return {offset: frozenset(tops) for offset, tops in found.items()}

    def query_text(self, offset: str) -> str:
        """Return the first lemma, and that of the first parent: `hunting dog (dog)`.

        A synset without a parent has its lemma alone.
        """
        lemma = self.nouns.synsets[offset].lemmas[0]
        parents = [self.nouns.synsets[parent].lemmas[0] for parent in self.parents[offset]]
        return f"{lemma} ({parents[0]})" if parents else lemma

    def pool_text(self, offset: str) -> str:
        """Return what the annotators' search reads: the synset's lemmas and its parents'.

        They are set off by `; `, each once but for case.
        """
        parts: dict[str, str] = {}
        for near in (offset, *self.parents[offset]):
            for lemma in self.nouns.synsets[near].lemmas:
                parts.setdefault(lemma.casefold(), lemma)
        return "; ".join(parts.values())


def document_id(synset: Synset) -> str:
    """Return the id of a synset's document: `n` and its offset, as WordNet's users write it."""
    return f"n{synset.offset}"


def document_text(synset: Synset) -> str:
    """Return what retrievers and rankers read: `lemma, lemma: gloss`."""
    return f"{', '.join(synset.lemmas)}: {synset.gloss}"
