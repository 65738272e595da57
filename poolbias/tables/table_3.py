"""Table 3: the shape of the paper's table on DuReader_retrieval; CET against RocketQA."""

from dataclasses import replace

import pandas as pd

from poolbias.tables.notes import SETTINGS
from poolbias.tables.pages import Page, Plan, Source, build
from poolbias.tables.results import LABELS, TRUTH, Column, of_marks
from poolbias.tables.rows import TABLE_3, method_rows

HIT = "Success@1"
COLUMNS = tuple(
    Column(measure, judgements) for judgements in (LABELS, TRUTH) for measure in ("RR@10", HIT)
)
MARKS = {"rocketqa": "†"}
_NOTE = (
    "Recall@1 is that of DuReader's own scorer: the share of queries with a relevant document at "
    "rank 1 (Success@1), read off MRR@10, which is 1 for just these queries."
)


def table_3(source: Source) -> Page:
    """Return Table 3: the methods of the paper's Table 3 in its order, by labels and by truth.

    Marks as in the paper: † CET against RocketQA.

    Args:
        source: what the table is made from.

    Raises:
        DataError: as `poolbias.tables.pages.build`.
    """
    rows = method_rows(
        source.rows,
        ranker=source.ranker,
        lexical=source.lexical,
        reason=source.reason,
        methods=TABLE_3,
        only=True,
    )
    return build(
        replace(source, frame=with_hits(source.frame)),
        Plan(
            "table_3",
            f"Study {source.study}: methods of training the ranker {source.ranker}, as the paper "
            "shows them on DuReader_retrieval.",
            rows,
            COLUMNS,
            opponents=of_marks(MARKS),
            marks=MARKS,
            notes=(SETTINGS, _NOTE),
        ),
    )


def with_hits(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with rows of `Success@1` added, 1 where the measure `RR@10` is 1.

    Args:
        frame: columns `measure`, `value` and others, which are kept.
    """
    first = frame[frame["measure"] == "RR@10"]
    hits = first.assign(measure=HIT, value=(first["value"] == 1).astype("float64"))
    return pd.concat([frame[frame["measure"] != HIT], hits], ignore_index=True)
