"""The command line: experiments with their states, and drift."""

import json
import subprocess
import sys

import pytest

from poolbias.__main__ import main
from poolbias.config import generate
from poolbias.config.experiments import expand, rows
from poolbias.config.load import load
from poolbias.config.states import state
from poolbias.stages import given_training

SMOKE = generate.ROOT / "config/smoke.yaml"


@pytest.fixture
def results(tmp_path):
    """Return a results folder in which one experiment is done and one stale."""
    done, stale, *_ = expand(load(SMOKE))
    write(tmp_path, done, given_training(done, 1))
    other = given_training(stale, 1)
    write(tmp_path, stale, other | {"threads": other["threads"] + 1})
    return tmp_path


def write(results, experiment, parameters):
    folder = results / "rankers" / experiment.name / "seed-1"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"parameters": parameters}))


def test_states(results):
    found = [state(experiment, 1, results, given_training) for experiment in expand(load(SMOKE))]

    assert found == ["done", "stale", *["missing"] * (len(found) - 2)]


def test_a_seed_is_a_training_by_itself(results):
    first, *_ = expand(load(SMOKE))

    assert state(first, 2, results, given_training) == "missing"


def test_a_manifest_of_another_kind_is_stale(results):
    third = expand(load(SMOKE))[2]
    write(results, third, None)

    assert state(third, 1, results, given_training) == "stale"


def test_experiments_prints_names_states_and_what_differs(results, capsys):
    code = main(["experiments", "--configfile", str(SMOKE), "--results", str(results)])

    lines = capsys.readouterr().out.split("\n")
    named = rows(load(SMOKE))
    shared = ["done" if row.method == "zhan" else "missing" for row in named[2:]]
    assert code == 0
    assert lines[0].split()[:5] == ["experiment", "seed", "state", "retriever", "method"]
    cells = [line.split() for line in lines[1 : len(named) + 1]]
    assert [row[:5] for row in cells] == [
        [row.experiment.name, "1", told, row.retriever, row.method]
        for row, told in zip(named, ["done", "stale", *shared], strict=True)
    ]
    assert cells[3][lines[0].split().index("weight.form")] == "paper"
    (zhan,) = [row for row in cells if row[4] == "zhan"]
    assert zhan[lines[0].split().index("negatives.retriever")] == "bm25"
    assert "The same in all: collection hpo; pool outside; ranker bert;" in "\n".join(lines)
    total = len(expand(load(SMOKE)))
    assert lines[-2] == (
        f"Study smoke: {total} experiments, {total} trainings: 1 done, 1 stale, "
        f"{total - 2} missing."
    )


def test_the_default_study_is_shown_without_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert main(["experiments"]) == 0
    assert "Study hpo: " in capsys.readouterr().out


def test_mistakes_are_sentences_on_standard_error(tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text("study: mine\n")

    code = main(["experiments", "--configfile", str(tmp_path / "mine.yaml")])

    output = capsys.readouterr()
    assert code == 1
    assert output.out == ""
    assert "mine.yaml: experiments: this key is missing, need a list" in output.err
    assert "Traceback" not in output.err


def test_config_shows_and_mends_drift(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    docs = (generate.ROOT / generate.DOCS).read_text(encoding="utf-8")
    (tmp_path / generate.DOCS).write_text(docs, encoding="utf-8")
    drift, write_files = generate.drift, generate.write
    monkeypatch.setattr(generate, "drift", lambda: drift(tmp_path))
    monkeypatch.setattr(generate, "write", lambda: write_files(tmp_path))

    assert main(["config"]) == 1
    shown = capsys.readouterr()
    assert "+study: hpo" in shown.out
    assert generate.COMMAND in shown.err
    assert main(["config", "--write"]) == 0
    assert f"{generate.CONFIG} written" in capsys.readouterr().out
    assert main(["config"]) == 0
    assert main(["config", "--write"]) == 0
    assert "nothing to change" in capsys.readouterr().out


def test_the_command_line_loads_nothing_heavy():
    code = (
        "import sys; from poolbias.__main__ import main; main(['experiments']); "
        "heavy = {'torch', 'matplotlib', 'pandas', 'numpy', 'transformers'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=generate.ROOT)

    assert done.returncode == 0, done.stderr.decode()
