"""The study file as a whole: what is made, what is measured, what is shown."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from poolbias.config.base import NONE, Section, unit
from poolbias.config.collections import AnyCollection
from poolbias.config.model import Name, Pool, Training
from poolbias.config.rankers import AnyRanker
from poolbias.config.retrievers import AnyRetriever
from poolbias.config.trained import TrainedRetriever
from poolbias.config.tuning import Tuning


class Evaluation(Section):
    """What is re-ranked and measured."""

    depth: int = Field(
        100,
        ge=1,
        description="Documents of a run that are re-ranked.",
        json_schema_extra=unit("documents per query"),
    )
    measures: list[str] = Field(
        ["RR@10", "RR@100", "nDCG@10", "nDCG@100", "R@10", "R@100"],
        min_length=1,
        description="Measures as ir-measures spells them.",
    )
    split: Literal["dev", "test"] = Field("test", description="Queries that results are about.")
    selection_models: list[str] = Field(
        [],
        description="Coupled methods with their options, as results name them, whose selection "
        "model S is measured as a ranker too.",
    )


class Probe(Section):
    """The analysis of what the coupled weights do (the paper's Figure 5)."""

    steps: list[Annotated[int, Field(ge=1)]] = Field(
        [],
        description="Steps at which R and S are kept, for coupled methods.",
        json_schema_extra=unit("steps"),
    )
    depth: int = Field(
        50,
        ge=1,
        description="Documents of a query whose weights are looked at.",
        json_schema_extra=unit("documents per query"),
    )
    sample: int = Field(
        50,
        ge=1,
        description="Queries looked at before the last step (a seeded sample); there all are.",
        json_schema_extra=unit("queries"),
    )


class Figure1(Section):
    """Retrievers side by side: their recall, and the naive ranker trained and tested on them."""

    retrievers: list[str] = Field(["bm25", "dense"], min_length=1, description="Retrievers shown.")
    recall_cut: int = Field(
        100, ge=1, description="Depth k of recall@k.", json_schema_extra=unit("ranks")
    )
    shares_depths: list[Annotated[int, Field(ge=1)]] = Field(
        [10, 20, 50, 100],
        min_length=1,
        description="Depths at which the share of false negatives is counted.",
        json_schema_extra=unit("ranks"),
    )


class Figure3(Section):
    """Rankers trained with and without CET on the negatives of each retriever."""

    retrievers: list[str] | None = Field(
        None, description="Retrievers shown; null is all that rankers are trained on."
    )
    methods: list[str] = Field(
        ["naive", "cet-paper-tau1", "cet-released-tau10"],
        min_length=2,
        description="Methods with their options, as results name them; the first is without CET.",
    )
    by_truth: list[str] = Field(["RR@10", "nDCG@10"], description="Measures shown by the truth.")
    by_labels: list[str] = Field(["RR@10"], description="Measures shown by the labels.")


class Figure4(Section):
    """A measure over the values of CET's τ and of RocketQA's η that the study holds."""

    retriever: str | None = Field(
        None, description="Retriever trained on; null is that of the first coupled experiment."
    )
    measure: str = Field("RR@10", description="Measure shown, by truth and by labels.")


class Figure5(Section):
    """The weights of coupled experiments against relevance."""

    retriever: str | None = Field(
        None, description="Retriever trained on; null is that of the first coupled experiment."
    )
    methods: list[str] = Field(
        ["cet-paper-tau1", "cet-released-tau10"],
        min_length=1,
        description="Methods with their options, as results name them.",
    )
    query: str | None = Field(
        None, description="Query of the upper panels by id; null takes the rule of docs/figures.md."
    )


class Figures(Section):
    """What each figure shows."""

    figure_1: Figure1 = Field(Figure1(), description="Recall beside the ranker's MRR@10.")
    figure_3: Figure3 = Field(Figure3(), description="With and without CET, by retriever.")
    figure_4: Figure4 = Field(Figure4(), description="How much τ and η matter.")
    figure_5: Figure5 = Field(Figure5(), description="The weights against relevance.")


class Tables(Section):
    """What tables say of rows that the study does not hold."""

    elsewhere: Name | None = Field(
        None, description="Study that runs the rows which this one leaves out, or null."
    )
    recall_cuts: list[Annotated[int, Field(ge=1)]] | None = Field(
        None,
        description="Depths k of Table 2's recall@k; null is figure_1's recall_cut.",
        json_schema_extra=unit("ranks"),
    )
    chosen_by: Name | None = Field(
        None, description="Study whose choice of settings (its `tuning`) is marked, or null."
    )


class Sources(Section):
    """Where official files come from; says nothing about what they hold."""

    file: str | None = Field(
        None, description="List of official files; null is config/sources.yaml of this repository."
    )
    folder: str | None = Field(
        None, description="A folder of yours with official files; those in it are not downloaded."
    )


class Study(Section):
    """A study file, complete by itself."""

    study: Name = Field(description="Name of the study; its results go to results/<study>/.")
    device: Literal["cpu", "cuda"] = Field(
        "cpu", description="Where models run; a job that does not find it stops."
    )
    precision: Literal["bf16", "float32"] = Field("bf16", description="Arithmetic of the encoder.")
    threads: int = Field(
        1,
        ge=1,
        description="Threads of a job that runs models; results depend on it.",
        json_schema_extra=unit("threads"),
    )
    processes: int = Field(
        1,
        ge=1,
        exclude_if=lambda processes: processes == 1,
        description="Processes of a training, each with its own threads (and GPU), that share a "
        "step's pairs.",
        json_schema_extra=unit("processes"),
    )
    checkpoint_minutes: float = Field(
        10.0,
        gt=0,
        description="Time between two checkpoints of a training; changes no result.",
        json_schema_extra=unit("minutes"),
    )
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1],
        min_length=1,
        description="One training per experiment and seed.",
        json_schema_extra=unit(NONE),
    )
    collections: dict[Name, AnyCollection] = Field(min_length=1, description="Collections by name.")
    retrievers: dict[Name, AnyRetriever] = Field(min_length=1, description="Retrievers by name.")
    pools: dict[Name, Pool] = Field(min_length=1, description="Pools of annotators by name.")
    rankers: dict[Name, AnyRanker] = Field(min_length=1, description="Rankers by name.")
    training: Training = Field(description="Settings of every training.")
    evaluation: Evaluation = Field(description="What is re-ranked and measured.")
    probe: Probe = Field(Probe(), description="Analysis of the weights.")
    tuning: Tuning | None = Field(
        None, description="Choice of one setting of each method, or null."
    )
    sources: Sources = Field(Sources(), description="Where official files come from.")
    figures: Figures = Field(Figures(), description="What each figure shows.")
    tables: Tables = Field(Tables(), description="What tables say of rows that are not there.")
    experiments: list[Any] = Field(
        min_length=1,
        description="Rankers to train; a list in a value stands for each of its items.",
    )

    @model_validator(mode="after")
    def _resolve(self) -> "Study":
        """Tell each trained retriever what its names stand for; those of a circle stay as named."""
        for name, retriever in self.retrievers.items():
            if isinstance(retriever, TrainedRetriever):
                retriever.resolve(self._made_from(retriever, (name,)))
        return self

    def _made_from(self, retriever: TrainedRetriever, above: tuple[str, ...]) -> dict[str, Any]:
        pool = self.pools.get(retriever.pool)
        named: dict[str, list[str | None]] = {
            "start": [retriever.start],
            "negatives_from": [retriever.negatives_from],
            "pool": [*pool.retrievers] if pool else [],
        }
        found: dict[str, Any] = {}
        for field, names in named.items():
            dumps = []
            for name in names:
                other = self.retrievers.get(name) if name and name not in above else None
                if isinstance(other, TrainedRetriever):
                    other.resolve(self._made_from(other, (*above, str(name))))
                dumps.append(other.model_dump() if other else name)
            if field == "pool":
                found[field] = pool.model_dump() | {"retrievers": dumps} if pool else None
            elif isinstance(dumps[0], dict):
                found[field] = dumps[0]
        return found
