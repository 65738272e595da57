"""What a study file may say of Figures 3 to 5, and the sentence for what it may not."""

import pytest

from poolbias.config.default import STUDY
from poolbias.config.generate import CONFIG, ROOT
from poolbias.config.load import load
from poolbias.config.study import Figure3, Figure4, Figure5, Probe, Study
from poolbias.errors import ConfigError


def told(tmp_path, figures):
    path = tmp_path / "mine.yaml"
    path.write_text((ROOT / CONFIG).read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load(path, {"figures": figures})
    return str(error.value)


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        (
            {"figure_3": {"retrievers": ["dense", "ance"]}},
            "figures.figure_3.retrievers, item 2: found 'ance', need a retriever of this study",
        ),
        (
            {"figure_4": {"retriever": "denss"}},
            "figures.figure_4.retriever: found 'denss', need a retriever of this study "
            "('bm25', 'dense' or 'outside'); did you mean 'dense'?",
        ),
        (
            {"figure_5": {"retriever": "x"}},
            "figures.figure_5.retriever: found 'x', need a retriever of this study",
        ),
        ({"figure_3": {"methods": ["naive"]}}, "need a list of at least 2"),
        ({"figure_5": {"methods": ["a", "a"]}}, "need each value once ('a' stands twice)"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path, figures, sentence):
    assert sentence in told(tmp_path, figures)


def test_defaults_suit_any_study():
    study = Study.model_validate(STUDY)
    assert study.figures.figure_3 == Figure3()
    assert study.figures.figure_4 == Figure4()
    assert study.figures.figure_5 == Figure5()
    assert Figure3().retrievers is Figure4().retriever is Figure5().retriever is None
    assert set(Figure5().methods) < set(Figure3().methods)
    assert Probe().depth == 50  # the paper's


@pytest.mark.parametrize("key", ["depth", "sample"])
def test_a_probe_of_nothing_is_refused(tmp_path, key):
    path = tmp_path / "mine.yaml"
    path.write_text((ROOT / CONFIG).read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(ConfigError, match=f"probe.{key}: found 0, need a whole number"):
        load(path, {"probe": {key: 0}})
    load(path, {"probe": {key: 1}})
