"""What is told of a result: what it was made from, what changed since, what a study asks."""

import shutil
import subprocess
from pathlib import Path

import pytest

from poolbias import fingerprint as module
from poolbias import records, why
from poolbias.__main__ import main
from poolbias.errors import DataError
from poolbias.why import Asked, ask, explain

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = {"measures": ["RR@10"], "limits": {"query": 16}}


def code(root):
    for cached in (module._imports, module._meaning):
        cached.cache_clear()
    return module.modules(root, "evaluate")


@pytest.fixture
def root(tmp_path):
    for folder in ("poolbias", "workflow"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pyc*"))
    return tmp_path


@pytest.fixture
def result(root):
    folder = root / "results" / "metrics"
    folder.mkdir(parents=True)
    (folder / "run").write_text("abc")
    (folder / "a.tsv").write_text("1")
    given = {"code": {"fingerprint": "1f", "choices": [], "parameters": "2e"}, **PARAMETERS}
    made_by = {
        "stage": "evaluate",
        "parameters": given,
        "inputs": {"results/metrics/run": records.describe(folder / "run")["sha256"]},
        "modules": code(root),
        "commit": "0123456789abcdef",
    }
    records.write(folder / "a.tsv", made_by)
    return folder / "a.tsv"


def told(text, name):
    """Return the lines of a part of the text."""
    lines = text.splitlines()[1:]
    start = next(number for number, line in enumerate(lines) if line.startswith(f"  {name}"))
    end = next((n for n, line in enumerate(lines) if n > start and line[2] != " "), len(lines))
    return [line[18:] for line in lines[start:end]]


def test_an_unchanged_result_tells_where_it_comes_from(result, root):
    text = explain(result, Asked(PARAMETERS, []), root)
    assert told(text, "made by") == ["evaluate, commit 012345678"]
    assert told(text, "bytes") == ["1, as they were written"]
    assert told(text, "parameters") == ["limits.query 16", 'measures ["RR@10"]']
    assert told(text, "inputs") == ["results/metrics/run"]
    modules = told(text, "code")
    assert modules[0] == f"fingerprint 1f, {len(modules) - 1} modules"
    assert "poolbias.evaluation.measures" in modules
    assert "poolbias.stage" not in modules
    assert told(text, "made again for") == ["nothing: it is what the study asks for"]


def test_everything_that_would_make_it_again_is_named(result, root):
    file = root / "poolbias" / "ranking.py"
    file.write_text(file.read_text().replace("np.isfinite", "np.isnan"))
    script = root / "workflow" / "scripts" / "evaluate.py"
    script.write_text(script.read_text() + "\nimport poolbias.losses\n")
    code(root)  # forgets what it knew of the files
    (result.parent / "run").write_text("abd")
    result.write_text("2")
    asked = Asked({"measures": ["RR@10"], "limits": {"query": 8}, "new": 1}, ["first: Search"])
    text = explain(result, asked, root)
    assert told(text, "bytes") == ["1, CHANGED since they were written (1)"]
    assert told(text, "inputs") == ["results/metrics/run (changed since)"]
    assert told(text, "made again for") == [
        "its input results/metrics/run changed since",
        "its script changed",
        "poolbias.losses is used now",
        "poolbias.ranking changed",
        "poolbias.registry is used now",
        "parameter limits.query was 16, is 8",
        "parameter new was not there, is 1",
        "first: Search",
    ]


def test_a_comment_is_no_reason_and_a_missing_input_is(result, root):
    file = root / "poolbias" / "ranking.py"
    file.write_text("# a comment\n" + file.read_text())
    code(root)
    (result.parent / "run").unlink()
    text = explain(result, Asked(PARAMETERS, []), root)
    assert told(text, "made again for") == ["its input results/metrics/run is gone"]


def test_without_a_study_that_asks_the_rest_is_told(result, root):
    text = explain(result, "The study asks for no such file (x).", root)
    assert told(text, "again if")[0] == "nothing changed"
    assert text.endswith("The study asks for no such file (x).")


def test_a_file_within_a_folder_stands_for_the_folder_and_a_moved_folder_is_known(result, root):
    folder = result.parent / "index"
    folder.mkdir()
    (folder / "x").write_text("x")
    records.write(folder, records.read(result))
    moved = (root / "results").rename(root / "before")
    text = explain(moved / "metrics" / "index" / "x", Asked(PARAMETERS, []), root)
    assert text.splitlines()[0].endswith("before/metrics/index")
    assert told(text, "made again for") == ["nothing: it is what the study asks for"]


def test_many_inputs_are_cut_after_the_changed_ones(result, root):
    made_by = records.read(result)
    digits = made_by["inputs"]["results/metrics/run"]
    made_by["inputs"] |= {f"results/metrics/gone-{n}": digits for n in range(14)}
    records.write(result, made_by)
    lines = told(explain(result, Asked(PARAMETERS, []), root), "inputs")
    assert len(lines) == why.SHOWN + 1
    assert lines[0] == "results/metrics/gone-0 (is gone)"
    assert lines[-1] == "and 3 more"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere: no such result; name a file below results/"),
        ("run", "nothing is known of it; it was made by hand"),
        ("", "nothing is known of it; name a file in it, results/metrics/a.tsv, say"),
    ],
)
def test_what_is_not_known_is_told(result, root, name, message, capsys, monkeypatch):
    monkeypatch.chdir(root)
    with pytest.raises(DataError, match=message):
        explain(Path("results/metrics") / name, Asked(PARAMETERS, []), root)
    monkeypatch.setattr(why, "ask", lambda *_: "not asked")
    assert main(["why", f"results/metrics/{name}"]) == 1
    assert message in capsys.readouterr().err


DRY = """
[Mon]
Job 1: Search hpo
Reason: Missing output files: results/runs/a
Shell command: printf '%s\\n' '{"k1": 0.9}' > results/logs/search.json && exec python x

[Mon]
Job 0: Measure a, it's new
Reason: Forced execution
Shell command: printf '%s\\n' '{"measures": ["RR@10"], "name": "it'"'"'s"}' > results/l && exec y
"""


def test_a_dry_run_tells_parameters_and_what_comes_first(monkeypatch, tmp_path):
    def runs(command, **options):
        assert command[3:5] == ["results/a", "--dry-run"]
        return subprocess.CompletedProcess(
            command, status, DRY if not status else "", "\nNo rule\n"
        )

    monkeypatch.setattr(why.subprocess, "run", runs)
    status = 0
    found = ask(Path("results/a"), None, ROOT)
    assert found == Asked({"measures": ["RR@10"], "name": "it's"}, ["first: Search hpo"])
    status = 1
    assert ask(Path("results/a"), tmp_path, ROOT) == "The study asks for no such file (No rule)."
