"""The benchmark's arithmetic, and that its two sides compute the same; nothing is timed here."""

import math
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from torch import nn

from benchmarks import __main__ as command
from benchmarks import (
    ceiling,
    costs,
    growth,
    history,
    plain_loop,
    report,
    stages,
    startup,
    timing,
    training,
    workers,
    workflow,
)
from benchmarks import texts as sources
from benchmarks.setting import Outcome, Setting
from benchmarks.timing import Ratio, Rounds, Taken
from poolbias import fingerprint, models, tokens
from poolbias.candidates import Candidates
from poolbias.errors import DataError
from poolbias.training.loop import Trainer

ROOT = Path(__file__).resolve().parents[2]


# Ratios and rounds


def test_a_ratio_has_the_quartiles_of_its_rounds():
    found = timing.ratio("a: ours / other", [1.0, 2.0, 4.0], [2.0, 6.0, 4.0], 2.0, "note")
    assert (found.low, found.median, found.high) == (1.5, 2.0, 2.5)  # of 2, 3 and 1
    assert found.reached is True
    assert timing.ratio("", [1.0], [2.0], 2.001).reached is False
    assert timing.ratio("", [1.0], [2.0]).reached is None


def test_rounds_call_in_turn_forth_and_back_and_throw_the_first_call_away():
    called = []

    def work(name, seconds):
        called.append(name)
        return Taken(seconds + len(called), name)

    found = timing.rounds({n: partial(work, n, s) for n, s in (("a", 100.0), ("b", 200.0))}, 2)
    assert called == ["a", "b", "a", "b", "b", "a"]
    assert found.seconds == {"a": [103.0, 106.0], "b": [204.0, 205.0]}
    assert found.results == {"a": ["a", "a"], "b": ["b", "b"]}
    assert found.median("a") == 104.5
    assert found.rate("b", 409.0, "things") == "2 things/s"


def test_a_share_of_the_ceiling_is_operations_by_time_and_rate_of_the_same_round():
    found = Rounds({"ours": [2.0, 4.0]}, {"ours": [100, 100], "ceiling": [1000.0, 250.0]})
    shared = training.share("share", found, 5.0, 0.375)
    assert (shared.low, shared.median, shared.high) == (0.3125, 0.375, 0.4375)  # of 1/4 and 1/2
    assert shared.reached


def test_operations_of_the_encoder_are_two_for_each_weight_that_multiplies():
    assert ceiling.encoder_flops(2) == 3_538_944  # 2 · (4 · 384² + 2 · 384 · 1536), by hand
    ranker = models.ranker("bert").start(training.RANKER | {"layers": 2}, seed=1)
    weights = [
        module.weight.numel()
        for layer in ranker.bert.encoder.layer
        for module in layer.modules()
        if isinstance(module, nn.Linear)
    ]
    assert len(weights) == 12
    assert ceiling.encoder_flops(3) == 2 * sum(weights)


