"""Pages as programs: their code blocks, a copy of the repository to run them in."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: ```language title="path"."""

    language: str
    title: str | None
    text: str
    line: int

    def write(self, root):
        """Write the file that the block holds; it must be new."""
        path = root / self.title
        assert not path.exists(), f"line {self.line}: {self.title} is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)

    def edit(self, root):
        """Apply a diff: each part (parted by @@) replaces lines that the file holds just once."""
        path = root / self.title
        text = path.read_text()
        for part in re.split(r"^@@.*\n", self.text, flags=re.MULTILINE):
            lines = [line or " " for line in part.splitlines()]
            assert {line[0] for line in lines} <= set(" +-"), f"line {self.line}: no diff"
            old, new = (
                "".join(f"{line[1:]}\n" for line in lines if line[0] in kept)
                for kept in (" -", " +")
            )
            assert old != new, f"line {self.line}: changes nothing"
            found = len(re.findall(rf"^{re.escape(old)}", text, re.MULTILINE))
            assert found == 1, f"line {self.line}: {self.title} holds this {found} times:\n{old}"
            text = re.sub(rf"^{re.escape(old)}", lambda _, new=new: new, text, flags=re.MULTILINE)
        path.write_text(text)


def blocks_of(page):
    """Return the fenced blocks of a page, in order."""
    text = page.read_text()
    found = []
    for match in re.finditer(
        r"^```(\S+)(?: ([^\n]+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    ):
        title = re.fullmatch(r'title="(.+)"', match[2] or "")
        assert title or not match[2], f"{page.name}: info string {match[2]!r}"
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], title and title[1], match[3], line))
    fences = len(re.findall(r"^```", text, re.MULTILINE))
    assert fences == 2 * len(found), f"{page.name}: {fences} fences, {len(found)} blocks"
    return found


def copy_repository(folder, smoke=None):
    """Copy the repository (files tracked, or new and not ignored), with the results of `smoke`."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, done.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    if smoke:
        for name in ("results", ".snakemake/metadata"):
            shutil.copytree(
                smoke.folder / name, folder / name, copy_function=_copy, dirs_exist_ok=True
            )
    return folder


def _copy(source, target):
    """Copy a file, or link it if it is large: large results are replaced whole, never changed."""
    if Path(source).stat().st_size < 1_000_000:
        return shutil.copy2(source, target)
    return os.link(source, target)


def run(script, root):
    """Run a shell script in a copy, as in its activated environment; return what it says."""
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(root),  # the copy instead of the installed library
        "COLUMNS": "200",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-6000:]}"
    return done.stdout
