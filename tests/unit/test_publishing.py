"""Publishing and restoring: what is taken, what is refused, and that bytes come back."""

import hashlib
import json
import shutil
import tarfile

import pytest

from poolbias import __main__ as command_line
from poolbias import records
from poolbias.config.experiments import expand
from poolbias.config.load import load
from poolbias.errors import DataError
from poolbias.fingerprint import fingerprint
from poolbias.publishing import archives, manifest
from poolbias.publishing.lineage import Lineages, Made, Step, stale
from poolbias.publishing.publish import archive_of, finished, publish
from poolbias.publishing.restore import restore, usable

STUDY = """study: tiny
collections: {hpo: {kind: hpo}}
retrievers:
  bm25: {kind: bm25}
  outside: {kind: bm25, documents: pool_documents}
pools: {outside: {retrievers: [outside]}}
rankers: {bert: {kind: bert}}
training: {steps: 6}
evaluation: {}
figures: {figure_1: {retrievers: [bm25]}}
experiments:
  - {retriever: bm25, method: [naive, cet]}
"""
RUN = "runs/hpo/bm25/test.run.gz"
OF_RUN = "metrics/runs/hpo/bm25/test.truth.tsv"
COMMIT = "0123456789abcdef0123"


def code(folder, constant=1):
    """Write a repository of three stages, of which training rests on a module of its own."""
    for name in ("search", "train", "evaluate", "figure"):
        script = folder / "workflow" / "scripts" / f"{name}.py"
        script.parent.mkdir(parents=True, exist_ok=True)
        uses = "from poolbias import loss\n" if name == "train" else ""
        script.write_text(f"{uses}NAME = {name!r}\n")
    library = folder / "poolbias"
    library.mkdir()
    (library / "__init__.py").write_text("")
    (library / "loss.py").write_text(f"LOSS = {constant}\n")
    return folder


def made(results, name, content, stage, inputs, root):
    """Write a result with its record, as a stage would."""
    path = results / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    told = {"fingerprint": fingerprint(root, stage), "choices": []}
    hashes = {
        f"results/{each}": hashlib.sha256((results / each).read_bytes()).hexdigest()
        for each in inputs
    }
    parameters = {"code": told}
    made_by = {"stage": stage, "parameters": parameters, "inputs": hashes, "commit": COMMIT}
    records.write(path, made_by)
    return name


@pytest.fixture
def world(tmp_path):
    """A study file, a repository, and the results of one naive ranker's seed 1."""
    (tmp_path / "tiny.yaml").write_text(STUDY)
    study = load(tmp_path / "tiny.yaml")
    root, results = code(tmp_path / "root"), tmp_path / "results"
    naive, cet = (experiment.name for experiment in expand(study))
    made(results, RUN, b"run", "search", [], root)
    made(results, OF_RUN, b"query_id\tmeasure\tvalue\n", "evaluate", [RUN], root)
    add_ranker(results, naive, root)
    return tmp_path, study, root, results, naive, cet


def add_ranker(results, name, root, seed=1, split="test"):
    ranker = made(
        results, f"rankers/{name}/seed-{seed}/R/model.safetensors", b"R", "train", [RUN], root
    )
    manifest_of = results / "rankers" / name / f"seed-{seed}" / "manifest.json"
    manifest_of.write_text(json.dumps({"hardware": "a machine"}))
    place = f"rankings/{name}/seed-{seed}/bm25/top-100/{split}"
    made(results, f"{place}.run.gz", b"ranking", "train", [ranker, RUN], root)
    values = "".join(f"q{n}\tRR@10\t{n / 7}\n" for n in range(50))
    content = f"query_id\tmeasure\tvalue\n{values}".encode()
    return made(
        results, f"metrics/{place}.truth.tsv", content, "evaluate", [f"{place}.run.gz"], root
    )


def of_ranking(name, seed=1):
    return f"metrics/rankings/{name}/seed-{seed}/bm25/top-100/test.truth.tsv"


# Archives


def test_an_archive_depends_on_its_files_alone(tmp_path):
    files = {"b/c.tsv": b"2", "a.tsv": b"1" * 1000}
    archives.pack(tmp_path / "one.tar.xz", files)
    archives.pack(tmp_path / "two.tar.xz", dict(reversed(files.items())))
    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()
    assert archives.unpack(tmp_path / "one.tar.xz") == files
    with tarfile.open(tmp_path / "one.tar.xz") as archive:
        assert archive.getnames() == ["a.tsv", "b/c.tsv"]
        assert {(m.mtime, m.uid, m.uname) for m in archive} == {(0, 0, "")}


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    archives.pack(tmp_path / "x.tar.xz", {name: b""})
    with pytest.raises(DataError, match="need plain files below a folder"):
        archives.unpack(tmp_path / "x.tar.xz")
    assert not archives.inside(name)
    assert archives.inside("a/b")


