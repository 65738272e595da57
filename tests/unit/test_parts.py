"""What figures share: numbers as they are written, words of captions, tables read again."""

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from poolbias.errors import DataError
from poolbias.figures import parts
from poolbias.formats.tsv import write_table


def test_numbers_are_written_without_their_leading_zero():
    assert parts.number(0.785) == ".785"
    assert parts.number(1.0) == "1.000"
    assert parts.number(-0.0125, 4) == "−.0125"
    assert parts.number(0.5, 2, sign=True) == "+.50"
    assert parts.number(12.5, 1) == "12.5"
    assert parts.number(10.04, 1) == "10.0"
    assert parts.number(float("inf")) == "∞"
    assert parts.number(float("-inf")) == "−∞"


def test_panels_have_letters():
    assert [parts.letter(number) for number in (0, 1, 25, 26, 53)] == ["a", "b", "z", "a1", "b2"]


def test_captions_tell_counts_and_seeds():
    assert parts.spread(pd.Series([453, 1678])) == "453 to 1,678"
    assert parts.spread(pd.Series([7, 7])) == "7"
    assert "one seed only" in parts.told_seeds(1)
    assert parts.told_seeds(3) == "mean of 3 seeds, dots: single seeds"
    assert parts.told_seeds(3, dots=False) == "mean of 3 seeds"
    one, two = (parts.told_interval(pd.Series([5]), seeds) for seeds in (1, 2))
    assert one == "95% bootstrap interval over 5 groups of queries"
    assert two == f"{one} and over seeds"


def test_a_damaged_table_is_named(tmp_path):
    path = tmp_path / "figure.tsv"
    columns, numbers, counts = ["a", "b", "c"], ["b"], ["c"]
    write_table(path, pd.DataFrame({"a": ["x", ""], "b": [0.5, None], "c": [3, 4]}))
    read = parts.read_data(path, columns, numbers, counts)
    assert read["b"].isna().tolist() == [False, True]
    assert read["c"].tolist() == [3, 4]
    write_table(path, pd.DataFrame({"a": ["x"], "b": ["half"], "c": [3]}))
    with pytest.raises(DataError, match=r"figure\.tsv: .*half.*; make the table again"):
        parts.read_data(path, columns, numbers, counts)
    write_table(path, pd.DataFrame({"a": ["x"], "b": [1], "c": [0.5]}))
    with pytest.raises(DataError, match=r"figure\.tsv: .*; make the table again"):
        parts.read_data(path, columns, numbers, counts)
    with pytest.raises(DataError, match="column 'd' is missing"):
        parts.read_data(path, ["a", "d"], [], [])


def test_captions_end_within_the_figure_whatever_letters_they_have():
    figure = Figure(figsize=(7.0, 2.0), dpi=100)
    FigureCanvasAgg(figure)
    for text in ("MS MARCO PASSAGES, DL DOCUMENTS " * 12, "il, ij. " * 60):
        parts.add_caption(figure, text)
        box = figure._supxlabel.get_window_extent()
        assert box.x1 <= 700
        assert box.x1 > 420  # and use their room
