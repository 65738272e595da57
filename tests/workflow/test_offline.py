"""Compute nodes have no network: the smoke study runs without, and nothing tries."""

import os
import re
import subprocess
import sys

import offline
import pytest
from conftest import ROOT

FETCH = (
    "import urllib.request as request\n"
    "try:\n    request.urlopen('http://192.0.2.1/', timeout=5)\n"
    "except OSError as error:\n    print(error)\n"
)


def run(code, folder, **variables):
    """Run Python code without a network; return what it printed and what it tried."""
    environment = os.environ | offline.environment(folder) | variables
    done = subprocess.run(
        [*offline.prefix(), sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr, (folder / "attempts.txt").read_text()


def test_an_attempt_fails_and_is_written_down(tmp_path):
    said, attempts = run(FETCH, tmp_path)
    assert "Network is unreachable" in said
    assert "socket.getaddrinfo" in attempts


def test_another_program_has_no_network_either(tmp_path):
    if not offline.prefix():  # only a namespace of its own can hold Java back
        pytest.fail("unshare --net is not allowed here: Java's rules are not tested")
    listed = subprocess.run(
        [*offline.prefix(), "cat", "/proc/net/dev"], capture_output=True, text=True, check=True
    )
    assert re.findall(r"^ *(\w+):", listed.stdout, re.MULTILINE) == ["lo"]


@pytest.mark.parametrize(("offline_variable", "tries"), [("0", True), ("1", False)])
def test_hugging_face_is_told_not_to_try(tmp_path, offline_variable, tries):
    code = (
        "from huggingface_hub import model_info\n"
        "try:\n    model_info('some/model')\n"
        "except Exception:\n    print('no such model here')\n"
    )
    cache = str(tmp_path / "cache")
    said, attempts = run(code, tmp_path, HF_HUB_OFFLINE=offline_variable, HF_HOME=cache)
    assert "no such model here" in said
    assert bool(attempts) == tries
    code = (
        "import os\nfrom pathlib import Path\nfrom poolbias.environment import prepare\n"
        f"prepare(Path({str(ROOT)!r}))\nprint(os.environ['HF_HUB_OFFLINE'])\n"
    )
    assert run(code, tmp_path)[0].strip() == "1"


def test_every_rule_ran_without_a_network_and_tried_none(smoke):
    """The smoke study of all workflow tests is run this way (conftest.py)."""
    folder = smoke.folder.parent / "offline"
    assert (folder / "sitecustomize.py").exists()
    assert (folder / "attempts.txt").read_text() == ""
    rules = "\n".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    names = set(re.findall(r"^rule (\w+):\n(?:.*\n)*?    output:", rules, re.MULTILINE))
    asked = set(smoke.jobs("--forceall"))
    ran = {path.name for path in (smoke.folder / "results" / "logs").iterdir()}
    assert ran >= {name for name in asked & names if not name.startswith("retrieve_")}
    assert len(ran) > 10