def test_a_link_and_damage_and_nothing_are_refused(tmp_path):
    path = tmp_path / "x.tar.xz"
    with pytest.raises(DataError, match=r"x\.tar\.xz: no such archive"):
        archives.unpack(path)
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(path, "w:xz") as archive:
        archive.addfile(link)
    with pytest.raises(DataError, match="found 'link', need plain files"):
        archives.unpack(path)
    archives.pack(path, {"a": bytes(range(256)) * 99})
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"no archive", whole[:60] + b"x" + whole[61:]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"x\.tar\.xz: "):
            archives.unpack(path)


# Lineage


def test_what_made_a_file_is_all_that_came_before(world):
    _, _, root, results, naive, _ = world
    found = Lineages(results).of(of_ranking(naive))
    assert [step.stage for step in found.steps] == ["evaluate", "search", "train"]
    assert found.commits == (COMMIT,)
    assert found.hardware == ("a machine",)
    assert stale(found, root) == []
    assert Made.from_json(json.loads(json.dumps(found.to_json()))) == found
    run = Lineages(results).of(OF_RUN)
    assert ([step.stage for step in run.steps], run.hardware) == (["evaluate", "search"], ())


def test_changed_code_of_one_stage_makes_stale_what_it_made_and_no_more(world):
    folder, _, _, results, naive, _ = world
    changed = code(folder / "changed", constant=2)
    lineages = Lineages(results)
    assert stale(lineages.of(of_ranking(naive)), changed) == ["train"]
    assert stale(lineages.of(OF_RUN), changed) == []
    (changed / "workflow" / "scripts" / "search.py").unlink()
    gone = shutil.copytree(changed, folder / "gone")
    assert stale(lineages.of(OF_RUN), gone) == ["search"]


def test_a_file_without_a_record_or_with_remade_inputs_has_no_lineage(world):
    _, _, root, results, naive, _ = world
    (results / "metrics" / "mine.tsv").write_text("")
    with pytest.raises(DataError, match=r"mine\.tsv: nothing is known of what made it"):
        Lineages(results).of("metrics/mine.tsv")
    made(results, RUN, b"another run", "search", [], root)
    with pytest.raises(
        DataError, match=r"was made from another results/runs/hpo/bm25/test\.run\.gz"
    ):
        Lineages(results).of(of_ranking(naive))


# Publishing


def test_what_is_finished_is_the_studys_own_split_and_seeds(world):
    _, study, root, results, naive, cet = world
    add_ranker(results, naive, root, seed=2)
    add_ranker(results, naive, root, split="dev")
    add_ranker(results, "hpo.bm25.other.bert-000000", root)
    for name in (naive, cet):
        made(results, f"rankers/{name}/seed-1/training.tsv", b"", "train", [], root)
    made(results, f"probes/{cet}/seed-1/top-50-ab/test.tsv.gz", b"", "train", [], root)
    assert sorted(finished(study, results)) == sorted(
        [
            OF_RUN,
            of_ranking(naive),
            f"rankers/{cet}/seed-1/training.tsv",
            f"probes/{cet}/seed-1/top-50-ab/test.tsv.gz",
        ]
    )
    assert archive_of(OF_RUN) == "metrics/runs.tar.xz"
    assert archive_of(of_ranking(naive)) == f"metrics/{naive}.tar.xz"
    assert archive_of(f"probes/{cet}/seed-1/x/test.tsv.gz") == f"metrics/{cet}.tar.xz"
    assert archive_of("metrics/candidates/a.tsv") == "metrics/candidates.tar.xz"


def test_published_metrics_come_back_byte_for_byte(world):
    folder, study, root, results, naive, _ = world
    made(results, "tiny/figures/figure_1.svg", b"<svg/>", "figure", [OF_RUN], root)
    found = publish(study, results, folder / "out", root)
    assert found.left_out == {}
    assert sorted(found.manifest.files) == sorted([OF_RUN, of_ranking(naive)])
    assert (folder / "out" / "figures" / "figure_1.svg").read_bytes() == b"<svg/>"

    fresh = folder / "clone" / "results"
    done = restore(folder / "out", fresh, root)
    assert (sorted(done.files), done.refused) == (sorted([OF_RUN, of_ranking(naive)]), {})
    for name in done.files:
        assert (fresh / "restored" / name).read_bytes() == (results / name).read_bytes()
    assert used(fresh, root) == sorted(done.files)
    lineage = Lineages(fresh).of(f"restored/{of_ranking(naive)}")
    assert lineage == Lineages(results).of(of_ranking(naive))
    (fresh / "restored" / OF_RUN).write_bytes(b"changed")
    with pytest.raises(DataError, match="as restore left it; it was damaged or changed since"):
        records.check(fresh / "restored" / OF_RUN)


