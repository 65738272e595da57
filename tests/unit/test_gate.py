import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.evaluation.gate import check

RUN = pd.DataFrame(
    {
        "query_id": ["1", "1", "1", "2", "2", "2"],
        "document_id": ["a", "b", "c", "a", "b", "c"],
        "score": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
    }
)
QRELS = pd.DataFrame(
    {
        "query_id": ["1", "1", "2", "2"],
        "document_id": ["b", "z", "a", "c"],
        "grade": [2, 2, 2, 1],
    }
)  # recall at 3: 1/2 and 1; of grade 2 likewise, but of query 2 only a is relevant


def reached(measure, value, tolerance=0.01, run=RUN, qrels=QRELS):
    given = {"measure": measure, "value": value, "tolerance": tolerance}
    return check(run, qrels, given, "runs/x by truth.qrels")


def test_a_value_within_the_tolerance_passes():
    assert reached("R@3", 0.75) == {"found": 0.75, "expected": 0.75, "tolerance": 0.01}
    assert reached("R@3", 0.70, 0.05)["found"] == 0.75, "the tolerance itself passes"
    with pytest.raises(DataError):
        reached("R@3", 0.70, 0.049)


def test_both_numbers_and_the_causes_are_told():
    with pytest.raises(
        DataError,
        match=r"runs/x by truth.qrels: R@3 is 0.7500, need 0.9000 within 0.01; likely causes: the "
        r"wrong qrels file, a list that is not ranked, the wrong depth, an Indri run in BM25's "
        r"place, grade ≥ 1 against ≥ 2 as relevant; mend",
    ):
        reached("R@3", 0.9)


def test_what_is_noticed_is_told():
    with pytest.raises(DataError, match=r"noticed: with grade ≥ 2 as relevant it is 0\.5"):
        reached("R@1", 0.5)
    more = pd.concat([QRELS, pd.DataFrame({"query_id": ["3"], "document_id": ["a"], "grade": [1]})])
    with pytest.raises(DataError, match="1 of 3 judged queries have no list"):
        reached("R@3", 0.75, qrels=more)
    with pytest.raises(DataError, match="the deepest list has 3 documents, R@1000 looks at 1000"):
        reached("R@1000", 0.95)
    with pytest.raises(DataError, match="most lists have one score throughout"):
        reached("R@3", 0.95, run=RUN.assign(score=1.0))
