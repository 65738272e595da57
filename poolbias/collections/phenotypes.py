"""What the Human Phenotype Ontology says of its live terms: hierarchy, texts, relevance, branches.

The decisions behind it are listed in `poolbias.collections.hpo`.
"""

import dataclasses
import graphlib
from functools import cached_property

from poolbias.collections.base import descendants
from poolbias.errors import ConfigError, DataError
from poolbias.formats.obo import Ontology, Term

PHENOTYPIC_ABNORMALITY = "HP:0000118"


class Phenotypes:
    """The live terms of an ontology and what follows from their `is_a`.

    Raises:
        DataError: if an `is_a` leads to a term that is obsolete or not there, or in a circle.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.terms = {term.id: term for term in ontology.terms if not term.obsolete}
        self.children: dict[str, list[str]] = {term_id: [] for term_id in self.terms}
        for term in self.terms.values():
            for parent in term.parents:
                if parent not in self.terms:
                    raise DataError(
                        f"{ontology.path}:{term.line}: {term.id} is_a {parent}, which is obsolete "
                        "or not in the file; fetch the file again."
                    )
                self.children[parent].append(term.id)
        self.below = self._below()

    def _below(self) -> dict[str, frozenset[str]]:
        """Map each term's id to the ids of the term itself and of all its descendants."""
        try:
            below = descendants(self.children)
        except graphlib.CycleError as error:
            circle = error.args[1]
            raise DataError(
                f"{self.ontology.path}:{self.terms[circle[0]].line}: is_a runs in a circle "
                f"({', '.join(circle)}); fetch the file again."
            ) from error
        return {term_id: below[term_id] | {term_id} for term_id in self.children}

    def under(self, root: str) -> "Phenotypes":
        """Return the part of the ontology that is the term `root` and its descendants.

        Raises:
            ConfigError: if no live term has this id.
        """
        if root not in self.terms:
            raise ConfigError(
                f"root: {root!r} is no live term of {self.ontology.path}, need the id of one; "
                "correct it."
            )
        inside = self.below[root]
        terms = [
            dataclasses.replace(
                term, parents=tuple(parent for parent in term.parents if parent in inside)
            )
            for term in self.terms.values()
            if term.id in inside
        ]
        return Phenotypes(dataclasses.replace(self.ontology, terms=terms))

    @cached_property
    def documents(self) -> dict[str, Term]:
        """The terms with a definition, in file order."""
        return {term.id: term for term in self.terms.values() if plain(term.definition or "")}

    @cached_property
    def relevant(self) -> dict[str, list[str]]:
        """Each term's relevant documents: itself and its descendants, if defined; sorted."""
        return {
            term_id: sorted(found for found in self.below[term_id] if found in self.documents)
            for term_id in self.terms
        }

    @cached_property
    def branches(self) -> dict[str, frozenset[str]]:
        """Each term's top-level branches.

        Branches are the children of *Phenotypic abnormality* and the root's other children; the
        terms above them lie under none.
        """
        roots = [term.id for term in self.terms.values() if not term.parents]
        names = {child for root in roots for child in self.children[root]}
        names -= {PHENOTYPIC_ABNORMALITY}
        names.update(self.children.get(PHENOTYPIC_ABNORMALITY, []))
        found: dict[str, set[str]] = {term_id: set() for term_id in self.terms}
        for name in names:
            for term_id in self.below[name]:
                found[term_id].add(name)
        return {term_id: frozenset(above) for term_id, above in found.items()}

    def rows(self, minimum: int, maximum: int) -> list[tuple[str, str, str, str]]:
        """Return the queries with `minimum` to `maximum` relevant documents.

        Returns:
            Rows of query id, text, group (term id) and kind (`name` or `layperson`), in file order;
            a term's name comes before its layperson synonyms, which are numbered in file order.
        """
        rows = []
        for term in self.terms.values():
            if minimum <= len(self.relevant[term.id]) <= maximum:
                stem = term.id.replace(":", "_")
                rows.append((f"{stem}.name", plain(term.name), term.id, "name"))
                texts = enumerate(layperson_texts(term), start=1)
                rows += [(f"{stem}.layperson-{n}", text, term.id, "layperson") for n, text in texts]
        return rows


def plain(text: str) -> str:
    """Return `text` with every run of white space as one blank, none at the ends."""
    return " ".join(text.split())


def folded(text: str) -> str:
    """Return the form in which two texts count as equal."""
    return plain(text).casefold()


def exact_texts(term: Term, layperson: bool) -> list[str]:
    """Return the `EXACT` synonyms typed layperson, or all the others, in file order."""
    return [
        plain(synonym.text)
        for synonym in term.synonyms
        if synonym.scope == "EXACT" and (synonym.type == "layperson") == layperson
    ]


def layperson_texts(term: Term) -> list[str]:
    """Return the `EXACT` layperson synonyms that differ from the name, in file order."""
    name = folded(term.name)
    return [text for text in exact_texts(term, layperson=True) if folded(text) != name]


def document_text(term: Term) -> str:
    """Return what retrievers and rankers read: `name: definition`."""
    return f"{plain(term.name)}: {plain(term.definition or '')}"


def document_texts(phenotypes: Phenotypes, documents: str) -> dict[str, str]:
    """Return the text of each document by its id.

    Args:
        phenotypes: the terms.
        documents: `definition`, or `definition_and_branch`: then the texts of the term's top-level
            branches that have a definition follow, in the order of their ids, each once (our
            choice: not of the terms between, whose names would tell what is relevant).
    """
    terms = phenotypes.documents
    own = {term_id: document_text(term) for term_id, term in terms.items()}
    if documents == "definition":
        return own
    found = {}
    for term_id, text in own.items():
        above = sorted(phenotypes.branches[term_id] - {term_id})
        found[term_id] = " ".join([text, *(own[branch] for branch in above if branch in own)])
    return found


def pool_text(term: Term) -> str:
    """Return what the annotators' search reads: the name and the synonyms not for laypersons.

    They are set off by `; `; a synonym that repeats the name or an earlier one is left out, so that
    no word counts twice for being listed twice.
    """
    return "; ".join(pool_parts(term))


def pool_parts(term: Term) -> list[str]:
    """Return the parts of `pool_text`."""
    parts = {folded(term.name): plain(term.name)}
    for text in exact_texts(term, layperson=False):
        parts.setdefault(folded(text), text)
    return list(parts.values())