def used(results, root):
    return sorted(name for study in usable(results, root) for name in study.files)


def test_publishing_twice_makes_the_same_bytes_and_removes_what_is_gone(world):
    folder, study, root, results, naive, _ = world
    out = folder / "out"
    publish(study, results, out, root)
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert sorted(before) == sorted([f"{naive}.tar.xz", "runs.tar.xz", "manifest.json"])
    (out / "README.md").write_text("mine")
    (out / "figures").mkdir()
    (out / "figures" / "old.svg").write_text("")
    publish(study, results, out, root)
    after = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert after == before | {"README.md": b"mine"}


def test_other_code_and_what_rests_on_remade_files_are_left_out(world):
    folder, study, root, results, naive, _ = world
    changed = code(folder / "changed", constant=2)
    found = publish(study, results, folder / "out", changed)
    assert sorted(found.manifest.files) == [OF_RUN]
    assert list(found.left_out) == [of_ranking(naive)]
    assert "was made by other code of train than is here" in found.left_out[of_ranking(naive)]
    made(results, "tiny/figures/figure_1.svg", b"<svg/>", "figure", [OF_RUN], root)
    made(results, OF_RUN, b"new\n", "evaluate", [RUN], root)
    found = publish(study, results, folder / "out", root)
    assert "another results/metrics/runs" in found.left_out["tiny/figures/figure_1.svg"]
    assert not (folder / "out" / "figures").exists() or not list((folder / "out/figures").iterdir())


def test_a_changed_byte_stops(world):
    folder, study, root, results, naive, _ = world
    (results / of_ranking(naive)).write_text("q1\tRR@10\t1\n")
    with pytest.raises(DataError, match="it was damaged or changed since"):
        publish(study, results, folder / "out", root)
    assert not (folder / "out").exists()


def test_what_was_published_before_stays_beside_what_is_new(world):
    folder, study, root, results, naive, cet = world
    out, fresh = folder / "out", folder / "clone" / "results"
    publish(study, results, out, root)
    made(fresh, RUN, b"run", "search", [], root)
    add_ranker(fresh, cet, root)
    found = publish(study, fresh, out, root)
    assert sorted(found.manifest.files) == sorted([OF_RUN, of_ranking(naive), of_ranking(cet)])
    again = restore(out, folder / "third" / "results", root)
    assert len(again.files) == 3
    changed = code(folder / "changed", constant=2)
    shutil.rmtree(fresh / "rankers")
    shutil.rmtree(fresh / "metrics")
    found = publish(study, fresh, out, changed)
    assert sorted(found.manifest.files) == [OF_RUN]
    assert sorted(found.left_out) == sorted([of_ranking(naive), of_ranking(cet)])


# Restoring


def test_what_other_code_made_is_refused_in_a_sentence(world):
    folder, study, root, results, naive, _ = world
    publish(study, results, folder / "out", root)
    changed = code(folder / "changed", constant=2)
    fresh = folder / "clone" / "results"
    done = restore(folder / "out", fresh, changed)
    assert (done.files, done.refused) == ([OF_RUN], {of_ranking(naive): ["train"]})
    assert done.sentence() == (
        "study tiny: 1 of its published files are not used, since other code than is here made "
        "them (train): work at commit 0123456789ab, or make them again."
    )
    assert not (fresh / "restored" / of_ranking(naive)).exists()
    assert used(fresh, changed) == [OF_RUN]


def test_code_that_changes_after_a_restore_is_seen(world):
    folder, study, root, results, naive, _ = world
    publish(study, results, folder / "out", root)
    fresh = folder / "clone" / "results"
    restore(folder / "out", fresh, root)
    assert used(fresh, root) == sorted([OF_RUN, of_ranking(naive)])
    changed = code(folder / "changed", constant=2)
    (found,) = usable(fresh, changed)
    assert (found.files, list(found.refused)) == ([OF_RUN], [of_ranking(naive)])
    assert "1 of its published files are not used" in found.sentence()


