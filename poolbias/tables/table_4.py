"""Table 4: rankers without and with CET."""

from poolbias.tables.notes import SETTINGS
from poolbias.tables.pages import Page, Plan, Source, build
from poolbias.tables.results import LABELS, TRUTH, Column
from poolbias.tables.rows import ranker_rows

COLUMNS = tuple(
    Column(measure, judgements) for judgements in (LABELS, TRUTH) for measure in ("RR@10", "RR@100")
)


def table_4(source: Source) -> Page:
    """Return Table 4: the naive ranker and CET of every kind of ranker, on every run.

    The paper's column is MRR@100 on MS MARCO documents. Rankers of the paper that the study lacks
    stand as `not run`, for the reason that the parameter `rankers` gives for each.

    Args:
        source: what the table is made from.

    Raises:
        DataError: as `poolbias.tables.pages.build`.
    """
    rows = ranker_rows(
        source.rows,
        source.options["rankers"],
        lexical=source.lexical,
        reason=source.reason,
    )
    return build(
        source,
        Plan(
            "table_4",
            f"Study {source.study}: rankers without and with CET.",
            rows,
            COLUMNS,
            texts=("retriever", "ranker", "setting"),
            against="naive of the same ranker on the same run",
            rest=lambda row: f"{row.name} {row.ranker}",
            bold=False,
            notes=(SETTINGS,),
        ),
    )
