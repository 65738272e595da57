"""Faults to inject: a small disk, one that cannot be written, a damaged file, a killed process."""

import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from conftest import ROOT


def can_mount():
    """Return whether this user may mount in a space of mounts of its own."""
    if not shutil.which("unshare"):
        return False
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def environment(root=ROOT):
    """Return the environment of a stage's shell command."""
    return os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(root),
        "POOLBIAS_ROOT": str(root),
    }


@functools.cache
def command_of(study, result):
    """Return the shell command that makes a result of a study, as Snakemake would start it."""
    output = study.run(result, "--dry-run", "--printshellcmds", "--forcerun", result)
    commands = re.findall(r"^Shell command: (.+)$", output, re.MULTILINE)
    return commands[-1]


def options_of(command):
    """Return the stage's script and its options: name to paths."""
    words = shlex.split(command.partition("exec ")[2])
    options, name = {}, ""
    for word in words[2:]:
        if word.startswith("--"):
            name = word
            options[name] = []
        else:
            options[name].append(word)
    return Path(words[1]).stem, options


def bring(study, folder, command):
    """Copy the inputs of a stage's command into a folder, where it is then run."""
    for paths in options_of(command)[1].values():
        for path in map(Path, paths):
            source, target = study.folder / path, folder / path
            if path.parts[0] != "results" or target.exists() or not source.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.name == "model.safetensors":  # its folder is the model
                shutil.copytree(source.parent, target.parent, dirs_exist_ok=True)
            elif source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy2(source, target)
            record = study.folder / "results/.records" / Path(*path.parts[1:])
            parts = "*" if path.name == "model.safetensors" else f"{record.name}*"
            for file in record.parent.glob(parts):
                if file.is_file():
                    copy = folder / file.relative_to(study.folder)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, copy)
    return command


def remove_outputs(folder, command, inputs):
    """Remove what a command makes, as Snakemake does before it starts a job."""
    for name, paths in options_of(command)[1].items():
        for path in map(Path, paths):
            target = folder / path
            if path.parts[0] == "results" and name not in inputs and target.is_file():
                target.unlink()
            elif target.is_dir() and name not in {*inputs, "--checkpoints"}:
                shutil.rmtree(target)


def start(folder, script):
    """Start a shell script in a folder; its output is kept in the file `told` there."""
    (folder / "results" / "logs").mkdir(parents=True, exist_ok=True)
    for path in re.findall(r"results/logs/\S+", script):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    with (folder / "told").open("a") as told:
        return subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=environment(),
            stdout=told,
            stderr=told,
            start_new_session=True,
        )


def run(folder, script):
    """Run a shell script in a folder; return its exit code and what it said."""
    (folder / "told").unlink(missing_ok=True)
    status = start(folder, script).wait()
    return status, (folder / "told").read_text()


def kill(process):
    """Kill a process and all that it started, with no chance to tidy up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def killed_when(process, condition, limit=300):
    """Kill a process once a condition holds; return False if it ended before."""
    end = time.monotonic() + limit
    while process.poll() is None and not condition():
        assert time.monotonic() < end, "the condition did not come true"
        time.sleep(0.005)
    if process.poll() is not None:
        return False
    kill(process)
    return True


def flip(path, place=0.5):
    """Change one bit of a file, which keeps its size and its times."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def cut(path):
    """Take the last byte off a file."""
    path.write_bytes(path.read_bytes()[:-1])
