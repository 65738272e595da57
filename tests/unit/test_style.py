import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from poolbias.errors import DataError
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


def test_twelve_lines_are_told_apart():
    looks = [style.line(number) for number in range(12)]
    keys = [(str(look), look.get("markerfacecolor")) for look in looks]
    assert len(set(keys)) == 12
    assert looks[6]["marker"] == looks[0]["marker"]
    assert (looks[6]["markerfacecolor"], looks[0].get("markerfacecolor")) == ("white", None)


def test_methods_for_people():
    assert style.method_name("cet-paper-tau1") == "CET paper, τ = 1"
    assert style.method_name("cet-released-tau0.5-clip10") == "CET released, τ = 0.5, clip10"
    assert style.method_name("cet-paper-tau1e-05") == "CET paper, τ = 1e-05"
    assert style.method_name("rocketqa-pair-eta0.1") == "RocketQA-pair-eta0.1"
    assert style.method_name("naive") == "naive"
    colours = ["naive", "cet-paper-tau1", "cet-released-tau10", "cet", "rocketqa-pair", "other"]
    assert len({style.method_colour(name) for name in colours}) == 6
    naive, paper, released = (luminance(style.method_colour(name)) for name in colours[:3])
    assert paper - naive > 0.1
    assert released - paper > 0.1


def test_long_retriever_names_stand_on_several_lines():
    assert style.retriever_label("bm25") == "BM25"
    assert style.retriever_label("dense-fine-tuned") == "dense-fine-\ntuned"


def test_three_files_need_one_name(tmp_path):
    figure = figure_with(1.0)
    style.save_as(figure, *(tmp_path / f"a.{kind}" for kind in ("pdf", "svg", "png")))
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(DataError, match=r"b\.svg: need the name of .*a\.pdf with another ending"):
        style.save_as(figure, tmp_path / "a.pdf", tmp_path / "b.svg", tmp_path / "a.png")