def test_a_file_made_here_comes_first(world):
    folder, study, root, results, naive, _ = world
    publish(study, results, folder / "out", root)
    restore(folder / "out", results, root)
    assert used(results, root) == []
    (results / of_ranking(naive)).unlink()
    assert used(results, root) == [of_ranking(naive)]
    (results / "restored" / of_ranking(naive)).unlink()
    assert used(results, root) == []


def test_what_was_restored_is_published_anew_as_it_was_made(world):
    folder, study, root, results, _, cet = world
    first = publish(study, results, folder / "out", root)
    fresh = folder / "clone" / "results"
    restore(folder / "out", fresh, root)
    made(fresh, RUN, b"run", "search", [], root)
    add_ranker(fresh, cet, root)
    second = publish(study, fresh, folder / "again", root)
    assert second.manifest.files == first.manifest.files | {
        of_ranking(cet): second.manifest.files[of_ranking(cet)]
    }
    made(fresh, "tiny/metrics.tsv", b"", "figure", [f"restored/{OF_RUN}"], root)
    third = publish(study, fresh, folder / "again", root)
    assert list(third.manifest.shown) == ["metrics.tsv"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda out: out.joinpath("metrics", "runs.tar.xz").unlink(), r"runs\.tar\.xz: no such"),
        (lambda out: out.joinpath("metrics", "runs.tar.xz").write_bytes(b""), "SHA-256 is e3b0c44"),
        (lambda out: out.joinpath("manifest.json").unlink(), r"manifest\.json: no such file"),
        (lambda out: out.joinpath("manifest.json").write_text("{}"), "found no manifest of a publ"),
        (lambda out: out.joinpath("manifest.json").write_text("[1]"), "found no manifest of a pub"),
        (
            lambda out: edit(out, lambda m: m["files"][OF_RUN].__setitem__(0, "0" * 64)),
            "holds another metrics/runs/hpo/bm25/test.truth.tsv; restore the archive",
        ),
        (
            lambda out: edit(out, lambda m: m["files"].update({"../x": m["files"][OF_RUN]})),
            r"holds no \.\./x",
        ),
        (
            lambda out: edit(out, lambda m: m["files"].update(y=m["files"][OF_RUN])),
            "holds no y; restore the archive",
        ),
    ],
)
def test_a_published_folder_that_is_damaged_is_refused_whole(world, change, told):
    folder, study, root, results, _, _ = world
    publish(study, results, folder / "out", root)
    change(folder / "out")
    with pytest.raises(DataError, match=told):
        restore(folder / "out", folder / "clone" / "results", root)
    assert not (folder / "clone").exists()


def edit(out, change):
    value = json.loads((out / "manifest.json").read_text())
    change(value)
    (out / "manifest.json").write_text(json.dumps(value))


def test_a_manifest_tells_once_what_made_many(tmp_path):
    made_by = Made((Step("a", ("b",), "c"),), ("d",), ())
    found = manifest.Manifest("s", {n: manifest.Entry("0", "x", made_by) for n in "pq"}, {"x": "1"})
    found.write(tmp_path / "manifest.json")
    assert json.loads((tmp_path / "manifest.json").read_text()) == {
        "study": "s",
        "archives": {"x": "1"},
        "shown": {},
        "made": [{"commits": ["d"], "hardware": [], "steps": [["a", ["b"], "c"]]}],
        "files": {"p": ["0", "x", 0], "q": ["0", "x", 0]},
    }
    assert manifest.read(tmp_path / "manifest.json") == found


def test_the_commands(world, monkeypatch, capsys):
    folder, _, root, results, _, _ = world
    monkeypatch.setattr(command_line, "ROOT", root)
    arguments = ["publish", str(folder / "tiny.yaml"), "--results", str(results)]
    assert command_line.main(arguments) == 0
    out = root / "docs" / "results" / "tiny"
    assert capsys.readouterr().out == (
        f"{out}: 2 files of metrics in 2 archives, 0 figures, tables and pages.\n"
    )
    clone = folder / "clone" / "results"
    assert command_line.main(["restore", str(out), "--results", str(clone)]) == 0
    assert "2 files of study tiny restored below" in capsys.readouterr().out
    monkeypatch.setattr(command_line, "ROOT", code(folder / "changed", constant=2))
    assert command_line.main(["restore", str(out), "--results", str(clone)]) == 1
    assert "made them (train): work at commit 0123456789ab" in capsys.readouterr().err
    assert command_line.main(["restore", str(folder / "none"), "--results", str(clone)]) == 1
    assert "manifest.json: no such file" in capsys.readouterr().err
