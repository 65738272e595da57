"""What a stage's code means: a hash that a comment leaves alone and a changed formula changes.

A stage's script and the library modules that it imports, directly or through others, are parsed;
the hash is over their syntax trees without docstrings. Choices that a registry names by string are
not followed, and the registries themselves left out, since a stage runs only those choices that its
parameters name: the caller adds these.
"""

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

PACKAGE = "poolbias"
# They decide how a job is told of and started, not what it computes.
HARNESS = frozenset(
    {
        PACKAGE,
        *(f"{PACKAGE}.{name}" for name in ("environment", "errors", "parameters", "records")),
        *(f"{PACKAGE}.{name}" for name in ("lease", "logs", "machine", "stage")),
        *(f"{PACKAGE}.training.{name}" for name in ("checkpoint", "finished")),
    }
)


def fingerprint(root: Path, script: str, choices: Iterable[str] = ()) -> str:
    """Return 16 hexadecimal digits for the code that a stage runs; see `modules`."""
    return fingerprint_of(modules(root, script, choices))


def fingerprint_of(found: Mapping[str, str]) -> str:
    """Return the fingerprint of a stage's code from what each part of it means."""
    told = "\n".join(f"{name} {meaning}" for name, meaning in sorted(found.items()))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def modules(root: Path, script: str, choices: Iterable[str] = ()) -> dict[str, str]:
    """Return the parts of the code that a stage runs, each with the hash of what it means.

    They are its script under its own name, the library's modules that it imports, directly or
    through others, and `choices`, the names chosen from registries.

    Args:
        root: folder of the repository.
        script: name of the stage, `workflow/scripts/<script>.py`.
        choices: modules chosen by name (`poolbias.weights.coupling`, or `module:attribute`).
    """
    start = root / "workflow" / "scripts" / f"{script}.py"
    chosen = sorted(choices)
    names = {choice.partition(":")[0] for choice in chosen} | set(_imports(root, start))
    found: dict[str, str] = {script: _meaning(start), "choices": " ".join(chosen)}
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        path = _module_path(root, name)
        if path is None or name in found or name in HARNESS:
            continue
        found[name] = _meaning(path)
        waiting += _imports(root, path)
    return found


def _module_path(root: Path, name: str) -> Path | None:
    """Return the file of a module of the package, or None if `name` is not one (a class, say)."""
    base = root.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@functools.cache
def _imports(root: Path, path: Path) -> tuple[str, ...]:
    """Return the package's modules that a file imports, their packages' `__init__` included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name.split(".")[0] == PACKAGE:
                found.update(_with_packages(name))
    return tuple(sorted(name for name in found if _module_path(root, name)))


def _with_packages(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


@functools.cache
def _meaning(path: Path) -> str:
    """Return the hash of a file's syntax tree without docstrings (comments are not in it)."""
    tree = ast.parse(path.read_bytes())
    if path.name == "__init__.py":
        tree.body = [statement for statement in tree.body if not _is_registry(statement)]
    for node in ast.walk(tree):
        holds = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if holds and ast.get_docstring(node, clean=False) is not None:  # type: ignore[arg-type]
            node.body = node.body[1:]  # type: ignore[attr-defined]
    return hashlib.sha256(_dump(tree).encode()).hexdigest()


def _is_registry(statement: ast.stmt) -> bool:
    """Return whether a statement names choices by string: a dictionary of text to text."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Dict):
        return False
    parts = [*statement.value.keys, *statement.value.values]
    return all(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)


def _dump(node: object) -> str:
    """Return a syntax tree as text that is the same under every version of Python.

    Fields that are empty are left out, since versions differ in which empty ones they have.
    """
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        told = ",".join(f"{name}={_dump(value)}" for name, value in fields)
        return f"{type(node).__name__}({told})"
    if isinstance(node, list):
        return f"[{','.join(_dump(item) for item in node)}]"
    return repr(node)
