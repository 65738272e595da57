"""The names that users and other code rely on; `python tests/unit/test_faces.py --write` renews.

faces.txt lists targets, keys of study files with their defaults, result paths, and the library's
public functions. Changing one is a visible act: this test fails until the list is renewed, and then
until CHANGELOG.md is changed along with it.
"""

import ast
import difflib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from test_house import rules_of

ROOT = Path(__file__).resolve().parents[2]
FACES = ROOT / "tests" / "unit" / "faces.txt"
RENEW = "python tests/unit/test_faces.py --write"
# The face of config is the keys of study files; the others serve the rules and the command line.
NOT_PUBLIC = {"config", "environment", "fingerprint", "__main__"}


def rules() -> dict[str, str]:
    """Return the text of every rule by its name."""
    files = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
    return {name: body for path in files for name, body in rules_of(path.read_text()).items()}


def paths(body: str) -> list[str]:
    """Return the output patterns of a rule; the study's name is `<study>`."""
    output = re.search(r"^    output:\n((?: {8}.*\n)+)", body, re.MULTILINE)
    found = re.findall(r'f?"(results/[^"]+)"', output[1]) if output else []
    plain = (path.replace("{{", "{").replace("}}", "}") for path in found)
    return [path.replace("{STUDY.study}", "<study>") for path in plain]


def is_target(body: str) -> bool:
    """Return whether a rule can be asked for by its name: its outputs have no wildcard."""
    return not any("{" in path for path in paths(body))


def config_keys() -> Iterator[str]:
    """Yield `section: key = default` of every key of a study file, as docs/configuration.md."""
    from poolbias.config.generate import tables

    heading = ""
    for line in tables().splitlines():
        if line.startswith("### "):
            heading = line.removeprefix("### ").replace("`", "")
        elif cells := re.match(r"\| `(\w+)` \| (.+?) \| (.+?) \|", line):
            yield f"{heading}: {cells[1]} = {cells[3].strip('`')}"


def signature(function: ast.FunctionDef) -> str:
    arguments = ast.unparse(function.args)
    return f"{function.name}({arguments})" + (
        f" -> {ast.unparse(function.returns)}" if function.returns else ""
    )


def functions(module: str, source: str) -> Iterator[str]:
    """Yield the public functions, methods and fields of a module's source, with their types.

    Of a package also what it hands on (`__all__`), and the choices of its registries.
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if name == "__all__":
                yield f"{module}: {', '.join(ast.literal_eval(value))}"
            elif isinstance(value, ast.Dict) and ": 'poolbias." in ast.unparse(value):
                yield f"{module}.{name}: {', '.join(ast.literal_eval(value))}"
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{module}.{signature(node)}"
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield f"{module}.{node.name}"
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and (
                    not item.name.startswith("_") or item.name == "__init__"
                ):
                    yield f"{module}.{node.name}.{signature(item)}"
                if isinstance(item, ast.AnnAssign):
                    yield f"{module}.{node.name}.{ast.unparse(item)}"


def faces() -> str:
    """Return what faces.txt should hold."""
    library = []
    for path in sorted((ROOT / "poolbias").rglob("*.py")):
        parts = [p for p in path.relative_to(ROOT).with_suffix("").parts if p != "__init__"]
        if not NOT_PUBLIC & set(parts):
            library += functions(".".join(parts), path.read_text())
    sections = {
        "targets": sorted(name for name, body in rules().items() if is_target(body)),
        "keys of study files, with their defaults": config_keys(),
        "result paths": sorted({path for body in rules().values() for path in paths(body)}),
        "functions": library,
    }
    head = f"# Names that others rely on; renewed by `{RENEW}`, with a line in CHANGELOG.md.\n"
    return head + "".join(_section(name, lines) for name, lines in sections.items())


def _section(name: str, lines: Iterable[str]) -> str:
    return "\n".join(["", f"[{name}]", *lines, ""])


def changes() -> list[set[str]]:
    """Return the files changed since the last commit, and by it; none where git has no say."""
    found = []
    for command in (["diff", "--name-only", "HEAD"], ["show", "--name-only", "--format=", "HEAD"]):
        arguments = ["git", "-C", str(ROOT), *command]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        found.append(set(done.stdout.split()))
    return found


def untold(changed: set[str]) -> bool:
    return "tests/unit/faces.txt" in changed and "CHANGELOG.md" not in changed


def test_a_changed_name_is_seen():
    toy = "class A:\n    b: int = 1\n    def c(self, d: str) -> None: ...\ndef _e(): ...\n"
    head = "__all__ = ['A']\nREGISTRY = {'f': 'poolbias.m.f'}\nOTHER = {'g': 'h'}\n"
    assert list(functions("m", head + toy)) == [
        "m: A",
        "m.REGISTRY: f",
        "m.A",
        "m.A.b: int = 1",
        "m.A.c(self, d: str) -> None",
    ]
    body = (
        '    output:\n        x=f"results/{STUDY.study}/a.tsv",\n    log:\n        "results/b",\n'
    )
    assert paths(body) == ["results/<study>/a.tsv"]
    assert is_target(body)
    assert not is_target(body.replace("a.tsv", "{a}.tsv"))
    listed = set(faces().splitlines())
    assert {"all", "figures", "figure_1", "results/<study>/figures/figure_1.tsv"} <= listed
    assert "The study file: threads = 1" in listed
    assert "results/runs/{collection}/{retriever}/train.run.gz" in listed
    coupled = "coupled(positive: Tensor, negative: Tensor, temperature: float, form: str) -> Tensor"
    assert f"poolbias.weights.coupling.{coupled}" in listed


def test_names_that_others_rely_on_are_as_listed():
    old, new = (text.splitlines() for text in (FACES.read_text(), faces()))
    difference = "\n".join(difflib.unified_diff(old, new, "faces.txt", "the code", "", "", 0, ""))
    assert not difference, (
        f"{difference}\nIf this is meant: `{RENEW}`, and a line in CHANGELOG.md.\n"
    )


def test_a_changed_list_comes_with_a_line_in_the_changelog():
    assert untold({"tests/unit/faces.txt", "poolbias/files.py"})
    assert not untold({"tests/unit/faces.txt", "CHANGELOG.md"})
    assert not untold({"poolbias/files.py"})
    assert not any(untold(changed) for changed in changes()), "add a line to CHANGELOG.md"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(f"usage: {RENEW}")
    sys.path.insert(0, str(ROOT))
    FACES.write_text(faces())
