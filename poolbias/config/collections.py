"""Collections of a study file other than the embedded one, and what all have in common."""

from typing import Annotated, Literal

from pydantic import Field

from poolbias.config.base import NONE, Section, unit
from poolbias.config.given import BeirCollection, FilesCollection, IrDatasetsCollection
from poolbias.config.model import HpoCollection, Shares
from poolbias.config.official import (
    DuReaderCollection,
    MsMarcoDocument,
    MsMarcoPassage,
    MsPas,
    NaturalQuestions,
    TriviaQa,
)


class WordnetCollection(Section):
    """WordNet 3.0: noun synsets as documents, those with enough hyponyms as queries."""

    kind: Literal["wordnet"] = Field(
        "wordnet", description="The module that builds the collection."
    )
    # Where a database lies says nothing about what it holds: no part of any name or hash.
    folder: str | None = Field(
        None,
        exclude=True,
        description="Folder with data.noun and index.noun; null takes /usr/share/wordnet, or "
        "downloads the official archive where that is not there.",
    )
    split: Literal["term", "branch"] = Field(
        "term", description="Draw the split of each query, or of whole branches of queries."
    )
    minimum_relevant: int = Field(
        8, ge=1, description="Fewest hyponyms of a query.", json_schema_extra=unit("documents")
    )
    maximum_relevant: int = Field(
        200, ge=1, description="Most hyponyms of a query.", json_schema_extra=unit("documents")
    )
    instances: bool = Field(True, description="Whether instances count as hyponyms.")
    own_document: bool = Field(
        False, description="Whether a query's own synset is relevant besides its hyponyms."
    )
    maximum_queries: int | None = Field(
        None,
        ge=3,
        description="Cut to about so many queries (seeded); null keeps all.",
        json_schema_extra=unit("queries"),
    )
    shares: Shares = Field(Shares(), description="Sizes of train, dev and test.")
    seed: int = Field(1, ge=0, description="Seed of the splits.", json_schema_extra=unit(NONE))


AnyCollection = Annotated[
    HpoCollection
    | WordnetCollection
    | MsMarcoPassage
    | MsMarcoDocument
    | DuReaderCollection
    | NaturalQuestions
    | TriviaQa
    | MsPas
    | BeirCollection
    | FilesCollection
    | IrDatasetsCollection,
    Field(discriminator="kind"),
]
