import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from poolbias.figures import style


def figure_with(value):
    with style.context():
        figure = Figure(figsize=(2, 2), layout="constrained")
        axis = figure.add_subplot()
        axis.bar([0], [value], hatch=style.NOT_OURS)
        axis.set_title("Ä $w_r$")
        return style.freeze(figure)


def test_files_are_equal_on_repeat_and_hold_no_date(tmp_path):
    figure = figure_with(1.0)
    first = [path.read_bytes() for path in style.save(figure, tmp_path / "once.x")]
    again = [path.read_bytes() for path in style.save(figure, tmp_path / "again")]
    other = [path.read_bytes() for path in style.save(figure_with(2.0), tmp_path / "other")]
    assert first == again
    assert all(one != two for one, two in zip(first, other, strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{stem}.{kind}" for stem in ("once.x", "again", "other") for kind in ("pdf", "png", "svg")
    )
    assert [start[:4] for start in first] == [b"%PDF", b"<?xm", b"\x89PNG"]
    for content in first:
        assert not any(word in content for word in (b"CreationDate", b"<dc:date>", b"Matplotlib v"))


def test_nothing_outside_changes(tmp_path):
    before = dict(mpl.rcParams)
    with mpl.rc_context({"font.size": 30.0, "savefig.dpi": 33}):
        loud = [path.read_bytes() for path in style.save(figure_with(1.0), tmp_path / "a")]
        assert mpl.rcParams["font.size"] == 30.0
    assert dict(mpl.rcParams) == before
    assert loud == [path.read_bytes() for path in style.save(figure_with(1.0), tmp_path / "b")]


def test_failed_save_leaves_no_file(tmp_path):
    with style.context():
        figure = Figure()
        figure.text(0.5, 0.5, "$no such \\command$")
    with pytest.raises(ValueError, match="command"):
        style.save(figure, tmp_path / "bad")
    assert list(tmp_path.iterdir()) == []


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_truth_and_labels_differ_in_grey_and_lines_in_marker():
    assert luminance(style.LABELS) - luminance(style.TRUTH) > 0.2
    markers = [line["marker"] for line in style.LINES]
    assert len(set(markers)) == len(markers)


def test_names_for_people():
    assert style.measure_name("RR@10") == "MRR@10"
    assert style.measure_name("R@100") == "Recall@100"
    assert style.measure_name("nDCG@10") == "nDCG@10"
    assert style.retriever_name("bm25") == "BM25"
    assert style.retriever_name("mine") == "mine"
