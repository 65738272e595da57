"""Table 1: methods by labels and by truth; CET against DML and RANCE."""

from poolbias.tables.notes import SETTINGS
from poolbias.tables.pages import Page, Plan, Source, build
from poolbias.tables.results import LABELS, TRUTH, Column, of_marks
from poolbias.tables.rows import method_rows

COLUMNS = (
    Column("RR@10", LABELS),
    Column("RR@100", LABELS),
    Column("RR@10", TRUTH),
    Column("RR@100", TRUTH),
    Column("nDCG@10", TRUTH),
    Column("nDCG@100", TRUTH),
)
MARKS = {"dml": "†", "rance": "‡"}


def table_1(source: Source) -> Page:
    """Return Table 1: every method of one ranker, on every run.

    The paper's columns are MRR@10 and MRR@100 by sparse labels and nDCG@10 and nDCG@100 by deep
    judgements; ours add MRR by truth. Marks as in the paper: † CET against DML, ‡ against RANCE.

    Args:
        source: what the table is made from.

    Raises:
        DataError: as `poolbias.tables.pages.build`.
    """
    rows = method_rows(
        source.rows, ranker=source.ranker, lexical=source.lexical, reason=source.reason
    )
    return build(
        source,
        Plan(
            "table_1",
            f"Study {source.study}: methods of training the ranker {source.ranker}.",
            rows,
            COLUMNS,
            opponents=of_marks(MARKS),
            marks=MARKS,
            notes=(SETTINGS,),
        ),
    )
