"""Every shell block of the README runs, study blocks with the smoke study."""

import re
import subprocess

import pytest
from conftest import ROOT
from pages import Block, blocks_of, copy_repository, run

SMOKE = "--configfile config/smoke.yaml"
PAGES = ("README.md", "config/README.md")
LEFT_OUT = ["make test\n"]  # it is what runs this test
BLOCKS = [
    pytest.param(block, id=f"{page}:{block.line}")
    for page in PAGES
    for block in blocks_of(ROOT / page)
    if block.language == "bash" and block.text not in LEFT_OUT
]


def as_smoke(script):
    """Return a block's script on the smoke study, in the environment that runs the tests."""
    lines = []
    for line in script.splitlines():
        command, hash_sign, comment = line.partition("#")
        if command.strip() == "make study":
            command = f"snakemake {SMOKE}"
        elif command.strip() == "source .venv/bin/activate":
            command = ": the environment is active"
        elif command.startswith("snakemake") and "--configfile" not in command:
            command = f"{command.rstrip()} {SMOKE} "
        lines.append(command + hash_sign + comment)
    return "\n".join(lines)


@pytest.fixture(scope="module")
def copy(smoke, tmp_path_factory):
    return copy_repository(tmp_path_factory.mktemp("readme"), smoke)


def test_scripts_are_put_on_the_smoke_study():
    assert as_smoke("make study") == f"snakemake {SMOKE}"
    assert as_smoke("snakemake -n figure_1   # why") == f"snakemake -n figure_1 {SMOKE} # why"
    script = "snakemake figure_1 --configfile config/smoke.yaml"
    assert as_smoke(script) == script
    assert as_smoke("echo a") == "echo a"


def test_no_shell_block_is_left_out_silently():
    text = "".join((ROOT / page).read_text() for page in PAGES)
    assert not re.search(r"^ *(~~~|``` ?(sh|shell|console|zsh)\b)", text, re.MULTILINE)
    opened = len(re.findall(r"^ *``` ?bash", text, re.MULTILINE))
    readme = [block for block in blocks_of(ROOT / "README.md") if block.language == "bash"]
    assert len(readme) >= 4
    assert sum(block.text in LEFT_OUT for block in readme) == len(LEFT_OUT)
    assert len(BLOCKS) + len(LEFT_OUT) == opened


def test_make_study_runs_snakemake_and_nothing_else():
    command = ["make", "--dry-run", "--always-make", "study"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.search(r'^PATH="\S+/\.venv/bin:\$PATH" snakemake$', done.stdout, re.MULTILINE)
    assert done.stdout.count(" snakemake") == 1


def test_a_failing_line_fails(copy):
    with pytest.raises(AssertionError, match="no_such_command"):
        run("no_such_command\ntrue", copy)
    with pytest.raises(AssertionError, match="no_such_target"):
        run(as_smoke("snakemake -n no_such_target"), copy)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_block_runs(block, copy):
    assert isinstance(block, Block)
    figure = copy / "results" / "smoke" / "figures" / "figure_1.pdf"
    figure.unlink(missing_ok=True)
    output = run(as_smoke(block.text), copy)
    makes = [
        line
        for line in block.text.splitlines()
        if re.match(r"make study|snakemake(?!.* (-n|--list))", line)
    ]
    assert figure.exists() == bool(makes), output


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_python_blocks_run(page, tmp_path):
    for block in blocks_of(page):
        if block.language == "python":
            (tmp_path / "block.py").write_text(block.text)
            run(f"cd '{tmp_path}' && python block.py", ROOT)