# The two sides of the coupled ratio


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Four queries and twelve documents of different lengths, some longer than is kept."""
    folder = tmp_path_factory.mktemp("store") / "tokens"
    words = [
        "heart",
        "valve",
        "narrow",
        "bone",
        "joint",
        "short",
        "finger",
        "muscle",
        "weak",
        "slow",
    ]
    words += ["nerve", "growth"]
    queries = [" ".join(words[n : n + 2 + n]) for n in range(4)]
    documents = [f"{word}: " + " ".join(words[:n] * (1 + n)) for n, word in enumerate(words)]
    tokens.build(documents, queries, sources.tokenizer_file(), folder)
    store = tokens.TokenStore(folder)
    assert store.documents.lengths(np.arange(12)).max() > sources.LIMITS.document
    table = Candidates(
        query_rows=np.arange(4, dtype=np.int32),
        offsets=np.arange(0, 9, 2),
        documents=np.array([4, 5, 6, 7, 8, 9, 10, 11], dtype=np.int32),
        ranks=np.tile(np.array([1, 2], dtype=np.int32), 4),
        probability=np.tile(np.array([0.75, 0.25], dtype=np.float32), 4),
        positive_offsets=np.arange(5),
        positives=np.arange(4, dtype=np.int32),
    )
    return sources.Texts(queries, documents, store, table)


# An epsilon at which AdamW does not turn the rounding of tiny gradients into whole steps.
SETTINGS = training.SETTINGS | {
    "pairs": 6, "learning_rate": 1e-4, "epsilon": 1e-3, "warm_up": 0.0, "clip": 0.5,
}  # fmt: skip


def ours(texts, weight):
    """Train R and S with the study's loop, without dropout, in float32.

    Returns them, their states before, and the rows of the steps.
    """
    kind = models.ranker("bert")
    ranker = training.RANKER | {"layers": 1, "dropout": 0.0, "head_dropout": 0.0}
    started = {name: kind.start(ranker, seed) for seed, name in enumerate("RS")}
    for model in started.values():
        model.classifier.weight.data *= 300  # scores that differ, so that weights do
    before = {
        name: {k: v.clone() for k, v in m.state_dict().items()} for name, m in started.items()
    }
    limits = {"query": sources.LIMITS.query, "document": sources.LIMITS.document, "sequence": None}
    trainer = Trainer(
        parameters={
            "training": SETTINGS, "loss": "pairwise_cross_entropy", "limits": limits,
            "weight": training.COUPLED | {"weights_from": weight}, "precision": "float32",
        },
        store=texts.store,
        candidates=texts.candidates,
        models=started,
        scorer=kind.scores,
        seed=1,
    )  # fmt: skip
    steps = trainer.steps()
    return started, before, [next(steps)[0] for _ in range(3)]


@pytest.mark.parametrize("weights_from", ["eval", "train"])
def test_the_plain_loop_takes_the_steps_of_the_studys_own(texts, weights_from):
    """The same algorithm: same weights, draws and settings, no dropout, float32."""
    after, before, rows = ours(texts, weights_from)
    plain = []
    for state in before.values():
        model = plain_loop.model(1)
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        model.load_state_dict(state)
        plain.append(model)
    loop = plain_loop.PlainCoupled(texts, plain, SETTINGS, half=False, seed=1)
    losses = [loop.step() for _ in range(3)]
    expected = [[row["weighted_loss_r"], row["weighted_loss_s"]] for row in rows]
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    for row in rows:  # weights matter, clipping happens, and the models differ
        assert abs(row["weighted_loss_r"] / row["loss_r"] - 1) > 0.02
        assert row["gradient_norm_r"] > SETTINGS["clip"]
        assert abs(row["loss_r"] - row["loss_s"]) > 0.002
    for name, model in zip("RS", plain, strict=True):
        state = model.state_dict()
        moved = sum(
            float((after[name].state_dict()[k] - v).norm() ** 2) for k, v in before[name].items()
        )
        apart = sum(float((after[name].state_dict()[k] - v).norm() ** 2) for k, v in state.items())
        assert math.sqrt(moved) > 0.01
        assert math.sqrt(apart / moved) < 1e-3


# History


def recorded(name, median, low, high, machine="A, 2 cores", threads="2", commit="abcdef012345"):
    return (commit, machine, threads, name, median, low, high)


def rows(*records):
    return pd.DataFrame(list(records), columns=history.COLUMNS)


def test_a_ratio_falls_if_it_loses_more_than_the_wider_spread():
    before = rows(recorded("x", 2.0, 1.75, 2.25))

    def fell(*values):
        return history.fallen([Ratio("x", *values)], before, "A, 2 cores", 2)

    assert fell(1.5, 1.5, 1.5) == []  # by just the spread of then
    assert fell(1.25, 1.25, 1.25) == [
        "x: fell from 2.00 (commit abcdef0) to 1.25, by more than the spread of 0.50."
    ]
    assert fell(1.25, 1.0, 1.75) == []  # now it scatters more
    assert fell(3.0, 3.0, 3.0) == []


def test_only_the_last_record_of_the_same_kind_counts():
    before = rows(
        recorded("x", 9.0, 9.0, 9.0),
        recorded("x", 2.0, 2.0, 2.0),
        recorded("x", 9.0, 9.0, 9.0, machine="B, 2 cores"),
        recorded("x", 9.0, 9.0, 9.0, threads="1"),
        recorded("y", 9.0, 9.0, 9.0),
    )
    now = [Ratio("x", 2.0, 2.0, 2.0), Ratio("new", 1.0, 1.0, 1.0)]
    assert history.fallen(now, before, "A, 2 cores", 2) == []
    assert len(history.fallen(now, before, "B, 2 cores", 2)) == 1
    assert len(history.fallen(now, before, "A, 2 cores", 1)) == 1


def test_records_are_appended_and_read_again(tmp_path):
    path = tmp_path / "history.tsv"
    assert history.read(path).empty
    history.record([Ratio("x", 1.23456, 1.0, 2.0)], "c1", "A, 2 cores", 2, path)
    history.record([Ratio("x", 3.0, 3.0, 3.0)], "c2", "A, 2 cores", 2, path)
    found = history.read(path)
    assert list(found["commit"]) == ["c1", "c2"]
    assert list(found["median"]) == [1.2346, 3.0]
    assert path.read_text().splitlines()[1] == "c1\tA, 2 cores\t2\tx\t1.2346\t1.0000\t2.0000"
    path.write_text(path.read_text().replace("1.2346", "many"))
    with pytest.raises(DataError, match=r"history\.tsv:2: median is 'many', need a number"):
        history.read(path)


# Growth


def test_the_exponent_is_the_slope_of_logarithms():
    sizes = [1, 2, 4, 8]
    assert growth.exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    # at log sizes 0, 1, 2 the logs are 0, 1, 4: slope (4 − 0) / 2
    found = growth.exponent(np.exp([0, 1, 2]), np.exp([0, 1, 4]))
    assert found == pytest.approx(2.0)


def test_what_is_expected_of_length_counts_attention_too():
    # of 21 tokens below the last of 2 layers: 3,538,944 linear, 4 · 384 · 21 attention, each
    assert costs.length_flops(10) == 21 * (3_538_944 + 4 * 384 * 21)
    cost = costs.Cost("score", "tokens", [1, 2], lambda folder, size: None, lambda size: size**3)
    assert growth.expected(cost, [2, 4, 8]) == pytest.approx(3.0)
    [length] = [cost for cost in costs.SECONDS if cost.expected is costs.length_flops]
    assert 0.8 < growth.expected(length, length.sizes) < 1.1


def test_everything_grows_by_a_factor_of_sixteen_at_least():
    every = [*costs.SECONDS, *costs.MEMORY]
    assert len(every) > 10
    assert costs.doubled(2, 32) == [2, 4, 8, 16, 32]
    assert costs.doubled(1, 16, 4) == [1, 4, 16]
    assert [c.what for c in every if len(c.sizes) < 3 or c.sizes[-1] < 16 * c.sizes[0]] == []
    named = {cost.against for cost in every}
    assert {"queries", "candidates", "tokens of a document", "layers below the last"} <= named


# Stages


def timed_job(path, *jobs):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["s\th:m:s\tmax_rss\tcpu_time", *("\t".join(job) for job in jobs)]
    path.write_text("".join(f"{line}\n" for line in lines))


def test_jobs_are_summed_by_rule(tmp_path):
    timed_job(tmp_path / "train" / "a" / "seed-1.tsv", ("10.5", "0:00:10", "1", "20.25"))
    timed_job(tmp_path / "train" / "b.tsv", ("1.5", "0:00:01", "1", "2.75"))
    timed_job(tmp_path / "draw" / "c.tsv", ("0.5", "0:00:00", "NA", "NA"))
    found = stages.stages(tmp_path)
    assert found.to_dict("list") == {
        "rule": ["train", "draw"], "jobs": [2, 1], "seconds": [12.0, 0.5],
        "cpu_seconds": [23.0, 0.0], "unknown": [0, 1],
    }  # fmt: skip
    page = stages.page(found)
    assert "| `train` | 2 | 12 | 23 | 100.0% |" in page
    assert "| all | 3 | 12 | 23 | |" in page
    assert "1 jobs were too short" in page


def test_a_folder_without_benchmark_files_is_told_of(tmp_path, capsys):
    assert command.main(["--stages", str(tmp_path)]) == 1
    told = "holds no benchmark files; give results/benchmarks of a study.\n"
    assert capsys.readouterr().err == f"benchmarks: {tmp_path}: {told}"
    timed_job(tmp_path / "train" / "b.tsv", ("1.5", "0:00:01", "1", "2.75"))
    assert command.main(["--stages", str(tmp_path)]) == 0
    assert "`train`" in capsys.readouterr().out


# Start-up and Snakemake


def test_the_scripts_that_need_torch_are_those_whose_modules_import_it():
    known = startup.scripts()
    assert known.keys() > startup.WITH_TORCH
    for name in startup.WITH_TORCH:
        used = fingerprint.modules(ROOT, name, [])
        sources_of = [ROOT / (module.replace(".", "/") + ".py") for module in used]
        assert any("import torch" in p.read_text() for p in sources_of if p.is_file()), name
    code = (
        "import runpy, sys\n"
        "for script in sys.argv[1:]:\n    runpy.run_path(script)\n"
        "    assert 'torch' not in sys.modules, script\n"
    )
    light = [str(path) for name, path in known.items() if name not in startup.WITH_TORCH]
    done = subprocess.run(
        [sys.executable, "-c", code, *light], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_table_of_start_up_sets_need_beside_fact():
    found = Rounds({startup.BARE: [0.5], "rerank": [2.0, 4.0], "table_1": [1.0]})
    table = startup.table(found, {"rerank": (1.5, True), "table_1": (0.75, True)})
    assert list(table["help_seconds"]) == [0.5, 3.0, 1.0]
    assert list(table["loads_torch"]) == [False, True, True]
    assert list(table["needs_torch"]) == [False, True, False]


def test_files_and_folders_stand_in_for_results(tmp_path):
    summary = (
        "Building DAG of jobs...\noutput_file\tdate\trule\n"
        "results/candidates/hpo.bm25.uniform-5ccf51\t-\ta\n"
        "results/scores/x/bm25.top-100\t-\tb\n"
        "results/candidates/hpo.bm25.uniform-5ccf51.json\t-\ta\n"
        "results/runs/hpo/bm25/test.run.gz\t-\tc\n"
    )
    assert workflow.pretend(tmp_path, summary) == 4
    results = tmp_path / "results"
    assert (results / "candidates" / "hpo.bm25.uniform-5ccf51").is_dir()
    assert (results / "scores" / "x" / "bm25.top-100").is_dir()
    assert (results / "candidates" / "hpo.bm25.uniform-5ccf51.json").is_file()
    assert (results / "runs" / "hpo" / "bm25" / "test.run.gz").is_file()
    assert workflow.jobs_of("1 of 76 steps (1%) done\n76 of 76 steps (100%) done\n") == 76


# Processes, pages and the command


def test_a_side_answers_from_its_own_process_and_tells_why_it_fails():
    sides = {
        "good": workers.Side(partial(partial, int, "7")),
        "bad": workers.Side(partial(partial, int, "seven"), ours=True),
    }
    with workers.workers(sides, threads=1) as works:
        first, second = works["good"](), works["good"]()
        assert first.result == second.result == 7
        assert first.seconds > 0
        with pytest.raises(RuntimeError, match=r"(?s)bad: .*invalid literal .*'seven'"):
            works["bad"]()


OUTCOME = Outcome(
    [Ratio("a: x", 2.0, 1.9, 2.1, 1.5, "1 against 2"), Ratio("a: y", 1.0, 0.9, 1.1, 1.5)],
    {"workflow": pd.DataFrame({"run": ["no-op"], "seconds": [1.23456], "known": [True]})},
)


def test_pages_and_tables_hold_the_same_ratios(tmp_path):
    page = report.page(OUTCOME, ["Some machine."])
    assert "| a: x | 2 | 1.9 | 2.1 | 1.5 | yes | 1 against 2 |" in page
    assert "| a: y | 1 | 0.9 | 1.1 | 1.5 | no |  |" in page
    assert "| no-op | 1.23 | yes |" in page
    report.write(tmp_path, OUTCOME, ["Some machine."])
    assert (tmp_path / "ratios.md").read_text() == page
    lines = (tmp_path / "ratios.tsv").read_text().splitlines()
    assert lines[1] == "a: x\t2\t1.9\t2.1\t1.5\tyes\t1 against 2"
    assert (tmp_path / "workflow.tsv").is_file()


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """The command with a measurement of its own, and a history of its own."""
    asked = []

    def measure(*arguments):
        asked.append(arguments)
        return OUTCOME

    monkeypatch.setattr(command, "_measure", measure)
    monkeypatch.setattr(command, "cpu_name", lambda: "A")
    monkeypatch.setattr(command.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(command, "commit", lambda: "c" * 40)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(history, "HISTORY", tmp_path / "history.tsv")
    monkeypatch.setattr(command, "PEERS", {"training": "json"})
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    return asked


def test_the_command_writes_records_and_says_what_fell(measured, tmp_path, capsys):
    assert command.main(["--record", "--threads", "1"]) == 0
    assert measured == [(list(command.AREAS), 5, 1, False)]
    assert "No ratio fell" in capsys.readouterr().out
    assert "No ratio fell" in (tmp_path / "results" / "ratios.md").read_text()
    text = history.HISTORY.read_text()
    history.HISTORY.write_text(text.replace("\t2.0000\t", "\t3.0000\t"))
    assert command.main(["--threads", "1"]) == 0
    told = "**Fell:** a: x: fell from 3.00 (commit ccccccc) to 2.00, by more than the spread of"
    assert told in capsys.readouterr().out
    assert history.HISTORY.read_text().count("\n") == 3  # it was not recorded


def test_a_part_or_a_quick_run_writes_nothing_unless_told_where(measured, tmp_path, capsys):
    assert command.main(["--only", "draws", "--repeats", "3"]) == 0
    assert measured == [(["draws"], 3, 2, False)]
    assert command.main(["--quick"]) == 0
    assert "Too few rounds" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()
    assert command.main(["--quick", "--output", str(tmp_path / "some")]) == 0
    assert (tmp_path / "some" / "ratios.tsv").is_file()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--record", "--quick"], "--record needs 3 rounds or more and no --quick"),
        (["--record", "--repeats", "2"], "found 2 rounds."),
        (["--repeats", "0"], "--repeats is 0 and --threads 2, need at least 1"),
        (["--only", "training"], "nosuchpackage is not installed, need it to measure training"),
    ],
)
def test_mistakes_are_told_in_a_sentence(measured, monkeypatch, capsys, arguments, told):
    monkeypatch.setattr(command, "PEERS", {"training": "nosuchpackage"})
    assert command.main(arguments) == 1
    assert told in capsys.readouterr().err
    assert measured == []


def test_every_area_is_there_and_a_quick_run_measures_less():
    for place in command.AREAS.values():
        module, function = place.split(":")
        assert (ROOT / "benchmarks" / f"{module}.py").read_text().count(f"\ndef {function}(") == 1
    assert Setting(Path(), 1, 1, quick=True).at_most(32) == 2
    assert Setting(Path(), 1, 1, quick=True).at_most(3) == 1
    assert Setting(Path(), 1, 1).at_most(32) == 32
