import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.evaluation.answers import answer_accuracy, holds, tokens_of

TEXTS = {
    "a": "A lamp on the table.",
    "b": "Johannes VERMEER, of Delft.",
    "c": "vermeers do not count",
    "d": "Born in 1632 in Delft",
}
RUN = pd.DataFrame(
    {
        "query_id": ["1", "1", "1", "2", "2"],
        "document_id": ["a", "c", "b", "d", "a"],
        "score": [3.0, 2.0, 1.0, 2.0, 1.0],
    }
)
ANSWERS = {"1": ["Vermeer", "Rembrandt"], "2": ["1632"], "3": ["x"]}


def test_tokens_are_runs_of_letters_numbers_and_marks_or_single_signs():
    assert tokens_of("Año 1632—U.S.") == ["an\u0303o", "1632", "—", "u", ".", "s", "."]
    assert tokens_of("  a\tb\n") == ["a", "b"]
    assert tokens_of("") == []


def test_an_answer_is_held_as_whole_tokens_in_a_row():
    text = tokens_of("Johannes VERMEER, of Delft.")
    assert holds(text, [["vermeer"]])
    assert holds(text, [["x"], tokens_of("vermeer, of")])
    assert not holds(text, [["vermeer", "of"]])
    assert not holds(text, [["verm"]])
    assert not holds(text, [[]])
    assert not holds([], [["a"]])


def test_accuracy_counts_queries_whose_first_documents_hold_an_answer():
    found = answer_accuracy(RUN, TEXTS, ANSWERS, [1, 2, 3])
    assert found["measure"].tolist() == ["Answer@1", "Answer@2", "Answer@3"] * 3
    assert found["query_id"].tolist() == [q for q in "123" for _ in range(3)]
    assert found["value"].tolist() == [0, 0, 1, 1, 1, 1, 0, 0, 0]
    with pytest.raises(DataError, match=r"document c has no text \(1 have none\)"):
        answer_accuracy(RUN, {k: v for k, v in TEXTS.items() if k != "c"}, ANSWERS, [3])
